//! MONAI's worker init and its loader's seeding: `worker_init_fn` in `monai/data/utils.py`, `DataLoader` in
//! `monai/data/dataloader.py`, `Compose` in `monai/transforms/compose.py` of MONAI 1.6.
//!
//! The global generators stay as torch seeds them. Every object of the dataset that has a `set_random_state` gets the
//! worker's seed, each one more than the object before it.

use crate::rng::numpy_legacy::NumpyLegacy;
use crate::rng::torch::Torch;

/// The generators of a `Compose` and of its random members.
#[derive(Clone, Debug)]
pub struct Compose {
    /// The Compose's own.
    pub own: NumpyLegacy,
    /// Its random members', in order.
    pub members: Vec<NumpyLegacy>,
}

impl Compose {
    /// `Compose.set_random_state(seed)`: each random member is seeded with one word of the Compose's own generator.
    pub fn seeded(seed: u32, members: usize) -> Self {
        let mut own = NumpyLegacy::new(seed);
        let members = (0..members).map(|_| NumpyLegacy::new(own.next_u32())).collect();
        Self { own, members }
    }
}

/// What the `object`th of the dataset's random objects (from 0) is seeded with in a worker whose
/// `worker_info.seed` is `seed`.
pub fn object_seed(seed: u64, object: u32) -> u32 {
    seed.wrapping_add(u64::from(object)) as u32
}

/// MONAI's `DataLoader` without workers, at its construction: draws the seed of the dataset's random objects from the
/// loader's generator, and puts that back to its initial seed, so that earlier draws are undone.
pub fn seed_in_main_process(generator: &mut Torch) -> u64 {
    let seed = generator.random63();
    *generator = Torch::new(generator.initial_seed());
    seed
}
