//! The order in which one rank takes the samples of an epoch.

use super::process::Main;

/// torch's `DistributedSampler` seeds its generator with this plus the epoch, whatever the main process is seeded with.
const DISTRIBUTED_SEED: u64 = 0;

/// RandomSampler: a seed from the main generator, then a permutation from a generator of that seed.
pub fn random(main: &mut Main, length: u64) -> Vec<u64> {
    let seed = main.random63();
    main.fresh(seed).permutation(length)
}

/// DistributedSampler: one permutation for all ranks, filled up by its first indices, of which each rank takes every
/// `ranks`-th.
pub fn distributed(main: &Main, length: u64, rank: u32, ranks: u32, epoch: u32) -> Vec<u64> {
    let mut order = main.fresh(DISTRIBUTED_SEED + u64::from(epoch)).permutation(length);
    let total = length.next_multiple_of(u64::from(ranks)) as usize;
    let padding: Vec<u64> = order.iter().copied().cycle().take(total - order.len()).collect();
    order.extend(padding);
    order.into_iter().skip(rank as usize).step_by(ranks as usize).collect()
}
