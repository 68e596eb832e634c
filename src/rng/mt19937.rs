//! MT19937, the generator under torch's CPU generator, NumPy's legacy `RandomState` and Python's `random`.
//!
//! After M. Matsumoto and T. Nishimura, "Mersenne Twister" (1998). The three libraries differ in how they seed it and
//! how they turn its words into numbers; the words themselves, and where it stands, have one form here.

use std::fmt::Write as _;
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use super::{Key, SeedSequence, State};

/// The algorithm's name in traces.
pub const ALGORITHM: &str = "mt19937";

/// Words of the state.
pub const WORDS: usize = 624;

/// How far the recurrence looks ahead.
const AHEAD: usize = 397;
const MATRIX: u32 = 0x9908_B0DF;
const UPPER: u32 = 0x8000_0000;

/// An MT19937 state.
#[derive(Clone, Debug)]
pub struct Mt19937 {
    words: Box<[u32; WORDS]>,
    position: usize,
    /// The digest of `words`, made when it is first asked for: words change only every 624 draws.
    key: OnceLock<Key>,
}

impl PartialEq for Mt19937 {
    fn eq(&self, other: &Self) -> bool {
        self.position == other.position && self.words == other.words
    }
}

impl Eq for Mt19937 {}

impl Mt19937 {
    /// A state as it is; `position` is the index of the next word, 624 where the next draw twists.
    ///
    /// # Panics
    ///
    /// Where `position` is over 624.
    pub fn from_words(words: Box<[u32; WORDS]>, position: usize) -> Self {
        assert!(position <= WORDS, "an MT19937 position is at most {WORDS}, not {position}");
        Self { words, position, key: OnceLock::new() }
    }

    /// Seeded with one word: `init_genrand` of the authors, which torch and NumPy's `seed(int)` use.
    pub fn from_seed(seed: u32) -> Self {
        let mut words = Box::new([0; WORDS]);
        let mut last = seed;
        words[0] = last;
        for (at, word) in (0..).zip(words.iter_mut()).skip(1) {
            last = 1_812_433_253_u32.wrapping_mul(last ^ (last >> 30)).wrapping_add(at);
            *word = last;
        }
        Self::from_words(words, WORDS)
    }

    /// Seeded with a list: `init_by_array` of the authors, which Python and NumPy's `seed(list)` use.
    ///
    /// # Panics
    ///
    /// Where the list is empty: the libraries refuse it.
    pub fn from_array(seed: &[u32]) -> Self {
        assert!(!seed.is_empty(), "an MT19937 seed list is not empty");
        let mut words = Self::from_seed(19_650_218).words;
        let (mut at, mut from) = (1, 0);
        let step = |words: &mut [u32; WORDS], at: &mut usize| {
            *at += 1;
            if *at == WORDS {
                words[0] = words[WORDS - 1];
                *at = 1;
            }
        };
        let mixed = |words: &[u32; WORDS], at: usize, factor: u32| {
            let last = words[at - 1];
            words[at] ^ (last ^ (last >> 30)).wrapping_mul(factor)
        };
        for _ in 0..WORDS.max(seed.len()) {
            words[at] = mixed(&words, at, 1_664_525).wrapping_add(seed[from]).wrapping_add(from as u32);
            step(&mut words, &mut at);
            from = (from + 1) % seed.len();
        }
        for _ in 1..WORDS {
            words[at] = mixed(&words, at, 1_566_083_941).wrapping_sub(at as u32);
            step(&mut words, &mut at);
        }
        words[0] = UPPER;
        Self::from_words(words, WORDS)
    }

    /// NumPy's `MT19937(sequence)`: the sequence's words are the state, of which the last is still to be given out.
    pub fn from_sequence(sequence: &SeedSequence) -> Self {
        let mut words = Box::new([0; WORDS]);
        words.copy_from_slice(&sequence.words(WORDS));
        words[0] = UPPER;
        Self::from_words(words, WORDS - 1)
    }

    /// The untempered words.
    pub fn words(&self) -> &[u32; WORDS] {
        &self.words
    }

