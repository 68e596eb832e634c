//! The global generators of the three libraries in one process.

use super::torch;
use crate::rng::numpy_legacy::NumpyLegacy;
use crate::rng::python::Python;
use crate::rng::torch::Torch;

/// torch's, NumPy's and Python's global generators.
#[derive(Clone, Debug)]
pub struct Globals {
    /// `torch.default_generator`.
    pub torch: Torch,
    /// `np.random`.
    pub numpy: NumpyLegacy,
    /// `random`.
    pub python: Python,
}

impl Globals {
    /// One seed for all three, cut to 32 bits for NumPy: Lightning's `seed_everything`.
    pub fn seeded(seed: u64) -> Self {
        Self { torch: Torch::new(seed), numpy: NumpyLegacy::new(seed as u32), python: Python::new(u128::from(seed)) }
    }

    /// In a worker, before any init: what torch ≥ 1.9 seeds, for every start method.
    pub fn in_worker(base_seed: u64, worker: u32) -> Self {
        let numpy = NumpyLegacy::from_array(&torch::generate_state(base_seed, worker));
        Self { numpy, ..Self::seeded(torch::initial_seed(base_seed, worker)) }
    }
}
