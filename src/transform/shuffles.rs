//! The constants of the vector code: which byte goes where.

use super::fused::GROUP;

/// 32 bytes: a vector of one colour.
pub(super) type Group = [u8; GROUP];

/// A shuffle or mask of 16 bytes, for both halves.
const fn both(half: [u8; 16]) -> Group {
    let mut group = [0; GROUP];
    let mut at = 0;
    while at < GROUP {
        group[at] = half[at % 16];
        at += 1;
    }
    group
}

/// The bytes whose place is `rest` modulo 3. 16 interleaved pixels are three vectors, and the byte at place p of
/// vector v is of colour (v + p) modulo 3: of each colour, the three vectors together hold every place once.
const fn places(rest: usize) -> Group {
    let mut half = [0; 16];
    let mut at = 0;
    while at < 16 {
        half[at] = if at % 3 == rest { 0xff } else { 0 };
        at += 1;
    }
    both(half)
}

/// [`places`] of each rest.
pub(super) static PLACES: [Group; 3] = [places(0), places(1), places(2)];

/// Where pixel k's byte of `colour` stands once the three vectors are laid over each other; `mirrored` counts pixels
/// from the end.
const fn gather(colour: usize, mirrored: bool) -> Group {
    let mut half = [0; 16];
    let mut pixel = 0;
    while pixel < 16 {
        let at = if mirrored { 15 - pixel } else { pixel };
        half[pixel] = ((3 * at + colour) % 16) as u8;
        pixel += 1;
    }
    both(half)
}

/// The inverse of [`gather`].
const fn scatter(colour: usize) -> Group {
    let mut half = [0; 16];
    let mut pixel = 0;
    while pixel < 16 {
        half[(3 * pixel + colour) % 16] = pixel as u8;
        pixel += 1;
    }
    both(half)
}

/// [`gather`] of each colour, as pixels stand and mirrored.
pub(super) static GATHER: [[Group; 3]; 2] =
    [[gather(0, false), gather(1, false), gather(2, false)], [gather(0, true), gather(1, true), gather(2, true)]];
/// [`scatter`] of each colour.
pub(super) static SCATTER: [Group; 3] = [scatter(0), scatter(1), scatter(2)];

/// 2 to the number modulo 8.
pub(super) static POWERS: Group = both([1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128]);
