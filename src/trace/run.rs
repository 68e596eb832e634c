//! A run in memory: lanes of samples in flat arrays, so that a sample costs about 150 bytes with three transforms.
//!
//! A *lane* is what one worker made in one epoch of one loader in one rank; it holds the samples in the order in
//! which they were made (`seq` is the position in the lane).

use std::collections::HashMap;

use super::record;
use crate::rng::State;

/// A worker of a loader, from 0; [`Worker::MAIN`] is the main process itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Worker(pub i32);

impl Worker {
    /// The main process, where `num_workers` is 0.
    pub const MAIN: Self = Self(-1);
}

impl std::fmt::Display for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if *self == Self::MAIN { f.write_str("main process") } else { write!(f, "worker {}", self.0) }
    }
}

/// Number of a source in [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u16);

/// Number of a transform kind in [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KindId(pub u32);

/// A 128-bit digest of a sample or batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub u128);

/// What identifies a sample in the dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Index {
    /// The loader has none (iterable datasets).
    Absent,
    /// The usual one.
    Number(i64),
    /// A key, by its number in [`Names::texts`].
    Text(u32),
}

/// How a parameter is declared to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// `uniform`: continuous, from `low` to `high`.
    Uniform,
    /// `integer`: whole numbers from `low` to `high`, both included, equally likely.
    Integer,
    /// `normal`: mean `low`, standard deviation `high`.
    Normal,
    /// `constant`: always the same; not tested.
    Constant,
    /// Any other: compared between workers, not against a declaration.
    Other(String),
}

impl Distribution {
    /// The distribution of parameters whose values are texts: an event has a text's number in [`Names::texts`].
    pub const TEXT: &'static str = "text";

    /// Its word in traces.
    pub fn word(&self) -> &str {
        match self {
            Self::Uniform => "uniform",
            Self::Integer => "integer",
            Self::Normal => "normal",
            Self::Constant => "constant",
            Self::Other(word) => word,
        }
    }
}

/// A parameter of a transform as declared. Where the range depends on the sample (a crop in images of several sizes)
/// each range is a kind of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterKind {
    /// Its name.
    pub name: String,
    /// How it is drawn.
    pub distribution: Distribution,
    /// Lower end, unit of the parameter.
    pub low: Option<f64>,
    /// Upper end, unit of the parameter.
    pub high: Option<f64>,
}

/// A transform as declared: kinds that differ only in a parameter's range share `name`.
#[derive(Clone, Debug, PartialEq)]
pub struct TransformKind {
    /// Name, unique within the loader.
    pub name: String,
    /// Declared probability of being applied.
    pub p: Option<f64>,
    /// Its parameters; an event has one value for each (NaN where it was not drawn).
    pub parameters: Vec<ParameterKind>,
}

/// The names that lanes refer to by number.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Source name and algorithm, by [`SourceId`].
    pub sources: Vec<(String, String)>,
    /// Transforms, by [`KindId`].
    pub kinds: Vec<TransformKind>,
    /// Texts: indices that are strings, and parameter values that are.
    pub texts: Vec<String>,
    source_ids: HashMap<String, SourceId>,
    text_ids: HashMap<String, u32>,
    kind_ids: HashMap<KindKey, KindId>,
}

/// A transform kind with its floats as bits, so that it can be looked up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct KindKey(String, Option<u64>, Vec<(String, String, Option<u64>, Option<u64>)>);

impl KindKey {
    fn of(kind: &TransformKind) -> Self {
        let parameter = |p: &ParameterKind| {
            (p.name.clone(), p.distribution.word().to_owned(), p.low.map(f64::to_bits), p.high.map(f64::to_bits))
        };
        Self(kind.name.clone(), kind.p.map(f64::to_bits), kind.parameters.iter().map(parameter).collect())
    }
}

impl Names {
    /// The number of a source, new or known.
    ///
    /// # Panics
    /// Past 65 536 sources, which readers refuse before.
    pub fn source(&mut self, name: &str, algorithm: &str) -> SourceId {
        if let Some(id) = self.source_ids.get(name) {
            return *id;
        }
        let id = SourceId(u16::try_from(self.sources.len()).expect("fewer than 65536 sources"));
        self.sources.push((name.to_owned(), algorithm.to_owned()));
        self.source_ids.insert(name.to_owned(), id);
        id
    }

    /// The number of a known source.
    pub fn find_source(&self, name: &str) -> Option<SourceId> {
        self.source_ids.get(name).copied()
    }

    /// The number of a text, new or known.
    pub fn text(&mut self, text: &str) -> u32 {
        if let Some(id) = self.text_ids.get(text) {
            return *id;
        }
        let id = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.text_ids.insert(text.to_owned(), id);
        id
    }

    /// The number of a transform kind, new or known.
    pub fn kind(&mut self, kind: TransformKind) -> KindId {
        let next = KindId(self.kinds.len() as u32);
        let id = *self.kind_ids.entry(KindKey::of(&kind)).or_insert(next);
        if id == next {
            self.kinds.push(kind);
        }
        id
    }

