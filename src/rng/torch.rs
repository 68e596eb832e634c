//! torch's CPU generator: `torch.manual_seed` and the draws that data pipelines make, as torch 2.15 has them.
//!
//! Mirrors `ATen/CPUGeneratorImpl`, `ATen/core/TransformationHelper.h` and the CPU kernels of torch. Ranges are reduced
//! by remainder without rejection, and floats take the *low* bits of a word. Kernels are those with fused
//! multiply-add (any x86-64 processor of the last ten years); with `ATEN_CPU_CAPABILITY=default` about one in five values of
//! `uniform_` differs in its last bit.

use super::mt19937::Mt19937;
use super::{Draw, Seed, State};

/// From this range on `randint` takes 64-bit words.
const WIDE_RANGE: u64 = 1 << 28;

/// From this length on `randperm` shuffles another way, by 64-bit words.
const WIDE_PERMUTATION: usize = (u32::MAX / 20) as usize;

/// What `Tensor.random_()` fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    /// `torch.int64`: 63 bits.
    I64,
    /// `torch.int32`: 31 bits.
    I32,
    /// `torch.int16`: 15 bits.
    I16,
    /// `torch.int8`: 7 bits.
    I8,
    /// `torch.uint8`: 8 bits.
    U8,
    /// `torch.bool`: 1 bit.
    Bool,
    /// `torch.float32`: whole numbers up to 2^24.
    F32,
    /// `torch.float64`: whole numbers up to 2^53.
    F64,
}

/// torch's generator.
#[derive(Clone, Debug)]
pub struct Torch {
    words: Mt19937,
    initial_seed: u64,
    /// The second of a pair of normal values, kept for the next call.
    pub(super) normal: Option<f64>,
}

impl Torch {
    /// `torch.manual_seed(seed)`; a negative seed is its two's complement. Only the low 32 bits reach the state.
    pub fn new(seed: u64) -> Self {
        Self { words: Mt19937::from_seed(seed as u32), initial_seed: seed, normal: None }
    }

    /// Seeded with the low 64 bits of an integer, or of the little-endian integer that a list of words makes.
    pub fn seeded(seed: &Seed) -> Self {
        Self::new(match seed {
            Seed::Int(seed) => *seed as u64,
            Seed::Words(words) => words.iter().take(2).rev().fold(0, |high, &word| (high << 32) | u64::from(word)),
        })
    }

    /// `torch.initial_seed()`.
    pub fn initial_seed(&self) -> u64 {
        self.initial_seed
    }

    /// The generator's words.
    pub fn words(&self) -> &Mt19937 {
        &self.words
    }

    /// One 32-bit word.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        self.words.next_u32()
    }

    /// One 64-bit word: two of 32 bits, the first of them high.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.words.next_u64()
    }

    /// 63 random bits: a DataLoader's base seed and its sampler's seed.
    pub fn random63(&mut self) -> u64 {
        self.next_u64() & (u64::MAX >> 1)
    }

    /// One value of `Tensor.random_()`.
    pub fn random(&mut self, dtype: Dtype) -> u64 {
        let mut low = |bits: u32| u64::from(self.words.next_u32() & (u32::MAX >> (32 - bits)));
        match dtype {
            Dtype::I64 => self.random63(),
            Dtype::F64 => self.next_u64() % ((1 << 53) + 1),
            Dtype::F32 => u64::from(self.next_u32() % ((1 << 24) + 1)),
            Dtype::I32 => low(31),
            Dtype::I16 => low(15),
            Dtype::I8 => low(7),
            Dtype::U8 => low(8),
            Dtype::Bool => low(1),
        }
    }

    /// `torch.rand(1)`: 24 bits in [0, 1).
    #[inline]
    pub fn rand(&mut self) -> f32 {
        (self.next_u32() & 0x00FF_FFFF) as f32 * (1.0 / 16_777_216.0)
    }

    /// `torch.rand(1, dtype=torch.float64)`: 53 bits in [0, 1).
    #[inline]
    pub fn rand_f64(&mut self) -> f64 {
        (self.next_u64() & ((1 << 53) - 1)) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// `Tensor.uniform_(low, high)` of float32; the bounds are rounded to float32 first.
    pub fn uniform_f32(&mut self, low: f64, high: f64) -> f32 {
        let (low, high) = (low as f32, high as f32);
        self.rand().mul_add(high - low, low)
    }

    /// `Tensor.uniform_(low, high)` of float64.
    pub fn uniform_f64(&mut self, low: f64, high: f64) -> f64 {
        self.rand_f64().mul_add(high - low, low)
    }

    /// `torch.randint(low, high, (1,))`. A range of one value takes a word all the same.
    ///
    /// # Panics
    ///
    /// Where `low` is not below `high`: torch refuses that.
    pub fn randint(&mut self, low: i64, high: i64) -> i64 {
        assert!(low < high, "randint needs low < high, not {low} and {high}");
        let range = high.wrapping_sub(low) as u64;
        let word = if range >= WIDE_RANGE { self.next_u64() } else { u64::from(self.next_u32()) };
        low.wrapping_add((word % range) as i64)
    }

    /// `torch.randperm(n)`, `n` < 2^32: n - 1 words, none for one value.
    pub fn randperm(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        if n < WIDE_PERMUTATION {
            for at in 0..n.saturating_sub(1) {
                let left = (n - at) as u32;
                order.swap(at, at + (self.next_u32() % left) as usize);
            }
        } else {
            // From the inside out, with a word for the first value too.
            for at in 0..n {
                let other = (self.next_u64() % (at as u64 + 1)) as usize;
                order.swap(at, other);
            }
        }
        order
    }

    /// `torch.rand(1) < p`: a comparison in float32, so `p` is rounded first.
    pub fn coin(&mut self, p: f64) -> bool {
        self.rand() < p as f32
    }
}

impl Draw for Torch {
    fn below(&mut self, n: u32) -> u32 {
        self.randint(0, i64::from(n)) as u32
    }

    fn coin(&mut self, p: f64) -> bool {
        self.coin(p)
    }

    fn permutation4(&mut self) -> [u8; 4] {
        let mut order = [0, 1, 2, 3];
        for at in 0..3 {
            order.swap(at, at + (self.next_u32() % (4 - at as u32)) as usize);
        }
        order
    }

    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        f64::from(self.uniform_f32(low, high))
    }

    fn state(&self) -> State {
        self.words.state()
    }
}
