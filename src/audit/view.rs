//! One loader of a run as the audits look at it.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::finding::{Code, Finding, Place};
use crate::trace::order::{Order, lanes_of, orders};
use crate::trace::run::{Index, Lane, Run, SampleView, Worker};
use crate::trace::{index, record};

use super::Options;

/// A loader with what was made for it and what was received of it.
pub struct View<'a> {
    /// The run.
    pub run: &'a Run,
    /// The loader as it was declared.
    pub loader: &'a record::Loader,
    /// Its lanes, in [`Run::lanes`].
    pub lanes: Range<usize>,
    /// What each rank received in each epoch.
    pub orders: Vec<Order>,
    /// Whether another loader of the run is asked to shuffle.
    pub beside_training: bool,
    /// Epochs that were only peeked into: an iterator that was thrown away after a batch or two, beside whole epochs.
    /// That a later epoch begins as they did is often meant (a sanity check before the seed is set).
    pub peeks: BTreeSet<u32>,
    name_of_kind: Vec<u32>,
}

impl<'a> View<'a> {
    /// All loaders of a run.
    pub fn all(run: &'a Run) -> Vec<Self> {
        (0..run.loaders.len() as u32).map(|number| Self::of(run, number)).collect()
    }

    /// One loader of a run.
    pub fn of(run: &'a Run, number: u32) -> Self {
        let others = run.loaders.iter().enumerate().filter(|(other, _)| *other != number as usize);
        let mut names: Vec<&str> = Vec::new();
        let mut name_of_kind = Vec::with_capacity(run.names.kinds.len());
        for kind in &run.names.kinds {
            let known = names.iter().position(|name| *name == kind.name);
            name_of_kind.push(known.unwrap_or(names.len()) as u32);
            if known.is_none() {
                names.push(&kind.name);
            }
        }
        let orders = orders(run, number);
        Self {
            run,
            loader: &run.loaders[number as usize],
            lanes: lanes_of(run, number),
            peeks: peeks(&orders),
            orders,
            beside_training: others.into_iter().any(|(_, loader)| loader.shuffled),
            name_of_kind,
        }
    }

    /// The loader, as people know it.
    pub fn name(&self) -> String {
        self.loader.location.clone().unwrap_or_else(|| "built-in".to_owned())
    }

    /// Whether it is the built-in pipeline, whose remedies are flags.
    pub fn is_built_in(&self) -> bool {
        self.loader.location.is_none()
    }

    /// Whether the dataset has indices at all.
    pub fn is_map(&self) -> bool {
        self.loader.kind != "iterable"
    }

