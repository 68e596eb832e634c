//! One line of a trace shard. The format is documented in `FORMAT.md` beside this file, with a JSON Schema in
//! `fixtures/schemas/trace-1.json`; any language can write it.
//!
//! Unknown fields are passed by, unknown types are skipped and counted by the reader.

use std::collections::BTreeMap;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the trace format that is written here.
pub const FORMAT: u32 = 1;

/// One line of a shard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Record {
    /// The process that writes this shard.
    Process(Process),
    /// A loader, when it is first iterated.
    Loader(Loader),
    /// A pass over a loader that counts as an epoch (written by the main process).
    Pass(Pass),
    /// A source at the start of a worker's epoch: after its init, before the first sample.
    Stream(Stream),
    /// A sample as the worker made it.
    Sample(Sample),
    /// A batch as the worker collated it.
    Batch(Batch),
    /// A batch that the program's loop received (written by the main process).
    Delivered(Delivered),
    /// A call that seeded a generator.
    Seeding(Seeding),
    /// Library threads of a worker.
    Threads(Threads),
    /// A worker (or the main process) came to the end of an epoch.
    End(End),
    /// Something that the recorder could not do.
    Fault(Fault),
    /// The recorder ended the program.
    Stopped(Stopped),
    /// A main process came to its end.
    Exit(Exit),
}

/// The process that writes this shard. A later one of the same process (same `pid`, or none) says more about it and
/// holds for all its records; one of another process begins that process's records.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// [`FORMAT`].
    pub format: u32,
    /// The run's name.
    #[serde(default)]
    pub run: String,
    /// Rank in a distributed job, 0 where there is none.
    #[serde(default)]
    pub rank: u32,
    /// Number of ranks, 1 where there is no distributed job.
    #[serde(default = "one")]
    pub world_size: u32,
    /// `main` or `worker`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Host name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// For a worker, the process id of the main process whose loader it serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// Python's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<String>,
    /// Versions of the libraries in use.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub libraries: BTreeMap<String, String>,
    /// Cores that the process may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<f64>,
}

fn one() -> u32 {
    1
}

/// A loader of the process, numbered from 0 in the order of first iteration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Loader {
    /// Its number.
    pub loader: u32,
    /// Where the program made it: `file:line`.
    #[serde(rename = "where", default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The dataset's class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
    /// `map` or `iterable`.
    #[serde(default = "map_kind")]
    pub kind: String,
    /// Samples in the dataset, where it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// Samples a batch, where it is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_size: Option<u64>,
    /// Worker processes; 0 is the main process itself.
    #[serde(default)]
    pub num_workers: u32,
    /// The sampler's class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampler: Option<String>,
    /// The batch sampler's class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_sampler: Option<String>,
    /// The collate function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collate: Option<String>,
    /// Whether it was asked to shuffle.
    #[serde(default)]
    pub shuffled: bool,
    /// Whether the sampler may give an index more than once on purpose (replacement, weights, repeated augmentation).
    #[serde(default)]
    pub replacement: bool,
    /// Whether a last short batch is dropped.
    #[serde(default)]
    pub drop_last: bool,
    /// Whether the dataset is a `Subset`; indices are then those of the dataset behind it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub subset: bool,
    /// Samples in the dataset behind a `Subset`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_length: Option<u64>,
    /// Indices that a distributed sampler adds to make all ranks equally long; over all ranks.
    #[serde(default)]
    pub padding: u64,
    /// Whether workers live on over epochs.
    #[serde(default)]
    pub persistent_workers: bool,
    /// `process` or `thread`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker_method: Option<String>,
    /// `fork`, `spawn` or `forkserver`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_method: Option<String>,
    /// The seeding function of the workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init: Option<String>,
    /// Whether the recorder ended an epoch early.
    #[serde(default)]
    pub cut_short: bool,
}

fn map_kind() -> String {
    "map".to_owned()
}

/// A pass over a loader that counts as an epoch. Where a run has such records, the number under `epoch` in the records
/// of its loaders is a pass: iterators in the order in which the program made them. Passes without a record are left out
/// (a first batch that is only peeked at, a trainer's sanity check).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// Loader number.
    pub loader: u32,
    /// The pass, from 0.
    pub pass: u32,
    /// The epoch that it is, from 0.
    pub epoch: u32,
    /// The seed that the loader drew for its workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_seed: Option<u64>,
    /// Where the main process's global generators stood when the pass began: `algorithm:key:position` by source.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub main: BTreeMap<String, String>,
}

/// A source at the start of a worker's epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// Loader number.
    pub loader: u32,
    /// Epoch, from 0.
    pub epoch: u32,
    /// Worker, from 0; -1 is the main process.
    pub worker: i32,
    /// The source's name or path.
    pub source: String,
    /// Its algorithm.
    pub algorithm: String,
    /// `algorithm:key:position`.
    pub state: String,
}

