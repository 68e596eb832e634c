//! RandomCrop, crop and pad as torchvision 0.29 (v1) does them on PIL images.
//!
//! Padding is never made as an image of its own: each output row and column looks up where it comes from.

use super::image::{Image, bytes};
use crate::error::{Error, Result};
use crate::rng::Draw;

/// Pixels added on each side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Padding {
    /// Columns before the first.
    pub left: u32,
    /// Rows above the first.
    pub top: u32,
    /// Columns after the last.
    pub right: u32,
    /// Rows below the last.
    pub bottom: u32,
}

impl Padding {
    /// The same on all four sides.
    pub fn all(pixels: u32) -> Self {
        Self { left: pixels, top: pixels, right: pixels, bottom: pixels }
    }
}

/// What padding is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PaddingMode {
    /// The fill value.
    #[default]
    Constant,
    /// The nearest pixel of the image.
    Edge,
    /// The image mirrored, its edge not repeated.
    Reflect,
    /// The image mirrored, its edge repeated.
    Symmetric,
}

/// The value of constant padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fill {
    /// One value for every channel.
    Value(u8),
    /// One value per channel; a list of one serves every channel.
    Channels(Vec<u8>),
}

impl Default for Fill {
    fn default() -> Self {
        Self::Value(0)
    }
}

impl Fill {
    /// The value of each channel; only the first `channels` count.
    fn pixel(&self, channels: u8) -> Result<[u8; 4]> {
        match self {
            Self::Value(value) => Ok([*value; 4]),
            Self::Channels(values) if values.len() == 1 => Ok([values[0]; 4]),
            Self::Channels(values) if values.len() == usize::from(channels) => {
                let mut pixel = [0; 4];
                pixel[..values.len()].copy_from_slice(values);
                Ok(pixel)
            }
            Self::Channels(values) => {
                let given = values.len();
                Err(Error::not_audited(format!("the fill has {given} values, but the image has {channels} channels"))
                    .help("name one value, or one for each channel"))
            }
        }
    }
}

/// A box of given size at a random place, after padding: torchvision's `RandomCrop`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RandomCrop {
    /// (height, width) of the output in pixels.
    pub size: (u32, u32),
    /// Padding before the crop.
    pub padding: Option<Padding>,
    /// Pads a side that is still smaller than the crop, by the difference and on both ends.
    pub pad_if_needed: bool,
    /// The value of constant padding.
    pub fill: Fill,
    /// What padding is made of.
    pub padding_mode: PaddingMode,
}

impl RandomCrop {
    /// A crop to `height` x `width` without padding.
    pub fn new(height: u32, width: u32) -> Self {
        Self {
            size: (height, width),
            padding: None,
            pad_if_needed: false,
            fill: Fill::default(),
            padding_mode: PaddingMode::default(),
        }
    }

    /// (height, width) of a `width` x `height` image after padding.
    pub fn padded(&self, width: u32, height: u32) -> (u64, u64) {
        let (rows, columns) = self.axes(width, height);
        (rows.padded(), columns.padded())
    }

    /// Whether this crop pads an image of that size.
    pub(super) fn pads(&self, width: u32, height: u32) -> bool {
        self.padded(width, height) != (u64::from(height), u64::from(width))
    }

    /// (rows, columns) that an image of that size leaves for the corner: it lies in `0..rows`, `0..columns`.
    ///
    /// # Errors
    /// Where the padded image is smaller than the crop, or the crop is larger than an image may be.
    pub fn room(&self, width: u32, height: u32) -> Result<(u32, u32)> {
        let (crop_height, crop_width) = self.size;
        bytes(crop_width, crop_height, 4)?;
        let (padded_height, padded_width) = self.padded(width, height);
        let rows = (padded_height + 1).checked_sub(u64::from(crop_height)).filter(|rows| *rows > 0);
        let columns = (padded_width + 1).checked_sub(u64::from(crop_width)).filter(|columns| *columns > 0);
        let (Some(rows), Some(columns)) = (rows, columns) else {
            let side = padded_height.min(padded_width);
            return Err(Error::not_audited(format!(
                "required crop size ({crop_height}, {crop_width}) is larger than input image size \
                 ({padded_height}, {padded_width})"
            ))
            .help(format!("name a crop that fits, height and width of the image in pixels: --pipeline crop={side}")));
        };
        match (u32::try_from(rows), u32::try_from(columns)) {
            (Ok(rows), Ok(columns)) => Ok((rows, columns)),
            _ => Err(Error::not_audited(format!(
                "padding makes the image {padded_height}x{padded_width} pixels, more than a crop can be drawn in"
            ))
            .help("name a smaller padding with --pipeline")),
        }
    }

