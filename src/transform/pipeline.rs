//! RandomCrop, then RandomHorizontalFlip, then ColorJitter: parameters drawn, pixels made.

use super::crop::{RandomCrop, empty};
use super::fused::{self, Kernels, Planes, Step, Steps, View};
use super::jitter::ColorJitter;
use super::portable::Portable;
use super::{Avx2, Image, flip, pillow};
use crate::error::{Error, Result};
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

/// Which code makes the pixels; all make the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Pixel by pixel, as written down in [`pillow`].
    Plain,
    /// Planes of one colour, in whole numbers.
    Portable,
    /// The same with AVX2 and FMA.
    Avx2,
}

impl Engine {
    /// Those that this machine can run, the fastest last.
    pub fn available() -> Vec<Self> {
        let mut engines = vec![Self::Plain, Self::Portable];
        if Avx2::detect().is_some() {
            engines.push(Self::Avx2);
        }
        engines
    }

    /// The fastest that this machine can run.
    pub fn fastest() -> Self {
        if Avx2::detect().is_some() { Self::Avx2 } else { Self::Portable }
    }
}

/// Buffers that [`Pipeline::apply`] uses again from sample to sample.
#[derive(Clone, Debug)]
pub struct Scratch {
    engine: Engine,
    /// The crop, where it has padding or is not of RGB.
    cut: Image,
    planes: Planes,
    output: Image,
}

impl Scratch {
    /// Buffers for one engine. An engine that this machine cannot run is [`Engine::Portable`].
    pub fn new(engine: Engine) -> Self {
        Self { engine, cut: empty(), planes: Planes::default(), output: empty() }
    }

    /// The engine that it is for.
    pub fn engine(&self) -> Engine {
        self.engine
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new(Engine::fastest())
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
        let steps = steps(parameters)?;
        match (scratch.engine, Avx2::detect()) {
            (Engine::Plain, _) => self.apply_plainly(image, parameters, scratch)?,
            (Engine::Avx2, Some(avx2)) => self.apply_fused(&avx2, image, parameters, &steps, scratch)?,
            (Engine::Portable | Engine::Avx2, _) => {
                self.apply_fused(&Portable, image, parameters, &steps, scratch)?;
            }
        }
        Ok(&scratch.output)
    }

    fn apply_plainly(&self, image: &Image, parameters: &Parameters, scratch: &mut Scratch) -> Result<()> {
        let output = &mut scratch.output;
        self.crop.apply(image, parameters.top, parameters.left, output)?;
        if parameters.flipped {
            flip::hflip(output);
        }
        for operation in parameters.order {
            match (operation, parameters.factors[usize::from(operation)]) {
                (_, None) => {}
                (0, Some(factor)) => pillow::adjust_brightness(output, factor),
                (1, Some(factor)) => pillow::adjust_contrast(output, factor),
                (2, Some(factor)) => pillow::adjust_saturation(output, factor),
                (_, Some(factor)) => pillow::adjust_hue(output, factor)?,
            }
        }
        Ok(())
    }

    fn apply_fused(
        &self,
        kernels: &impl Kernels,
        image: &Image,
        parameters: &Parameters,
        steps: &Steps,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { cut, planes, output, .. } = scratch;
        if image.channels != 3 || (steps.is_empty() && !parameters.flipped) {
            self.crop.apply(image, parameters.top, parameters.left, output)?;
            if parameters.flipped {
                flip::hflip(output);
            }
            match output.channels {
                1 => fused::paint_grey(kernels, &mut output.data, steps),
                4 => fused::paint_with_alpha(kernels, output, steps, planes),
                _ => {}
            }
            return Ok(());
        }
        let source = if self.crop.pads(image.width, image.height) {
            self.crop.apply(image, parameters.top, parameters.left, cut)?;
            (&*cut, 0, 0)
        } else {
            self.crop.check(image, parameters.top, parameters.left)?;
            (image, parameters.top as usize, parameters.left as usize)
        };
        let (source, top, left) = source;
        let (height, width) = self.crop.size;
        let stride = 3 * source.width as usize;
        let first = top * stride + 3 * left;
        let view = View { data: &source.data, first, stride, width: width as usize, height: height as usize };
        output.data.resize(3 * view.width * view.height, 0);
        (output.width, output.height, output.channels) = (width, height, 3);
        fused::paint(kernels, view, parameters.flipped, steps, planes, &mut output.data);
        Ok(())
    }
}

/// The operations that do something, in their order.
fn steps(parameters: &Parameters) -> Result<Steps> {
    let Parameters { order, factors, .. } = parameters;
    let mut sorted = *order;
    sorted.sort_unstable();
    if sorted != [0, 1, 2, 3] {
        return Err(Error::not_audited(format!("the order of colour operations is {order:?}, not one of 0, 1, 2, 3")));
    }
    let mut steps = Steps::default();
    for operation in *order {
        let Some(factor) = factors[usize::from(operation)] else { continue };
        steps.push(match operation {
            0 => Step::Brightness(factor as f32),
            1 => Step::Contrast(factor as f32),
            2 => Step::Saturation(factor as f32),
            _ => Step::Hue(pillow::hue_shift(factor)?),
        });
    }
    Ok(steps)
}
