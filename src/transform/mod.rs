//! RandomCrop, RandomHorizontalFlip, ColorJitter: parameters as torchvision draws them, pixels as Pillow makes them.

pub mod image;

pub use image::Image;
