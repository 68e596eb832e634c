//! The order in which a DataLoader takes indices and random numbers in the main process.
//!
//! Mirrors `torch/utils/data/{dataloader,sampler}.py` of torch 2.15. The loader's generator is the one given to it
//! (`generator=`), or else the process's default one. From it come, in this order:
//!
//! 1. `iter(loader)`: the epoch's base seed, also without workers; not where persistent workers live on.
//! 2. At the first index: the order. Without `generator=`, a seed for it is drawn and the permutation comes from a
//!    generator of its own.
//! 3. When the sampler is asked for more than it has: a second permutation, which is thrown away. With `generator=` that
//!    moves the loader's generator, and with it the next base seed.
//!
//! Workers are asked for batches ahead, so 2 (and in small epochs 3) fall inside `iter(loader)` there.

use std::collections::VecDeque;

use crate::rng::chacha::ChaCha;
use crate::rng::torch::Torch;

/// Batches that each worker is asked for ahead: torch's `prefetch_factor`.
const AHEAD: usize = 2;

/// What a main process asks of its generator.
pub trait MainGenerator: Sized {
    /// A new generator from a seed.
    fn from_seed(seed: u64) -> Self;

    /// 63 random bits.
    fn random63(&mut self) -> u64;

    /// A permutation of `0..n`.
    fn permutation(&mut self, n: usize) -> Vec<u32>;
}

impl MainGenerator for ChaCha {
    fn from_seed(seed: u64) -> Self {
        Self::new(seed)
    }

    fn random63(&mut self) -> u64 {
        self.random63()
    }

    fn permutation(&mut self, n: usize) -> Vec<u32> {
        self.permutation(n)
    }
}

impl MainGenerator for Torch {
    fn from_seed(seed: u64) -> Self {
        Self::new(seed)
    }

    fn random63(&mut self) -> u64 {
        self.random63()
    }

    fn permutation(&mut self, n: usize) -> Vec<u32> {
        self.randperm(n)
    }
}

/// What a loader was made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Samples in a batch, at least 1.
    pub batch_size: usize,
    /// Whether a last batch that is not full is left out.
    pub drop_last: bool,
    /// Worker processes; 0 where the main process loads itself.
    pub num_workers: u32,
    /// Whether workers live on from epoch to epoch.
    pub persistent_workers: bool,
}

/// In which order a sampler gives the indices of one epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// `0..n`: a loader that does not shuffle.
    Sequential(usize),
    /// A permutation of `0..n` from the loader's generator: `shuffle=True`.
    Random(usize),
    /// Indices that a sampler found without the loader's generator, such as [`distributed`].
    Given(Vec<u32>),
}

/// A loader over all its epochs.
#[derive(Clone, Debug)]
pub struct Loader<G> {
    plan: Plan,
    generator: Option<G>,
    /// The base seed of workers that live on.
    living: Option<u64>,
}

/// A batch that the loader hands out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Its number in the epoch, from 0.
    pub number: usize,
    /// The worker that makes it; `None` for the main process.
    pub worker: Option<u32>,
    /// The samples.
    pub indices: Vec<u32>,
}

/// One epoch of a loader.
#[derive(Clone, Debug)]
pub struct Epoch {
    /// The base seed of the workers that serve this epoch.
    pub base_seed: u64,
    /// Whether workers are started for it: their generators are then seeded and their init runs.
    pub starts_workers: bool,
    sampler: Sampler,
    asked: VecDeque<Vec<u32>>,
    handed_out: usize,
}

impl<G: MainGenerator> Loader<G> {
    /// A loader with `generator=`, or without.
    pub fn new(plan: Plan, generator: Option<G>) -> Self {
        Self { plan, generator, living: None }
    }

    /// The generator that was given to the loader.
    pub fn generator(&self) -> Option<&G> {
        self.generator.as_ref()
    }

    /// `iter(loader)`, in a process whose default generator is `main`.
    pub fn start(&mut self, main: &mut G, order: Order) -> Epoch {
        let starts_workers = self.living.is_none() && self.plan.num_workers > 0;
        let base_seed = self.living.unwrap_or_else(|| self.generator.as_mut().unwrap_or(main).random63());
        if self.plan.persistent_workers && self.plan.num_workers > 0 {
            self.living = Some(base_seed);
        }
        let mut epoch =
            Epoch { base_seed, starts_workers, sampler: Sampler::new(order), asked: VecDeque::new(), handed_out: 0 };
        for _ in 0..AHEAD * self.plan.num_workers as usize {
            self.ask(&mut epoch, main);
        }
        epoch
    }

