//! What torch itself seeds a worker with, before any init: `torch/utils/data/_utils/worker.py`, torch 1.9 and later.

use crate::rng::SeedSequence;

/// The seed of torch and of Python's `random` in a worker; `torch.initial_seed()` there.
pub fn initial_seed(base_seed: u64, worker: u32) -> u64 {
    base_seed.wrapping_add(u64::from(worker))
}

/// The list that NumPy's global generator is seeded with: torch's `_generate_state(base_seed, worker)`.
///
/// The entropy always has four words: a base seed below 2^32 keeps its high word, unlike in a list of integers.
pub fn generate_state(base_seed: u64, worker: u32) -> Vec<u32> {
    SeedSequence::new(&[worker, base_seed as u32, (base_seed >> 32) as u32, 0]).words(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `_generate_state(42, 3)` and `_generate_state(2**62 + 5, 2)`, torch 2.15.
    #[test]
    fn the_numpy_list_is_torchs() {
        assert_eq!(generate_state(42, 3), [1_846_748_587, 4_073_695_127, 3_009_156_047, 2_451_874_720]);
        assert_eq!(generate_state((1 << 62) + 5, 2), [1_114_760_057, 3_944_156_918, 956_049_253, 2_336_673_097]);
    }
}
