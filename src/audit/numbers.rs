//! The numbers that a person wants of a loader, whatever was found.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::numbers::{AppliedRatio, Distinct, EpochNumbers, LoaderNumbers};
use crate::stats::binomial::clopper_pearson;
use crate::trace::run::{Digest, Index, KindId, SampleView, SourceId};

use super::duplicates::{Duplicates, Effect, Relation, Union};
use super::seen::Seen;
use super::view::{View, mix};

/// The numbers of a loader; [`LoaderNumbers::resolution`] is left to the skew audit.
pub fn numbers(view: &View<'_>, duplicates: &Duplicates) -> LoaderNumbers {
    let mut all: Vec<u64> = Vec::new();
    let mut drawn_over_all = 0;
    let mut epochs = Vec::new();
    let mut streams = Streams::new(view, duplicates);
    let by_parameters = parameters_vary(view);
    for epoch in view.epochs() {
        let samples = view.orders_of(epoch).iter().flat_map(|order| order.samples(view.run));
        let mut augmentations: Vec<u64> =
            samples.filter_map(|(_, sample)| drawn(view, &sample, by_parameters)).collect();
        drawn_over_all += augmentations.len() as u64;
        epochs.push(EpochNumbers {
            epoch,
            streams: streams.distinct(Some(epoch)),
            augmentations: distinct(&mut augmentations),
        });
        all.append(&mut augmentations);
    }
    LoaderNumbers {
        loader: view.name(),
        ranks: view.ranks(),
        workers: view.loader.num_workers,
        delivered: view.orders.iter().map(|order| order.len() as u64).sum(),
        dataset: view.loader.length,
        ever_delivered: ever_delivered(view),
        epochs,
        augmentations: Distinct { distinct: distinct(&mut all).distinct, of: drawn_over_all },
        streams: streams.distinct(None),
        generators: sources(duplicates),
        applied: applied(view),
        reproduces: None,
        resolution: Vec::new(),
    }
}

/// A digest of all that was drawn for a sample: the state that its one source was left in, which says it whatever range
/// the parameters had; else its parameters, else the states of its sources. Parameters that are the same for all samples say
/// nothing beside states that move: the adapter does not see what is drawn.
fn drawn(view: &View<'_>, sample: &SampleView<'_>, by_parameters: bool) -> Option<u64> {
    let by_state = sample.states.len() == 1 || (!by_parameters && !sample.states.is_empty());
    let parameters = if by_state { None } else { view.augmentation(sample) };
    parameters.or_else(|| {
        sample.states.iter().fold(None, |digest, moved| {
            let key = moved.state.key.0;
            let hash = mix(digest.unwrap_or(1) ^ u64::from(moved.source.0));
            let hash = mix(hash ^ (key as u64) ^ mix((key >> 64) as u64));
            Some(mix(hash ^ moved.state.position))
        })
    })
}

fn parameters_vary(view: &View<'_>) -> bool {
    let mut augmentations = view.delivered().map(|(_, sample)| view.augmentation(&sample));
    let first = augmentations.next();
    first.is_some_and(|first| augmentations.any(|other| other != first))
}

#[expect(clippy::stable_sort_primitive, reason = "a stable sort makes use of the runs that epochs leave behind")]
fn distinct(digests: &mut Vec<u64>) -> Distinct {
    let of = digests.len() as u64;
    digests.sort();
    digests.dedup();
    Distinct { distinct: digests.len() as u64, of }
}

/// Streams by source, joined where they meet anywhere.
struct Streams<'a> {
    view: &'a View<'a>,
    duplicates: &'a Duplicates,
    union: Union,
}

impl<'a> Streams<'a> {
    fn new(view: &'a View<'a>, duplicates: &'a Duplicates) -> Self {
        let mut union = Union::new(duplicates.index.streams.len());
        for meeting in &duplicates.relations.meetings {
            if !matches!(meeting.relation, Relation::EpochsByIndex | Relation::Sources) {
                union.join(meeting.first.0.stream, meeting.first.1.stream);
            }
        }
        Self { view, duplicates, union }
    }

