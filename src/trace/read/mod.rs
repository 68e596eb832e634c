//! Recorded runs from disk: shards of many processes, ranks and machines merged into one run.
//!
//! Shards are hostile input. A line that cannot be what it says is an [`Error`] with file and line (exit status 3); what
//! a program that was killed leaves behind (a last line that is cut off, a worker without its end) is read as far as it
//! goes and becomes a fault of the run. Records of unknown types are counted and passed by.

mod lines;
mod merge;
mod parse;
mod process;
mod shards;

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

use super::record::{self, FORMAT, Record};
use super::run::{Names, Run};
use crate::error::{Error, Result};
use lines::{Line, Lines};
use parse::{Parsed, parse};
use process::Process;

pub use shards::About;
pub(super) use shards::{is_shard, read_about};

/// Workers of one loader in one rank, at most; more is damage or malice.
const MOST_WORKERS: u32 = 65_535;
/// Ranks of one run, at most, likewise.
const MOST_RANKS: u32 = 1 << 20;

/// What a shard may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one line.
    pub line: usize,
    /// Bytes of one shard, decompressed.
    pub shard: u64,
}

impl Default for Limits {
    /// 64 MiB a line, 64 GiB a shard.
    fn default() -> Self {
        Self { line: 64 << 20, shard: 64 << 30 }
    }
}

/// A run and what reading it showed besides.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The run.
    pub run: Run,
    /// What `run.json` says, where there is one.
    pub about: Option<About>,
    /// The rest.
    pub notes: Notes,
}

/// What reading showed besides the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Shards that were read.
    pub shards: u64,
    /// Records of types that this version does not know, by type.
    pub unknown: BTreeMap<String, u64>,
    /// Passes that were left out: the program threw their iterators away after a first batch.
    pub left_out: u64,
    /// Samples with parts that could not be digested.
    pub opaque: u64,
    /// Whether the recorder ended the program, whose exit status means nothing then.
    pub stopped: bool,
    /// Loaders that the program's main processes made.
    pub made: u64,
    /// Loaders that they iterated.
    pub iterated: u64,
}

/// Reads runs, folders and shards together as one run.
///
/// # Errors
/// Exit status 2 where a path does not exist, 3 where there is no shard or one is damaged; each names the file, and the
/// line where it is one.
pub fn read<P: AsRef<Path>>(paths: &[P]) -> Result<Loaded> {
    read_within(paths, Limits::default())
}

/// [`read`] with other limits.
///
/// # Errors
/// Likewise.
pub fn read_within<P: AsRef<Path>>(paths: &[P], limits: Limits) -> Result<Loaded> {
    let found = shards::find(paths)?;
    let mut reader = Reader::new(limits);
    reader.faults = found.faults;
    for shard in &found.shards {
        reader.shard(&shard.name, shard.open()?)?;
    }
    let mut loaded = reader.finish()?;
    if let Some(name) = found.about.as_ref().and_then(|about| about.name.clone()).or(found.name) {
        loaded.run.name = name;
    }
    loaded.about = found.about;
    Ok(loaded)
}

/// Reads shards that are at hand, each with a name for messages.
///
/// # Errors
/// Where one is damaged (exit status 3).
pub fn from_lines<'a, R: BufRead>(shards: impl IntoIterator<Item = (&'a str, R)>) -> Result<Loaded> {
    let mut reader = Reader::new(Limits::default());
    for (name, input) in shards {
        reader.shard(name, input)?;
    }
    reader.finish()
}

/// Shards read so far.
struct Reader {
    limits: Limits,
    names: Names,
    processes: Vec<Process>,
    faults: Vec<record::Fault>,
    notes: Notes,
}

impl Reader {
    fn new(limits: Limits) -> Self {
        let (processes, faults) = (Vec::new(), Vec::new());
        Self { limits, names: Names::default(), processes, faults, notes: Notes::default() }
    }

    fn shard<R: BufRead>(&mut self, name: &str, input: R) -> Result<()> {
        self.notes.shards += 1;
        let first = self.processes.len();
        let mut lines = Lines::new(input, self.limits);
        let mut torn = false;
        loop {
            let number = lines.number + 1;
            let damaged = |message: String| damaged(name, number, &message);
            match lines.next().map_err(damaged)? {
                Line::End => break,
                Line::Whole(line) => self.line(name, first, line).map_err(damaged)?,
                // Whole all the same where only the line break is missing; else its writer was stopped within it.
                Line::Last(line) => torn = self.line(name, first, line).is_err(),
            }
        }
        if lines.cut {
            self.fault(name, "the compressed data is cut off: read up to there".to_owned());
        } else if torn {
            self.fault(name, format!("line {} is cut off: read up to there", lines.number - 1));
        } else if self.processes.len() == first {
            self.fault(name, "the shard is empty".to_owned());
        }
        Ok(())
    }

    fn fault(&mut self, shard: &str, message: String) {
        self.faults.push(record::Fault { location: shard.to_owned(), message, count: 1 });
    }

    /// Adds a line to the last process of this shard, the first of which has the number `first`.
    fn line(&mut self, shard: &str, first: usize, line: &[u8]) -> std::result::Result<(), String> {
        if line.trim_ascii().is_empty() {
            return Ok(());
        }
        let record = match parse(line)? {
            Parsed::Known(record) => *record,
            Parsed::Unknown(kind) => {
                *self.notes.unknown.entry(kind).or_default() += 1;
                return Ok(());
            }
        };
        let current = self.processes[first..].last_mut();
        match (record, current) {
            (Record::Process(about), current) => {
                check(&about)?;
                match current.filter(|process| process.is_same(&about)) {
                    Some(process) => process.renew(about),
                    None => self.processes.push(Process::new(about, shard)),
                }
                Ok(())
            }
            (record, Some(process)) => process.add(record, &mut self.names),
            (_, None) => Err("a shard begins with a record of its process".to_owned()),
        }
    }

    fn finish(self) -> Result<Loaded> {
        if self.processes.is_empty() {
            let error = Error::not_audited("no process left a record: every shard is empty");
            return Err(error.help("record the run again, and let the program come to its end"));
        }
        Ok(merge::merge(self.processes, self.names, self.faults, self.notes))
    }
}

fn check(about: &record::Process) -> std::result::Result<(), String> {
    if about.format > FORMAT {
        return Err(format!(
            "format {}, of a newer version: this one reads up to {FORMAT} (a newer pipeaudit reads it)",
            about.format
        ));
    }
    if about.world_size > MOST_RANKS {
        return Err(format!("{} ranks are more than {MOST_RANKS}", about.world_size));
    }
    if about.rank >= about.world_size {
        return Err(format!("rank {} is not among {} ranks, which count from 0", about.rank, about.world_size));
    }
    Ok(())
}

fn damaged(shard: &str, line: u64, message: &str) -> Error {
    Error::not_audited(format!("{shard}:{line}: {message}"))
        .help("the trace is damaged or was not written in this format (FORMAT.md); record the run again")
}
