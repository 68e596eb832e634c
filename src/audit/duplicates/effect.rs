//! Whether the outputs depend on a source.
//!
//! Some libraries draw for transforms that are constant, and some streams only decide an order. Such a source may stand
//! in equal states everywhere and harms nobody. The evidence: samples of one index whose source stood in different
//! states, but which came out equal.

use std::collections::BTreeMap;

use crate::audit::view::{View, mix};
use crate::trace::index::StateIndex;
use crate::trace::run::{Digest, Index, SampleView, SourceId};

use super::relations::Relations;

/// What the run shows of a source's effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Outputs or parameters follow it.
    Yes,
    /// Outputs are the same whatever its state.
    No,
    /// The run does not show it.
    Unknown,
}

/// Pairs of equal outputs from different states that are needed before a source counts as without effect. Fewer may be
/// luck: half of all flips come out alike.
const PAIRS: u64 = 8;

/// Samples that are looked at, about: all deliveries of some of the indices.
const SAMPLES: usize = 1 << 17;

/// Meetings of a source that are looked at for parameters that follow it.
const MEETINGS: usize = 512;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    index: Index,
    augmentation: u64,
    output: Digest,
    lane: u32,
    seq: u32,
}

/// What is needed to judge the sources of one loader.
pub struct Judge<'a> {
    view: &'a View<'a>,
    index: &'a StateIndex,
    rows: Vec<Row>,
    parameters_vary: bool,
    state_ids: Vec<u32>,
}

impl<'a> Judge<'a> {
    /// Gathers the outputs of a loader.
    pub fn new(view: &'a View<'a>, index: &'a StateIndex) -> Self {
        let mut rows = Vec::new();
        let mut first: Option<u64> = None;
        let mut parameters_vary = false;
        let samples: usize = view.lanes().map(|(_, lane)| lane.len()).sum();
        let every = (samples / SAMPLES) as u64 + 1;
        for (number, lane) in view.lanes() {
            for sample in lane.samples() {
                let number_of = |index| match index {
                    Index::Number(number) => number as u64,
                    Index::Text(text) => u64::from(text),
                    Index::Absent => sample.output.map_or(0, |output| output.0 as u64),
                };
                if mix(number_of(sample.index)) % every != 0 {
                    continue;
                }
                let augmentation = view.augmentation(&sample);
                if let Some(digest) = augmentation {
                    parameters_vary |= *first.get_or_insert(digest) != digest;
                }
                if let Some(output) = sample.output {
                    let augmentation = augmentation.unwrap_or_default();
                    rows.push(Row { index: sample.index, augmentation, output, lane: number as u32, seq: sample.seq });
                }
            }
        }
        rows.sort_unstable();
        let mut state_ids = vec![u32::MAX; index.stands.len()];
        for (id, group) in index.groups().enumerate() {
            state_ids[group].fill(id as u32);
        }
        // States that are seen once need numbers too: those after the groups.
        let single = state_ids.iter_mut().filter(|id| **id == u32::MAX);
        for (next, id) in (index.groups().count() as u32..).zip(single) {
            *id = next;
        }
        Self { view, index, rows, parameters_vary, state_ids }
    }

    /// Whether some parameter of some transform varies at all.
    pub fn parameters_vary(&self) -> bool {
        self.parameters_vary
    }

    /// What the run shows of a source.
    pub fn effect(&self, source: SourceId, relations: &mut Relations) -> Effect {
        if self.index.streams.iter().any(|stream| stream.source == source && stream.collates) {
            // Batches are mixed anew each time: no two of them can be compared.
            return Effect::Unknown;
        }
        if self.rows.iter().all(|row| row.index == Index::Absent) {
            return self.effect_on_contents(source, relations);
        }
        let states = self.states_of(source);
        let mut explained = 0;
        let mut several = false;
        for same in self.rows.chunk_by(|a, b| a.index == b.index) {
            if same[0].index == Index::Absent {
                continue;
            }
            several |= same[0].augmentation != same[same.len() - 1].augmentation;
            for pair in same.windows(2).filter(|pair| pair[0].augmentation == pair[1].augmentation) {
                if pair[0].output != pair[1].output {
                    return Effect::Yes;
                }
                let state = |row: &Row| states.get(row.lane as usize)?.left_by(row.seq);
                let (a, b) = (state(&pair[0]), state(&pair[1]));
                explained += u64::from(a.is_some() && b.is_some() && a != b);
            }
        }
        match (explained >= PAIRS, several || self.parameters_vary) {
            (true, true) if self.some_parameter_follows(source) => Effect::Yes,
            (true, _) => Effect::No,
            (false, true) => Effect::Yes,
            (false, false) => Effect::Unknown,
        }
    }

