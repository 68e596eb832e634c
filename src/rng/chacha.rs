//! The default generator: `ChaCha` with 12 rounds, seeded from 64 bits.
//!
//! Its stream is held fixed by the tests: a change of it is a breaking change.

use rand::seq::SliceRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;

use super::{Draw, Key, Seed, State};

/// The algorithm's name in traces.
pub const ALGORITHM: &str = "chacha12";

/// A `ChaCha` generator.
#[derive(Clone, Debug)]
pub struct ChaCha {
    rng: ChaCha12Rng,
    key: Key,
}

impl ChaCha {
    /// Seeded from 64 bits.
    pub fn new(seed: u64) -> Self {
        Self::from_rng(ChaCha12Rng::seed_from_u64(seed))
    }

    /// Seeded from 32 bytes.
    pub fn from_bytes(seed: [u8; 32]) -> Self {
        Self::from_rng(ChaCha12Rng::from_seed(seed))
    }

    /// Seeded with the low 64 bits of an integer, or with a list's first eight words (little-endian, 0 where missing).
    pub fn seeded(seed: &Seed) -> Self {
        match seed {
            Seed::Int(seed) => Self::new(*seed as u64),
            Seed::Words(words) => {
                let mut bytes = [0; 32];
                for (four, word) in bytes.chunks_exact_mut(4).zip(words) {
                    four.copy_from_slice(&word.to_le_bytes());
                }
                Self::from_bytes(bytes)
            }
        }
    }

    fn from_rng(rng: ChaCha12Rng) -> Self {
        let mut words = rng.get_seed().to_vec();
        words.extend_from_slice(&rng.get_stream().to_le_bytes());
        let key = Key::of(&words);
        Self { rng, key }
    }

    /// 63 random bits, as torch's main process draws a base seed.
    pub fn random63(&mut self) -> u64 {
        self.rng.next_u64() >> 1
    }

    /// A permutation of `0..n`.
    pub fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.shuffle(&mut self.rng);
        order
    }
}

impl Draw for ChaCha {
    fn below(&mut self, n: u32) -> u32 {
        self.rng.random_range(0..n)
    }

    fn coin(&mut self, p: f64) -> bool {
        self.rng.random::<f64>() < p
    }

    fn permutation4(&mut self) -> [u8; 4] {
        let mut order = [0, 1, 2, 3];
        order.shuffle(&mut self.rng);
        order
    }

    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.rng.random::<f64>()
    }

    fn state(&self) -> State {
        State { key: self.key, position: self.rng.get_word_pos() as u64 }
    }
}
