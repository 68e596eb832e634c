//! What NumPy's generators share: words of 32 and 64 bits, and whole numbers and orders drawn from them.
//!
//! Mirrors `numpy/random/src/distributions/distributions.c` of NumPy 2.1.

use super::State;
use super::mt19937::{self, Mt19937};

/// A source of words: NumPy's `BitGenerator`.
pub trait BitGenerator {
    /// The next 32 bits.
    fn next_u32(&mut self) -> u32;

    /// The next 64 bits.
    fn next_u64(&mut self) -> u64;

    /// A float64 in [0, 1) of 53 bits.
    fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// The algorithm's name in traces.
    fn algorithm(&self) -> &'static str;

    /// Where it stands.
    fn state(&self) -> State;
}

impl BitGenerator for Mt19937 {
    fn next_u32(&mut self) -> u32 {
        self.next_u32()
    }

    fn next_u64(&mut self) -> u64 {
        self.next_u64()
    }

    fn next_f64(&mut self) -> f64 {
        self.next_f64()
    }

    fn algorithm(&self) -> &'static str {
        mt19937::ALGORITHM
    }

    fn state(&self) -> State {
        self.state()
    }
}

/// How a generator of 64-bit words gives 32-bit ones: the low half first, the high half at the next 32-bit draw,
/// whatever 64-bit draws come between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Halves {
    kept: u32,
    pending: bool,
}

impl Halves {
    /// The half that is kept for the next 32-bit draw.
    pub fn pending(self) -> Option<u32> {
        self.pending.then_some(self.kept)
    }

    /// The half that was kept last, used or not: NumPy's `uinteger`.
    pub fn last(self) -> u32 {
        self.kept
    }

    /// The pending half, which is used up.
    pub(super) fn take(&mut self) -> Option<u32> {
        let word = self.pending();
        self.pending = false;
        word
    }

    /// Keeps the high half of `word` and returns the low one.
    pub(super) fn keep(&mut self, word: u64) -> u32 {
        *self = Self { kept: (word >> 32) as u32, pending: true };
        word as u32
    }
}

/// How a word is brought into a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Cut to the range's bits, and drawn anew where over it: the legacy `RandomState`, and every shuffle.
    Masked,
    /// D. Lemire's multiplication, and drawn anew where that would be uneven: `Generator.integers`.
    Lemire,
}

impl Method {
    /// A value in `0..=most`, `most` ≥ 1, from words of `width` bits that `next` gives.
    #[inline]
    fn bounded(self, most: u64, width: u32, mut next: impl FnMut() -> u64) -> u64 {
        match self {
            Self::Masked => {
                let mask = u64::MAX >> most.leading_zeros();
                loop {
                    let value = next() & mask;
                    if value <= most {
                        return value;
                    }
                }
            }
            Self::Lemire => {
                let values = u128::from(most) + 1;
                let full = (1_u128 << width) - 1;
                let mut product = u128::from(next()) * values;
                if product & full < values {
                    let threshold = (full - u128::from(most)) % values;
                    while product & full < threshold {
                        product = u128::from(next()) * values;
                    }
                }
                (product >> width) as u64
            }
        }
    }

    /// A value in `0..=most` from 32-bit words; none is taken where `most` is 0.
    #[inline]
    pub fn bounded32(self, bits: &mut impl BitGenerator, most: u32) -> u32 {
        match most {
            0 => 0,
            // NumPy hands on the word as it is where the range is full.
            u32::MAX => bits.next_u32(),
            _ => self.bounded(u64::from(most), 32, || u64::from(bits.next_u32())) as u32,
        }
    }
}

/// Shuffles as `RandomState` and `Generator` both do: from the end, each place by masked rejection.
pub fn shuffle<T>(bits: &mut impl BitGenerator, values: &mut [T]) {
    for at in (1..values.len()).rev() {
        let other = Method::Masked.bounded32(bits, at as u32) as usize;
        values.swap(at, other);
    }
}

/// NumPy's integer types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    /// `bool`.
    Bool,
    /// `int8`, `uint8`.
    Bits8,
    /// `int16`, `uint16`.
    Bits16,
    /// `int32`, `uint32`.
    Bits32,
    /// `int64`, `uint64`.
    Bits64,
}

impl Dtype {
    const fn width(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::Bits8 => 8,
            Self::Bits16 => 16,
            Self::Bits32 => 32,
            Self::Bits64 => 64,
        }
    }
}

/// `n` whole numbers in `low..high` in one call, `low` and `high` within the type's range.
///
/// Types below 32 bits cut several values from one word, lowest bits first; what is left of it is dropped when the call ends.
///
/// # Panics
///
/// Where `low` is not below `high`, or the range is over 2^64: NumPy refuses both.
pub fn integers(
    bits: &mut impl BitGenerator,
    method: Method,
    dtype: Dtype,
    low: i128,
    high: i128,
    n: usize,
) -> Vec<i128> {
    assert!(low < high, "integers needs low < high, not {low} and {high}");
    let most = u64::try_from(high - 1 - low).expect("a range of integers is at most 2^64");
    if most == 0 {
        return vec![low; n];
    }
    let narrow = dtype == Dtype::Bits64 && u32::try_from(most).is_ok();
    let width = if narrow { 32 } else { dtype.width() };
    let full = u64::MAX >> (64 - width);
    let mut word = CutWord::default();
    let mut next = || match width {
        64 => bits.next_u64(),
        32 => u64::from(bits.next_u32()),
        _ => u64::from(word.cut(width, || bits.next_u32())),
    };
    let value = |_| low + i128::from(if most == full { next() } else { method.bounded(most, width, &mut next) });
    (0..n).map(value).collect()
}

/// A 32-bit word from which small values are cut.
#[derive(Default)]
struct CutWord {
    word: u32,
    left: u32,
}

impl CutWord {
    fn cut(&mut self, width: u32, next: impl FnOnce() -> u32) -> u32 {
        if self.left == 0 {
            *self = Self { word: next(), left: 32 / width };
        }
        let value = self.word & ((1 << width) - 1);
        self.word >>= width;
        self.left -= 1;
        value
    }
}
