//! Which files make up a run: `run.json` and the shards beside it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::parse::{Parsed, parse};
use crate::error::{Error, Result};
use crate::trace::record::{self, FORMAT, Record};

/// What `run.json` says of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// [`FORMAT`].
    pub format: u32,
    /// The run's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The arm that it belongs to: `as is`, `with init`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// The command and its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// Versions, `pipeaudit` among them.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub versions: std::collections::BTreeMap<String, String>,
    /// What was held: `hash-seed`, `clock`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<String>,
}

/// Past this, `run.json` is none.
const MOST_ABOUT: u64 = 1 << 20;
/// How far into a shard its first line is looked for, for sorting.
const MOST_FIRST_LINE: u64 = 1 << 20;
/// Runs that are named where a folder holds runs and no shards.
const SHOWN_RUNS: usize = 3;

/// A shard's file.
#[derive(Debug)]
pub(super) struct Shard {
    pub(super) name: String,
    path: PathBuf,
    order: Order,
}

/// Main processes before their workers, ranks in order, then as the processes were started (as far as their ids tell):
/// numbers of names do not depend on how files are called.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Order {
    unreadable: bool,
    rank: u32,
    worker: bool,
    pid: Option<u32>,
    path: PathBuf,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) shards: Vec<Shard>,
    pub(super) about: Option<About>,
    pub(super) name: Option<String>,
    pub(super) faults: Vec<record::Fault>,
}

/// Finds the shards of folders and takes files as they are; each file once.
pub(super) fn find<P: AsRef<Path>>(paths: &[P]) -> Result<Found> {
    let mut found = Found::default();
    let mut seen = std::collections::BTreeSet::new();
    for path in paths.iter().map(AsRef::as_ref) {
        let kind = fs::metadata(path).map_err(|error| {
            Error::usage(format!("cannot read {}: {error}", path.display()))
                .help("a run is a folder, as `pipeaudit record -o RUN` or `pipeaudit simulate -o RUN` writes it")
        })?;
        let files = if kind.is_dir() {
            folder(path, &mut found)?
        } else if kind.is_file() {
            vec![path.to_owned()]
        } else {
            return Err(Error::usage(format!("{} is neither a folder nor a file", path.display())));
        };
        for file in files {
            let whole = fs::canonicalize(&file).map_err(|error| unreadable(&file, &error))?;
            if seen.insert(whole) {
                let order = Shard::order(&file)?;
                found.shards.push(Shard { name: file.display().to_string(), path: file, order });
            }
        }
    }
    found.shards.sort_by(|a, b| a.order.cmp(&b.order));
    Ok(found)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::not_audited(format!("cannot read {}: {error}", path.display()))
}

pub(in crate::trace) fn is_shard(name: &str) -> bool {
    [".jsonl", ".jsonl.zst"].iter().any(|end| name.ends_with(end))
}

/// The shards of a folder. Links and pipes are left out: a run holds its data itself, and reads nothing beyond it.
fn folder(path: &Path, found: &mut Found) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(|error| unreadable(path, &error))? {
        let entry = entry.map_err(|error| unreadable(path, &error))?;
        let kind = entry.file_type().map_err(|error| unreadable(&entry.path(), &error))?;
        if !is_shard(&entry.file_name().to_string_lossy()) {
            continue;
        }
        if kind.is_file() {
            files.push(entry.path());
        } else {
            let location = entry.path().display().to_string();
            let message = "is no regular file: left out".to_owned();
            found.faults.push(record::Fault { location, message, count: 1 });
        }
    }
    files.sort();
    found.faults.sort_by(|a, b| a.location.cmp(&b.location));
    if let Some(about) = read_about(&path.join("run.json"))? {
        found.about.get_or_insert(about);
    }
    if files.is_empty() {
        return Err(no_shards(path));
    }
    if found.name.is_none() {
        found.name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    }
    Ok(files)
}

fn no_shards(path: &Path) -> Error {
    let error = Error::not_audited(format!("no shard (*.jsonl, *.jsonl.zst) in {}", path.display()));
    let runs = runs_below(path);
    if runs.is_empty() {
        return error.help("nothing was recorded there, or it is no run");
    }
    let shown: Vec<String> = runs.iter().take(SHOWN_RUNS).map(|run| run.display().to_string()).collect();
    let more = if runs.len() > SHOWN_RUNS { " and others" } else { "" };
    error.help(format!("it holds runs: {}{more}", shown.join(", ")))
}

fn runs_below(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut runs: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|p| p.join("run.json").is_file()).collect();
    runs.sort();
    runs
}

/// Reads `run.json`, where there is one.
pub(in crate::trace) fn read_about(path: &Path) -> Result<Option<About>> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(path, &error)),
        Ok(kind) if !kind.is_file() || kind.len() > MOST_ABOUT => {
            return Err(Error::not_audited(format!("{} is no description of a run", path.display())));
        }
        Ok(_) => {}
    }
    let bytes = fs::read(path).map_err(|error| unreadable(path, &error))?;
    let about: About = serde_json::from_slice(&bytes)
        .map_err(|error| Error::not_audited(format!("{} is no description of a run: {error}", path.display())))?;
    if about.format > FORMAT {
        let message = format!("{}: format {} is of a newer version", path.display(), about.format);
        return Err(Error::not_audited(message).help("a newer pipeaudit reads it"));
    }
    Ok(Some(about))
}

impl Shard {
    /// Opens it, decompressing where its name says so.
    pub(super) fn open(&self) -> Result<Box<dyn BufRead>> {
        open(&self.path).map_err(|error| unreadable(&self.path, &error))
    }

    /// Where it stands among the shards, by its first line. What is wrong with the line shows when it is read.
    fn order(path: &Path) -> Result<Order> {
        use std::io::Read;
        let mut line = Vec::new();
        let input = open(path).map_err(|error| unreadable(path, &error))?;
        let process = match input.take(MOST_FIRST_LINE).read_until(b'\n', &mut line).ok().map(|_| parse(&line)) {
            Some(Ok(Parsed::Known(record))) => match *record {
                Record::Process(process) => Some(process),
                _ => None,
            },
            _ => None,
        };
        Ok(Order {
            unreadable: process.is_none(),
            rank: process.as_ref().map_or(0, |process| process.rank),
            worker: process.as_ref().is_some_and(|process| process.role.as_deref() == Some("worker")),
            pid: process.and_then(|process| process.pid),
            path: path.to_owned(),
        })
    }
}

fn open(path: &Path) -> std::io::Result<Box<dyn BufRead>> {
    let file = BufReader::with_capacity(1 << 18, File::open(path)?);
    if path.extension().is_some_and(|extension| extension == "zst") {
        return Ok(Box::new(BufReader::with_capacity(1 << 18, zstd::Decoder::with_buffer(file)?)));
    }
    Ok(Box::new(file))
}
