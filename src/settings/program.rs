//! What an audit of a program is asked.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::{Judgement, Output};
use crate::cli;
use crate::error::{Error, Result};
use crate::source::live::{Keep, Settings, Target};

/// What `check -- COMMAND` is asked.
#[derive(Debug)]
pub struct Program {
    /// The program and the limits of its runs.
    pub live: Settings,
    /// Whether the plan is printed and nothing run.
    pub dry_run: bool,
    /// The fingerprint to compare with.
    pub locked: Option<PathBuf>,
    /// What is reported and how.
    pub output: Output,
    /// What a finding must be.
    pub judgement: Judgement,
}

/// What `record` is asked.
#[derive(Debug)]
pub struct Record {
    /// The program and the limits of its run.
    pub live: Settings,
}

/// What `lock` is asked.
#[derive(Debug)]
pub struct Lock {
    /// The program and the limits of its runs.
    pub live: Settings,
    /// The file to write.
    pub file: PathBuf,
}

impl Program {
    /// Checks what was typed.
    ///
    /// # Errors
    /// Where a value makes no sense.
    pub fn new(typed: &cli::Check) -> Result<Self> {
        let target = match &typed.loader {
            Some(function) => Target::Loader { python: "python3".into(), function: function.clone() },
            None => Target::Command(typed.command.clone()),
        };
        let live = Settings {
            epochs: at_least_one(typed.pipeline.epochs)?,
            workers: typed.pipeline.workers,
            thorough: typed.thorough,
            keep: typed.keep.clone().map_or(Keep::No, Keep::Runs),
            ..limited(target, &typed.program)?
        };
        live.argv()?;
        Ok(Self {
            live,
            dry_run: typed.dry_run,
            locked: typed.locked.clone(),
            output: Output::new(&typed.output),
            judgement: Judgement::new(&typed.audit)?,
        })
    }
}

impl Record {
    /// Checks what was typed.
    ///
    /// # Errors
    /// Where a value makes no sense.
    pub fn new(typed: &cli::Record) -> Result<Self> {
        let live = Settings {
            epochs: at_least_one(typed.epochs)?,
            workers: typed.workers,
            whole: typed.whole,
            keep: Keep::Run(typed.output.clone()),
            ..limited(command(&typed.command), &typed.limits)?
        };
        Ok(Self { live })
    }
}

impl Lock {
    /// Checks what was typed.
    ///
    /// # Errors
    /// Where a value makes no sense.
    pub fn new(typed: &cli::Lock) -> Result<Self> {
        let live = Settings { epochs: 1, ..limited(command(&typed.command), &typed.limits)? };
        Ok(Self { live, file: typed.output.clone() })
    }
}

fn command(words: &[OsString]) -> Target {
    Target::Command(words.to_vec())
}

fn at_least_one(epochs: u32) -> Result<u32> {
    if epochs == 0 {
        return Err(Error::usage("--epochs 0 leaves nothing to audit").help("2 epochs show a stream that repeats"));
    }
    Ok(epochs)
}

fn limited(target: Target, typed: &cli::ProgramArgs) -> Result<Settings> {
    let timeout = match typed.timeout {
        None => None,
        Some(seconds) if seconds > 0.0 && seconds <= 1e9 => Some(Duration::from_secs_f64(seconds)),
        Some(seconds) => {
            return Err(Error::usage(format!("--timeout {seconds} makes no sense"))
                .help("give the seconds of one run: --timeout 600"));
        }
    };
    if typed.batches == Some(0) {
        return Err(Error::usage("--batches 0 leaves nothing to audit").help("leave it out to see whole epochs"));
    }
    Ok(Settings { batches: typed.batches.unwrap_or(0), timeout, ..Settings::new(target) })
}
