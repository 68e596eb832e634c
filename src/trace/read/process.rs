//! The records of one process, put together: loaders, lanes and passes under the process's own numbers.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::MOST_WORKERS;
use crate::trace::notation::{parse_digest, parse_state};
use crate::trace::record::{self, Record};
use crate::trace::run::{
    BatchRow, Digest, Distribution, Index, KindId, Lane, Moved, Names, ParameterKind, SourceId, TransformKind, Worker,
};

/// Sources have 16-bit numbers in memory.
const MOST_SOURCES: usize = 65_535;
/// Parameters of one transform, likewise.
const MOST_PARAMETERS: usize = 65_535;
/// Whole numbers beyond are not exact as floats.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A lane and what is known of its end.
#[derive(Debug)]
pub(super) struct LaneSoFar {
    pub(super) lane: Lane,
    pub(super) whole: Option<bool>,
    started: HashSet<SourceId>,
}

/// What the main process says of a pass.
#[derive(Debug, Default)]
pub(super) struct PassSoFar {
    pub(super) counts: Option<record::Pass>,
    pub(super) main: Vec<Moved>,
    pub(super) delivered: Vec<u32>,
    pub(super) end: Option<record::End>,
}

/// One process: a main process, or a worker of one.
#[derive(Debug, Default)]
pub(super) struct Process {
    pub(super) about: record::Process,
    /// The shard that it stands in, for messages.
    pub(super) shard: String,
    pub(super) loaders: BTreeMap<u32, record::Loader>,
    /// By (loader, pass, worker).
    pub(super) lanes: BTreeMap<(u32, u32, i32), LaneSoFar>,
    /// By (loader, pass).
    pub(super) passes: BTreeMap<(u32, u32), PassSoFar>,
    pub(super) seedings: Vec<record::Seeding>,
    pub(super) threads: Vec<record::Threads>,
    pub(super) faults: Vec<record::Fault>,
    pub(super) stopped: Vec<String>,
    pub(super) exit: record::Exit,
}

impl Process {
    pub(super) fn new(about: record::Process, shard: &str) -> Self {
        Self { about, shard: shard.to_owned(), ..Self::default() }
    }

    /// Whether it serves a main process of its own.
    pub(super) fn is_worker(&self) -> bool {
        self.about.role.as_deref() == Some("worker")
    }

    /// Whether a later `process` record is of this same process.
    pub(super) fn is_same(&self, later: &record::Process) -> bool {
        let (a, b) = (&self.about, later);
        let same_rank = (a.rank, a.world_size) == (b.rank, b.world_size);
        a.pid == b.pid && a.host == b.host && a.role == b.role && (a.pid.is_some() || same_rank)
    }

    /// Takes over what a later record of this process says.
    pub(super) fn renew(&mut self, later: record::Process) {
        let mut libraries = std::mem::take(&mut self.about.libraries);
        libraries.extend(later.libraries.clone());
        self.about = record::Process { libraries, ..later };
    }