/// A sample as the worker made it, before batches are collated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Loader number.
    pub loader: u32,
    /// Epoch, from 0.
    pub epoch: u32,
    /// Worker, from 0; -1 is the main process.
    pub worker: i32,
    /// Position among the samples that this worker made in this epoch, from 0.
    pub seq: u32,
    /// Batch number in the epoch, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// What identifies the sample in the dataset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<Index>,
    /// 128-bit digest in hex; absent where the sample is opaque.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// State after the sample of each source that moved: `algorithm:key:position`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, String>,
    /// Where a source that moved stood when the sample began, if that is not what the lane's records said last.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub before: BTreeMap<String, String>,
    /// Sources that were seeded while this sample was made, the first in which they moved: it does not draw from where
    /// they stood before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reseeded: Vec<String>,
    /// Parts that could not be digested; `output` covers the rest.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub opaque: u32,
    /// Samples that the dataset made in one call, of which this is one; `states` stand on the last of them.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub joint: u32,
    /// `[name, applied, p, {parameter: [value, distribution, low, high]}]`, in the order of their calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transforms: Vec<Transform>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_one(n: &u32) -> bool {
    *n == 1
}

/// An index of a dataset: an integer or a string.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub enum Index {
    /// The usual one.
    Number(i64),
    /// A key.
    Text(String),
}

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IndexVisitor;

        impl Visitor<'_> for IndexVisitor {
            type Value = Index;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a 64-bit integer or a text")
            }

            fn visit_i64<E: de::Error>(self, n: i64) -> Result<Index, E> {
                Ok(Index::Number(n))
            }

            fn visit_u64<E: de::Error>(self, n: u64) -> Result<Index, E> {
                i64::try_from(n).map(Index::Number).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(n), &self))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Index, E> {
                Ok(Index::Text(text.to_owned()))
            }
        }

        deserializer.deserialize_any(IndexVisitor)
    }
}

/// `[name, applied, p, parameters]`; `applied` and `p` are null where they are not known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transform(
    /// Name, unique within the loader (a second object of one class gets `#2`).
    pub String,
    /// Whether it was applied.
    pub Option<bool>,
    /// Declared probability of being applied.
    pub Option<f64>,
    /// `[value, distribution, low, high]` by parameter; `distribution` is one of those in `trace::run::Distribution`.
    /// A value is a number, a text, a boolean, or null where it was not drawn.
    pub BTreeMap<String, (Value, String, Option<f64>, Option<f64>)>,
);

/// A batch as the worker collated it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Loader number.
    pub loader: u32,
    /// Epoch, from 0.
    pub epoch: u32,
    /// Worker, from 0; -1 is the main process.
    pub worker: i32,
    /// Batch number in the epoch, from 0.
    pub batch: u32,
    /// 128-bit digest in hex of the collated batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// State after collating of each source that moved while collating.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub states: BTreeMap<String, String>,
}

/// A batch that the program's loop received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivered {
    /// Loader number.
    pub loader: u32,
    /// Epoch, from 0.
    pub epoch: u32,
    /// Batch number in the epoch, from 0, in the order of delivery.
    pub batch: u32,
}

/// A call that seeded a generator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seeding {
    /// `file:line` of the program's own frame that called.
    #[serde(rename = "where", default)]
    pub location: String,
    /// What was called: `torch.manual_seed`.
    pub call: String,
    /// The source that it seeded, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Worker, or -1 for the main process.
    #[serde(default = "main_worker")]
    pub worker: i32,
    /// The seed as text, `null` where none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// The library function that the program called, where that is not `call` itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
}

fn main_worker() -> i32 {
    -1
}

/// Library threads of a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Threads {
    /// Loader number.
    pub loader: u32,
    /// Epoch, from 0.
    pub epoch: u32,
    /// Worker, from 0.
    pub worker: i32,
    /// Threads by library.
    #[serde(default)]
    pub counts: BTreeMap<String, u32>,
    /// Threads that were busy, by CPU time.
    #[serde(default)]
    pub busy: f64,
}

/// A worker came to the end of an epoch; where it is absent, the worker died. From the main process (`worker` -1 of a
/// loader with workers) it says how the program's loop ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Loader number.
    pub loader: u32,
    /// Epoch, from 0.
    pub epoch: u32,
    /// Worker, from 0; -1 is the main process.
    pub worker: i32,
    /// Samples that were made.
    pub samples: u64,
    /// Whether the epoch was read to its end (false: the loop broke off, or it was cut short).
    #[serde(default = "yes")]
    pub whole: bool,
    /// From the main process of a loader with workers: batches that its loop received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batches: Option<u64>,
}

fn yes() -> bool {
    true
}

/// Something that the recorder could not do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// What it was doing.
    #[serde(rename = "where", default)]
    pub location: String,
    /// What went wrong.
    pub message: String,
    /// How often.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: u32,
}

/// The recorder ended the program: its exit status means nothing then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopped {
    /// Why: `enough`.
    #[serde(default)]
    pub reason: String,
}

/// A main process came to its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// Loaders that were constructed.
    #[serde(default)]
    pub made: u64,
    /// Loaders that were iterated.
    #[serde(default)]
    pub iterated: u64,
}
