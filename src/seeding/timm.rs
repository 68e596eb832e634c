//! timm's worker init: `_worker_init` in `timm/data/loader.py` of timm 1.0.

use super::Globals;
use crate::rng::numpy_legacy::NumpyLegacy;
use crate::rng::python::Python;
use crate::rng::torch::Torch;

/// timm's `worker_seeding`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeding {
    /// `"part"`: Python and torch stay as torch seeds them.
    Part,
    /// `"all"`: NumPy too is seeded with the worker's seed.
    All,
    /// A callable, and what it returned for this worker. torch refuses a seed of 2^64 and more.
    Callable(u64),
}

/// Seeds a worker whose `worker_info.seed` is `seed`.
pub fn init(globals: &mut Globals, seeding: Seeding, seed: u64) {
    match seeding {
        Seeding::Part => {}
        Seeding::All => globals.numpy = numpy(seed),
        Seeding::Callable(seed) => {
            globals.python = Python::new(u128::from(seed));
            globals.torch = Torch::new(seed);
            globals.numpy = numpy(seed);
        }
    }
}

/// timm reduces by 2^32 - 1, not by 2^32.
fn numpy(seed: u64) -> NumpyLegacy {
    NumpyLegacy::new((seed % u64::from(u32::MAX)) as u32)
}