    /// Adds a record other than `process`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn add(&mut self, record: Record, names: &mut Names) -> Result<(), String> {
        match record {
            Record::Process(_) => unreachable!("begins or renews a process"),
            Record::Loader(loader) => {
                if loader.num_workers > MOST_WORKERS {
                    return Err(format!("{} workers are more than {MOST_WORKERS}", loader.num_workers));
                }
                self.loaders.insert(loader.loader, loader);
            }
            Record::Pass(pass) => {
                let main = moved(&pass.main, names)?;
                let known = self.pass(pass.loader, pass.pass);
                known.main = main;
                known.counts = Some(pass);
            }
            Record::Stream(stream) => self.add_stream(&stream, names)?,
            Record::Sample(sample) => self.add_sample(sample, names)?,
            Record::Batch(batch) => self.add_batch(&batch, names)?,
            Record::Delivered(delivered) => {
                self.pass(delivered.loader, delivered.epoch).delivered.push(delivered.batch);
            }
            Record::Seeding(seeding) => self.seedings.push(seeding),
            Record::Threads(threads) => self.threads.push(threads),
            Record::End(end) => self.add_end(end)?,
            Record::Fault(fault) => self.faults.push(fault),
            Record::Stopped(stopped) => self.stopped.push(stopped.reason),
            Record::Exit(exit) => self.exit = exit,
        }
        Ok(())
    }

    fn pass(&mut self, loader: u32, pass: u32) -> &mut PassSoFar {
        self.passes.entry((loader, pass)).or_default()
    }

    fn lane(&mut self, loader: u32, pass: u32, worker: i32) -> Result<&mut LaneSoFar, String> {
        if worker < Worker::MAIN.0 || worker > MOST_WORKERS as i32 {
            return Err(format!("worker {worker} is not between -1 and {MOST_WORKERS}"));
        }
        Ok(self.lanes.entry((loader, pass, worker)).or_insert_with(|| LaneSoFar {
            lane: Lane::new(loader, pass, 0, Worker(worker)),
            whole: None,
            started: HashSet::new(),
        }))
    }

    fn add_stream(&mut self, stream: &record::Stream, names: &mut Names) -> Result<(), String> {
        let (_, state) = parse_state(&stream.state).ok_or_else(|| no_state(&stream.state))?;
        let source = source(names, &stream.source, &stream.algorithm)?;
        let lane = self.lane(stream.loader, stream.epoch, stream.worker)?;
        // Said twice, the first holds: that is where the source started.
        if lane.started.insert(source) {
            lane.lane.starts.push(Moved { source, state });
        }
        Ok(())
    }

    fn add_sample(&mut self, sample: record::Sample, names: &mut Names) -> Result<(), String> {
        let output = digest(sample.output.as_deref())?;
        let states = moved(&sample.states, names)?;
        let before = moved(&sample.before, names)?;
        let reseeded: Vec<_> = sample.reseeded.iter().filter_map(|source| names.find_source(source)).collect();
        let mut events = Vec::with_capacity(sample.transforms.len());
        for transform in sample.transforms {
            events.push(event(transform, names)?);
        }
        if sample.batch == Some(u32::MAX) {
            return Err(format!("there is no batch {}", u32::MAX));
        }
        let lane = &mut self.lane(sample.loader, sample.epoch, sample.worker)?.lane;
        match (sample.seq as usize, lane.len()) {
            (seq, known) if seq < known => return Err(format!("sample {seq} of this worker and epoch a second time")),
            (seq, known) if seq > known => {
                return Err(format!("sample {seq} of this worker and epoch, where sample {known} was due"));
            }
            _ => {}
        }
        for (kind, applied, values) in &events {
            lane.event(*kind, *applied, values);
        }
        for moved in states {
            lane.moved(moved.source, moved.state);
        }
        for moved in before {
            lane.stood(moved.source, moved.state);
        }
        for source in reseeded {
            lane.reseeded(source);
        }
        if sample.opaque > 0 {
            lane.opaque(sample.opaque);
        }
        if sample.joint > 1 {
            lane.joint(sample.joint);
        }
        let index = match sample.index {
            None => Index::Absent,
            Some(record::Index::Number(n)) => Index::Number(n),
            Some(record::Index::Text(text)) => Index::Text(names.text(&text)),
        };
        lane.push(sample.batch, index, output);
        Ok(())
    }

    fn add_batch(&mut self, batch: &record::Batch, names: &mut Names) -> Result<(), String> {
        let row = BatchRow {
            batch: batch.batch,
            output: digest(batch.output.as_deref())?,
            states: moved(&batch.states, names)?,
        };
        self.lane(batch.loader, batch.epoch, batch.worker)?.lane.batches.push(row);
        Ok(())
    }

    /// The main process of a loader with workers says how its loop ended; any other says how a lane did.
    fn add_end(&mut self, end: record::End) -> Result<(), String> {
        let has_workers = self.loaders.get(&end.loader).is_some_and(|loader| loader.num_workers > 0);
        let in_main = end.worker == Worker::MAIN.0;
        if !in_main || !has_workers {
            let lane = self.lane(end.loader, end.epoch, end.worker)?;
            lane.lane.ended = Some(end.samples);
            lane.whole = Some(end.whole);
        }
        if in_main {
            let pass = self.pass(end.loader, end.epoch);
            pass.end = Some(end);
        }
        Ok(())
    }
}

