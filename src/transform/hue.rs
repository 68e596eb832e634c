//! Pillow's turn through HSV in whole numbers. What is said here is tried on all 2^24 colours by the tests.
//!
//! With `max`, `min` of the three channels and `range = max - min`:
//!
//! * Saturation is `255 * range / max`, cut. Pillow rounds the quotient to f32 first; k / 255 always rounds up, so
//!   the cut is the exact one.
//! * Hue is `255 * h / 6`, cut, where `h` in 0..6 is a whole number plus or minus `(max - mid) / range`. In whole
//!   numbers `h = (s * range + d) / range`, with s = 1, d = green - red where blue is least; s = 3, d = blue - green
//!   where red is; else s = 5, d = red - blue. Where `255 * h / 6` is a whole number, Pillow's roundings decide
//!   whether it is cut to one less: [`is_cut`] knows for which.
//! * Back: a channel is `max - max * saturation * away / (255 * 85)`, rounded, where `away` is the distance of the
//!   hue from the channel's full colour, 0 to 85 over a sextant. 255 * 85 is odd, so that no value lies half-way, and
//!   Pillow's own roundings are too small to matter.

/// 1 for those hue bytes that Pillow makes one less when they come out exact, else 0.
pub(super) fn is_cut(hue: u8) -> u8 {
    CUT[usize::from(hue >> 3)] >> (hue & 7) & 1
}

/// One bit a hue byte; see [`is_cut`].
pub(super) static CUT: [u8; 32] = table();

/// Goes Pillow's way for every hue that is a whole number of bytes.
const fn table() -> [u8; 32] {
    let mut table = [0; 32];
    let mut hue = 1;
    while hue < 255 {
        if pillow_hue(hue) + 1 == hue {
            table[hue as usize >> 3] |= 1 << (hue & 7);
        }
        hue += 1;
    }
    table
}

/// What Pillow makes of the hue `2 * byte / 85` of 6, reached with a range of 85.
const fn pillow_hue(byte: u8) -> u8 {
    let turned = 2 * byte as i32;
    let sextant = turned / 85;
    let rest = turned - sextant * 85;
    // Sextants 1, 3, 5 rise from a whole number, 0, 2, 4 fall to the next one.
    let falls = sextant % 2 == 0;
    let quotient = (if falls { 85 - rest } else { rest }) as f32 / 85.0;
    let whole = if falls { sextant + 1 } else { sextant };
    // Pillow's sum is of f64, rounded once; in the sixth sextant it is below 0 and then turned by 1.
    let sum = if sextant == 5 {
        quotient as f64 - 1.0
    } else if falls {
        whole as f64 - quotient as f64
    } else {
        whole as f64 + quotient as f64
    };
    let turned = sum as f32 as f64 / 6.0 + 1.0;
    let part = if turned >= 1.0 { turned - 1.0 } else { turned };
    (part as f32 as f64 * 255.0) as u8
}
