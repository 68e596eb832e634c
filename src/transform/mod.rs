//! RandomCrop, RandomHorizontalFlip, ColorJitter: parameters as torchvision draws them, pixels as Pillow makes them.

#[cfg(test)]
mod agreement;
pub mod crop;
#[cfg(test)]
mod drawing;
pub mod flip;
mod fused;
mod hue;
pub mod image;
pub mod jitter;
pub mod pillow;
pub mod pipeline;
mod portable;
mod scale;
#[cfg(target_arch = "x86_64")]
mod shuffles;
#[cfg(target_arch = "x86_64")]
mod simd;

pub use crop::{Fill, Padding, PaddingMode, RandomCrop, crop, pad};
pub use flip::{RandomHorizontalFlip, RandomVerticalFlip, hflip, vflip};
pub use image::Image;
pub use jitter::{ColorJitter, Strength};
pub use pillow::{adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation, rgb_to_grayscale};
pub use pipeline::{Dialect, Engine, Parameters, Pipeline, Scratch};

#[cfg(not(target_arch = "x86_64"))]
use portable::Portable as Avx2;
#[cfg(target_arch = "x86_64")]
use simd::Avx2;
