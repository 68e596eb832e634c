//! Random flips as torchvision 0.29 (v1) makes them.

use super::Image;
use crate::rng::Draw;

/// Left to right with probability `p`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomHorizontalFlip {
    /// The probability.
    pub p: f64,
}

impl RandomHorizontalFlip {
    /// Whether to flip: one draw, whatever `p` is.
    pub fn draw(&self, generator: &mut dyn Draw) -> bool {
        generator.coin(self.p)
    }
}

/// Top to bottom with probability `p`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomVerticalFlip {
    /// The probability.
    pub p: f64,
}

impl RandomVerticalFlip {
    /// Whether to flip: one draw, whatever `p` is.
    pub fn draw(&self, generator: &mut dyn Draw) -> bool {
        generator.coin(self.p)
    }
}

/// Mirrors left to right, in place.
pub fn hflip(image: &mut Image) {
    let channels = usize::from(image.channels);
    let row_bytes = image.width as usize * channels;
    if row_bytes == 0 {
        return;
    }
    for row in image.data.chunks_exact_mut(row_bytes) {
        match channels {
            1 => row.reverse(),
            3 => row.as_chunks_mut::<3>().0.reverse(),
            _ => row.as_chunks_mut::<4>().0.reverse(),
        }
    }
}

/// Mirrors top to bottom, in place.
pub fn vflip(image: &mut Image) {
    let row_bytes = image.width as usize * usize::from(image.channels);
    let half = image.height as usize / 2 * row_bytes;
    if half == 0 {
        return;
    }
    let (upper, lower) = image.data.split_at_mut(half);
    for (above, below) in upper.chunks_exact_mut(row_bytes).zip(lower.rchunks_exact_mut(row_bytes)) {
        above.swap_with_slice(below);
    }
}
