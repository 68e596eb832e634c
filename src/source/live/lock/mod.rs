//! The fingerprint that `pipeaudit lock` writes into a repository and `check --locked` compares: small, readable in a
//! diff, and equal as long as the random stream of the data is.
//!
//! It holds, for each loader, the sources that samples draw from (with digests of the states in which their workers
//! begin the first epoch), the transforms with the sources that move when they are called, and digests of the first
//! epoch's order and outputs. An upgrade that changes any of it is seen, and named by the library whose version moved.
//! What differs between two runs of one program is not locked but said to vary.

mod compare;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub use compare::compare;

use crate::error::{Error, Result};
use crate::trace::run::{Distribution, Index, SourceId, TransformKind};
use crate::trace::{Lane, Run};

/// The format that is written and read here.
pub const FORMAT: &str = "pipeaudit-lock/1";

/// The fingerprint of a program's data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// [`FORMAT`].
    pub format: String,
    /// Versions of the libraries in use.
    pub libraries: BTreeMap<String, String>,
    /// Loaders in the order in which they were first iterated.
    pub loaders: Vec<LockedLoader>,
}

/// The fingerprint of one loader's first epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedLoader {
    /// Where the program makes it; for readers, not compared.
    #[serde(rename = "where")]
    pub location: Option<String>,
    /// The dataset's class.
    pub dataset: Option<String>,
    /// Ranks of the job.
    pub ranks: u32,
    /// Workers a rank.
    pub workers: u32,
    /// Samples of the first epoch, over all ranks.
    pub samples: u64,
    /// Digest of the indices in their order; absent where it varies from run to run.
    pub order: Option<String>,
    /// Digest of the outputs in their order; absent where it varies from run to run.
    pub outputs: Option<String>,
    /// Sources that samples or batches draw from, by name.
    pub sources: BTreeMap<String, LockedSource>,
    /// Transforms by name.
    pub transforms: BTreeMap<String, LockedTransform>,
}

/// The fingerprint of one source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedSource {
    /// Its algorithm.
    pub algorithm: String,
    /// Digest of the states in which the workers begin; absent where it varies from run to run.
    pub streams: Option<String>,
}

/// A transform as declared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LockedTransform {
    /// Declared probability.
    pub p: Option<f64>,
    /// Parameters with their distribution: `angle: uniform -15 to 15`.
    pub parameters: Vec<String>,
    /// Sources that move in every sample in which it draws.
    pub sources: Vec<String>,
}

impl Lock {
    /// The fingerprint of a run. What a second run of the same program has otherwise varies.
    pub fn of(run: &Run, again: Option<&Run>) -> Self {
        let mut lock = Self::of_one(run);
        if let Some(again) = again {
            lock.keep_what_repeats(&Self::of_one(again));
        }
        lock
    }

    fn of_one(run: &Run) -> Self {
        let loaders = run.loaders.iter().filter_map(|loader| locked_loader(run, loader)).collect();
        Self { format: FORMAT.to_owned(), libraries: run.libraries.clone(), loaders }
    }

    fn keep_what_repeats(&mut self, again: &Self) {
        for (number, loader) in self.loaders.iter_mut().enumerate() {
            let other = again.loaders.get(number);
            let keep = |value: &mut Option<String>, other: Option<&Option<String>>| {
                if other != Some(value) {
                    *value = None;
                }
            };
            keep(&mut loader.order, other.map(|other| &other.order));
            keep(&mut loader.outputs, other.map(|other| &other.outputs));
            for (name, source) in &mut loader.sources {
                let other = other.and_then(|other| other.sources.get(name));
                keep(&mut source.streams, other.map(|other| &other.streams));
            }
        }
    }

    /// What varies from run to run and is therefore not locked, as sentences.
    pub fn varying(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for (number, loader) in self.loaders.iter().enumerate() {
            let mut what = Vec::new();
            what.extend(loader.order.is_none().then(|| "the order".to_owned()));
            what.extend(loader.outputs.is_none().then(|| "the outputs".to_owned()));
            let varies = |(name, source): (&String, &LockedSource)| {
                source.streams.is_none().then(|| format!("the streams of {name}"))
            };
            what.extend(loader.sources.iter().filter_map(varies));
            if !what.is_empty() {
                sentences.push(format!(
                    "{}: {} vary from run to run and are not locked",
                    loader.name(number),
                    what.join(", ")
                ));
            }
        }
        sentences
    }