    /// A source's name.
    pub fn source_name(&self, id: SourceId) -> &str {
        &self.sources[usize::from(id.0)].0
    }

    /// A transform kind.
    pub fn transform(&self, id: KindId) -> &TransformKind {
        &self.kinds[id.0 as usize]
    }
}

/// Where something moved to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The source.
    pub source: SourceId,
    /// Its state afterwards.
    pub state: State,
}

/// One call of a transform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event<'a> {
    /// Which transform.
    pub kind: KindId,
    /// Whether it was applied, where known.
    pub applied: Option<bool>,
    /// One value for each of the kind's parameters.
    pub values: &'a [f64],
}

/// A sample of a lane.
#[derive(Clone, Copy, Debug)]
pub struct SampleView<'a> {
    /// Position in the lane.
    pub seq: u32,
    /// Batch number in the epoch.
    pub batch: Option<u32>,
    /// What identifies it in the dataset.
    pub index: Index,
    /// Its digest, absent where it is opaque.
    pub output: Option<Digest>,
    /// Sources that moved while it was made, with their state afterwards.
    pub states: &'a [Moved],
    lane: &'a Lane,
    events: (usize, usize),
}

impl<'a> SampleView<'a> {
    /// The transforms that were called, in order.
    pub fn events(&self) -> impl Iterator<Item = Event<'a>> + use<'a> {
        let lane = self.lane;
        lane.events[self.events.0..self.events.1].iter().map(move |row| Event {
            kind: row.kind,
            applied: row.applied,
            values: &lane.values[row.start as usize..row.start as usize + usize::from(row.count)],
        })
    }

    /// Where sources that moved stood when the sample began, if that is not what the lane said last: between two
    /// samples the main process draws for itself.
    pub fn before(&self) -> impl Iterator<Item = Moved> + use<'a> {
        of_sample(&self.lane.befores, self.seq).iter().map(|(_, moved)| *moved)
    }

    /// Sources that were seeded while the sample was made, the first in which they moved.
    pub fn reseeded(&self) -> impl Iterator<Item = SourceId> + use<'a> {
        of_sample(&self.lane.reseeds, self.seq).iter().map(|(_, source)| *source)
    }

    /// Samples that the dataset made in one call, of which this is one; the states stand on the last of them.
    pub fn joint(&self) -> u32 {
        of_sample(&self.lane.joints, self.seq).first().map_or(1, |(_, joint)| *joint)
    }

    /// Parts that could not be digested: where there are any, an equal digest does not prove equal samples.
    pub fn opaque(&self) -> u32 {
        of_sample(&self.lane.opaques, self.seq).first().map_or(0, |(_, parts)| *parts)
    }
}

/// What a table that is sorted by sample, and has few of them, says of one.
fn of_sample<T>(table: &[(u32, T)], seq: u32) -> &[(u32, T)] {
    let from = table.partition_point(|(at, _)| *at < seq);
    let rest = &table[from..];
    &rest[..rest.partition_point(|(at, _)| *at == seq)]
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct EventRow {
    kind: KindId,
    start: u32,
    count: u16,
    applied: Option<bool>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct SampleRow {
    index: Index,
    output: Option<Digest>,
    batch: u32,
    states_end: u32,
    events_end: u32,
}

const NO_BATCH: u32 = u32::MAX;

/// A batch as the worker collated it.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchRow {
    /// Batch number in the epoch.
    pub batch: u32,
    /// Digest of the collated batch.
    pub output: Option<Digest>,
    /// Sources that moved while collating, with their state afterwards.
    pub states: Vec<Moved>,
}

/// What one worker made in one epoch of one loader in one rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    /// Loader number in [`Run::loaders`].
    pub loader: u32,
    /// Epoch, from 0.
    pub epoch: u32,
    /// Rank, from 0.
    pub rank: u32,
    /// The worker.
    pub worker: Worker,
    /// Where each source stood after the init, before the first sample.
    pub starts: Vec<Moved>,
    /// Batches that it collated, where they were recorded.
    pub batches: Vec<BatchRow>,
    /// Samples that it said it made, when it came to the end; absent where it died.
    pub ended: Option<u64>,
    samples: Vec<SampleRow>,
    states: Vec<Moved>,
    events: Vec<EventRow>,
    values: Vec<f64>,
    befores: Vec<(u32, Moved)>,
    reseeds: Vec<(u32, SourceId)>,
    joints: Vec<(u32, u32)>,
    opaques: Vec<(u32, u32)>,
}

