//! torch's `Tensor.normal_` on the CPU: one way for few values, another for 16 and more.
//!
//! Mirrors `normal_fill` and `normal_distribution` of torch 2.15. The float32 kernel takes logarithm, sine and cosine
//! from polynomials on eight lanes (after J. Pommier's `avx_mathfun`, which follows the Cephes library), as compiled:
//! each product that feeds one sum is fused. Other kernels than AVX2's differ in last bits. float64 goes through the
//! system's mathematical library.

use std::f64::consts::PI;

use super::torch::Torch;

/// From this many values on torch fills in blocks.
const BLOCK: usize = 16;

/// Coefficients of the logarithm, highest power first.
#[expect(clippy::excessive_precision, reason = "as the Cephes library prints them")]
const LOG: [f32; 9] = [
    7.037_683_629_2e-2,
    -1.151_461_031_0e-1,
    1.167_699_874_0e-1,
    -1.242_014_084_6e-1,
    1.424_932_278_7e-1,
    -1.666_805_766_5e-1,
    2.000_071_476_5e-1,
    -2.499_999_399_3e-1,
    3.333_333_117_4e-1,
];
/// The natural logarithm of 2 in two parts, of which the first has few bits.
#[expect(clippy::excessive_precision, reason = "as the Cephes library prints them")]
const LN_2: [f32; 2] = [0.693_359_375, -2.121_944_40e-4];
/// Coefficients of the sine, highest power first.
#[expect(clippy::excessive_precision, reason = "as the Cephes library prints them")]
const SINE: [f32; 3] = [-1.951_529_589_1e-4, 8.332_160_873_6e-3, -1.666_665_461_1e-1];
/// Coefficients of the cosine, highest power first.
#[expect(clippy::excessive_precision, reason = "as the Cephes library prints them")]
const COSINE: [f32; 3] = [2.443_315_711_809_948e-5, -1.388_731_625_493_765e-3, 4.166_664_568_298_827e-2];
/// Minus a quarter of π in three parts, so that its multiples are taken off exactly.
#[expect(clippy::excessive_precision, reason = "as the Cephes library prints them")]
const QUARTER_PI: [f32; 3] = [-0.785_156_25, -2.418_756_484_985_351_562_5e-4, -3.774_894_977_445_941_08e-8];
/// Octants of the circle in a radian.
#[expect(clippy::excessive_precision, reason = "as the Cephes library prints it")]
const FOUR_OVER_PI: f32 = 1.273_239_544_735_16;

impl Torch {
    /// `Tensor.normal_(mean, std)` of `n` float64 values.
    pub fn normal_f64(&mut self, n: usize, mean: f64, std: f64) -> Vec<f64> {
        if n < BLOCK {
            return (0..n).map(|_| self.normal_one(mean, std)).collect();
        }
        filled(n, || self.rand_f64(), |block| block_f64(block, mean, std))
    }

    /// `Tensor.normal_(mean, std)` of `n` float32 values.
    pub fn normal_f32(&mut self, n: usize, mean: f64, std: f64) -> Vec<f32> {
        if n < BLOCK {
            return (0..n).map(|_| self.normal_one(mean, std) as f32).collect();
        }
        filled(n, || self.rand(), |block| block_f32(block, mean as f32, std as f32))
    }

    /// One value by the method of Box and Muller, whose second value is kept for the next call.
    fn normal_one(&mut self, mean: f64, std: f64) -> f64 {
        let value = self.normal.take().unwrap_or_else(|| {
            let (first, second) = (self.rand_f64(), self.rand_f64());
            let radius = (-2.0 * (-second).ln_1p()).sqrt();
            let angle = 2.0 * PI * first;
            self.normal = Some(radius * angle.sin());
            radius * angle.cos()
        });
        value.mul_add(std, mean)
    }
}

/// `n` uniform values turned into normal ones in blocks; where `n` is no multiple of 16 the last 16 are drawn anew.
fn filled<T: Copy>(n: usize, mut draw: impl FnMut() -> T, mut turn: impl FnMut(&mut [T])) -> Vec<T> {
    let mut values: Vec<T> = (0..n).map(|_| draw()).collect();
    values.chunks_exact_mut(BLOCK).for_each(&mut turn);
    if !n.is_multiple_of(BLOCK) {
        let last = &mut values[n - BLOCK..];
        last.fill_with(draw);
        turn(last);
    }
    values
}

fn block_f64(block: &mut [f64], mean: f64, std: f64) {
    let (firsts, seconds) = block.split_at_mut(BLOCK / 2);
    for (first, second) in firsts.iter_mut().zip(seconds) {
        let radius = (-2.0 * (1.0 - *first).ln()).sqrt();
        let angle = 2.0 * PI * *second;
        *first = (radius * angle.cos()).mul_add(std, mean);
        *second = (radius * angle.sin()).mul_add(std, mean);
    }
}

fn block_f32(block: &mut [f32], mean: f32, std: f32) {
    let (firsts, seconds) = block.split_at_mut(BLOCK / 2);
    for (first, second) in firsts.iter_mut().zip(seconds) {
        let radius = (-2.0 * ln(1.0 - *first)).sqrt();
        let (sine, cosine) = sine_cosine((2.0 * PI) as f32 * *second);
        *first = (radius * cosine).mul_add(std, mean);
        *second = (radius * sine).mul_add(std, mean);
    }
}

/// The natural logarithm of a positive number.
fn ln(x: f32) -> f32 {
    let bits = x.to_bits();
    let mut exponent = ((bits >> 23) as i32 - 0x7F) as f32 + 1.0;
    // In [0.5, 1), and from there into [√0.5 - 1, √2 - 1).
    let mut x = f32::from_bits((bits & !0x7F80_0000) | 0x3F00_0000);
    if x < std::f32::consts::FRAC_1_SQRT_2 {
        exponent -= 1.0;
        x = (x - 1.0) + x;
    } else {
        x -= 1.0;
    }
    let square = x * x;
    let series = polynomial(&LOG, x) * x;
    let series = series.mul_add(square, exponent * LN_2[1]);
    let series = (-square).mul_add(0.5, series);
    exponent.mul_add(LN_2[0], x + series)
}

/// Sine and cosine of a number that is not negative.
fn sine_cosine(x: f32) -> (f32, f32) {
    let octant = ((x * FOUR_OVER_PI) as i32 + 1) & !1;
    let x = QUARTER_PI.iter().fold(x, |x, &part| (octant as f32).mul_add(part, x));
    let square = x * x;
    let cosine = (polynomial(&COSINE, square) * square).mul_add(square, -(square * 0.5)) + 1.0;
    let sine = (polynomial(&SINE, square) * square).mul_add(x, x);
    let (sine, cosine) = if octant & 2 == 0 { (sine, cosine) } else { (cosine, sine) };
    let signed = |value: f32, negative: bool| if negative { -value } else { value };
    (signed(sine, octant & 4 != 0), signed(cosine, !(octant - 2) & 4 != 0))
}

/// Horner's scheme, fused.
fn polynomial(coefficients: &[f32], x: f32) -> f32 {
    coefficients[1..].iter().fold(coefficients[0], |sum, &coefficient| sum.mul_add(x, coefficient))
}
