//! Python's `random.Random`, as CPython 3.11 has it.
//!
//! Mirrors `Lib/random.py` and `Modules/_randommodule.c`: whole numbers are drawn by cutting words to the range's bits
//! and drawing anew where over it, even in a range of one.

use super::mt19937::Mt19937;
use super::seed_sequence::words_of;
use super::{Draw, Seed, State};

/// `random.Random`.
#[derive(Clone, Debug)]
pub struct Python {
    words: Mt19937,
}

impl Python {
    /// `seed(int)`; a negative integer seeds as its absolute value does.
    pub fn new(seed: u128) -> Self {
        Self { words: Mt19937::from_array(&words_of(seed)) }
    }

    /// Seeded with an integer, or with the little-endian integer that a list of words makes.
    pub fn seeded(seed: &Seed) -> Self {
        match seed {
            Seed::Int(seed) => Self::new(*seed),
            Seed::Words(words) => Self::from_words(words),
        }
    }

    /// `seed(int)` of any size, as its 32-bit words, little end first.
    pub fn from_words(words: &[u32]) -> Self {
        let used = words.iter().rposition(|&word| word != 0).map_or(1, |last| last + 1);
        let words = if words.is_empty() { &[0] } else { &words[..used] };
        Self { words: Mt19937::from_array(words) }
    }

    /// The generator's words.
    pub fn words(&self) -> &Mt19937 {
        &self.words
    }

    /// One 32-bit word: `getrandbits(32)`.
    pub fn next_u32(&mut self) -> u32 {
        self.words.next_u32()
    }

    /// `random()`.
    pub fn random(&mut self) -> f64 {
        self.words.next_f64()
    }

    /// `uniform(low, high)`.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.random()
    }

    /// `getrandbits(bits)` for up to 64 bits.
    fn bits64(&mut self, bits: u32) -> u64 {
        if bits <= 32 {
            return u64::from(self.next_u32() >> (32 - bits));
        }
        let low = u64::from(self.next_u32());
        low | (u64::from(self.next_u32() >> (64 - bits)) << 32)
    }

    /// `randrange(n)`, `choice` of `n`.
    ///
    /// # Panics
    ///
    /// Where `n` is 0: Python refuses it.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "randrange needs a range that is not empty");
        let bits = u64::BITS - n.leading_zeros();
        loop {
            let value = self.bits64(bits);
            if value < n {
                return value;
            }
        }
    }

    /// `shuffle(values)`.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for at in (1..values.len()).rev() {
            let other = self.below(at as u64 + 1) as usize;
            values.swap(at, other);
        }
    }
}

impl Draw for Python {
    fn below(&mut self, n: u32) -> u32 {
        self.below(u64::from(n)) as u32
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
        self.words.state()
    }
}
