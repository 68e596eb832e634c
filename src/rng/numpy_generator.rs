//! NumPy's `Generator`, over any of its bit generators, as NumPy 2.1 has it.

use super::numpy::{self, BitGenerator, Dtype, Method};
use super::pcg64::Pcg64;
use super::{Draw, Int, Seed, SeedSequence, State};

/// `np.random.Generator(bit_generator)`.
#[derive(Clone, Debug)]
pub struct NumpyGenerator<B = Pcg64> {
    bits: B,
}

impl NumpyGenerator<Pcg64> {
    /// `default_rng(seed)`.
    pub fn default_rng(seed: &Seed) -> Self {
        let sequence = match seed {
            Seed::Int(seed) => SeedSequence::new(&Int::from(*seed).seed_words()),
            Seed::Words(words) => SeedSequence::new(words),
        };
        Self::new(Pcg64::new(&sequence))
    }
}

impl<B: BitGenerator> NumpyGenerator<B> {
    /// Over a bit generator.
    pub fn new(bits: B) -> Self {
        Self { bits }
    }

    /// The bit generator.
    pub fn bits(&self) -> &B {
        &self.bits
    }

    /// One 64-bit word: `integers(0, 2**64, dtype=uint64)`.
    pub fn next_u64(&mut self) -> u64 {
        self.bits.next_u64()
    }

    /// `random()`.
    pub fn random(&mut self) -> f64 {
        self.bits.next_f64()
    }

    /// `random(dtype=float32)`: 24 bits in [0, 1).
    pub fn random_f32(&mut self) -> f32 {
        (self.bits.next_u32() >> 8) as f32 * (1.0 / 16_777_216.0)
    }

    /// `uniform(low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.random()
    }

    /// `integers(low, high, size=n, dtype=dtype)`; see [`numpy::integers`].
    pub fn integers(&mut self, dtype: Dtype, low: i128, high: i128, n: usize) -> Vec<i128> {
        numpy::integers(&mut self.bits, Method::Lemire, dtype, low, high, n)
    }

    /// `shuffle(values)`.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        numpy::shuffle(&mut self.bits, values);
    }

    /// `permutation(n)`, `n` < 2^32.
    pub fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        self.shuffle(&mut order);
        order
    }
}

impl<B: BitGenerator> Draw for NumpyGenerator<B> {
    fn below(&mut self, n: u32) -> u32 {
        Method::Lemire.bounded32(&mut self.bits, n - 1)
    }

    fn coin(&mut self, p: f64) -> bool {
        self.random() < p
    }

    fn permutation4(&mut self) -> [u8; 4] {
        let mut order = [0, 1, 2, 3];
        self.shuffle(&mut order);
        order
    }

    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.uniform(low, high)
    }

    fn state(&self) -> State {
        self.bits.state()
    }
}