impl Lane {
    /// An empty lane.
    pub fn new(loader: u32, epoch: u32, rank: u32, worker: Worker) -> Self {
        Self {
            loader,
            epoch,
            rank,
            worker,
            starts: Vec::new(),
            batches: Vec::new(),
            ended: None,
            samples: Vec::new(),
            states: Vec::new(),
            events: Vec::new(),
            values: Vec::new(),
            befores: Vec::new(),
            reseeds: Vec::new(),
            joints: Vec::new(),
            opaques: Vec::new(),
        }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Adds the call of a transform to the sample that [`Lane::push`] will end.
    pub fn event(&mut self, kind: KindId, applied: Option<bool>, values: &[f64]) {
        let start = self.values.len() as u32;
        self.values.extend_from_slice(values);
        self.events.push(EventRow { kind, start, count: values.len() as u16, applied });
    }

    /// Adds a source that moved to the sample that [`Lane::push`] will end.
    pub fn moved(&mut self, source: SourceId, state: State) {
        self.states.push(Moved { source, state });
    }

    /// Says where a source stood when the sample began that [`Lane::push`] will end.
    pub fn stood(&mut self, source: SourceId, state: State) {
        self.befores.push((self.samples.len() as u32, Moved { source, state }));
    }

    /// Says that a source was seeded while the sample was made that [`Lane::push`] will end.
    pub fn reseeded(&mut self, source: SourceId) {
        self.reseeds.push((self.samples.len() as u32, source));
    }

    /// Says that the sample that [`Lane::push`] will end is one of several that were made in one call.
    pub fn joint(&mut self, samples: u32) {
        self.joints.push((self.samples.len() as u32, samples));
    }

    /// Says that the sample that [`Lane::push`] will end has parts that could not be digested.
    pub fn opaque(&mut self, parts: u32) {
        self.opaques.push((self.samples.len() as u32, parts));
    }

    /// Ends a sample.
    pub fn push(&mut self, batch: Option<u32>, index: Index, output: Option<Digest>) {
        self.samples.push(SampleRow {
            index,
            output,
            batch: batch.unwrap_or(NO_BATCH),
            states_end: self.states.len() as u32,
            events_end: self.events.len() as u32,
        });
    }

    /// The sample at a position.
    ///
    /// # Panics
    /// Where there is none.
    pub fn sample(&self, seq: usize) -> SampleView<'_> {
        let row = &self.samples[seq];
        let before = seq.checked_sub(1).map(|s| &self.samples[s]);
        let (states, events) = before.map_or((0, 0), |b| (b.states_end as usize, b.events_end as usize));
        SampleView {
            seq: seq as u32,
            batch: (row.batch != NO_BATCH).then_some(row.batch),
            index: row.index,
            output: row.output,
            states: &self.states[states..row.states_end as usize],
            lane: self,
            events: (events, row.events_end as usize),
        }
    }

    /// All samples in the order in which they were made.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = SampleView<'_>> {
        (0..self.samples.len()).map(|seq| self.sample(seq))
    }
}

/// One rank's pass over a loader, as its main process saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pass {
    /// Loader number.
    pub loader: u32,
    /// Epoch, from 0.
    pub epoch: u32,
    /// Rank, from 0.
    pub rank: u32,
    /// The batches that the loop received, in that order; `None` where that was not recorded: all, by their number.
    pub delivered: Option<Vec<u32>>,
    /// Whether it was read to its end.
    pub whole: bool,
}

/// Where a rank's main process stood when a pass began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassStart {
    /// Loader number.
    pub loader: u32,
    /// Epoch, from 0.
    pub epoch: u32,
    /// Rank, from 0.
    pub rank: u32,
    /// The seed that the loader drew for its workers.
    pub base_seed: Option<u64>,
    /// The main process's global generators.
    pub main: Vec<Moved>,
}

/// What a call seeded, and in which process.
#[derive(Clone, Debug, PartialEq)]
pub struct Seeded {
    /// Rank of the process.
    pub rank: u32,
    /// The call.
    pub call: record::Seeding,
}

/// One execution of a pipeline: shards of all ranks together.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Its name, for messages.
    pub name: String,
    /// Number of ranks.
    pub world_size: u32,
    /// Names that lanes refer to.
    pub names: Names,
    /// Loaders; ranks that run the same program share them.
    pub loaders: Vec<record::Loader>,
    /// Lanes, sorted by (loader, epoch, rank, worker).
    pub lanes: Vec<Lane>,
    /// Passes, sorted by (loader, epoch, rank).
    pub passes: Vec<Pass>,
    /// Where main processes stood when passes began, as far as it was recorded; sorted by (loader, epoch, rank).
    pub starts: Vec<PassStart>,
    /// Calls that seeded.
    pub seedings: Vec<Seeded>,
    /// Library threads of workers, with their rank.
    pub threads: Vec<(u32, record::Threads)>,
    /// What could not be recorded.
    pub faults: Vec<record::Fault>,
    /// Versions of the libraries in use.
    pub libraries: std::collections::BTreeMap<String, String>,
    /// Cores that each process may use, where known.
    pub cores: Option<f64>,
}
