//! Philox4x64-10, a counter-based generator of NumPy's: J. K. Salmon et al., "Parallel random numbers: as easy as
//! 1, 2, 3" (2011), seeded as NumPy 2.1 seeds it.

use super::numpy::{BitGenerator, Halves};
use super::{Key, SeedSequence, State};

/// The algorithm's name in traces.
pub const ALGORITHM: &str = "philox";

const ROUNDS: u64 = 10;
const MULTIPLIERS: [u64; 2] = [0xD2E7_470E_E14C_6C93, 0xCA5A_8263_9512_1157];
/// Added to the keys from round to round.
const WEYL: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xBB67_AE85_84CA_A73B];
/// Words of a block.
const BLOCK: usize = 4;

/// NumPy's `Philox`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Philox {
    key: [u64; 2],
    /// The number of the block that is in `block`, little end first.
    counter: [u64; BLOCK],
    block: [u64; BLOCK],
    position: usize,
    halves: Halves,
}

impl Philox {
    /// `Philox(sequence)`.
    pub fn new(sequence: &SeedSequence) -> Self {
        let words = sequence.words64(2);
        Self { key: [words[0], words[1]], counter: [0; 4], block: [0; 4], position: BLOCK, halves: Halves::default() }
    }

    /// The two words of the key.
    pub fn key(&self) -> [u64; 2] {
        self.key
    }

    /// The counter, little end first.
    pub fn counter(&self) -> [u64; BLOCK] {
        self.counter
    }

    /// The current block's words; zeros before the first draw.
    pub fn block(&self) -> [u64; BLOCK] {
        self.block
    }

    /// The index of the next word in the block; 4 where the next draw makes a block.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The 32-bit word that is kept for the next 32-bit draw.
    pub fn halves(&self) -> Halves {
        self.halves
    }

    /// NumPy raises the counter before it makes a block, so block 0 is never used.
    fn next_block(&mut self) {
        for word in &mut self.counter {
            *word = word.wrapping_add(1);
            if *word != 0 {
                break;
            }
        }
        let mut block = self.counter;
        for round in 0..ROUNDS {
            let key = [0, 1].map(|at| self.key[at].wrapping_add(WEYL[at].wrapping_mul(round)));
            let wide = |at: usize| u128::from(block[2 * at]) * u128::from(MULTIPLIERS[at]);
            let (first, second) = (wide(0), wide(1));
            let high = |product: u128| (product >> 64) as u64;
            block = [high(second) ^ block[1] ^ key[0], second as u64, high(first) ^ block[3] ^ key[1], first as u64];
        }
        self.block = block;
        self.position = 0;
    }
}

impl BitGenerator for Philox {
    fn next_u32(&mut self) -> u32 {
        if let Some(word) = self.halves.take() {
            return word;
        }
        let word = self.next_u64();
        self.halves.keep(word)
    }

    fn next_u64(&mut self) -> u64 {
        if self.position == BLOCK {
            self.next_block();
        }
        self.position += 1;
        self.block[self.position - 1]
    }

    fn algorithm(&self) -> &'static str {
        ALGORITHM
    }

    fn state(&self) -> State {
        let mut words: Vec<u8> = self.counter.iter().chain(&self.key).flat_map(|word| word.to_le_bytes()).collect();
        words.extend_from_slice(&self.halves.pending().unwrap_or(0).to_le_bytes());
        let position = 2 * self.position as u64 - u64::from(self.halves.pending().is_some());
        State { key: Key::of(&words), position }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_counts_the_32_bit_words_of_a_block() {
        let mut bits = Philox::new(&SeedSequence::new(&[7]));
        let positions: Vec<u64> = (0..5)
            .map(|_| {
                bits.next_u32();
                bits.state().position
            })
            .collect();
        assert_eq!(positions, [1, 2, 3, 4, 5]);
        let kept = bits.state();
        bits.next_u64();
        assert_eq!(bits.state().ahead_of(&kept), Some(2));
        bits.next_u32();
        assert_eq!(bits.state().ahead_of(&kept), None);
    }
}
