//! Decodes one image into the modes that the transforms know: L, RGB, RGBA.
//!
//! Other modes are converted and that is said once: palettes to RGB (RGBA where they have transparency), grey with
//! alpha to RGBA, 16-bit to 8-bit by the high byte. Pillow would rather clip 16-bit grey to 255, which leaves a white
//! picture: few programs want that.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use image::{DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits};

use super::jpeg;
use crate::error::{Error, Result};
use crate::transform::Image;

/// An image and how it was converted, where it was.
pub struct Decoded {
    /// The pixels.
    pub image: Image,
    /// `converted from a palette to RGB` and the like; reads after "3 images are".
    pub conversion: Option<&'static str>,
}

/// Decodes a file.
///
/// # Errors
/// Where it cannot be read, is no image, another format than its name says, damaged, or larger than `max_pixels`.
pub fn decode_file(path: &Path, max_pixels: u64) -> Result<Decoded> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| {
        Error::not_audited(format!("cannot read image {name}: {error}"))
            .help("make it readable, or remove it from the folder")
    })?;
    decode_from(&name, BufReader::new(file), max_pixels)
}

/// Decodes bytes; `name` is for messages and its ending says the format.
///
/// # Errors
/// As [`decode_file`].
pub fn decode(name: &str, bytes: &[u8], max_pixels: u64) -> Result<Decoded> {
    decode_from(name, Cursor::new(bytes), max_pixels)
}

fn decode_from<R: Read + Seek + std::io::BufRead>(name: &str, mut reader: R, max_pixels: u64) -> Result<Decoded> {
    let (format, mut stored) = checked_format(name, &mut reader)?;
    let bad = |why: &str| {
        Error::not_audited(format!("image {name} is damaged or truncated: {why}"))
            .help("replace or remove the file; samples are never skipped, so that an audit covers what it says")
    };
    let damaged = |error: image::ImageError| match error {
        image::ImageError::Limits(_) => too_large(name, max_pixels),
        error => bad(&one_line(&error.to_string())),
    };
    if format == ImageFormat::Jpeg {
        // The decoder fills what is missing with grey; Pillow refuses it, and so is it here.
        let components = jpeg::components(&mut reader).ok_or_else(|| bad("it ends before its end marker"))?;
        reader.seek(SeekFrom::Start(0)).map_err(|error| bad(&error.to_string()))?;
        stored = if components == 4 { Stored::Cmyk } else { Stored::Other };
    }
    let mut reader = ImageReader::with_format(reader, format);
    let mut limits = Limits::default();
    limits.max_alloc = Some(max_pixels.saturating_mul(8).saturating_add(1 << 20));
    reader.limits(limits);
    let decoder = reader.into_decoder().map_err(damaged)?;
    let (width, height) = decoder.dimensions();
    let pixels = u64::from(width) * u64::from(height);
    if pixels > max_pixels {
        return Err(Error::not_audited(format!(
            "image {name} has {width}x{height} = {pixels} pixels, more than the limit of {max_pixels}"
        ))
        .help(format!("if it is no decompression bomb, raise the limit: --max-pixels {pixels}")));
    }
    let decoded = DynamicImage::from_decoder(decoder).map_err(damaged)?;
    Ok(converted(decoded, stored))
}

/// How a file stores its pixels, which the decoder does not tell.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stored {
    Palette,
    Cmyk,
    /// Grey or RGB without an alpha channel; a `tRNS` chunk may still name one transparent colour.
    Opaque {
        bits: u8,
    },
    Other,
}

impl Stored {
    /// From the first bytes of a file: in a PNG, bit depth and colour type are bytes 24 and 25.
    fn of(head: &[u8]) -> Self {
        match (head.get(24), head.get(25)) {
            (Some(_), Some(3)) => Self::Palette,
            (Some(bits), Some(0 | 2)) => Self::Opaque { bits: *bits },
            _ => Self::Other,
        }
    }
}