    /// The lanes, with their numbers.
    pub fn lanes(&self) -> impl Iterator<Item = (usize, &'a Lane)> + use<'a> {
        self.lanes.clone().zip(&self.run.lanes[self.lanes.clone()])
    }

    /// The epochs of which something was made.
    pub fn epochs(&self) -> Vec<u32> {
        let mut epochs: Vec<u32> = self.orders.iter().map(|order| order.epoch).collect();
        epochs.dedup();
        epochs
    }

    /// The orders of one epoch, by rank.
    pub fn orders_of(&self, epoch: u32) -> &[Order] {
        let start = self.orders.partition_point(|order| order.epoch < epoch);
        let end = self.orders.partition_point(|order| order.epoch <= epoch);
        &self.orders[start..end]
    }

    /// Number of ranks that made something.
    pub fn ranks(&self) -> u32 {
        let mut ranks: Vec<u32> = self.orders.iter().map(|order| order.rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        ranks.len() as u32
    }

    /// All samples that were received.
    pub fn delivered(&self) -> impl Iterator<Item = (usize, SampleView<'_>)> + '_ {
        self.orders.iter().flat_map(|order| order.samples(self.run))
    }

    /// By lane (counted from the first): the position after its last sample that was received.
    pub fn delivered_ends(&self) -> Vec<u32> {
        let mut ends = vec![0; self.lanes.len()];
        for chunk in self.orders.iter().flat_map(|order| &order.chunks) {
            let end = &mut ends[chunk.lane - self.lanes.start];
            *end = chunk.end.max(*end);
        }
        ends
    }

    /// The place of a sample.
    pub fn place(&self, lane: usize, seq: u32) -> Place {
        let lane = &self.run.lanes[lane];
        Place { epoch: lane.epoch, rank: lane.rank, worker: lane.worker.0, seq }
    }

    /// A number that kinds of one transform share, whatever their ranges.
    pub fn name_number(&self, kind: crate::trace::run::KindId) -> u32 {
        self.name_of_kind[kind.0 as usize]
    }

    /// A digest of what was drawn for a sample as far as it is known by parameters; `None` where no transform was called.
    pub fn augmentation(&self, sample: &SampleView<'_>) -> Option<u64> {
        let mut digest = None;
        for event in sample.events() {
            let mut hash = mix(digest.unwrap_or(1) ^ u64::from(self.name_number(event.kind)));
            hash = mix(hash ^ event.applied.map_or(2, u64::from));
            for value in event.values {
                hash = mix(hash ^ value.to_bits());
            }
            digest = Some(hash);
        }
        digest
    }

    /// An empty finding on this loader.
    pub fn finding(&self, code: Code, options: &Options) -> Finding {
        Finding {
            code,
            severity: code.severity(),
            arm: options.arm.clone(),
            loader: Some(self.name()),
            location: self.loader.location.clone(),
            sources: Vec::new(),
            message: String::new(),
            cause: None,
            evidence: Vec::new(),
            places: Vec::new(),
            fix: None,
            factors: None,
        }
    }

    /// Whether epochs came in different orders although the loader does not say that it shuffles (wrapped loaders hide
    /// their sampler).
    pub fn order_varies(&self) -> bool {
        let mut by_rank: Vec<(u32, Vec<Index>)> = Vec::new();
        for order in &self.orders {
            let indices: Vec<Index> = order.samples(self.run).map(|(_, sample)| sample.index).collect();
            match by_rank.iter().find(|(rank, _)| *rank == order.rank) {
                Some((_, first)) => {
                    let common = first.len().min(indices.len());
                    if first[..common] != indices[..common] {
                        return true;
                    }
                }
                None => by_rank.push((order.rank, indices)),
            }
        }
        false
    }
}

/// Most batches of an epoch that was only peeked into.
const PEEK: usize = 2;

fn peeks(orders: &[Order]) -> BTreeSet<u32> {
    let longest = orders.iter().map(|order| order.chunks.len()).max().unwrap_or_default();
    let by_epoch = orders.chunk_by(|a, b| a.epoch == b.epoch);
    let peek = |order: &Order| !order.whole && order.known && order.chunks.len() <= PEEK && longest > 2 * PEEK;
    by_epoch.filter(|orders| orders.iter().all(peek)).map(|orders| orders[0].epoch).collect()
}

/// SplitMix64's finaliser: spreads every bit over the whole word.
pub const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// `64 delivered`, `1 sample`: a count with its word.
pub fn count(number: u64, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}

/// A share as people read it: `25 %`, `0.3 %`.
pub fn percent(part: u64, whole: u64) -> String {
    let share = 100.0 * part as f64 / whole.max(1) as f64;
    if part > 0 && share < 1.0 { format!("{share:.1} %") } else { format!("{share:.0} %") }
}

/// A worker of a rank as people know it; the rank only where there are several.
pub fn worker_name(rank: u32, worker: Worker, ranks: u32) -> String {
    if ranks > 1 { format!("rank {rank} {worker}") } else { worker.to_string() }
}

/// Whether a source is one of the libraries' own generators.
pub fn is_global(source: &str) -> bool {
    matches!(source, "python" | "numpy" | "torch" | "chacha")
}

/// Whether a source is an object that the dataset (or its like) holds.
pub fn is_held(source: &str) -> bool {
    !is_global(source) && !index::is_local(source)
}
