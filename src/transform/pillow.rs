//! Pillow 13's arithmetic on pixels, written plainly: what every faster form here is held against.
//!
//! Source of the algorithms: `Blend.c`, `Convert.c` and `ImageEnhance.py` of Pillow 13, and what
//! torchvision 0.29's `_functional_pil.py` makes of them.

use super::Image;
use crate::error::{Error, Result};

/// `base + factor * (value - base)` as `Image.blend` rounds it: in f32, cut towards zero, limited to a byte.
pub fn blend(base: u8, value: u8, factor: f32) -> u8 {
    let mixed = f32::from(base) + factor * (f32::from(value) - f32::from(base));
    // `as` limits to 0..=255 and cuts towards zero. Factors 0 and 1, which Pillow treats apart, come out equal.
    mixed as u8
}

/// Luma of one RGB pixel.
pub fn luma(red: u8, green: u8, blue: u8) -> u8 {
    ((19595 * u32::from(red) + 38470 * u32::from(green) + 7471 * u32::from(blue) + 0x8000) >> 16) as u8
}

/// RGB to HSV, each 0..=255.
pub fn rgb_to_hsv([red, green, blue]: [u8; 3]) -> [u8; 3] {
    let max = red.max(green).max(blue);
    let min = red.min(green).min(blue);
    if max == min {
        return [0, 0, max];
    }
    let range = f32::from(max - min);
    let saturation = range / f32::from(max);
    let [rc, gc, bc] = [red, green, blue].map(|value| f32::from(max - value) / range);
    let hue = if red == max {
        bc - gc
    } else if green == max {
        (2.0 + f64::from(rc) - f64::from(bc)) as f32
    } else {
        (4.0 + f64::from(gc) - f64::from(rc)) as f32
    };
    // From 5/6 to 11/6: the remainder modulo 1 is one exact subtraction.
    let turned = f64::from(hue) / 6.0 + 1.0;
    let hue = (if turned >= 1.0 { turned - 1.0 } else { turned }) as f32;
    [(f64::from(hue) * 255.0) as u8, (f64::from(saturation) * 255.0) as u8, max]
}

/// HSV to RGB.
pub fn hsv_to_rgb([hue, saturation, value]: [u8; 3]) -> [u8; 3] {
    if saturation == 0 {
        return [value; 3];
    }
    let sextant = f64::from(hue) * 6.0 / 255.0;
    let whole = sextant.floor();
    let part = f64::from((sextant - whole) as f32);
    let share = f64::from((f64::from(saturation) / 255.0) as f32);
    let scaled = |factor: f64| (f64::from(value) * factor).round() as u8;
    let p = scaled(1.0 - share);
    let q = scaled(1.0 - share * part);
    let t = scaled(1.0 - share * (1.0 - part));
    match whole as u8 % 6 {
        0 => [value, t, p],
        1 => [q, value, p],
        2 => [p, value, t],
        3 => [p, q, value],
        4 => [t, p, value],
        _ => [value, p, q],
    }
}

/// Brightness: 0 is black, 1 leaves the image as it is. Alpha stays.
pub fn adjust_brightness(image: &mut Image, factor: f64) {
    blend_all(image, 0, factor as f32);
}

/// Contrast: 0 is a solid grey of the mean luma, 1 leaves the image as it is. Alpha stays.
pub fn adjust_contrast(image: &mut Image, factor: f64) {
    let pixels = u64::from(image.width) * u64::from(image.height);
    let sum = match image.channels {
        1 => image.data.iter().map(|value| u64::from(*value)).sum(),
        channels => {
            image.data.chunks_exact(channels.into()).map(|pixel| u64::from(luma(pixel[0], pixel[1], pixel[2]))).sum()
        }
    };
    blend_all(image, mean(sum, pixels), factor as f32);
}

/// Saturation: 0 is grey, 1 leaves the image as it is. A grey image and alpha stay.
pub fn adjust_saturation(image: &mut Image, factor: f64) {
    if image.channels == 1 {
        return;
    }
    for pixel in image.data.chunks_exact_mut(image.channels.into()) {
        let grey = luma(pixel[0], pixel[1], pixel[2]);
        pixel[..3].iter_mut().for_each(|value| *value = blend(grey, *value, factor as f32));
    }
}

/// Hue, turned by `factor` of the colour circle. A grey image stays; alpha becomes 255.
///
/// # Errors
/// Where the factor is outside -0.5..=0.5.
pub fn adjust_hue(image: &mut Image, factor: f64) -> Result<()> {
    let shift = hue_shift(factor)?;
    if image.channels == 1 {
        return Ok(());
    }
    for pixel in image.data.chunks_exact_mut(image.channels.into()) {
        let [hue, saturation, value] = rgb_to_hsv([pixel[0], pixel[1], pixel[2]]);
        pixel[..3].copy_from_slice(&hsv_to_rgb([hue.wrapping_add(shift), saturation, value]));
        if let Some(alpha) = pixel.get_mut(3) {
            *alpha = 255;
        }
    }
    Ok(())
}

/// The image in grey; a grey image as it is.
pub fn rgb_to_grayscale(image: &Image) -> Image {
    if image.channels == 1 {
        return image.clone();
    }
    let pixels = image.data.chunks_exact(image.channels.into());
    let data = pixels.map(|pixel| luma(pixel[0], pixel[1], pixel[2])).collect();
    Image { width: image.width, height: image.height, channels: 1, data }
}

/// What is added to the hue byte, modulo 256.
pub(super) fn hue_shift(factor: f64) -> Result<u8> {
    if !(-0.5..=0.5).contains(&factor) {
        return Err(Error::usage(format!("the hue factor is {factor}, but must lie within -0.5 and 0.5")));
    }
    // Towards zero first, then modulo 256.
    Ok((factor * 255.0) as i32 as u8)
}

/// The mean of `pixels` bytes of that sum, rounded half up.
pub(super) fn mean(sum: u64, pixels: u64) -> u8 {
    if pixels == 0 {
        return 0;
    }
    (sum as f64 / pixels as f64 + 0.5) as u8
}

/// Blends all channels but alpha with one value.
fn blend_all(image: &mut Image, base: u8, factor: f32) {
    let table: [u8; 256] = std::array::from_fn(|value| blend(base, value as u8, factor));
    let colours = usize::from(image.channels.min(3));
    for pixel in image.data.chunks_exact_mut(image.channels.into()) {
        pixel[..colours].iter_mut().for_each(|value| *value = table[usize::from(*value)]);
    }
}
