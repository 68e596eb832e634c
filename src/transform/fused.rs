//! Crop, flip and jitter of an RGB image in as few passes as its contrast allows.
//!
//! Each tile of pixels is split into planes of one colour, taken through all operations while it stays in the first
//! cache, and joined again. Contrast needs the mean luma of what comes before it, so it starts a second pass.

use super::scale::Scale;
use super::{Image, pillow};

/// What is done to pixels in planes of one colour. Colours of one call have one length.
pub(super) trait Kernels {
    /// Splits `width` pixels of the interleaved RGB image `source` from byte `first` on, mirrored if `flipped`.
    /// Each colour has room for `width` rounded up to [`GROUP`]; what lies beyond `width` may be written over.
    fn split(&self, source: &[u8], first: usize, width: usize, flipped: bool, colours: [&mut [u8]; 3]);

    /// Blends every byte with `base`.
    fn blend(&self, bytes: &mut [u8], base: u8, scale: Scale);

    /// The sum of lumas.
    fn luma_sum(&self, colours: [&[u8]; 3]) -> u64;

    /// Blends every pixel with its luma.
    fn saturate(&self, colours: [&mut [u8]; 3], scale: Scale);

    /// Adds `shift` to every pixel's hue.
    fn turn(&self, colours: [&mut [u8]; 3], shift: u8);

    /// Joins colours to interleaved RGB; `output` may end before they do.
    fn join(&self, colours: [&[u8]; 3], output: &mut [u8]);
}

/// Kernels are called for whole groups of so many pixels, but for the end of an image's output.
pub(super) const GROUP: usize = 32;

/// Pixels of a tile: three colours of it take a quarter of a first cache of 32 KiB.
const TILE: usize = 2048;

/// One colour operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    Brightness(f32),
    Contrast(f32),
    Saturation(f32),
    Hue(u8),
}

/// Up to four colour operations in a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steps {
    steps: [Option<Step>; 4],
    length: usize,
}

impl Steps {
    /// Adds one; a fifth is none of ColorJitter's.
    pub fn push(&mut self, step: Step) {
        self.steps[self.length] = Some(step);
        self.length += 1;
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Those before the contrast, and the others.
    fn split(&self) -> (&[Option<Step>], &[Option<Step>]) {
        let contrast = self.steps.iter().position(|step| matches!(step, Some(Step::Contrast(_))));
        self.steps.split_at(contrast.unwrap_or(self.length))
    }
}

/// One colour operation with all that is worked out once an image.
enum Ready {
    Blend(u8, Scale),
    /// Where a factor has no scale.
    Table([u8; 256]),
    Saturation(f32, Option<Scale>),
    Hue(u8),
}

impl Ready {
    /// `mean` is the mean luma of the image at a contrast.
    fn new(step: Step, mean: u8) -> Self {
        match step {
            Step::Brightness(factor) => Self::blend(0, factor),
            Step::Contrast(factor) => Self::blend(mean, factor),
            Step::Saturation(factor) => Self::Saturation(factor, Scale::of_any(factor)),
            Step::Hue(shift) => Self::Hue(shift),
        }
    }

    fn blend(base: u8, factor: f32) -> Self {
        Scale::from_base(base, factor).map_or_else(
            || Self::Table(std::array::from_fn(|value| pillow::blend(base, value as u8, factor))),
            |scale| Self::Blend(base, scale),
        )
    }

    fn run(&self, kernels: &impl Kernels, colours: [&mut [u8]; 3]) {
        match self {
            Self::Blend(base, scale) => colours.into_iter().for_each(|colour| kernels.blend(colour, *base, *scale)),
            Self::Table(table) => {
                colours.into_iter().flatten().for_each(|byte| *byte = table[usize::from(*byte)]);
            }
            Self::Saturation(_, Some(scale)) => kernels.saturate(colours, *scale),
            Self::Saturation(factor, None) => {
                let [red, green, blue] = colours;
                for ((red, green), blue) in red.iter_mut().zip(green).zip(blue) {
                    let grey = pillow::luma(*red, *green, *blue);
                    [red, green, blue].into_iter().for_each(|colour| *colour = pillow::blend(grey, *colour, *factor));
                }
            }
            Self::Hue(shift) => kernels.turn(colours, *shift),
        }
    }
}

/// Up to four operations in a row.
struct ReadySteps([Option<Ready>; 4]);

impl ReadySteps {
    fn new(steps: &[Option<Step>], mean: u8) -> Self {
        Self(std::array::from_fn(|at| steps.get(at).copied().flatten().map(|step| Ready::new(step, mean))))
    }

    fn run(&self, kernels: &impl Kernels, [red, green, blue]: [&mut [u8]; 3]) {
        self.0.iter().flatten().for_each(|step| step.run(kernels, [&mut *red, &mut *green, &mut *blue]));
    }
}

/// Part of an interleaved RGB image.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub data: &'a [u8],
    /// The byte of the first pixel.
    pub first: usize,
    /// Bytes from one row to the next.
    pub stride: usize,
    pub width: usize,
    pub height: usize,
}

