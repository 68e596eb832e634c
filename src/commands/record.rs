//! `pipeaudit record`: one recorded run of a program, kept.

use crate::commands::program::{passed_on, unaudited};
use crate::error::Result;
use crate::exit::Exit;
use crate::settings;
use crate::source::live::{self, Interrupt};

/// Records it.
///
/// # Errors
/// Where the program cannot be run or nothing was seen.
pub fn run(settings: &settings::Record) -> Result<Exit> {
    let outcome = live::record_command(&settings.live, &Interrupt::of_process()?, Some(passed_on()))?;
    let problems: Vec<&String> = outcome.unfinished.iter().chain(&outcome.faults).collect();
    match problems.first() {
        None => Ok(Exit::Clean),
        Some(problem) => Err(unaudited(problem)),
    }
}
