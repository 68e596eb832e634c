//! Pillow's blend in 16-bit whole numbers, where that can be proved to give the same bytes.
//!
//! Pillow computes `base + factor * d` in f32, `d = value - base`, and cuts it to a byte. That is
//! `value + floor((factor - 1) * d)`, limited to a byte, as long as the sum does not round up to a whole number. The
//! second term is one multiplication of 16 bits and a shift. Whether multiplier, shift and bias are right is not
//! reasoned but tried, for every `d` that can occur, each time a factor is drawn; a factor that has none (about one in
//! a thousand up to 2, more beyond) goes the plain way.

use std::array;

/// Differences of two bytes: -255..=255.
const DIFFERENCES: usize = 511;

/// Adding and subtracting it rounds an f32 below 2^22 to a whole number, which then stands in the low bits.
const WHOLE: f32 = 12_582_912.0;

/// A sum in [0, 256) is rounded by at most half of its last place, 2^-17, so a product that is farther below the next
/// whole number cannot reach it.
const FAR: f32 = 1.0 - 1.0 / 131_072.0;

/// `floor((factor - 1) * d)` as `(d * 128 + bias) * multiplier >> 16 >> shift`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale {
    pub multiplier: i16,
    pub shift: i16,
    pub bias: i16,
}

impl Scale {
    /// The scale that blends `base` with any byte.
    pub fn from_base(base: u8, factor: f32) -> Option<Self> {
        Self::find(factor, usize::from(255 - base)..=usize::from(255 - base) + 255)
    }

    /// The scale that blends any two bytes.
    pub fn of_any(factor: f32) -> Option<Self> {
        Self::find(factor, 0..=DIFFERENCES - 1)
    }

    /// `domain` is that of `d + 255`.
    fn find(factor: f32, domain: std::ops::RangeInclusive<usize>) -> Option<Self> {
        // Beyond this the sums would leave 16 bits; NaN leaves here as well.
        if !(factor.abs() < 60.0) {
            return None;
        }
        let (domain, wanted) = (domain.clone(), wanted(factor, domain)?);
        let extra = f64::from(factor) - 1.0;
        // As many bits as the multiplier takes.
        let mut bits = 9_u8;
        while bits < 24 && (extra * f64::from(1 << (bits + 1))).abs() < 32_765.0 {
            bits += 1;
        }
        let nearest = (extra * f64::from(1 << bits)).round() as i16;
        let shift = i16::from(bits - 9);
        let biases = [0, 8, -8, 32, -32].into_iter();
        let mut scales = biases.flat_map(|bias| {
            [0, 1, -1, 2, -2].map(|step| Self { multiplier: nearest.saturating_add(step), shift, bias })
        });
        scales.find(|scale| scale.is_right(domain.clone(), &wanted))
    }

    /// The blend of `base` and `value`, not yet limited to a byte.
    pub fn blend(self, base: i16, value: i16) -> i16 {
        value + self.product(value - base)
    }

    fn product(self, difference: i16) -> i16 {
        let high = (i32::from((difference << 7) + self.bias) * i32::from(self.multiplier)) >> 16;
        high as i16 >> self.shift
    }

    fn is_right(self, domain: std::ops::RangeInclusive<usize>, wanted: &[i16; DIFFERENCES]) -> bool {
        // No early end, so that the compiler can take many at a time.
        let first = *domain.start() as i16 - 255;
        let wrong = (first..)
            .zip(&wanted[domain])
            .fold(0, |wrong, (difference, wanted)| wrong | (difference + self.product(difference)) ^ wanted);
        wrong == 0
    }
}

/// `floor(factor * d)` for every d, or none where a sum with one in `domain` could round up to a whole number.
fn wanted(factor: f32, domain: std::ops::RangeInclusive<usize>) -> Option<[i16; DIFFERENCES]> {
    let products: [f32; DIFFERENCES] = array::from_fn(|index| factor * (index as f32 - 255.0));
    let floors = products.map(|product| {
        let nearest = (product + WHOLE) - WHOLE;
        if nearest > product { nearest - 1.0 } else { nearest }
    });
    let near = products[domain.clone()].iter().zip(&floors[domain]).fold(false, |near, (product, floor)| {
        // Exact: both are multiples of the product's last place, and their difference is below 1.
        near | (product - floor >= FAR)
    });
    (!near).then(|| floors.map(|floor| (floor + WHOLE).to_bits() as i16))
}

#[cfg(test)]
mod tests {
    use super::super::pillow;
    use super::*;

    /// Factors of every kind: those of usual jitters, their neighbours, and far ones.
    fn factors() -> Vec<f32> {
        let usual = (0..400).map(|step| 0.003_7 + step as f32 * 0.005_013);
        let whole = [0.0, 0.5, 1.0, 1.25, 2.0, 3.0, -0.5, -1.0, 59.9, 1e-9, 1.0 / 3.0];
        let beside = [0.5_f32, 1.0, 2.0].into_iter().flat_map(|at| [at.next_down(), at.next_up()]);
        usual.chain(whole).chain(beside).collect()
    }

    #[test]
    fn a_scale_blends_every_pair_of_bytes_as_pillow() {
        let mut found = 0;
        for factor in factors() {
            let Some(scale) = Scale::of_any(factor) else { continue };
            found += 1;
            for (base, value) in (0..=255).flat_map(|base| (0..=255).map(move |value| (base, value))) {
                let blended = scale.blend(base.into(), value.into()).clamp(0, 255) as u8;
                assert_eq!(blended, pillow::blend(base, value, factor), "{base} and {value} by {factor}, {scale:?}");
            }
        }
        assert!(found > 300, "only {found} factors have a scale");
    }

    #[test]
    fn a_scale_from_one_base_blends_every_byte_as_pillow() {
        for base in [0, 1, 77, 128, 254, 255] {
            let mut found = 0;
            for factor in factors() {
                let Some(scale) = Scale::from_base(base, factor) else { continue };
                found += 1;
                for value in 0..=255 {
                    let blended = scale.blend(base.into(), value.into()).clamp(0, 255) as u8;
                    assert_eq!(blended, pillow::blend(base, value, factor), "{base} and {value} by {factor}");
                }
            }
            assert!(found > 300, "only {found} factors have a scale for {base}");
        }
    }

    #[test]
    fn a_sum_that_rounds_up_to_a_whole_number_has_no_scale() {
        // 255 - 1 * 2^-25 is 255 in f32, but its floor is 254.
        assert_eq!(pillow::blend(255, 254, 1.0 / 33_554_432.0), 255);
        assert_eq!(Scale::of_any(1.0 / 33_554_432.0), None);
    }

    #[test]
    fn factors_beyond_sixteen_bits_have_no_scale() {
        for factor in [60.0, -60.0, 1e30, f32::INFINITY, f32::NAN] {
            assert_eq!(Scale::of_any(factor), None, "{factor}");
        }
    }
}
