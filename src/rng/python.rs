//! Python's `random.Random`, as CPython 3.11 has it.
//!
//! Mirrors `Lib/random.py` and `Modules/_randommodule.c`: whole numbers are drawn by cutting words to the range's bits
//! and drawing anew where over it, even in a range of one.

use std::collections::HashSet;

use sha2::{Digest, Sha512};

use super::mt19937::Mt19937;
use super::{Draw, Int, Seed, State};

/// `random.Random`.
#[derive(Clone, Debug)]
pub struct Python {
    words: Mt19937,
}

impl Python {
    /// `seed(int)`; a negative integer seeds as its absolute value does.
    pub fn new(seed: u128) -> Self {
        Self::from_int(&Int::from(seed))
    }

    /// Seeded with an integer, or with the little-endian integer that a list of words makes.
    pub fn seeded(seed: &Seed) -> Self {
        match seed {
            Seed::Int(seed) => Self::new(*seed),
            Seed::Words(words) => Self::from_int(&Int::from_words(words.clone())),
        }
    }

    /// `seed(int)` of any size.
    pub fn from_int(seed: &Int) -> Self {
        Self { words: Mt19937::from_array(&seed.seed_words()) }
    }

    /// `seed(bytes)`; a `str` seeds as its UTF-8 bytes do.
    pub fn from_bytes(seed: &[u8]) -> Self {
        let digest = Sha512::digest(seed);
        Self::from_int(&Int::from_bytes(&[seed, &digest[..]].concat()))
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

    /// `getrandbits(bits)`.
    pub fn getrandbits(&mut self, bits: u64) -> Int {
        let mut words: Vec<u32> = (0..bits.div_ceil(32)).map(|_| self.next_u32()).collect();
        if let Some(high) = words.last_mut()
            && !bits.is_multiple_of(32)
        {
            *high >>= 32 - bits % 32;
        }
        Int::from_words(words)
    }

    /// `randrange(n)` for an `n` of any size.
    ///
    /// # Panics
    ///
    /// Where `n` is not above 0: Python refuses it.
    pub fn below_int(&mut self, n: &Int) -> Int {
        assert!(*n > Int::default(), "randrange needs a range that is not empty");
        loop {
            let value = self.getrandbits(n.bit_length());
            if value < *n {
                return value;
            }
        }
    }

    /// `randrange(start, stop, step)`.
    ///
    /// # Panics
    ///
    /// Where the range is empty or `step` is 0: Python refuses both.
    pub fn randrange(&mut self, start: &Int, stop: &Int, step: &Int) -> Int {
        let one = Int::from(if step.is_negative() { -1 } else { 1 });
        let steps = stop.minus(start).plus(step).minus(&one).div_floor(step);
        start.plus(&step.times(&self.below_int(&steps)))
    }

    /// `randint(low, high)`, both included.
    ///
    /// # Panics
    ///
    /// Where `high` is below `low`: Python refuses it.
    pub fn randint(&mut self, low: &Int, high: &Int) -> Int {
        low.plus(&self.below_int(&high.minus(low).plus(&Int::from(1))))
    }

    /// `sample(range(population), n)`.
    ///
    /// # Panics
    ///
    /// Where `n` is over `population`: Python refuses it.
    pub fn sample(&mut self, population: u64, n: usize) -> Vec<u64> {
        assert!(n as u64 <= population, "a sample is not larger than its population");
        if population as f64 > pool_limit(n) {
            let mut chosen = Vec::with_capacity(n);
            let mut seen = HashSet::new();
            while chosen.len() < n {
                let value = self.below(population);
                if seen.insert(value) {
                    chosen.push(value);
                }
            }
            return chosen;
        }
        let mut pool: Vec<u64> = (0..population).collect();
        (0..n)
            .map(|_| {
                let at = self.below(pool.len() as u64) as usize;
                pool.swap_remove(at)
            })
            .collect()
    }

    /// `shuffle(values)`.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for at in (1..values.len()).rev() {
            let other = self.below(at as u64 + 1) as usize;
            values.swap(at, other);
        }
    }
}

/// The largest population of which Python makes a list to take samples from: what a set of `n` would need.
fn pool_limit(n: usize) -> f64 {
    let power = if n > 5 { 4_f64.powf((((3 * n) as f64).ln() / 4_f64.ln()).ceil()) } else { 0.0 };
    21.0 + power
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
