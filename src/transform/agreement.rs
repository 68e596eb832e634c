//! Every engine against the plain one: whole domains where they are small enough, else all widths, orders and kinds.

use super::crop::empty;
use super::fused::Kernels;
use super::portable::Portable;
use super::scale::Scale;
use super::{
    Avx2, ColorJitter, Dialect, Engine, Fill, Image, Padding, PaddingMode, Parameters, Pipeline, RandomCrop, Scratch,
    pillow,
};

/// Numbers without pattern: the `SplitMix64` of Steele, Lea and Flood.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn share(&mut self) -> f64 {
        self.below(1 << 30) as f64 / f64::from(1 << 30)
    }

    /// Bytes that are alike, dark, light and grey more often than chance has it.
    fn image(&mut self, width: u32, height: u32, channels: u8) -> Image {
        let mut image = empty();
        (image.width, image.height, image.channels) = (width, height, channels);
        for _ in 0..width * height {
            let kind = self.below(4);
            let mut value = self.next() as u8;
            for _ in 0..channels {
                match kind {
                    0 => {}
                    1 => value = [0, 1, 254, 255][self.below(4) as usize],
                    2 => value = value.wrapping_add(17),
                    _ => value = self.next() as u8,
                }
                image.data.push(value);
            }
        }
        image
    }

    fn factor(&mut self, hue: bool) -> Option<f64> {
        let share = self.share();
        match (self.below(8), hue) {
            (0, _) => None,
            (_, true) => Some(share - 0.5),
            (1, _) => Some([0.0, 1.0, 2.0, 0.5, 59.0, 61.0, 1e9, 1e-9][self.below(8) as usize]),
            (2, _) => Some(4.0 * share),
            _ => Some(0.6 + 0.8 * share),
        }
    }

    fn parameters(&mut self, top: u32, left: u32, height: u32, width: u32) -> Parameters {
        let mut order = [0, 1, 2, 3];
        (1..4).rev().for_each(|at| order.swap(at, self.below(at as u64 + 1) as usize));
        let factors = [false, false, false, true].map(|hue| self.factor(hue));
        Parameters { top, left, height, width, flipped: self.below(2) == 0, order, factors }
    }
}

/// The engines but the plain one, which they are held against.
fn fast() -> impl Iterator<Item = Engine> {
    Engine::available().into_iter().filter(|engine| *engine != Engine::Plain)
}

fn pipeline(crop: RandomCrop) -> Pipeline {
    Pipeline { crop, flip_p: 0.5, jitter: ColorJitter::default(), dialect: Dialect::Torchvision }
}

/// Names the first pixel that an engine makes otherwise than the plain one.
fn compare(pipeline: &Pipeline, image: &Image, parameters: &Parameters, scratches: &mut [Scratch]) {
    let mut plain = Scratch::new(Engine::Plain);
    let wanted = pipeline.apply(image, parameters, &mut plain).expect("plain pixels");
    for scratch in scratches {
        let engine = scratch.engine();
        let found = pipeline.apply(image, parameters, scratch).expect("fast pixels");
        assert_eq!((found.width, found.height, found.channels), (wanted.width, wanted.height, wanted.channels));
        let channels = usize::from(wanted.channels);
        let pixels = || found.data.chunks(channels).zip(wanted.data.chunks(channels));
        let wrong = pixels().position(|(found, wanted)| found != wanted);
        if let Some(at) = wrong {
            let (row, column) = (at / wanted.width as usize, at % wanted.width as usize);
            let (found, wanted) = pixels().nth(at).expect("the pixel found before");
            panic!(
                "{engine:?}: {found:?} instead of {wanted:?} at row {row}, column {column} of {}x{} pixels: \
                 {parameters:?} {:?}",
                image.width, image.height, pipeline.crop
            );
        }
    }
}

#[test]
fn engines_agree_on_every_width_flip_and_order() {
    let mut noise = Noise(1);
    let mut scratches: Vec<_> = fast().map(Scratch::new).collect();
    for width in (1..=100).chain([127, 128, 129, 224, 255, 1000]) {
        for channels in [3, 3, 3, 3, 1, 4] {
            let height = 1 + noise.below(if width > 100 { 40 } else { 9 }) as u32;
            let (right, below) = (noise.below(40) as u32, noise.below(3) as u32);
            let image = noise.image(width + right, height + below, channels);
            let (top, left) = (noise.below(u64::from(below) + 1) as u32, noise.below(u64::from(right) + 1) as u32);
            let parameters = noise.parameters(top, left, height, width);
            compare(&pipeline(RandomCrop::new(height, width)), &image, &parameters, &mut scratches);
        }
    }
}