    /// The next batch, or the end of the epoch. Without workers, what the transforms draw comes between two calls.
    pub fn next_batch(&mut self, epoch: &mut Epoch, main: &mut G) -> Option<Batch> {
        let workers = self.plan.num_workers as usize;
        if workers == 0 {
            self.ask(epoch, main);
        }
        let indices = epoch.asked.pop_front()?;
        // A worker is asked for one more before the batch is handed out.
        if workers > 0 {
            self.ask(epoch, main);
        }
        let number = epoch.handed_out;
        epoch.handed_out += 1;
        let worker = (workers > 0).then(|| (number % workers) as u32);
        Some(Batch { number, worker, indices })
    }

    /// Asks the sampler for one batch more.
    fn ask(&mut self, epoch: &mut Epoch, main: &mut G) {
        let sampler = &mut epoch.sampler;
        let next = || sampler.next_index(main, self.generator.as_mut());
        let batch: Vec<u32> = std::iter::from_fn(next).take(self.plan.batch_size).collect();
        let least = if self.plan.drop_last { self.plan.batch_size } else { 1 };
        if !batch.is_empty() && batch.len() >= least {
            epoch.asked.push_back(batch);
        }
    }
}

/// A sampler in one epoch.
#[derive(Clone, Debug)]
struct Sampler {
    order: Order,
    /// The permutation, once it is drawn.
    permutation: Option<Vec<u32>>,
    next: usize,
    /// Whether the sampler has been asked for more than it has.
    spent: bool,
}

impl Sampler {
    fn new(order: Order) -> Self {
        Self { order, permutation: None, next: 0, spent: false }
    }

    fn next_index<G: MainGenerator>(&mut self, main: &mut G, mut generator: Option<&mut G>) -> Option<u32> {
        let at = self.next;
        let index = match &self.order {
            Order::Sequential(n) => (at < *n).then_some(at as u32),
            Order::Given(indices) => indices.get(at).copied(),
            Order::Random(n) => {
                let permutation = self.permutation.get_or_insert_with(|| match &mut generator {
                    Some(generator) => generator.permutation(*n),
                    None => G::from_seed(main.random63()).permutation(*n),
                });
                permutation.get(at).copied()
            }
        };
        match (&self.order, generator) {
            // Drawn for the sake of the generator alone: torch cuts this permutation to no values.
            (Order::Random(n), Some(generator)) if index.is_none() && !self.spent => drop(generator.permutation(*n)),
            _ => {}
        }
        self.spent |= index.is_none();
        self.next += 1;
        index
    }
}

