//! RandomCrop, RandomHorizontalFlip, ColorJitter: parameters as torchvision draws them, pixels as Pillow makes them.

pub mod crop;
pub mod flip;
pub mod image;
pub mod jitter;
pub mod pillow;
pub mod pipeline;

pub use crop::{Fill, Padding, PaddingMode, RandomCrop, crop, pad};
pub use flip::{RandomHorizontalFlip, RandomVerticalFlip, hflip, vflip};
pub use image::Image;
pub use jitter::{ColorJitter, Strength};
pub use pillow::{adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation, rgb_to_grayscale};
pub use pipeline::{Dialect, Parameters, Pipeline, Scratch};
