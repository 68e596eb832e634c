//! NumPy's `SeedSequence`: spreads seeds of any size over as many words as a generator needs.
//!
//! Mirrors `numpy/random/bit_generator.pyx` of NumPy 2.1, after M. E. O'Neill's `seed_seq_fe`: entropy is hashed into
//! a pool of four words, of which each pair is mixed; outputs are hashes of the pool's words in turn.

use super::Int;

/// Words of the pool.
const POOL: usize = 4;

/// A seed sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedSequence {
    entropy: Vec<u32>,
    spawn_key: Vec<Int>,
    spawned: u64,
    pool: [u32; POOL],
}

/// One hash of the seeding: each call moves its multiplier on, so that no two words are hashed alike.
struct Hash {
    multiplier: u32,
    step: u32,
}

impl Hash {
    fn next(&mut self, word: u32) -> u32 {
        let word = word ^ self.multiplier;
        self.multiplier = self.multiplier.wrapping_mul(self.step);
        let word = word.wrapping_mul(self.multiplier);
        word ^ (word >> 16)
    }
}

fn mix(x: u32, y: u32) -> u32 {
    let mixed = 0xCA01_F9DD_u32.wrapping_mul(x).wrapping_sub(0x4973_F715_u32.wrapping_mul(y));
    mixed ^ (mixed >> 16)
}

/// The pool that entropy is hashed into.
fn mixed(entropy: &[u32]) -> [u32; POOL] {
    let mut hash = Hash { multiplier: 0x43B0_D7E5, step: 0x931E_8875 };
    let mut pool = [0; POOL];
    for (at, word) in pool.iter_mut().enumerate() {
        *word = hash.next(entropy.get(at).copied().unwrap_or(0));
    }
    for from in 0..POOL {
        for to in 0..POOL {
            if from != to {
                pool[to] = mix(pool[to], hash.next(pool[from]));
            }
        }
    }
    for &word in entropy.get(POOL..).unwrap_or_default() {
        for to in &mut pool {
            *to = mix(*to, hash.next(word));
        }
    }
    pool
}

impl SeedSequence {
    /// From entropy as 32-bit words: the words of each integer in turn.
    pub fn new(entropy: &[u32]) -> Self {
        Self::with_spawn_key(entropy, Vec::new())
    }

    /// `SeedSequence(entropy, spawn_key=spawn_key)`.
    pub fn with_spawn_key(entropy: &[u32], spawn_key: Vec<Int>) -> Self {
        let mut words = entropy.to_vec();
        if !spawn_key.is_empty() {
            // So that no entropy can be taken for a shorter one and a key.
            words.resize(words.len().max(POOL), 0);
            words.extend(spawn_key.iter().flat_map(Int::seed_words));
        }
        Self { entropy: entropy.to_vec(), spawn_key, spawned: 0, pool: mixed(&words) }
    }

    /// From a list of integers, as `SeedSequence([a, b, c])`.
    pub fn from_ints(entropy: &[u64]) -> Self {
        let words: Vec<u32> = entropy.iter().flat_map(|&value| Int::from(value).seed_words()).collect();
        Self::new(&words)
    }

    /// `spawn(n)`: children, numbered on from those spawned before.
    pub fn spawn(&mut self, n: usize) -> Vec<Self> {
        let child = |number: u64| {
            let mut spawn_key = self.spawn_key.clone();
            spawn_key.push(Int::from(number));
            Self::with_spawn_key(&self.entropy, spawn_key)
        };
        let children = (self.spawned..).take(n).map(child).collect();
        self.spawned += n as u64;
        children
    }

    /// The numbers that lead to it from the sequence that nothing spawned.
    pub fn spawn_key(&self) -> &[Int] {
        &self.spawn_key
    }

    /// The four words that all outputs come from.
    pub fn pool(&self) -> [u32; POOL] {
        self.pool
    }

    /// `generate_state(n)`: 32-bit words.
    pub fn words(&self, n: usize) -> Vec<u32> {
        let mut hash = Hash { multiplier: 0x8B51_F9DD, step: 0x58F3_8DED };
        self.pool.iter().cycle().take(n).map(|&word| hash.next(word)).collect()
    }

    /// `generate_state(n, uint64)`: pairs of 32-bit words, the low one first.
    pub fn words64(&self, n: usize) -> Vec<u64> {
        let words = self.words(2 * n);
        words.chunks_exact(2).map(|pair| u64::from(pair[0]) | (u64::from(pair[1]) << 32)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `np.random.SeedSequence(42).generate_state(4)` and `SeedSequence([1, 2, 3]).generate_state(3)`, NumPy 2.1.3.
    #[test]
    fn words_are_numpys() {
        assert_eq!(
            SeedSequence::from_ints(&[42]).words(4),
            [3_444_837_047, 2_669_555_309, 2_046_530_742, 3_581_440_988]
        );
        assert_eq!(SeedSequence::from_ints(&[1, 2, 3]).words(3), [3_822_189_696, 3_026_158_655, 540_542_919]);
    }
}