fn checked_format<R: Read + Seek>(name: &str, reader: &mut R) -> Result<(ImageFormat, Stored)> {
    let unreadable = |error: std::io::Error| Error::not_audited(format!("cannot read image {name}: {error}"));
    let mut head = Vec::new();
    reader.take(26).read_to_end(&mut head).map_err(unreadable)?;
    reader.seek(SeekFrom::Start(0)).map_err(unreadable)?;
    if head.is_empty() {
        return Err(Error::not_audited(format!("image {name} is empty")).help("replace or remove the file"));
    }
    let named = ImageFormat::from_path(name).ok();
    let held = image::guess_format(&head).ok();
    match (named, held) {
        (Some(named), Some(held)) if named == held => {
            Ok((held, if held == ImageFormat::Png { Stored::of(&head) } else { Stored::Other }))
        }
        (Some(named), Some(held)) => Err(Error::not_audited(format!(
            "image {name} is mislabelled: it is named as {} and holds {}",
            label(named),
            label(held)
        ))
        .help("rename it after what it holds, or convert it")),
        (named, _) => Err(Error::not_audited(format!(
            "image {name} does not hold {} data: it begins with {:02x?}",
            named.map_or("image".to_owned(), label),
            &head[..head.len().min(8)]
        ))
        .help("replace or remove the file")),
    }
}

fn label(format: ImageFormat) -> String {
    format.extensions_str().first().map_or_else(|| format!("{format:?}"), |name| name.to_uppercase())
}

fn converted(decoded: DynamicImage, stored: Stored) -> Decoded {
    let (width, height) = (decoded.width(), decoded.height());
    // Pillow keeps a single transparent colour out of the pixels; so is it here.
    let decoded = match (stored, decoded) {
        (Stored::Opaque { .. }, DynamicImage::ImageLumaA8(grey)) => DynamicImage::ImageLumaA8(grey).into_luma8().into(),
        (Stored::Opaque { .. }, DynamicImage::ImageRgba8(rgba)) => DynamicImage::ImageRgba8(rgba).into_rgb8().into(),
        (_, decoded) => decoded,
    };
    let palette = match stored {
        Stored::Palette => Some(("converted from a palette to RGB", "converted from a palette to RGBA")),
        Stored::Cmyk => Some(("converted from CMYK to RGB", "converted from CMYK to RGBA")),
        Stored::Opaque { .. } | Stored::Other => None,
    };
    let (channels, data, conversion) = match decoded {
        DynamicImage::ImageLuma8(grey) => {
            let few_bits = matches!(stored, Stored::Opaque { bits: 1..8 });
            (1, grey.into_raw(), few_bits.then_some("converted from less than 8 bits to 8-bit grey"))
        }
        DynamicImage::ImageRgb8(rgb) => (3, rgb.into_raw(), palette.map(|(rgb, _)| rgb)),
        DynamicImage::ImageRgba8(rgba) => (4, rgba.into_raw(), palette.map(|(_, rgba)| rgba)),
        DynamicImage::ImageLumaA8(grey) => {
            (4, DynamicImage::ImageLumaA8(grey).into_rgba8().into_raw(), Some("converted from grey with alpha to RGBA"))
        }
        DynamicImage::ImageLuma16(grey) => (1, high_bytes(&grey), Some("converted from 16-bit to 8-bit grey")),
        DynamicImage::ImageRgb16(rgb) => (3, high_bytes(&rgb), Some("converted from 16-bit to 8-bit RGB")),
        DynamicImage::ImageRgba16(rgba) => (4, high_bytes(&rgba), Some("converted from 16-bit to 8-bit RGBA")),
        other => (3, other.into_rgb8().into_raw(), Some("converted to RGB")),
    };
    Decoded { image: Image { width, height, channels, data }, conversion }
}

fn too_large(name: &str, max_pixels: u64) -> Error {
    Error::not_audited(format!("image {name} has more pixels than the limit of {max_pixels}"))
        .help("if it is no decompression bomb, raise the limit with --max-pixels")
}

fn high_bytes(words: &[u16]) -> Vec<u8> {
    words.iter().map(|word| (word >> 8) as u8).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