    /// Distinct streams of the source that has the fewest, among the sources that matter.
    fn distinct(&mut self, epoch: Option<u32>) -> Distinct {
        let mut by_source: BTreeMap<SourceId, Vec<u32>> = BTreeMap::new();
        for (number, stream) in self.duplicates.index.streams.iter().enumerate() {
            let source = usize::from(stream.source.0);
            let matters = self.duplicates.counts[source] && self.duplicates.effects[source] != Effect::No;
            let lane = &self.view.run.lanes[stream.lane as usize];
            if matters && epoch.is_none_or(|epoch| lane.epoch == epoch) {
                by_source.entry(stream.source).or_default().push(number as u32);
            }
        }
        let counts = by_source.into_values().map(|streams| {
            let of = streams.len() as u64;
            let mut sets: Vec<u32> = streams.into_iter().map(|stream| self.union.find(stream)).collect();
            sets.sort_unstable();
            sets.dedup();
            Distinct { distinct: sets.len() as u64, of }
        });
        // Fewest of all first; of equal ones, the one that most workers draw from.
        let fewest = counts.min_by(|a, b| (a.distinct * b.of, b.of).cmp(&(b.distinct * a.of, a.of)));
        fewest.unwrap_or(Distinct { distinct: 0, of: 0 })
    }
}

/// Sources that were consumed.
fn sources(duplicates: &Duplicates) -> u64 {
    let sources: BTreeSet<SourceId> = duplicates.index.streams.iter().map(|stream| stream.source).collect();
    sources.len() as u64
}

/// Distinct samples ever delivered: by index, by contents where there is none.
fn ever_delivered(view: &View<'_>) -> u64 {
    let mut indices = Seen::default();
    let mut contents: Vec<Digest> = Vec::new();
    for (_, sample) in view.delivered() {
        indices.see(sample.index);
        if sample.index == Index::Absent {
            contents.extend(sample.output);
        }
    }
    contents.sort_unstable();
    contents.dedup();
    indices.distinct() + contents.len() as u64
}

/// Ratios of the transforms that are declared to be applied sometimes.
fn applied(view: &View<'_>) -> Vec<AppliedRatio> {
    let mut kinds: BTreeMap<u32, usize> = BTreeMap::new();
    for (number, kind) in view.run.names.kinds.iter().enumerate() {
        if kind.p.is_some_and(|p| p > 0.0 && p < 1.0) {
            kinds.entry(view.name_number(KindId(number as u32))).or_insert(number);
        }
    }
    let mut counts: BTreeMap<(u32, u32, i32), (u64, u64)> = BTreeMap::new();
    let mut of_lane = vec![(0_u64, 0_u64); view.run.names.kinds.len()];
    for chunk in view.orders.iter().flat_map(|order| &order.chunks) {
        let lane = &view.run.lanes[chunk.lane];
        for event in (chunk.start..chunk.end).flat_map(|seq| lane.sample(seq as usize).events()) {
            if let Some(applied) = event.applied {
                let count = &mut of_lane[view.name_number(event.kind) as usize];
                *count = (count.0 + u64::from(applied), count.1 + 1);
            }
        }
        for name in kinds.keys() {
            let (applied, called) = std::mem::take(&mut of_lane[*name as usize]);
            if called > 0 {
                let count = counts.entry((*name, lane.rank, lane.worker.0)).or_default();
                *count = (count.0 + applied, count.1 + called);
            }
        }
    }
    let ratio = |name: &u32, worker: Option<(u32, i32)>, (applied, called): (u64, u64)| AppliedRatio {
        transform: view.run.names.kinds[kinds[name]].name.clone(),
        rank: worker.map_or(0, |(rank, _)| rank),
        worker: worker.map(|(_, worker)| worker),
        p: view.run.names.kinds[kinds[name]].p,
        applied,
        called,
        interval: clopper_pearson(applied, called, 0.95),
    };
    let mut ratios = Vec::new();
    for name in kinds.keys() {
        let of_name: Vec<_> = counts.range((*name, 0, i32::MIN)..=(*name, u32::MAX, i32::MAX)).collect();
        for ((_, rank, worker), count) in &of_name {
            ratios.push(ratio(name, Some((*rank, *worker)), **count));
        }
        let sum = of_name.iter().fold((0, 0), |sum, (_, count)| (sum.0 + count.0, sum.1 + count.1));
        if sum.1 > 0 {
            ratios.push(ratio(name, None, sum));
        }
    }
    ratios
}
