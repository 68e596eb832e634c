//! Why a run left no records: which step between the command and a delivered sample was not taken.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::super::command::{Ended, Exit};
use super::super::words::{command_line, last_words};
use crate::error::{Error, Result};

/// The endings of the files that the recorder writes.
const ATTACHED: &str = "attached";
const SHARD: &str = "jsonl";

/// How far a command came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Signs {
    /// Python processes in which the recorder came to life.
    pub attached: usize,
    /// Of those, the ones that imported `torch.utils.data`.
    pub shards: usize,
    /// Loaders that were made.
    pub made: u64,
    /// Loaders that were iterated.
    pub iterated: u64,
}

/// The first step that was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// No Python loaded the recorder.
    Recorder,
    /// Nothing imported `torch.utils.data`.
    Torch,
    /// No loader was made.
    Loader,
    /// None was iterated.
    Iteration,
    /// None delivered anything.
    Samples,
}

impl Signs {
    /// What the files in a trace folder say; of loaders, nothing yet.
    pub fn of(folder: &Path) -> Result<Self> {
        let unreadable = |error: std::io::Error| {
            Error::not_audited(format!("cannot read the trace folder {}: {error}", folder.display()))
        };
        let mut signs = Self::default();
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let ending = path.extension().unwrap_or_default();
            signs.attached += usize::from(ending == ATTACHED);
            signs.shards += usize::from(ending == SHARD);
        }
        Ok(signs)
    }

    /// The first step that was not taken.
    pub fn missing(&self) -> Missing {
        match *self {
            Self { attached: 0, shards: 0, .. } => Missing::Recorder,
            Self { shards: 0, .. } => Missing::Torch,
            Self { made: 0, .. } => Missing::Loader,
            Self { iterated: 0, .. } => Missing::Iteration,
            Self { .. } => Missing::Samples,
        }
    }
}

/// The error of a run of which nothing was seen.
pub fn error(missing: Missing, signs: &Signs, argv: &[OsString], ended: &Ended) -> Error {
    let command = command_line(argv);
    let before = match missing {
        Missing::Recorder | Missing::Torch => "before it imported torch.utils.data",
        Missing::Loader => "before it made a data loader",
        Missing::Iteration => "before it iterated a data loader",
        Missing::Samples => "before a data loader delivered anything",
    };
    match ended.exit {
        Exit::Success | Exit::Stopped => nothing_seen(missing, signs, &command, argv),
        Exit::Failure { .. } | Exit::Signal { .. } => {
            let error = Error::not_audited(format!("`{command}` {} {before}{}", ended.exit, last_words(ended)));
            error.help("pipeaudit runs the command as it is given, in this folder: make it run by itself first")
        }
        Exit::TimedOut { .. } => {
            let error = Error::not_audited(format!("`{command}` {} {before}{}", ended.exit, last_words(ended)));
            error.help("give it more time with --timeout, or name a function that returns the loader with --loader")
        }
        Exit::Interrupted => Error::not_audited(format!("`{command}` {} {before}", ended.exit)),
    }
}

/// The error of a command that ended well and showed nothing.
fn nothing_seen(missing: Missing, signs: &Signs, command: &str, argv: &[OsString]) -> Error {
    match missing {
        Missing::Recorder => match isolating_option(argv) {
            Some(option) => Error::not_audited(format!(
                "the recorder did not get into `{command}`: with `{option}`, Python passes PYTHONPATH or sitecustomize by"
            ))
            .help(format!("run it without `{option}`; for a program that needs it, audit the loader alone with --loader")),
            None => Error::not_audited(format!(
                "the recorder did not get into `{command}`: no CPython that heeds PYTHONPATH ran"
            ))
            .help(
                "start the program with CPython 3.8 or newer, without -I, -E and -S, and let PYTHONPATH through to it",
            ),
        },
        Missing::Torch => Error::not_audited(format!(
            "`{command}` has no data loader: no process that the recorder got into imported torch.utils.data"
        ))
        .help("only data that comes through torch.utils.data is seen; is the training started by this command?"),
        Missing::Loader => Error::not_audited(format!("`{command}` made no data loader"))
            .help("only data that comes through torch.utils.data.DataLoader is seen; batches made otherwise are not"),
        Missing::Iteration => {
            let loaders = if signs.made == 1 { "1 data loader" } else { &format!("{} data loaders", signs.made) };
            Error::not_audited(format!("`{command}` made {loaders} and iterated none"))
                .help("let it come to its training loop, or name a function that returns the loader with --loader")
        }
        Missing::Samples => Error::not_audited(format!("the data loaders of `{command}` delivered nothing"))
            .help("is the dataset empty, or smaller than one batch with drop_last=True?"),
    }
}

/// The first of a Python's own options that keeps the recorder out: `-I`, `-E`, `-S`, also as `-sE` and within a shell's
/// command.
pub fn isolating_option(argv: &[OsString]) -> Option<String> {
    let text = argv.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let mut words = text.split_whitespace();
    while let Some(word) = words.by_ref().next() {
        if !is_python(word) {
            continue;
        }
        while let Some(option) = words.next() {
            let Some(letters) = option.strip_prefix('-').filter(|letters| !letters.is_empty()) else { break };
            // Of these, the rest of the word or the next one is an argument, or the program itself.
            let own = letters.split(['c', 'm', 'W', 'X', '-']).next().unwrap_or_default();
            if own.contains(['I', 'E', 'S']) {
                return Some(option.to_owned());
            }
            match letters.trim_start_matches(own).chars().next() {
                Some('c' | 'm' | '-') => break,
                Some(_) if letters.len() == own.len() + 1 => {
                    words.next();
                }
                Some(_) | None => {}
            }
        }
    }
    None
}

/// Whether a word names a Python: `python`, `/usr/bin/python3.11`, `"python3`.
fn is_python(word: &str) -> bool {
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word).trim_matches(['"', '\'', '(']);
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let version = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    version.is_some_and(|version| version.chars().all(|char| char.is_ascii_digit() || char == '.' || char == 't'))
}