    /// The file's content: JSON with a fixed order of keys and a line for each value, so that a diff shows what changed.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("strings and numbers can be written");
        json.push('\n');
        json
    }

    /// Reads a lock file. `name` is the file's, for messages.
    ///
    /// # Errors
    /// Exit status 2 where it is no lock file or one of a format that is not known here.
    pub fn from_json(json: &str, name: &str) -> Result<Self> {
        let again = "write it anew with `pipeaudit lock`";
        let value: serde_json::Value = serde_json::from_str(json)
            .map_err(|error| Error::usage(format!("cannot read the lock file {name}: {error}")).help(again))?;
        match value.get("format").and_then(serde_json::Value::as_str) {
            Some(FORMAT) => {}
            Some(format) if format.starts_with("pipeaudit-lock/") => {
                let error =
                    format!("cannot read the lock file {name}: its format is {format:?}, {FORMAT} is known here");
                return Err(
                    Error::usage(error).help("use the pipeaudit that wrote it, or write it anew with `pipeaudit lock`")
                );
            }
            _ => return Err(Error::usage(format!("cannot read the lock file {name}: it is no lock file")).help(again)),
        }
        serde_json::from_value(value)
            .map_err(|error| Error::usage(format!("cannot read the lock file {name}: {error}")).help(again))
    }
}

impl LockedLoader {
    /// How people know it: where it is made, else its number.
    fn name(&self, number: usize) -> String {
        self.location.clone().unwrap_or_else(|| format!("loader {number}"))
    }
}

/// The fingerprint of a loader, if it delivered anything in its first epoch.
fn locked_loader(run: &Run, loader: &crate::trace::record::Loader) -> Option<LockedLoader> {
    let lanes: Vec<&Lane> =
        run.lanes.iter().filter(|lane| lane.loader == loader.loader && lane.epoch == 0 && !lane.is_empty()).collect();
    if lanes.is_empty() {
        return None;
    }
    let consumed: BTreeSet<SourceId> = lanes.iter().flat_map(|lane| drawn_from(lane)).collect();
    let names = stable_names(run);
    let sources = consumed.iter().map(|&source| (names[&source].clone(), locked_source(run, &lanes, source))).collect();
    Some(LockedLoader {
        location: loader.location.clone(),
        dataset: loader.dataset.clone(),
        ranks: run.world_size.max(1),
        workers: loader.num_workers,
        samples: lanes.iter().map(|lane| lane.len() as u64).sum(),
        order: Some(digest(&lanes, |lane, text| indices(run, lane, text))),
        outputs: Some(digest(&lanes, outputs)),
        sources,
        transforms: transforms(run, &lanes, &names),
    })
}

/// Sources that move while samples are made or batches collated.
fn drawn_from(lane: &Lane) -> BTreeSet<SourceId> {
    let samples = lane.samples().flat_map(|sample| sample.states.iter().map(|moved| moved.source));
    let batches = lane.batches.iter().flat_map(|batch| batch.states.iter().map(|moved| moved.source));
    samples.chain(batches).collect()
}

/// Names of sources that stay when lines are added above them: of a generator that samples make anew
/// (`local:FILE:LINE`), its number in the file stands for its line.
fn stable_names(run: &Run) -> BTreeMap<SourceId, String> {
    let local = |name: &str| {
        let (file, line) = name.strip_prefix("local:")?.rsplit_once(':')?;
        Some((file.to_owned(), line.parse::<u32>().ok()?))
    };
    let locals: BTreeSet<(String, u32)> = run.names.sources.iter().filter_map(|(name, _)| local(name)).collect();
    let stable = |(number, (name, _)): (usize, &(String, String))| {
        let name = match local(name) {
            Some(place) => {
                let before = locals.iter().filter(|other| other.0 == place.0 && **other <= place).count();
                format!("local:{}#{before}", place.0)
            }
            None => name.clone(),
        };
        (SourceId(number as u16), name)
    };
    run.names.sources.iter().enumerate().map(stable).collect()
}

