//! The draws that the built-in pipeline makes, each as the generator's own library makes it.

use super::State;

/// What a pipeline asks of a generator.
pub trait Draw {
    /// A whole number in `0..n`, `n` ≥ 1.
    fn below(&mut self, n: u32) -> u32;

    /// True with probability `p`, as a flip decides it: torch compares in float32, the others in float64.
    fn coin(&mut self, p: f64) -> bool;

    /// A permutation of 0, 1, 2, 3.
    fn permutation4(&mut self) -> [u8; 4];

    /// A factor between `low` and `high`. torch's is a float32 value.
    fn uniform(&mut self, low: f64, high: f64) -> f64;

    /// Where the generator stands.
    fn state(&self) -> State;
}
