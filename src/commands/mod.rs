//! One file a command: settings in, exit status out. Outputs are opened before work starts.

mod check;
mod console;
mod explain;
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
        Some(Command::Check(typed)) => check::run(&settings::Check::new(typed)?),
        Some(Command::Simulate(typed)) => simulate::run(&settings::Simulate::new(typed)?),
        Some(Command::Explain(typed)) => explain::run(typed.code.as_deref()),
        None => Err(Error::usage("no command").help("pipeaudit check --workers 4, or pipeaudit --help")),
    }
}
