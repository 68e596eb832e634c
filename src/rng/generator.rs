//! Any of the generators that a pipeline can draw from.

use super::chacha::{self, ChaCha};
use super::{Draw, Kind, Seed, State};

/// A generator; a clone is a bit copy, as `fork` makes it.
#[derive(Clone, Debug)]
pub enum Generator {
    /// `--rng chacha`.
    ChaCha(ChaCha),
}

impl Generator {
    /// A generator of `kind`, seeded.
    pub fn new(kind: Kind, seed: &Seed) -> Self {
        match kind {
            Kind::ChaCha => Self::ChaCha(ChaCha::seeded(seed)),
        }
    }

    /// Which library holds it.
    pub fn kind(&self) -> Kind {
        match self {
            Self::ChaCha(_) => Kind::ChaCha,
        }
    }

    /// The algorithm's name in traces.
    pub fn algorithm(&self) -> &'static str {
        match self {
            Self::ChaCha(_) => chacha::ALGORITHM,
        }
    }

    fn draws(&mut self) -> &mut dyn Draw {
        match self {
            Self::ChaCha(generator) => generator,
        }
    }
}

impl Draw for Generator {
    fn below(&mut self, n: u32) -> u32 {
        self.draws().below(n)
    }

    fn coin(&mut self, p: f64) -> bool {
        self.draws().coin(p)
    }

    fn permutation4(&mut self) -> [u8; 4] {
        self.draws().permutation4()
    }

    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.draws().uniform(low, high)
    }

    fn state(&self) -> State {
        match self {
            Self::ChaCha(generator) => generator.state(),
        }
    }
}
