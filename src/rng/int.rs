//! Whole numbers of any size: Python's seeds and ranges, NumPy's entropy, know no bounds.
//!
//! Only what those need, by schoolbook methods.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};
use std::str::FromStr;

use crate::error::Error;

/// Digits that are read and written at a time, and the power of ten that they make.
const CHUNK: (usize, u32) = (9, 1_000_000_000);

/// A whole number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Int {
    negative: bool,
    /// Little end first, without zeros at the high end: 0 has no words.
    magnitude: Vec<u32>,
}

impl Int {
    /// From 32-bit words, little end first.
    pub fn from_words(words: Vec<u32>) -> Self {
        Self::signed(false, words)
    }

    /// From bytes, big end first: Python's `int.from_bytes(bytes, "big")`.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let word = |four: &[u8]| four.iter().fold(0, |word, &byte| (word << 8) | u32::from(byte));
        Self::from_words(bytes.rchunks(4).map(word).collect())
    }

    fn signed(negative: bool, mut magnitude: Vec<u32>) -> Self {
        while magnitude.last() == Some(&0) {
            magnitude.pop();
        }
        Self { negative: negative && !magnitude.is_empty(), magnitude }
    }

    /// The words of the absolute value as NumPy and Python seed with them: little end first, 0 has one word.
    pub fn seed_words(&self) -> Vec<u32> {
        if self.magnitude.is_empty() { vec![0] } else { self.magnitude.clone() }
    }

    /// Whether it is below 0.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Bits of the absolute value; 0 has none.
    pub fn bit_length(&self) -> u64 {
        match self.magnitude.last() {
            Some(high) => 32 * self.magnitude.len() as u64 - u64::from(high.leading_zeros()),
            None => 0,
        }
    }

    /// The sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        if self.negative == other.negative {
            return Self::signed(self.negative, sum(&self.magnitude, &other.magnitude));
        }
        match compare(&self.magnitude, &other.magnitude) {
            Ordering::Less => Self::signed(other.negative, difference(&other.magnitude, &self.magnitude)),
            _ => Self::signed(self.negative, difference(&self.magnitude, &other.magnitude)),
        }
    }

    /// The difference.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        self.plus(&Self { negative: !other.negative, magnitude: other.magnitude.clone() })
    }

    /// The product.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        Self::signed(self.negative != other.negative, product(&self.magnitude, &other.magnitude))
    }

    /// The quotient rounded towards minus infinity, as Python's `//`.
    ///
    /// # Panics
    ///
    /// Where `divisor` is 0.
    #[must_use]
    pub fn div_floor(&self, divisor: &Self) -> Self {
        let (quotient, exact) = quotient(&self.magnitude, &divisor.magnitude);
        let negative = self.negative != divisor.negative;
        let truncated = Self::signed(negative, quotient);
        if negative && !exact { truncated.minus(&Self::from(1)) } else { truncated }
    }
}

fn compare(left: &[u32], right: &[u32]) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| left.iter().rev().cmp(right.iter().rev()))
}

fn sum(left: &[u32], right: &[u32]) -> Vec<u32> {
    let word = |words: &[u32], at: usize| u64::from(words.get(at).copied().unwrap_or(0));
    let mut carry = 0;
    (0..=left.len().max(right.len()))
        .map(|at| {
            carry += word(left, at) + word(right, at);
            let low = carry as u32;
            carry >>= 32;
            low
        })
        .collect()
}

/// `left` is not below `right`.
fn difference(left: &[u32], right: &[u32]) -> Vec<u32> {
    let mut borrow = false;
    left.iter()
        .enumerate()
        .map(|(at, &word)| {
            let (word, first) = word.overflowing_sub(right.get(at).copied().unwrap_or(0));
            let (word, second) = word.overflowing_sub(u32::from(borrow));
            borrow = first || second;
            word
        })
        .collect()
}

fn product(left: &[u32], right: &[u32]) -> Vec<u32> {
    let mut words = vec![0; left.len() + right.len()];
    for (at, &factor) in left.iter().enumerate() {
        let mut carry = 0;
        for (word, &other) in words[at..].iter_mut().zip(right.iter().chain(std::iter::once(&0))) {
            carry += u64::from(*word) + u64::from(factor) * u64::from(other);
            *word = carry as u32;
            carry >>= 32;
        }
    }
    words
}

/// The quotient bit by bit, and whether nothing is left over.
fn quotient(dividend: &[u32], divisor: &[u32]) -> (Vec<u32>, bool) {
    assert!(!divisor.is_empty(), "division by zero");
    let mut words = vec![0; dividend.len()];
    let mut rest = Int::default();
    for at in (0..32 * dividend.len()).rev() {
        let bit = (dividend[at / 32] >> (at % 32)) & 1;
        let doubled = sum(&rest.magnitude, &rest.magnitude);
        rest = Int::from_words(sum(&doubled, &[bit]));
        if compare(&rest.magnitude, divisor) != Ordering::Less {
            rest = Int::from_words(difference(&rest.magnitude, divisor));
            words[at / 32] |= 1 << (at % 32);
        }
    }
    (words, rest.magnitude.is_empty())
}