/// Three planes of one colour each, for a whole image.
#[derive(Clone, Debug, Default)]
pub(super) struct Planes {
    bytes: Vec<u8>,
    /// Bytes of one plane: room for all pixels and for a group beyond.
    length: usize,
    /// Interleaved RGB of an image with alpha, before and after.
    colours_of_alpha: Vec<u8>,
    painted: Vec<u8>,
}

impl Planes {
    fn prepare(&mut self, pixels: usize) {
        self.length = pixels.next_multiple_of(GROUP) + GROUP;
        if self.bytes.len() < 3 * self.length {
            self.bytes.resize(3 * self.length, 0);
        }
    }

    fn colours(&mut self, range: std::ops::Range<usize>) -> [&mut [u8]; 3] {
        let (red, rest) = self.bytes.split_at_mut(self.length);
        let (green, blue) = rest.split_at_mut(self.length);
        [&mut red[range.clone()], &mut green[range.clone()], &mut blue[range]]
    }
}

/// Writes what `steps` make of `view` into `output`, `3 * width * height` bytes.
pub(super) fn paint(
    kernels: &impl Kernels,
    view: View<'_>,
    flipped: bool,
    steps: &Steps,
    planes: &mut Planes,
    output: &mut [u8],
) {
    let pixels = view.width * view.height;
    planes.prepare(pixels);
    let (before, after) = steps.split();
    let contrast = after.first().is_some_and(Option::is_some);
    let before = ReadySteps::new(before, 0);
    let (mut sum, mut done) = (0, 0);
    for row in 0..view.height {
        let at = row * view.width;
        let room = at..at + view.width.next_multiple_of(GROUP);
        kernels.split(view.data, view.first + row * view.stride, view.width, flipped, planes.colours(room));
        let split = at + view.width;
        let last = row + 1 == view.height;
        if !last && split - done < TILE {
            continue;
        }
        let mut end = split / GROUP * GROUP;
        if last && end < split {
            // Black stays black in all that precedes a contrast, so it adds nothing to the mean.
            end += GROUP;
            planes.colours(split..end).into_iter().for_each(|colour| colour.fill(0));
        }
        before.run(kernels, planes.colours(done..end));
        if contrast {
            sum += kernels.luma_sum(planes.colours(done..end).map(|colour| &*colour));
        } else {
            join(kernels, planes, done..end, output);
        }
        done = end;
    }
    if contrast {
        let after = ReadySteps::new(after, pillow::mean(sum, pixels as u64));
        for start in (0..done).step_by(TILE) {
            let tile = start..done.min(start + TILE);
            after.run(kernels, planes.colours(tile.clone()));
            join(kernels, planes, tile, output);
        }
    }
}

fn join(kernels: &impl Kernels, planes: &mut Planes, range: std::ops::Range<usize>, output: &mut [u8]) {
    let end = output.len().min(3 * range.end);
    kernels.join(planes.colours(range.clone()).map(|colour| &*colour), &mut output[3 * range.start..end]);
}

/// Takes grey pixels through `steps`, in place. Saturation and hue do nothing to them.
pub(super) fn paint_grey(kernels: &impl Kernels, bytes: &mut [u8], steps: &Steps) {
    for step in steps.steps.iter().flatten() {
        let (base, factor) = match *step {
            Step::Brightness(factor) => (0, factor),
            Step::Contrast(factor) => {
                let sum = bytes.iter().map(|byte| u64::from(*byte)).sum();
                (pillow::mean(sum, bytes.len() as u64), factor)
            }
            Step::Saturation(_) | Step::Hue(_) => continue,
        };
        match Ready::blend(base, factor) {
            Ready::Blend(base, scale) => kernels.blend(bytes, base, scale),
            other => other.run(kernels, [bytes, &mut [], &mut []]),
        }
    }
}

/// Takes RGBA pixels through `steps`, in place. Alpha stays, but for a hue that makes it 255.
pub(super) fn paint_with_alpha(kernels: &impl Kernels, image: &mut Image, steps: &Steps, planes: &mut Planes) {
    let opaque = steps.steps.iter().flatten().any(|step| matches!(step, Step::Hue(_)));
    let mut colours = std::mem::take(&mut planes.colours_of_alpha);
    let mut painted = std::mem::take(&mut planes.painted);
    colours.clear();
    colours.extend(image.data.as_chunks::<4>().0.iter().flat_map(|[red, green, blue, _]| [*red, *green, *blue]));
    painted.resize(colours.len(), 0);
    let (width, height) = (image.width as usize, image.height as usize);
    let view = View { data: &colours, first: 0, stride: 3 * width, width, height };
    paint(kernels, view, false, steps, planes, &mut painted);
    for (pixel, colours) in image.data.as_chunks_mut::<4>().0.iter_mut().zip(painted.as_chunks::<3>().0) {
        let alpha = if opaque { 255 } else { pixel[3] };
        *pixel = [colours[0], colours[1], colours[2], alpha];
    }
    (planes.colours_of_alpha, planes.painted) = (colours, painted);
}
