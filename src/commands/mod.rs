//! One file a command: settings in, exit status out. Outputs are opened before work starts.

mod check;
mod compare;
mod console;
mod explain;
mod files;
mod lock;
mod program;
mod record;
mod render;
mod simulate;
mod sink;
mod version;

use crate::cli::{Cli, Command};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::settings;

/// Runs what was typed.
///
/// # Errors
/// Expected ones, with the exit status they ask for.
pub fn run(cli: &Cli) -> Result<Exit> {
    if cli.version {
        return version::run(cli.verbose);
    }
    match &cli.command {
        Some(Command::Check(typed)) if !typed.command.is_empty() || typed.loader.is_some() => {
            program::run(&settings::Program::new(typed)?)
        }
        Some(Command::Check(typed)) => check::run(&settings::Check::new(typed)?),
        Some(Command::Record(typed)) => record::run(&settings::Record::new(typed)?),
        Some(Command::Audit(typed)) => files::run(typed),
        Some(Command::Compare(typed)) => compare::run(typed),
        Some(Command::Lock(typed)) => lock::run(&settings::Lock::new(typed)?),
        Some(Command::Simulate(typed)) => simulate::run(&settings::Simulate::new(typed)?),
        Some(Command::Explain(typed)) => explain::run(typed.code.as_deref()),
        None => Err(Error::usage("no command").help("pipeaudit check --workers 4, or pipeaudit --help")),
    }
}