impl From<u128> for Int {
    fn from(value: u128) -> Self {
        Self::from_words((0..4).map(|at| (value >> (32 * at)) as u32).collect())
    }
}

impl From<i128> for Int {
    fn from(value: i128) -> Self {
        Self { negative: value < 0, ..Self::from(value.unsigned_abs()) }
    }
}

impl From<u64> for Int {
    fn from(value: u64) -> Self {
        Self::from(u128::from(value))
    }
}

impl From<i32> for Int {
    fn from(value: i32) -> Self {
        Self::from(i128::from(value))
    }
}

impl PartialOrd for Int {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Int {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => compare(&self.magnitude, &other.magnitude),
            (true, true) => compare(&other.magnitude, &self.magnitude),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl FromStr for Int {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Error::usage(format!("`{}` is not a whole number", text.escape_debug())));
        }
        let mut magnitude = Vec::new();
        let (head, tail) = digits.as_bytes().split_at(digits.len() % CHUNK.0);
        for chunk in std::iter::once(head).chain(tail.chunks(CHUNK.0)) {
            let value = chunk.iter().fold(0, |value, &digit| 10 * value + u32::from(digit - b'0'));
            let raised = Self::from_words(product(&magnitude, &[CHUNK.1]));
            magnitude = Self::from_words(sum(&raised.magnitude, &[value])).magnitude;
        }
        Ok(Self::signed(text.starts_with('-'), magnitude))
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = self.magnitude.clone();
        let mut chunks = Vec::new();
        while !words.is_empty() {
            let mut rest = 0;
            for word in words.iter_mut().rev() {
                let value = (rest << 32) | u64::from(*word);
                *word = (value / u64::from(CHUNK.1)) as u32;
                rest = value % u64::from(CHUNK.1);
            }
            chunks.push(rest);
            words = Self::from_words(words).magnitude;
        }
        let mut text = chunks.pop().unwrap_or(0).to_string();
        for chunk in chunks.iter().rev() {
            write!(text, "{chunk:0width$}", width = CHUNK.0)?;
        }
        f.pad_integral(!self.negative, "", &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

        /// The second method is the machine's own arithmetic.
        #[test]
        fn arithmetic_is_that_of_machine_integers(left in -(1_i128 << 63)..1 << 63, right in -(1_i128 << 63)..1 << 63, shift in 0_u32..64) {
            let right = right >> shift;
            let (a, b) = (Int::from(left), Int::from(right));
            prop_assert_eq!(a.plus(&b), Int::from(left + right));
            prop_assert_eq!(a.minus(&b), Int::from(left - right));
            prop_assert_eq!(a.times(&b), Int::from(left * right));
            prop_assert_eq!(a.cmp(&b), left.cmp(&right));
            prop_assert_eq!(a.to_string(), left.to_string());
            prop_assert_eq!(left.to_string().parse(), Ok(a.clone()));
            if right != 0 {
                let truncated = left / right;
                let floor = truncated - i128::from(truncated * right != left && (left < 0) != (right < 0));
                prop_assert_eq!(a.div_floor(&b), Int::from(floor));
            }
        }

        #[test]
        fn a_quotient_times_the_divisor_is_less_than_one_divisor_away(left in prop::collection::vec(any::<u32>(), 0..9), right in prop::collection::vec(any::<u32>(), 1..5)) {
            let (left, right) = (Int::from_words(left), Int::from_words(right));
            prop_assume!(right != Int::default());
            let rest = left.minus(&left.div_floor(&right).times(&right));
            prop_assert!(!rest.is_negative() && rest < right);
        }

        #[test]
        fn decimals_are_read_back(text in "-?[1-9][0-9]{0,300}") {
            prop_assert_eq!(text.parse::<Int>().unwrap().to_string(), text);
        }
    }

    /// `2**200`, `(2**200).bit_length()`, `int.from_bytes(b"pipeaudit", "big")`, CPython 3.11.
    #[test]
    fn large_numbers_are_pythons() {
        let power = Int::from_words(vec![0, 0, 0, 0, 0, 0, 256]);
        assert_eq!(power.to_string(), "1606938044258990275541962092341162602522202993782792835301376");
        assert_eq!(power.bit_length(), 201);
        assert_eq!(Int::from_bytes(b"pipeaudit").to_string(), "2073633020296099555700");
    }

    #[test]
    fn zero_has_one_form() {
        for text in ["0", "-0", "+000"] {
            let zero: Int = text.parse().unwrap();
            assert_eq!((zero.to_string(), zero.seed_words(), zero.bit_length()), ("0".to_owned(), vec![0], 0));
        }
        assert_eq!(Int::from(5).minus(&Int::from(5)), Int::default());
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "-", "1 2", "0x10", "٣", "--1", "1e3"] {
            assert!(text.parse::<Int>().is_err(), "{text}");
        }
    }
}