#[test]
fn engines_agree_on_padded_crops() {
    let mut noise = Noise(2);
    let mut scratches: Vec<_> = fast().map(Scratch::new).collect();
    for case in 0..300 {
        let mode = [PaddingMode::Constant, PaddingMode::Edge, PaddingMode::Reflect, PaddingMode::Symmetric][case % 4];
        let channels = [3, 3, 1, 4][noise.below(4) as usize];
        let mut side = |most| 1 + noise.below(most) as u32;
        let (width, height, size) = (side(40), side(40), (side(40), side(40)));
        let [left, top, right, bottom] = [side(9), side(9), side(9), side(9)].map(|side| side - 1);
        let padding = Some(Padding { left, top, right, bottom });
        let fill = Fill::Channels((0..channels).map(|_| noise.next() as u8).collect());
        let crop = RandomCrop { size, padding, pad_if_needed: true, fill, padding_mode: mode };
        let (rows, columns) = crop.room(width, height).expect("room, padded if needed");
        let (top, left) = (noise.below(rows.into()) as u32, noise.below(columns.into()) as u32);
        let parameters = noise.parameters(top, left, size.0, size.1);
        let image = noise.image(width, height, channels);
        compare(&pipeline(crop), &image, &parameters, &mut scratches);
    }
}

/// The kernels that this machine can run, by name.
fn kernels() -> Vec<(&'static str, Box<dyn Kernels + Sync>)> {
    let mut kernels: Vec<(_, Box<dyn Kernels + Sync>)> = vec![("portable", Box::new(Portable))];
    if let Some(avx2) = Avx2::detect() {
        kernels.push(("avx2", Box::new(avx2)));
    }
    kernels
}

/// Planes of all 65536 pairs of green and blue with one red.
fn with_red(red: u8) -> [Vec<u8>; 3] {
    let pairs = || (0..=255_u8).flat_map(|green| (0..=255_u8).map(move |blue| (green, blue)));
    [vec![red; 65_536], pairs().map(|pair| pair.0).collect(), pairs().map(|pair| pair.1).collect()]
}

/// Runs `check` for every red, in two threads.
fn for_every_red(check: impl Fn(u8) + Sync) {
    std::thread::scope(|scope| {
        for start in 0..2_u8 {
            let check = &check;
            scope.spawn(move || (start..=255).step_by(2).for_each(check));
        }
    });
}

fn as_slices(planes: &mut [Vec<u8>; 3]) -> [&mut [u8]; 3] {
    planes.each_mut().map(Vec::as_mut_slice)
}

#[test]
fn hue_turns_all_colours_as_pillow() {
    let kernels = kernels();
    for_every_red(|red| {
        let colours = with_red(red);
        let hsv: Vec<_> =
            (0..65_536).map(|at| pillow::rgb_to_hsv([colours[0][at], colours[1][at], colours[2][at]])).collect();
        for shift in [0, 25, 128, 231] {
            let turned: Vec<_> = kernels
                .iter()
                .map(|(_, kernels)| {
                    let mut turned = colours.clone();
                    kernels.turn(as_slices(&mut turned), shift);
                    turned
                })
                .collect();
            for (at, [hue, saturation, value]) in hsv.iter().enumerate() {
                let wanted = pillow::hsv_to_rgb([hue.wrapping_add(shift), *saturation, *value]);
                for ((name, _), turned) in kernels.iter().zip(&turned) {
                    let found = [turned[0][at], turned[1][at], turned[2][at]];
                    let (green, blue) = (colours[1][at], colours[2][at]);
                    assert_eq!(found, wanted, "{name} turns {red} {green} {blue} by {shift}");
                }
            }
        }
    });
}