    /// Without indices: a source without which the same contents come in another epoch decides at most their order.
    fn effect_on_contents(&self, source: SourceId, relations: &mut Relations) -> Effect {
        if self.parameters_vary {
            return if self.some_parameter_follows(source) { Effect::Yes } else { Effect::No };
        }
        let mut by_epoch: BTreeMap<u32, Vec<Digest>> = BTreeMap::new();
        for row in &self.rows {
            by_epoch.entry(self.view.run.lanes[row.lane as usize].epoch).or_default().push(row.output);
        }
        let contents: Vec<(u32, Vec<Digest>)> = by_epoch
            .into_iter()
            .map(|(epoch, mut outputs)| {
                outputs.sort_unstable();
                (epoch, outputs)
            })
            .collect();
        let mut sets_of = |epoch: u32| -> Vec<u32> {
            let in_epoch = |stream: &crate::trace::index::Stream| {
                stream.source == source && self.view.run.lanes[stream.lane as usize].epoch == epoch
            };
            let streams = self.index.streams.iter().enumerate().filter(|(_, stream)| in_epoch(stream));
            streams.map(|(number, _)| relations.joined.find(number as u32)).collect()
        };
        for pair in contents.windows(2) {
            let (first, second) = (sets_of(pair[0].0), sets_of(pair[1].0));
            let moved = !first.is_empty() && first.iter().all(|set| !second.contains(set));
            if moved && pair[0].1 == pair[1].1 {
                return Effect::No;
            }
        }
        Effect::Unknown
    }

    fn states_of(&self, source: SourceId) -> Vec<Chain> {
        let mut chains: Vec<Chain> = Vec::new();
        for (stand, id) in self.index.stands.iter().zip(&self.state_ids) {
            let stream = self.index.streams[stand.stream as usize];
            if stream.source == source {
                let lane = stream.lane as usize;
                chains.resize_with(chains.len().max(lane + 1), Chain::default);
                chains[lane].local = stream.local;
                chains[lane].states.push((stand.position, *id));
            }
        }
        for chain in &mut chains {
            chain.states.sort_unstable();
        }
        chains
    }

    /// Whether some parameter is the same wherever the source stands in the same state.
    fn some_parameter_follows(&self, source: SourceId) -> bool {
        let mut components: BTreeMap<u64, Component> = BTreeMap::new();
        let of_source = |stand: u32| self.index.streams[stand as usize].source == source;
        let groups = self.index.groups().filter_map(|group| {
            let mut stands = self.index.stands[group].iter().filter(|stand| of_source(stand.stream));
            Some((stands.next()?, stands.next()?)).filter(|(a, b)| a.stream != b.stream)
        });
        for (a, b) in groups.take(MEETINGS) {
            let sample = |stand: &crate::trace::index::Stand| {
                let lane = self.index.lane(self.view.run, stand.stream);
                ((stand.position as usize) < lane.len()).then(|| lane.sample(stand.position as usize))
            };
            let (Some(a), Some(b)) = (sample(a), sample(b)) else { continue };
            let (a, b) = (self.values(&a), self.values(&b));
            for (name, value) in &a {
                let component = components.entry(*name).or_default();
                component.see(*value);
                if let Some(other) = b.get(name) {
                    component.see(*other);
                    component.pairs += 1;
                    component.equal += u64::from(value == other);
                }
            }
        }
        components.is_empty() || components.values().any(Component::follows)
    }

    /// The values of a sample's transforms by a number for transform, call and parameter.
    fn values(&self, sample: &SampleView<'_>) -> BTreeMap<u64, u64> {
        let mut values = BTreeMap::new();
        for (call, event) in sample.events().enumerate() {
            let name = mix(u64::from(self.view.name_number(event.kind)) ^ mix(call as u64));
            if let Some(applied) = event.applied {
                values.insert(name, u64::from(applied));
            }
            for (at, value) in event.values.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
                values.insert(mix(name ^ (at as u64 + 1)), value.to_bits());
            }
        }
        values
    }
}

/// State numbers of one source in one lane by position.
#[derive(Default)]
struct Chain {
    local: bool,
    states: Vec<(u32, u32)>,
}

impl Chain {
    /// The state in which a sample left the source (that in which it was made, for a local generator). Where samples
    /// seed it, that is the same for the same seed, and the state before the sample is no matter.
    fn left_by(&self, seq: u32) -> Option<u32> {
        let position = if self.local { seq } else { seq + 1 };
        let at = self.states.binary_search_by_key(&position, |(position, _)| *position).ok()?;
        Some(self.states[at].1)
    }
}

#[derive(Default)]
struct Component {
    pairs: u64,
    equal: u64,
    seen: BTreeMap<u64, u64>,
}

impl Component {
    fn see(&mut self, value: u64) {
        *self.seen.entry(value).or_default() += 1;
    }

    /// Equal more often than halfway between chance and always.
    fn follows(&self) -> bool {
        let total: u64 = self.seen.values().sum();
        let chance: f64 = self.seen.values().map(|count| (*count as f64 / total as f64).powi(2)).sum();
        self.seen.len() > 1 && self.pairs > 0 && self.equal as f64 / self.pairs as f64 > f64::midpoint(chance, 1.0)
    }
}