    /// (top, left) of the box in the padded image. Draws nothing where the box is the whole image, else both,
    /// even in a direction without room.
    ///
    /// # Errors
    /// Those of [`Self::room`]; nothing is drawn then.
    pub fn draw(&self, width: u32, height: u32, generator: &mut dyn Draw) -> Result<(u32, u32)> {
        let (rows, columns) = self.room(width, height)?;
        if (rows, columns) == (1, 1) {
            return Ok((0, 0));
        }
        let top = generator.below(rows);
        Ok((top, generator.below(columns)))
    }

    /// Writes the box at (`top`, `left`) of the padded `image` into `output`, whose allocation is used again.
    ///
    /// # Errors
    /// Where the box leaves the padded image, or the fill does not match the image's channels.
    pub fn apply(&self, image: &Image, top: u32, left: u32, output: &mut Image) -> Result<()> {
        self.check(image, top, left)?;
        let (row_axis, column_axis) = self.axes(image.width, image.height);
        let fill = self.fill_for(image)?;
        let cut = Cut { fill, top: i64::from(top), left: i64::from(left) };
        cut.copy(image, row_axis, column_axis, self.size, output)
    }

    /// Refuses a box that leaves the padded image.
    pub(super) fn check(&self, image: &Image, top: u32, left: u32) -> Result<()> {
        image.check()?;
        let (rows, columns) = self.room(image.width, image.height)?;
        if top >= rows || left >= columns {
            let (height, width) = self.size;
            return Err(Error::not_audited(format!(
                "a {height}x{width} crop at ({top}, {left}) leaves the image; its corner lies below ({rows}, {columns})"
            )));
        }
        Ok(())
    }

    /// The padding's pixel; a fill that is not used is not looked at.
    fn fill_for(&self, image: &Image) -> Result<[u8; 4]> {
        let used = self.padding_mode == PaddingMode::Constant
            && (self.padding.is_some() || self.pads(image.width, image.height));
        if used { self.fill.pixel(image.channels) } else { Ok([0; 4]) }
    }

    /// Rows, columns.
    fn axes(&self, width: u32, height: u32) -> (Axis, Axis) {
        let padding = self.padding.unwrap_or_default();
        let mut rows = Axis::new(height, padding.top, padding.bottom, self.padding_mode);
        let mut columns = Axis::new(width, padding.left, padding.right, self.padding_mode);
        if self.pad_if_needed {
            columns.extend(self.size.1);
            rows.extend(self.size.0);
        }
        (rows, columns)
    }
}

/// One direction of a padded image.
#[derive(Clone, Copy)]
struct Axis {
    /// Pixels of the image itself.
    length: u64,
    before: u64,
    after: u64,
    /// Padding of both ends on top, for `pad_if_needed`.
    extra: u64,
    mode: PaddingMode,
}

impl Axis {
    fn new(length: u32, before: u32, after: u32, mode: PaddingMode) -> Self {
        Self { length: length.into(), before: before.into(), after: after.into(), extra: 0, mode }
    }

    fn once(&self) -> u64 {
        self.before + self.length + self.after
    }

    fn padded(&self) -> u64 {
        self.once() + 2 * self.extra
    }

    fn extend(&mut self, wanted: u32) {
        self.extra = u64::from(wanted).saturating_sub(self.once());
    }

    /// Where the padded position `index` comes from; none is fill.
    fn source(&self, index: i64) -> Option<usize> {
        let once = fold(index - self.extra as i64, self.once() as i64, self.mode)?;
        fold(once - self.before as i64, self.length as i64, self.mode).map(|index| index as usize)
    }
}

