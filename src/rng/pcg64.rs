//! PCG64, the generator under NumPy's `default_rng`: M. E. O'Neill's PCG XSL-RR 128/64, seeded as NumPy seeds it.

use super::numpy::{BitGenerator, Halves};
use super::{Key, SeedSequence, State};

/// The algorithm's name in traces.
pub const ALGORITHM: &str = "pcg64";

const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;

/// NumPy's `PCG64`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pcg64 {
    state: u128,
    increment: u128,
    halves: Halves,
}

impl Pcg64 {
    /// `PCG64(sequence)`.
    pub fn new(sequence: &SeedSequence) -> Self {
        let words = sequence.words64(4);
        let pair = |at: usize| (u128::from(words[at]) << 64) | u128::from(words[at + 1]);
        let mut generator = Self { state: 0, increment: (pair(2) << 1) | 1, halves: Halves::default() };
        generator.step();
        generator.state = generator.state.wrapping_add(pair(0));
        generator.step();
        generator
    }

    /// The 128-bit state.
    pub fn raw_state(&self) -> u128 {
        self.state
    }

    /// The 128-bit increment.
    pub fn increment(&self) -> u128 {
        self.increment
    }

    /// The 32-bit word that is kept for the next 32-bit draw.
    pub fn halves(&self) -> Halves {
        self.halves
    }

    fn step(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    fn raw(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }
}

impl BitGenerator for Pcg64 {
    fn next_u32(&mut self) -> u32 {
        if let Some(word) = self.halves.take() {
            return word;
        }
        let word = self.raw();
        self.halves.keep(word)
    }

    fn next_u64(&mut self) -> u64 {
        self.raw()
    }

    fn algorithm(&self) -> &'static str {
        ALGORITHM
    }

    fn state(&self) -> State {
        let mut words = Vec::with_capacity(36);
        words.extend_from_slice(&self.state.to_le_bytes());
        words.extend_from_slice(&self.increment.to_le_bytes());
        words.extend_from_slice(&self.halves.pending().unwrap_or(0).to_le_bytes());
        State { key: Key::of(&words), position: u64::from(self.halves.pending().is_some()) }
    }
}
