//! The kernels in plain Rust, written in lanes that a compiler makes vector code of on any processor.

use super::fused::Kernels;
use super::pillow;
use super::scale::Scale;

/// Kernels that need nothing of the processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Portable;

/// Pixels that are turned together: enough to fill vectors, few enough to stay in registers and the first cache.
const LANES: usize = 32;

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
        bytes.iter_mut().for_each(|byte| *byte = scale.blend(base, i16::from(*byte)).clamp(0, 255) as u8);
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
fn turn_lanes([red, green, blue]: [&mut [u8; LANES]; 3], shift: u8) {
    let (mut hues, mut exact) = ([0_u8; LANES], [0_u8; LANES]);
    let (mut maxima, mut strengths) = ([0_u8; LANES], [0_u16; LANES]);
    for lane in 0..LANES {
        let [r, g, b] = [red[lane], green[lane], blue[lane]].map(i32::from);
        let max = r.max(g).max(b);
        let min = r.min(g).min(b);
        let range = max - min;
        let (sextants, difference) = if b == min {
            (1, g - r)
        } else if r == min {
            (3, b - g)
        } else {
            (5, r - b)
        };
        let turned = sextants * range + difference;
        let hue = floor(42.5 * turned as f32 / range.max(1) as f32);
        let saturation = floor((255 * range) as f32 / max.max(1) as f32);
        hues[lane] = hue as u8;
        exact[lane] = u8::from(85 * turned == 2 * range * hue);
        maxima[lane] = max as u8;
        strengths[lane] = (max * saturation) as u16;
    }
    if exact.iter().fold(0, |any, exact| any | exact) != 0 {
        for (hue, exact) in hues.iter_mut().zip(exact) {
            *hue -= exact & super::hue::is_cut(*hue);
        }
    }
    for lane in 0..LANES {
        let hue = 2 * i32::from(hues[lane].wrapping_add(shift));
        // Distance from full colour in 1/85 of a sextant, for each channel.
        let away = [170 - (hue - 255).abs(), (hue - 170).abs() - 85, (hue - 340).abs() - 85];
        let [r, g, b] = away.map(|away| {
            let loss = i32::from(strengths[lane]) * away.clamp(0, 85);
            let loss = (loss as f32 * (1.0 / 21_675.0) + WHOLE).to_bits() as u8;
            maxima[lane] - loss
        });
        (red[lane], green[lane], blue[lane]) = (r, g, b);
    }
}

/// `value` cut to a whole number, if it is one or at least 1/512 away from the next.
fn floor(value: f32) -> i32 {
    ((value - 0.499) + WHOLE).to_bits() as i32 & 0xffff
}