/// The position in `0..length` that `index` shows, as `numpy.pad` folds it, as often as needed.
fn fold(index: i64, length: i64, mode: PaddingMode) -> Option<i64> {
    if (0..length).contains(&index) {
        return Some(index);
    }
    if length == 0 {
        return None;
    }
    match mode {
        PaddingMode::Constant => None,
        PaddingMode::Reflect if length > 1 => {
            let index = index.rem_euclid(2 * length - 2);
            Some(if index < length { index } else { 2 * length - 2 - index })
        }
        PaddingMode::Symmetric => {
            let index = index.rem_euclid(2 * length);
            Some(if index < length { index } else { 2 * length - 1 - index })
        }
        // numpy repeats the pixel of a side that has only one.
        PaddingMode::Edge | PaddingMode::Reflect => Some(index.clamp(0, length - 1)),
    }
}

/// A box of a padded image.
struct Cut {
    fill: [u8; 4],
    top: i64,
    left: i64,
}

impl Cut {
    fn copy(&self, image: &Image, rows: Axis, columns: Axis, size: (u32, u32), output: &mut Image) -> Result<()> {
        let (height, width) = size;
        let channels = usize::from(image.channels);
        let fill = &self.fill[..channels];
        output.data.resize(bytes(width, height, image.channels)?, 0);
        (output.width, output.height, output.channels) = (width, height, image.channels);
        if width == 0 || height == 0 {
            return Ok(());
        }
        // The columns inner.0..inner.1 of the output are the image's own, side by side.
        let first = columns.extra as i64 + columns.before as i64 - self.left;
        let inner = (
            first.clamp(0, i64::from(width)) as usize,
            (first + columns.length as i64).clamp(0, i64::from(width)) as usize,
        );
        let row_bytes = width as usize * channels;
        let source_bytes = image.width as usize * channels;
        for (y, out) in output.data.chunks_exact_mut(row_bytes).enumerate() {
            let Some(row) = rows.source(self.top + y as i64) else {
                out.chunks_exact_mut(channels).for_each(|pixel| pixel.copy_from_slice(fill));
                continue;
            };
            let source = &image.data[row * source_bytes..][..source_bytes];
            if inner.0 < inner.1 {
                let start = (inner.0 as i64 - first) as usize * channels;
                let bytes = inner.0 * channels..inner.1 * channels;
                let length = bytes.len();
                out[bytes].copy_from_slice(&source[start..start + length]);
            }
            for x in (0..inner.0).chain(inner.0.max(inner.1)..width as usize) {
                let pixel = match columns.source(self.left + x as i64) {
                    Some(column) => &source[column * channels..][..channels],
                    None => fill,
                };
                out[x * channels..][..channels].copy_from_slice(pixel);
            }
        }
        Ok(())
    }
}

/// The box of `height` x `width` pixels at (`top`, `left`); what lies outside the image is zero.
///
/// # Errors
/// Where the box is larger than an image may be.
pub fn crop(image: &Image, top: i32, left: i32, height: u32, width: u32) -> Result<Image> {
    image.check()?;
    let rows = Axis::new(image.height, 0, 0, PaddingMode::Constant);
    let columns = Axis::new(image.width, 0, 0, PaddingMode::Constant);
    let mut output = empty();
    let cut = Cut { fill: [0; 4], top: top.into(), left: left.into() };
    cut.copy(image, rows, columns, (height, width), &mut output)?;
    Ok(output)
}

/// The image with `padding` around it.
///
/// # Errors
/// Where the result is larger than an image may be, the fill does not match the image's channels, or there is no
/// pixel to repeat.
pub fn pad(image: &Image, padding: Padding, fill: &Fill, mode: PaddingMode) -> Result<Image> {
    image.check()?;
    let rows = Axis::new(image.height, padding.top, padding.bottom, mode);
    let columns = Axis::new(image.width, padding.left, padding.right, mode);
    if mode != PaddingMode::Constant && image.data.is_empty() {
        return Err(Error::not_audited("an image without pixels has none to pad with"));
    }
    let fill = if mode == PaddingMode::Constant { fill.pixel(image.channels)? } else { [0; 4] };
    let side = |axis: Axis| u32::try_from(axis.padded()).unwrap_or(u32::MAX);
    let mut output = empty();
    let cut = Cut { fill, top: 0, left: 0 };
    cut.copy(image, rows, columns, (side(rows), side(columns)), &mut output)?;
    Ok(output)
}

/// An image without pixels, to be written over.
pub(super) fn empty() -> Image {
    Image { width: 0, height: 0, channels: 1, data: Vec::new() }
}
