//! `pipeaudit lock`: writes the fingerprint of a program's data.

use crate::audit;
use crate::commands::program::{passed_on, unaudited};
use crate::commands::sink::Sink;
use crate::error::Result;
use crate::exit::Exit;
use crate::settings;
use crate::source::live::plan::Purpose;
use crate::source::live::{self, Interrupt, lock};

/// Writes it.
///
/// # Errors
/// Where the program cannot be run, nothing was seen, or the file cannot be written.
pub fn run(settings: &settings::Lock) -> Result<Exit> {
    let sink = Sink::open(Some(&settings.file), false)?;
    let options = audit::Options::default();
    let mut differ = |a: &_, b: &_| !audit::compare(a, b, &options).is_empty();
    let outcome = live::audit_command(&settings.live, &Interrupt::of_process()?, Some(passed_on()), &mut differ)?;
    if let Some(problem) = outcome.unfinished.iter().chain(&outcome.faults).next() {
        return Err(unaudited(problem));
    }
    let run = outcome.run(Purpose::AsIs).ok_or_else(|| unaudited("the program was not run"))?;
    let lock = lock::Lock::of(run, outcome.run(Purpose::Again));
    for varying in lock.varying() {
        eprintln!("note: {varying}");
    }
    sink.write(&lock.to_json())?;
    Ok(Exit::Clean)
}
