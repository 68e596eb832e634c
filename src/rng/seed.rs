//! What a generator is seeded with, whichever library holds it.

use std::fmt;

/// A seed, as it is handed to a library's seeding call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seed {
    /// An integer: `torch.manual_seed(s)`, `random.seed(s)`. Wide enough for Lightning's 96-bit seed of `random`.
    Int(u128),
    /// A list of 32-bit words: `np.random.seed([a, b, c, d])`.
    Words(Vec<u32>),
}

impl From<u64> for Seed {
    fn from(seed: u64) -> Self {
        Self::Int(u128::from(seed))
    }
}

impl fmt::Display for Seed {
    /// As people print it while debugging: `1234`, `[1, 2, 3, 4]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(seed) => write!(f, "{seed}"),
            Self::Words(words) => write!(f, "{words:?}"),
        }
    }
}

/// Which library's generator is seeded: one integer means another stream in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `--rng chacha`.
    ChaCha,
    /// torch's CPU generator.
    Torch,
    /// NumPy's `RandomState`, and its global generator.
    NumpyLegacy,
    /// NumPy's `default_rng()`.
    NumpyGenerator,
    /// Python's `random.Random`, and its global generator.
    Python,
}
