//! Lightning's `pl_worker_init_function`: `lightning/fabric/utilities/seed.py` of Lightning 2.6.

use super::Globals;
use crate::rng::SeedSequence;
use crate::rng::numpy_legacy::NumpyLegacy;
use crate::rng::python::Python;
use crate::rng::torch::Torch;

/// What the three libraries are seeded with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds {
    /// Of `torch.manual_seed`.
    pub torch: u64,
    /// Of `random.seed`: 96 bits, the middle 32 of which are two words laid over each other.
    pub python: u128,
    /// Of `np.random.seed`.
    pub numpy: Vec<u32>,
}

/// The seeds of one worker of one rank.
pub fn seeds(base_seed: u64, worker: u32, rank: u32) -> Seeds {
    // Python's integers: the base's high bits stay until the first fold, and may overlap neither worker nor rank
    // below 2^16.
    let wide = (u128::from(base_seed) << 32) | (u128::from(worker) << 16) | u128::from(rank);
    let mut hash = (wide ^ (wide >> 33)) as u64;
    hash = hash.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    hash ^= hash >> 33;
    let mut next = || {
        hash = hash.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        hash
    };
    let (torch, high, low) = (next(), next(), next());
    Seeds {
        torch,
        python: (u128::from(high) << 32) | u128::from(low),
        numpy: sequence(base_seed, worker, rank).words(4),
    }
}

/// Seeds a worker that torch has seeded: `pl_worker_init_function(worker, rank)`.
pub fn init(globals: &mut Globals, worker: u32, rank: u32) {
    let base_seed = globals.torch.initial_seed().wrapping_sub(u64::from(worker));
    let seeds = seeds(base_seed, worker, rank);
    globals.torch = Torch::new(seeds.torch);
    globals.python = Python::new(seeds.python);
    globals.numpy = NumpyLegacy::from_array(&seeds.numpy);
}

/// The seed sequence that NumPy's words come from.
pub fn sequence(base_seed: u64, worker: u32, rank: u32) -> SeedSequence {
    SeedSequence::from_ints(&[base_seed, u64::from(worker), u64::from(rank)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `s = _generate_seed_sequence(42, 3, 1, 4)`, of which Python gets `s[1] << 32 | s[2]`, and `SeedSequence([2**40, 3, 1]).generate_state(4)`, Lightning 2.6.
    #[test]
    fn seeds_are_lightnings() {
        let seeds_of_3 = seeds(42, 3, 1);
        assert_eq!(seeds_of_3.torch, 7_088_521_675_871_129_715);
        assert_eq!(seeds_of_3.python, 24_897_347_546_086_611_863_896_305_369);
        assert_eq!(seeds(1 << 40, 3, 1).numpy, [2_023_333_997, 1_066_853_411, 4_090_925_193, 2_534_150_127]);
    }
}
