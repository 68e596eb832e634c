//! The kernels in plain Rust, written in lanes that a compiler makes vector code of on any processor.

use super::fused::Kernels;
use super::pillow;
use super::scale::Scale;

/// Kernels that need nothing of the processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portable;

/// Pixels that are turned together: enough to fill vectors, few enough to stay in registers and the first cache.
const LANES: usize = 64;

/// Adding it rounds an f32 below 2^22 to a whole number, which then stands in the low bits.
const WHOLE: f32 = 12_582_912.0;

#[cfg(not(target_arch = "x86_64"))]
impl Portable {
    /// Stands in for the kernels of another processor: there are none here.
    pub fn detect() -> Option<Self> {
        None
    }
}

impl Kernels for Portable {
    fn split(&self, source: &[u8], first: usize, width: usize, flipped: bool, colours: [&mut [u8]; 3]) {
        let [red, green, blue] = colours.map(|colour| &mut colour[..width]);
        let pixels = source[first..first + 3 * width].as_chunks::<3>().0;
        let out = red.iter_mut().zip(green).zip(blue);
        let copy = |(((red, green), blue), pixel): (((&mut u8, &mut u8), &mut u8), &[u8; 3])| {
            [*red, *green, *blue] = *pixel;
        };
        if flipped {
            out.zip(pixels.iter().rev()).for_each(copy);
        } else {
            out.zip(pixels).for_each(copy);
        }
    }

    fn blend(&self, bytes: &mut [u8], base: u8, scale: Scale) {
        let base = i16::from(base);
        for byte in bytes {
            *byte = scale.blend(base, i16::from(*byte)).clamp(0, 255) as u8;
        }
    }

    fn luma_sum(&self, [red, green, blue]: [&[u8]; 3]) -> u64 {
        let pixels = red.iter().zip(green).zip(blue);
        pixels.map(|((red, green), blue)| u64::from(pillow::luma(*red, *green, *blue))).sum()
    }

    fn saturate(&self, colours: [&mut [u8]; 3], scale: Scale) {
        let [red, green, blue] = colours;
        for ((red, green), blue) in red.iter_mut().zip(green).zip(blue) {
            let grey = i16::from(pillow::luma(*red, *green, *blue));
            for colour in [red, green, blue] {
                *colour = scale.blend(grey, i16::from(*colour)).clamp(0, 255) as u8;
            }
        }
    }

    fn turn(&self, colours: [&mut [u8]; 3], shift: u8) {
        let [(red, red_tail), (green, green_tail), (blue, blue_tail)] = colours.map(|colour| colour.as_chunks_mut());
        red.iter_mut().zip(green).zip(blue).for_each(|((red, green), blue)| turn_lanes([red, green, blue], shift));
        for ((red, green), blue) in red_tail.iter_mut().zip(green_tail).zip(blue_tail) {
            let [hue, saturation, value] = pillow::rgb_to_hsv([*red, *green, *blue]);
            [*red, *green, *blue] = pillow::hsv_to_rgb([hue.wrapping_add(shift), saturation, value]);
        }
    }

    fn join(&self, [red, green, blue]: [&[u8]; 3], output: &mut [u8]) {
        let pixels = red.iter().zip(green).zip(blue);
        for (out, ((red, green), blue)) in output.as_chunks_mut::<3>().0.iter_mut().zip(pixels) {
            *out = [*red, *green, *blue];
        }
    }
}

/// RGB to HSV, the hue moved, and back. How whole numbers stand in for Pillow's floating point: see [`super::hue`].
///
/// In stages of one width each: bytes in 16 bits, then quotients in 32.
fn turn_lanes([red, green, blue]: [&mut [u8; LANES]; 3], shift: u8) {
    let (mut starts, mut hues) = ([0_u16; LANES], [0_u16; LANES]);
    let (mut values, mut ranges, mut turned) = ([0_u16; LANES], [0_u16; LANES], [0_u16; LANES]);
    for lane in 0..LANES {
        let [red, green, blue] = [red[lane], green[lane], blue[lane]].map(i16::from);
        let value = red.max(green).max(blue);
        let least = red.min(green).min(blue);
        let (start, plus, minus) = (170, red, blue);
        let (start, plus, minus) = if red == least { (85, blue, green) } else { (start, plus, minus) };
        let (start, plus, minus) = if blue == least { (0, green, red) } else { (start, plus, minus) };
        let range = value - least;
        starts[lane] = start;
        values[lane] = value as u16;
        ranges[lane] = range as u16;
        turned[lane] = (range + plus - minus) as u16 * 85;
    }
    let mut strengths = [0_u16; LANES];
    for lane in 0..LANES {
        // Grey has no range and black no value; their quotients are then of 0.
        hues[lane] = cut(f32::from(turned[lane]) / f32::from(ranges[lane].max(1)));
        strengths[lane] = cut(f32::from(255 * ranges[lane]) / f32::from(values[lane].max(1)));
    }
    let mut any = 0;
    for lane in 0..LANES {
        let hue = hues[lane] >> 1;
        let exact = u16::from(turned[lane] == 2 * ranges[lane] * hue);
        strengths[lane] *= values[lane];
        hues[lane] = hue + starts[lane];
        // From here on, `turned` says where a hue came out exact.
        turned[lane] = exact;
        any |= exact;
    }
    if any != 0 {
        for (hue, exact) in hues.iter_mut().zip(turned) {
            *hue -= exact & u16::from(super::hue::is_cut(*hue as u8));
        }
    }
    let hues = hues.map(|hue| 2 * ((hue + u16::from(shift)) & 0xff) as i16);
    for (channel, colour) in [red, green, blue].into_iter().enumerate() {
        for lane in 0..LANES {
            let hue = hues[lane];
            // The distance from the channel's full colour in 1/85 of a sextant.
            let away = match channel {
                0 => 170 - (hue - 255).abs(),
                1 => (hue - 170).abs() - 85,
                _ => (hue - 340).abs() - 85,
            };
            let loss = f32::from(strengths[lane]) * f32::from(away.clamp(0, 85));
            // No product lies half-way between two whole numbers, so that the nearest is what is meant.
            colour[lane] = (values[lane] - whole(loss * (1.0 / 21_675.0))) as u8;
        }
    }
}

/// `quotient` cut to a whole number, if it is one or at least 1/256 away from the next.
fn cut(quotient: f32) -> u16 {
    whole(quotient - 0.499)
}

/// The nearest whole number.
fn whole(value: f32) -> u16 {
    (value + WHOLE).to_bits() as u16
}