fn no_state(text: &str) -> String {
    format!("\"{}\" is no state: algorithm:key:position, the key as 32 hexadecimal digits", shortened(text))
}

fn shortened(text: &str) -> String {
    let mut chars = text.chars();
    let start: String = chars.by_ref().take(80).collect();
    if chars.next().is_some() { start + "…" } else { start }
}

fn source(names: &mut Names, name: &str, algorithm: &str) -> Result<SourceId, String> {
    names.find_source(name).map_or_else(
        || {
            if names.sources.len() >= MOST_SOURCES {
                return Err(format!("more than {MOST_SOURCES} sources"));
            }
            Ok(names.source(name, algorithm))
        },
        Ok,
    )
}

fn moved(states: &BTreeMap<String, String>, names: &mut Names) -> Result<Vec<Moved>, String> {
    let mut moved = Vec::with_capacity(states.len());
    for (name, text) in states {
        let (algorithm, state) = parse_state(text).ok_or_else(|| no_state(text))?;
        moved.push(Moved { source: source(names, name, algorithm)?, state });
    }
    Ok(moved)
}

fn digest(text: Option<&str>) -> Result<Option<Digest>, String> {
    let wrong = |text: &str| format!("\"{}\" is no digest of 32 hexadecimal digits", shortened(text));
    text.map(|text| parse_digest(text).ok_or_else(|| wrong(text))).transpose()
}

type EventSoFar = (KindId, Option<bool>, Vec<f64>);

fn event(transform: record::Transform, names: &mut Names) -> Result<EventSoFar, String> {
    let record::Transform(name, applied, p, parameters) = transform;
    if let Some(p) = p.filter(|p| !(0.0..=1.0).contains(p)) {
        return Err(format!("{p} is no probability (transform {})", shortened(&name)));
    }
    if parameters.len() > MOST_PARAMETERS {
        return Err(format!("more than {MOST_PARAMETERS} parameters (transform {})", shortened(&name)));
    }
    let mut kinds = Vec::with_capacity(parameters.len());
    let mut values = Vec::with_capacity(parameters.len());
    for (name, (value, word, low, high)) in parameters {
        let text = value.is_string() || word == Distribution::TEXT;
        values.push(match value {
            Value::Number(n) if !text => n.as_f64().unwrap_or(f64::NAN),
            Value::Bool(yes) if !text => f64::from(u8::from(yes)),
            Value::String(text) => f64::from(names.text(&text)),
            _ => f64::NAN,
        });
        let distribution =
            if text { Distribution::Other(Distribution::TEXT.to_owned()) } else { distribution(word, low, high) };
        kinds.push(ParameterKind { name, distribution, low, high });
    }
    Ok((names.kind(TransformKind { name, p, parameters: kinds }), applied, values))
}

/// What a word declares, where its ends make sense; nothing can be tested against others.
fn distribution(word: String, low: Option<f64>, high: Option<f64>) -> Distribution {
    let ends = low.zip(high);
    let whole = |x: f64| x.fract() == 0.0 && x.abs() <= EXACT;
    match (word.as_str(), ends) {
        ("uniform", Some((low, high))) if low <= high && (high - low).is_finite() => Distribution::Uniform,
        ("integer", Some((low, high))) if low <= high && whole(low) && whole(high) => Distribution::Integer,
        ("normal", Some((_, deviation))) if deviation >= 0.0 => Distribution::Normal,
        ("constant", _) => Distribution::Constant,
        _ => Distribution::Other(word),
    }
}
