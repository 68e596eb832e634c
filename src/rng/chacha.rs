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

#[cfg(test)]
mod tests {
    use super::*;

    // The expected values are from a second implementation in Python: ChaCha's block function, checked against the
    // test vectors of ChaCha12 and ChaCha20 for a key of zeros; rand's expansion of a 64-bit seed (PCG32), its
    // ranges (Canon's method), shuffle and float64, read off rand 0.10. A change of any of them changes what a
    // seed means.

    #[test]
    fn draws_of_a_seed_stay_as_they_are() {
        let mut generator = ChaCha::new(42);
        assert_eq!(generator.random63(), 4_856_634_881_994_887_761);
        assert_eq!([9, 1, 1000, 3_000_000_000].map(|n| generator.below(n)), [2, 0, 868, 1_909_395_297]);
        assert_eq!([0.3, 0.3].map(|p| generator.coin(p)), [false, false]);
        assert_eq!(generator.permutation4(), [0, 1, 3, 2]);
        let factors = [generator.uniform(0.6, 1.4), generator.uniform(-0.1, 0.1)];
        assert_eq!(factors.map(f64::to_bits), [0x3ff3_09fe_0b9e_0d39, 0x3fb1_e1b5_ebd6_4fbe]);
        assert_eq!(generator.permutation(20), [9, 19, 18, 3, 15, 0, 10, 11, 17, 4, 8, 6, 7, 12, 5, 16, 13, 1, 2, 14]);
        assert_eq!(generator.state().position, 20);
    }

    #[test]
    fn draws_of_32_bytes_stay_as_they_are() {
        let mut bytes = [0; 32];
        for (byte, value) in bytes.iter_mut().zip(0..) {
            *byte = value;
        }
        assert_eq!(ChaCha::from_bytes(bytes).random63(), 3_414_640_463_657_605_369);
        let words = (0..8).map(|at| u32::from_le_bytes([4 * at, 4 * at + 1, 4 * at + 2, 4 * at + 3])).collect();
        assert_eq!(ChaCha::seeded(&Seed::Words(words)).random63(), 3_414_640_463_657_605_369);
    }

    /// `hashlib.sha256(key + bytes(8)).hexdigest()[:32]`, the key as the second implementation expands the seed.
    #[test]
    fn a_state_is_the_key_and_the_words_drawn() {
        let mut generator = ChaCha::new(42);
        let start = generator.state();
        assert_eq!((start.key.to_string().as_str(), start.position), ("6baa809922ae351c08b9070d7036b068", 0));
        generator.uniform(0.0, 1.0);
        assert_eq!(generator.state().ahead_of(&start), Some(2));
    }
}
