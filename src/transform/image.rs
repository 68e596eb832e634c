//! Decoded pixels.

use crate::error::{Error, Result};

/// 8-bit pixels: rows top to bottom, pixels left to right, channels interleaved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// 1 (grey), 3 (RGB) or 4 (RGBA).
    pub channels: u8,
    /// `width * height * channels` bytes.
    pub data: Vec<u8>,
}

/// The most bytes that one image may have here: 1 GiB. A crop or padding that asks for more is refused.
pub const MAX_BYTES: u64 = 1 << 30;

impl Image {
    /// An image of the bytes `data`.
    ///
    /// # Errors
    /// Where `data` is not `width * height * channels` bytes, or the channels are not 1, 3 or 4.
    pub fn new(width: u32, height: u32, channels: u8, data: Vec<u8>) -> Result<Self> {
        let image = Self { width, height, channels, data };
        image.check()?;
        Ok(image)
    }

    /// The bytes of one pixel.
    pub fn pixel(&self, row: u32, column: u32) -> &[u8] {
        let channels = usize::from(self.channels);
        let start = (row as usize * self.width as usize + column as usize) * channels;
        &self.data[start..start + channels]
    }

    /// Refuses an image whose fields contradict each other, so that no arithmetic on it can go out of bounds.
    pub(super) fn check(&self) -> Result<()> {
        let (width, height, channels) = (self.width, self.height, self.channels);
        if ![1, 3, 4].contains(&channels) {
            return Err(Error::not_audited(format!("an image of {width}x{height} pixels has {channels} channels"))
                .help("transforms are built for grey (1), RGB (3) and RGBA (4) images"));
        }
        let bytes = bytes(width, height, channels)?;
        if self.data.len() != bytes {
            let found = self.data.len();
            return Err(Error::not_audited(format!(
                "an image of {width}x{height} pixels and {channels} channels has {found} bytes, not {bytes}"
            )));
        }
        Ok(())
    }
}

/// The bytes that an image takes, or why it is refused.
pub(super) fn bytes(width: u32, height: u32, channels: u8) -> Result<usize> {
    // Two u32 and a u8 multiply to at most 72 bits.
    let bytes = u128::from(width) * u128::from(height) * u128::from(channels);
    if bytes > u128::from(MAX_BYTES) {
        return Err(Error::not_audited(format!(
            "an image of {width}x{height} pixels would take {bytes} bytes; the most is {MAX_BYTES}"
        ))
        .help("name a smaller crop with --pipeline crop=..."));
    }
    Ok(bytes as usize)
}