    /// The index of the next word; 624 where the next draw twists.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The next 32 bits.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        if self.position == WORDS {
            self.twist();
        }
        let mut word = self.words[self.position];
        self.position += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9D2C_5680;
        word ^= (word << 15) & 0xEFC6_0000;
        word ^ (word >> 18)
    }

    /// The next two words, the first of them high.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let high = u64::from(self.next_u32());
        (high << 32) | u64::from(self.next_u32())
    }

    /// A float64 in [0, 1) of 53 bits from two words, as NumPy and Python make it.
    #[inline]
    pub fn next_f64(&mut self) -> f64 {
        let high = f64::from(self.next_u32() >> 5);
        let low = f64::from(self.next_u32() >> 6);
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }

    /// Makes the next 624 words.
    fn twist(&mut self) {
        let words = &mut *self.words;
        let join = |here: u32, next: u32| {
            let joined = (here & UPPER) | (next & !UPPER);
            (joined >> 1) ^ ((joined & 1).wrapping_neg() & MATRIX)
        };
        // Three stretches without a wrapped index, which the compiler turns into vector code.
        for at in 0..WORDS - AHEAD {
            words[at] = words[at + AHEAD] ^ join(words[at], words[at + 1]);
        }
        for at in WORDS - AHEAD..WORDS - 1 {
            words[at] = words[at + AHEAD - WORDS] ^ join(words[at], words[at + 1]);
        }
        words[WORDS - 1] = words[AHEAD - 1] ^ join(words[WORDS - 1], words[0]);
        self.position = 0;
        self.key = OnceLock::new();
    }

    /// The words as little-endian bytes.
    fn bytes(&self) -> [u8; 4 * WORDS] {
        let mut bytes = [0; 4 * WORDS];
        for (four, word) in bytes.chunks_exact_mut(4).zip(self.words.iter()) {
            four.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Where it stands.
    pub fn state(&self) -> State {
        let key = *self.key.get_or_init(|| Key::of(&self.bytes()));
        State { key, position: self.position as u64 }
    }

    /// The fingerprint that the golden vectors carry: SHA-256 over the words and then the position, all as
    /// little-endian u32, in 64 hex digits.
    pub fn fingerprint(&self) -> String {
        let digest =
            Sha256::new().chain_update(self.bytes()).chain_update((self.position as u32).to_le_bytes()).finalize();
        digest.iter().fold(String::with_capacity(64), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// How many words `to` is ahead of `from` in one stream, where that is at most `limit`.
///
/// Walks on from `from`, one twist every 624 words, so the work grows with `limit`.
pub fn distance(from: &Mt19937, to: &Mt19937, limit: u64) -> Option<u64> {
    // "Before the twist" and "at word 0 after it" are one place.
    let settled = |state: &Mt19937| {
        let mut state = state.clone();
        if state.position == WORDS {
            state.twist();
        }
        state
    };
    let (mut walker, to) = (settled(from), settled(to));
    let start = walker.position as u64;
    let mut block = 0_u64;
    loop {
        let ahead = (block + to.position as u64).checked_sub(start);
        if walker.words == to.words
            && let Some(ahead) = ahead
        {
            return (ahead <= limit).then_some(ahead);
        }
        block = block.checked_add(WORDS as u64)?;
        if block - start > limit {
            return None;
        }
        walker.twist();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    fn drawn(mut generator: Mt19937, n: usize) -> Mt19937 {
        for _ in 0..n {
            generator.next_u32();
        }
        generator
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(5489), failure_persistence: None, ..ProptestConfig::default() })]

        /// The independent generator is rand_mt's, which uses no more than 624 words of a list.
        #[test]
        fn words_are_those_of_an_independent_generator(seed: u32, list in prop::collection::vec(any::<u32>(), 1..=WORDS)) {
            let mut pairs = [
                (Mt19937::from_seed(seed), rand_mt::Mt::new(seed)),
                (Mt19937::from_array(&list), rand_mt::Mt::new_with_key(list)),
            ];
            for (own, other) in &mut pairs {
                for _ in 0..1300 {
                    prop_assert_eq!(own.next_u32(), other.next_u32());
                }
            }
        }

        #[test]
        fn a_distance_is_the_count_of_words_drawn(seed: u32, before in 0_usize..1300, ahead in 0_usize..2000) {
            let from = drawn(Mt19937::from_seed(seed), before);
            let to = drawn(from.clone(), ahead);
            prop_assert_eq!(distance(&from, &to, 2000), Some(ahead as u64));
            if ahead > 0 {
                prop_assert_eq!(distance(&from, &to, ahead as u64 - 1), None);
                prop_assert_eq!(distance(&to, &from, 2000), None);
            }
        }
    }

    /// The first and the 10 000th word from the authors' default seed 5489, as the C++ standard gives them
    /// ([rand.predef] of C++11).
    #[test]
    fn the_ten_thousandth_word_is_that_of_the_cpp_standard() {
        let mut generator = drawn(Mt19937::from_seed(5489), 9_999);
        assert_eq!(generator.next_u32(), 4_123_659_995);
    }

    /// `RandomState().seed(list(range(n)))`, then two words, NumPy 2.1.3.
    #[test]
    fn every_word_of_a_long_list_counts() {
        for (n, words) in [(625, [2_881_573_593, 3_747_179_944]), (700, [3_727_595_200, 1_914_792_892])] {
            let mut generator = Mt19937::from_array(&(0..n).collect::<Vec<u32>>());
            assert_eq!([generator.next_u32(), generator.next_u32()], words);
        }
    }

    #[test]
    fn unrelated_streams_have_no_distance() {
        assert_eq!(distance(&Mt19937::from_seed(1), &Mt19937::from_seed(2), 10_000), None);
    }

    #[test]
    fn before_and_after_a_twist_is_one_place() {
        let before = drawn(Mt19937::from_seed(3), WORDS);
        let mut after = before.clone();
        after.twist();
        assert_eq!((before.position(), after.position()), (WORDS, 0));
        assert_eq!(distance(&before, &after, 0), Some(0));
        assert_eq!(distance(&after, &before, 0), Some(0));
    }

    #[test]
    fn the_key_changes_with_the_words_only() {
        let mut generator = Mt19937::from_seed(9);
        let seeded = generator.state();
        generator.next_u32();
        let first = generator.state();
        assert_ne!(first.key, seeded.key);
        let last = drawn(generator, WORDS - 1);
        assert_eq!(last.state(), State { key: first.key, position: WORDS as u64 });
        let twisted = drawn(last, 1);
        assert_ne!(twisted.state().key, first.key);
        let (words, position) = (Box::new(*twisted.words()), twisted.position());
        assert_eq!(Mt19937::from_words(words, position).state(), twisted.state());
    }
}
