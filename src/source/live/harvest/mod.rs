//! What a run that ended left behind: its records, or the reason why there are none.
//!
//! A program that failed or was stopped after its loaders delivered is judged by what they delivered; whether that was
//! all that was asked is said besides. Nothing seen is never *clean*: it is an error with its reason, the program's own
//! last words and the next step.

mod missing;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use super::command::{Ended, Exit};
use super::words::{command_line, last_words};
use crate::error::Result;
use crate::trace::read::{self, Loaded};
use crate::trace::run::Run;
use missing::Signs;

/// What a run left behind.
#[derive(Clone, Debug)]
pub struct Harvest {
    /// Its records.
    pub loaded: Loaded,
    /// Why less was seen than was asked for, if so.
    pub unfinished: Option<String>,
    /// What else is worth saying.
    pub remarks: Vec<String>,
    /// What the recorder could not do.
    pub faults: Vec<String>,
}

/// Reads what a command left in its trace folder. `epochs` were asked for, of each loader.
///
/// # Errors
/// Exit status 3 where no loader delivered anything, with the reason, or where a shard is damaged.
pub fn harvest(folder: &Path, argv: &[OsString], ended: &Ended, epochs: u32) -> Result<Harvest> {
    let mut signs = Signs::of(folder)?;
    if signs.shards == 0 {
        return Err(missing::error(signs.missing(), &signs, argv, ended));
    }
    let loaded = read::read(&[folder])?;
    signs.made = loaded.notes.made.max(loaded.run.loaders.len() as u64);
    signs.iterated = loaded.notes.iterated.max(loaded.run.loaders.len() as u64);
    if loaded.run.lanes.iter().all(crate::trace::Lane::is_empty) {
        return Err(missing::error(signs.missing(), &signs, argv, ended));
    }
    let stopped = loaded.notes.stopped;
    let unfinished = if stopped { None } else { unfinished(&loaded.run, argv, ended, epochs) };
    Ok(Harvest { unfinished, remarks: remarks(&loaded, ended), faults: faults(&loaded.run), loaded })
}

/// Why less was seen than was asked for: the command did not come to an end of its own that means success, and a
/// loader had fewer epochs.
fn unfinished(run: &Run, argv: &[OsString], ended: &Ended, epochs: u32) -> Option<String> {
    match ended.exit {
        Exit::Success | Exit::Stopped => return None,
        Exit::Failure { .. } | Exit::Signal { .. } | Exit::TimedOut { .. } | Exit::Interrupted => {}
    }
    let mut passes: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for pass in &run.passes {
        let cut_short = run.loaders.iter().any(|loader| loader.loader == pass.loader && loader.cut_short);
        *passes.entry((pass.loader, pass.rank)).or_default() += u32::from(pass.whole || cut_short);
    }
    let ((loader, _), fewest) = passes.into_iter().min_by_key(|&(_, passes)| passes)?;
    if fewest >= epochs {
        return None;
    }
    let name = run
        .loaders
        .iter()
        .find(|known| known.loader == loader)
        .and_then(|loader| loader.location.clone())
        .unwrap_or_else(|| format!("loader {loader}"));
    Some(format!(
        "`{}` {} after {fewest} of {epochs} epochs of {name}{}",
        command_line(argv),
        ended.exit,
        last_words(ended)
    ))
}

fn remarks(loaded: &Loaded, ended: &Ended) -> Vec<String> {
    let mut remarks = Vec::new();
    match ended.left_behind {
        0 => {}
        1 => remarks.push("a process that the command left running was ended".to_owned()),
        count => remarks.push(format!("{count} processes that the command left running were ended")),
    }
    if !ended.beyond_reach.is_empty() {
        let pids: Vec<String> = ended.beyond_reach.iter().map(u32::to_string).collect();
        remarks.push(format!("these processes of the command could not be ended: {}", pids.join(", ")));
    }
    match loaded.notes.opaque {
        0 => {}
        1 => remarks.push("1 sample has parts that could not be digested: it was compared by the rest".to_owned()),
        count => {
            remarks
                .push(format!("{count} samples have parts that could not be digested: they were compared by the rest"));
        }
    }
    remarks
}

fn faults(run: &Run) -> Vec<String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for fault in &run.faults {
        let place = if fault.location.is_empty() { String::new() } else { format!("{}: ", fault.location) };
        *counts.entry(format!("{place}{}", fault.message)).or_default() += u64::from(fault.count.max(1));
    }
    let shown = |(fault, count): (String, u64)| if count == 1 { fault } else { format!("{fault} ({count} times)") };
    counts.into_iter().map(shown).collect()
}

#[cfg(test)]
mod tests;