/// The indices of one rank: torch's `DistributedSampler` over `n` samples.
///
/// Shuffled where there is a `seed`, which is the sampler's seed + the epoch that `set_epoch` told it. Without
/// `drop_last` the first samples are delivered again until the ranks have equally many.
///
/// # Panics
///
/// Where `rank` is not below `ranks`: torch refuses that.
pub fn distributed<G: MainGenerator>(
    n: usize,
    ranks: usize,
    rank: usize,
    seed: Option<u64>,
    drop_last: bool,
) -> Vec<u32> {
    assert!(rank < ranks, "rank {rank} is not one of {ranks}");
    let indices = match seed {
        Some(seed) => G::from_seed(seed).permutation(n),
        None => (0..n as u32).collect(),
    };
    let samples = if drop_last { n / ranks } else { n.div_ceil(ranks) };
    indices.iter().copied().cycle().skip(rank).step_by(ranks).take(samples).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// torch 2.15: `DistributedSampler(data, num_replicas, rank, shuffle, seed=7, drop_last)` after `set_epoch(1)`, over
    /// 10 and 2 samples.
    #[test]
    fn ranks_get_the_indices_of_torchs_distributed_sampler() {
        let ranks = |n, ranks, seed, drop_last| -> Vec<Vec<u32>> {
            (0..ranks).map(|rank| distributed::<Torch>(n, ranks, rank, seed, drop_last)).collect()
        };
        assert_eq!(ranks(10, 3, Some(8), false), [[3, 1, 4, 9], [5, 2, 7, 3], [0, 6, 8, 5]]);
        assert_eq!(ranks(10, 3, Some(8), true), [[3, 1, 4], [5, 2, 7], [0, 6, 8]]);
        assert_eq!(ranks(10, 4, None, false), [[0, 4, 8], [1, 5, 9], [2, 6, 0], [3, 7, 1]]);
        assert_eq!(ranks(2, 5, Some(10), false), [[1], [0], [1], [0], [1]]);
        assert_eq!(ranks(2, 5, None, true), vec![Vec::<u32>::new(); 5]);
    }

    /// A generator that counts what is asked of it.
    #[derive(Clone, Debug, Default)]
    struct Counter {
        seeds: u64,
        permutations: usize,
    }

    impl MainGenerator for Counter {
        fn from_seed(_: u64) -> Self {
            Self::default()
        }

        fn random63(&mut self) -> u64 {
            self.seeds += 1;
            self.seeds
        }

        fn permutation(&mut self, n: usize) -> Vec<u32> {
            self.permutations += 1;
            (0..n as u32).rev().collect()
        }
    }

    const PLAN: Plan = Plan { batch_size: 4, drop_last: false, num_workers: 2, persistent_workers: false };

    /// What is handed out of `n` samples, and the seeds and permutations taken from (main, given) by then.
    fn epochs(plan: Plan, order: &Order, given: bool, epochs: usize) -> (Vec<Vec<Batch>>, [u64; 2], [usize; 2]) {
        let mut main = Counter::default();
        let mut loader = Loader::new(plan, given.then(Counter::default));
        let batches = (0..epochs)
            .map(|_| {
                let mut epoch = loader.start(&mut main, order.clone());
                std::iter::from_fn(|| loader.next_batch(&mut epoch, &mut main)).collect()
            })
            .collect();
        let given = loader.generator().cloned().unwrap_or_default();
        (batches, [main.seeds, given.seeds], [main.permutations, given.permutations])
    }

    #[test]
    fn batches_go_round_the_workers_and_the_last_may_be_short() {
        let (batches, ..) = epochs(PLAN, &Order::Random(10), false, 1);
        let batch = |number, worker, indices: &[u32]| Batch { number, worker: Some(worker), indices: indices.to_vec() };
        assert_eq!(batches[0], [batch(0, 0, &[9, 8, 7, 6]), batch(1, 1, &[5, 4, 3, 2]), batch(2, 0, &[1, 0])]);
        let (batches, ..) = epochs(Plan { drop_last: true, ..PLAN }, &Order::Sequential(10), false, 1);
        assert_eq!(batches[0], [batch(0, 0, &[0, 1, 2, 3]), batch(1, 1, &[4, 5, 6, 7])]);
    }

    #[test]
    fn the_main_process_loads_where_there_are_no_workers() {
        let (batches, ..) = epochs(Plan { num_workers: 0, ..PLAN }, &Order::Given(vec![5, 3]), false, 1);
        assert_eq!(batches[0], [Batch { number: 0, worker: None, indices: vec![5, 3] }]);
    }

    /// Words per epoch as the golden README counts them: 2 a seed, n - 1 a permutation.
    #[test]
    fn an_epoch_takes_what_torch_takes() {
        let persistent = Plan { persistent_workers: true, ..PLAN };
        let drawn = |plan, order: &Order, given| {
            let (_, seeds, permutations) = epochs(plan, order, given, 3);
            (seeds, permutations)
        };
        let (random, sequential) = (Order::Random(8), Order::Sequential(8));
        assert_eq!(drawn(PLAN, &sequential, false), ([3, 0], [0, 0]));
        assert_eq!(drawn(PLAN, &random, false), ([6, 0], [0, 0]));
        assert_eq!(drawn(PLAN, &random, true), ([0, 3], [0, 6]));
        assert_eq!(drawn(persistent, &sequential, false), ([1, 0], [0, 0]));
        assert_eq!(drawn(persistent, &random, false), ([4, 0], [0, 0]));
        assert_eq!(drawn(persistent, &random, true), ([0, 1], [0, 6]));
    }

    #[test]
    fn persistent_workers_are_started_once() {
        let mut main = Counter::default();
        let mut loader = Loader::new(Plan { persistent_workers: true, ..PLAN }, None);
        let epochs: Vec<_> = (0..3).map(|_| loader.start(&mut main, Order::Sequential(4))).collect();
        assert_eq!(epochs.iter().map(|epoch| epoch.starts_workers).collect::<Vec<_>>(), [true, false, false]);
        assert_eq!(epochs.iter().map(|epoch| epoch.base_seed).collect::<Vec<_>>(), [1, 1, 1]);
    }

    #[test]
    fn nothing_is_drawn_before_the_first_index() {
        let mut main = Counter::default();
        let mut loader = Loader::new(Plan { num_workers: 0, ..PLAN }, None);
        let mut epoch = loader.start(&mut main, Order::Random(8));
        assert_eq!(main.seeds, 1);
        loader.next_batch(&mut epoch, &mut main);
        assert_eq!(main.seeds, 2);
    }

    #[test]
    fn an_empty_dataset_ends_at_once() {
        for order in [Order::Random(0), Order::Sequential(0), Order::Given(Vec::new())] {
            assert_eq!(epochs(PLAN, &order, true, 1).0, [Vec::new()]);
        }
    }
}