#[test]
fn hue_turns_by_all_shifts_as_pillow() {
    // Steps of 15 and 17: ranges whose hues come out exact, and others.
    let levels = || (0..=255_u8).step_by(15).chain((0..=255).step_by(17));
    let colours: Vec<[u8; 3]> =
        levels().flat_map(|red| levels().flat_map(move |green| levels().map(move |blue| [red, green, blue]))).collect();
    for (name, kernels) in kernels() {
        for shift in 0..=255 {
            let mut turned = [0, 1, 2].map(|channel| colours.iter().map(|colour| colour[channel]).collect::<Vec<_>>());
            kernels.turn(as_slices(&mut turned), shift);
            for (at, colour) in colours.iter().enumerate() {
                let [hue, saturation, value] = pillow::rgb_to_hsv(*colour);
                let wanted = pillow::hsv_to_rgb([hue.wrapping_add(shift), saturation, value]);
                let found = [turned[0][at], turned[1][at], turned[2][at]];
                assert_eq!(found, wanted, "{name} turns {colour:?} by {shift}");
            }
        }
    }
}

#[test]
fn luma_of_all_colours_is_pillows() {
    let kernels = kernels();
    for_every_red(|red| {
        let colours = with_red(red);
        for (name, kernels) in &kernels {
            for part in 0..256 {
                let part = part * 256..part * 256 + 256;
                let wanted: u64 =
                    part.clone().map(|at| u64::from(pillow::luma(red, colours[1][at], colours[2][at]))).sum();
                let found = kernels.luma_sum(colours.each_ref().map(|colour| &colour[part.clone()]));
                assert_eq!(found, wanted, "{name}, red {red}, green {}", colours[1][part.start]);
            }
        }
    });
}

#[test]
fn saturation_of_all_colours_is_pillows() {
    let kernels = kernels();
    let factors = [0.0, 0.613, 0.98, 1.000_1, 1.399, 2.5];
    let scales = factors.map(|factor| (factor, Scale::of_any(factor)));
    assert!(scales.iter().filter(|(_, scale)| scale.is_some()).count() >= 5, "{scales:?}");
    for_every_red(|red| {
        let colours = with_red(red);
        for (factor, scale) in scales {
            let Some(scale) = scale else { continue };
            for (name, kernels) in &kernels {
                let mut found = colours.clone();
                kernels.saturate(as_slices(&mut found), scale);
                for at in 0..65_536 {
                    let colour = [red, colours[1][at], colours[2][at]];
                    let grey = pillow::luma(colour[0], colour[1], colour[2]);
                    let wanted = colour.map(|value| pillow::blend(grey, value, factor));
                    assert_eq!([found[0][at], found[1][at], found[2][at]], wanted, "{name}: {colour:?} by {factor}");
                }
            }
        }
    });
}

#[test]
fn blends_of_all_pairs_of_bytes_are_pillows() {
    let bytes: Vec<u8> = (0..=255).collect();
    for factor in (0..160).map(|step| step as f32 * 0.012_7) {
        for base in 0..=255 {
            let Some(scale) = Scale::from_base(base, factor) else { continue };
            for (name, kernels) in kernels() {
                let mut found = bytes.clone();
                kernels.blend(&mut found, base, scale);
                let wanted: Vec<_> = bytes.iter().map(|value| pillow::blend(base, *value, factor)).collect();
                assert_eq!(found, wanted, "{name}: {base} by {factor}");
            }
        }
    }
}

#[test]
fn splitting_and_joining_keep_every_byte_in_its_place() {
    let mut noise = Noise(3);
    for (name, kernels) in kernels() {
        for (width, flipped) in (1..=97).flat_map(|width| [(width, false), (width, true)]) {
            let room = width + noise.below(50) as usize;
            let first = 3 * noise.below(u64::try_from(room - width).expect("a small number") + 1) as usize;
            let source: Vec<u8> = (0..3 * room).map(|_| noise.next() as u8).collect();
            let mut planes = [0; 3].map(|_: u8| vec![0; width.next_multiple_of(32)]);
            kernels.split(&source, first, width, flipped, as_slices(&mut planes));
            let mut wanted: Vec<[u8; 3]> = source[first..first + 3 * width].as_chunks().0.to_vec();
            if flipped {
                wanted.reverse();
            }
            let mut joined = vec![0; 3 * width];
            kernels.join(planes.each_ref().map(Vec::as_slice), &mut joined);
            for channel in 0..3 {
                let plane: Vec<_> = wanted.iter().map(|pixel| pixel[channel]).collect();
                assert_eq!(planes[channel][..width], plane, "{name}: {width} pixels, flipped {flipped}");
            }
            assert_eq!(joined, wanted.concat(), "{name}: {width} pixels, flipped {flipped}");
        }
    }
}