fn locked_source(run: &Run, lanes: &[&Lane], source: SourceId) -> LockedSource {
    let streams = digest(lanes, |lane, text| {
        for start in lane.starts.iter().filter(|start| start.source == source) {
            let _ = writeln!(text, "{}:{}", start.state.key, start.state.position);
        }
    });
    LockedSource { algorithm: run.names.sources[usize::from(source.0)].1.clone(), streams: Some(streams) }
}

fn indices(run: &Run, lane: &Lane, text: &mut String) {
    for sample in lane.samples() {
        let _ = match sample.index {
            Index::Absent => writeln!(text),
            Index::Number(number) => writeln!(text, "{number}"),
            Index::Text(id) => writeln!(text, "{:?}", run.names.texts[id as usize]),
        };
    }
}

fn outputs(lane: &Lane, text: &mut String) {
    for sample in lane.samples() {
        let _ = match sample.output {
            Some(output) => writeln!(text, "{:032x}", output.0),
            None => writeln!(text),
        };
    }
    for batch in &lane.batches {
        let _ = writeln!(text, "{} {:032x}", batch.batch, batch.output.map_or(0, |output| output.0));
    }
}

/// SHA-256, cut to 128 bits, over what `write` says of each lane.
fn digest(lanes: &[&Lane], write: impl Fn(&Lane, &mut String)) -> String {
    let mut hash = Sha256::new();
    for lane in lanes {
        let mut text = format!("rank {} worker {}\n", lane.rank, lane.worker.0);
        write(lane, &mut text);
        hash.update(text);
    }
    hash.finalize().iter().take(16).fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn transforms(run: &Run, lanes: &[&Lane], names: &BTreeMap<SourceId, String>) -> BTreeMap<String, LockedTransform> {
    let mut found: BTreeMap<String, (LockedTransform, Option<BTreeSet<SourceId>>)> = BTreeMap::new();
    for sample in lanes.iter().flat_map(|lane| lane.samples()) {
        let moved: BTreeSet<SourceId> = sample.states.iter().map(|moved| moved.source).collect();
        for event in sample.events() {
            let kind = run.names.transform(event.kind);
            let draws = kind.p.is_some_and(|p| p > 0.0 && p < 1.0) || !event.values.is_empty();
            let (locked, sources) = found.entry(kind.name.clone()).or_insert_with(|| (declared(kind), None));
            if locked.parameters != parameters(kind) {
                locked.parameters = varying_parameters(kind);
            }
            if draws {
                *sources = Some(sources.as_ref().map_or_else(|| moved.clone(), |known| known & &moved));
            }
        }
    }
    found
        .into_iter()
        .map(|(key, (mut locked, sources))| {
            locked.sources = sources.into_iter().flatten().map(|source| names[&source].clone()).collect();
            locked.sources.sort();
            (key, locked)
        })
        .collect()
}

fn declared(kind: &TransformKind) -> LockedTransform {
    LockedTransform { p: kind.p, parameters: parameters(kind), sources: Vec::new() }
}

/// Parameters with the ranges of this kind.
fn parameters(kind: &TransformKind) -> Vec<String> {
    let shown = |parameter: &crate::trace::run::ParameterKind| {
        let mut text = format!("{}: {}", parameter.name, distribution(&parameter.distribution));
        for (word, end) in [(" ", parameter.low), (" to ", parameter.high)] {
            if let Some(end) = end {
                let _ = write!(text, "{word}{end}");
            }
        }
        text
    };
    kind.parameters.iter().map(shown).collect()
}

/// Parameters of a transform whose ranges depend on the sample.
fn varying_parameters(kind: &TransformKind) -> Vec<String> {
    let shown = |parameter: &crate::trace::run::ParameterKind| {
        format!("{}: {}, the range depends on the sample", parameter.name, distribution(&parameter.distribution))
    };
    kind.parameters.iter().map(shown).collect()
}

fn distribution(distribution: &Distribution) -> &str {
    match distribution {
        Distribution::Uniform => "uniform",
        Distribution::Integer => "integer",
        Distribution::Normal => "normal",
        Distribution::Constant => "constant",
        Distribution::Other(name) => name,
    }
}

#[cfg(test)]
mod tests;
