//! Where a generator stands: an algorithm, a key and a position.
//!
//! The key is the first 128 bits of SHA-256 over the generator's words without the position, so two states of one
//! key at different positions can be told ("two words ahead"). The words of each algorithm:
//!
//! * `mt19937`: the 624 untempered words, little-endian u32; position = index of the next word, 624 = "twist before
//!   the next draw". One form whichever library holds the generator.
//! * `pcg64`: state (u128 LE), increment (u128 LE), the buffered 32-bit word (u32 LE, 0 where there is none);
//!   position = 1 where a half word is buffered, else 0.
//! * `philox`: counter (4 × u64 LE), key (2 × u64 LE), the buffered 32-bit word (u32 LE, 0 where there is none);
//!   position = twice the index of the next word in its block, 1 less where a half word is buffered.
//! * `chacha12`: the 32-byte key, then the stream number (u64 LE); position = 32-bit words drawn.

use std::fmt;

/// First 128 bits (big-endian) of SHA-256 over a generator's words without the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub u128);

/// Where a generator stands. The algorithm is left out: its words differ in length, so keys of two algorithms
/// cannot be equal, and a stream carries the algorithm's name once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct State {
    /// Digest of the words.
    pub key: Key,
    /// Position in words within the key.
    pub position: u64,
}

impl State {
    /// How far this state is ahead of `other` where both have one key: in 32-bit words for `mt19937` and `chacha12`.
    /// Keys of `pcg64` change with each word, so there it is 0 or a half word.
    pub fn ahead_of(&self, other: &Self) -> Option<i64> {
        (self.key == other.key).then(|| self.position.wrapping_sub(other.position) as i64)
    }
}

impl Key {
    /// The key over `words`, the generator's words as bytes.
    pub fn of(words: &[u8]) -> Self {
        use sha2::{Digest, Sha256};
        let digest = Sha256::digest(words);
        let mut first = [0; 16];
        first.copy_from_slice(&digest[..16]);
        Self(u128::from_be_bytes(first))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_one_key_are_so_many_words_apart() {
        let state = |key: &[u8], position| State { key: Key::of(key), position };
        assert_eq!(state(b"a", 7).ahead_of(&state(b"a", 5)), Some(2));
        assert_eq!(state(b"a", 5).ahead_of(&state(b"a", 7)), Some(-2));
        assert_eq!(state(b"a", 7).ahead_of(&state(b"b", 5)), None);
    }

    /// `hashlib.sha256(b"abc").hexdigest()[:32]`, which is also the example of FIPS 180-4.
    #[test]
    fn a_key_is_the_first_half_of_sha_256() {
        assert_eq!(Key::of(b"abc").to_string(), "ba7816bf8f01cfea414140de5dae2223");
    }
}
