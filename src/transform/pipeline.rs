//! RandomCrop, then RandomHorizontalFlip, then ColorJitter: parameters drawn, pixels made.

use super::crop::{RandomCrop, empty};
use super::jitter::ColorJitter;
use super::{Image, flip, pillow};
use crate::error::Result;
use crate::rng::Draw;

/// How a pipeline asks its generator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// As torchvision's own transforms: no corner where image and crop are equal, no factor without a range.
    #[default]
    Torchvision,
    /// As pipelines written by hand over NumPy or Python draw: always top, left, flip, order and all four factors.
    HandWritten,
}

/// The built-in pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// The crop.
    pub crop: RandomCrop,
    /// The probability of a horizontal flip.
    pub flip_p: f64,
    /// The ranges of the colour factors.
    pub jitter: ColorJitter,
    /// How parameters are drawn.
    pub dialect: Dialect,
}

/// What was drawn for one sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// The crop's first row in the padded image.
    pub top: u32,
    /// The crop's first column in the padded image.
    pub left: u32,
    /// The crop's rows.
    pub height: u32,
    /// The crop's columns.
    pub width: u32,
    /// Whether it is mirrored left to right.
    pub flipped: bool,
    /// The order of the colour operations: 0 brightness, 1 contrast, 2 saturation, 3 hue.
    pub order: [u8; 4],
    /// The factors of brightness, contrast, saturation, hue; none where that does nothing.
    pub factors: [Option<f64>; 4],
}

/// Buffers that [`Pipeline::apply`] uses again from sample to sample.
#[derive(Clone, Debug)]
pub struct Scratch {
    output: Image,
}

impl Default for Scratch {
    fn default() -> Self {
        Self { output: empty() }
    }
}

impl Pipeline {
    /// Draws the parameters for an image of `width` x `height` pixels.
    ///
    /// # Errors
    /// Where the image, with its padding, is smaller than the crop; nothing is drawn then.
    pub fn draw(&self, width: u32, height: u32, generator: &mut dyn Draw) -> Result<Parameters> {
        let (top, left) = match self.dialect {
            Dialect::Torchvision => self.crop.draw(width, height, generator)?,
            Dialect::HandWritten => {
                let (rows, columns) = self.crop.room(width, height)?;
                let top = generator.below(rows);
                (top, generator.below(columns))
            }
        };
        let flipped = generator.coin(self.flip_p);
        let (order, factors) = match self.dialect {
            Dialect::Torchvision => self.jitter.draw(generator),
            Dialect::HandWritten => self.jitter.draw_all(generator),
        };
        let (height, width) = self.crop.size;
        Ok(Parameters { top, left, height, width, flipped, order, factors })
    }

    /// The pixels of `image` under `parameters`; they stand in `scratch` until its next use.
    ///
    /// # Errors
    /// Where the parameters are not of this pipeline and image, or the fill does not match the image's channels.
    pub fn apply<'a>(&self, image: &Image, parameters: &Parameters, scratch: &'a mut Scratch) -> Result<&'a Image> {
        let output = &mut scratch.output;
        self.crop.apply(image, parameters.top, parameters.left, output)?;
        if parameters.flipped {
            flip::hflip(output);
        }
        for operation in parameters.order {
            let Some(factor) = parameters.factors.get(usize::from(operation)).copied().flatten() else { continue };
            match operation {
                0 => pillow::adjust_brightness(output, factor),
                1 => pillow::adjust_contrast(output, factor),
                2 => pillow::adjust_saturation(output, factor),
                _ => pillow::adjust_hue(output, factor)?,
            }
        }
        Ok(output)
    }
}
