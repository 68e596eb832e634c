//! The live source: runs a user's own command with the recorder attached and returns what its loaders drew and
//! delivered.
//!
//! ```text
//! settings ──► plan ──► schedule ──► program: workspace + embed ──► command (tree, tail) ──► harvest ──► runs
//! ```
//!
//! * [`mod@plan`] says which runs are made and why; [`schedule`] makes them one after the other.
//! * [`program`] makes one: in a [`workspace`] with the recorder ([`embed`]) laid out, it runs a [`command`] as a process
//!   tree of which nothing is left, and [`harvest`] reads what it recorded.
//! * [`lock`] is the fingerprint of a run that is committed and compared.

pub mod command;
pub mod embed;
pub mod harvest;
pub mod interrupt;
pub mod lock;
pub mod plan;
pub mod program;
pub mod schedule;
pub mod settings;
pub mod tail;
mod tree;
mod words;
pub mod workspace;

use crate::error::Result;
use crate::trace::Run;

pub use command::Sink;
pub use interrupt::Interrupt;
pub use plan::Plan;
pub use schedule::LiveOutcome;
pub use settings::{Keep, Settings, Target};

/// The plan of a check of a program: two runs, and more on suspicion.
pub fn plan(settings: &Settings) -> Plan {
    Plan::new(std::env::var_os("PYTHONHASHSEED").as_deref(), settings.thorough, settings.limits())
}

/// Audits a program: makes the runs of its plan. `differ` says whether two runs deliver different data. What the
/// program prints goes to `sink` (our standard error, say), never to our standard output.
///
/// # Errors
/// Exit status 2 where the command cannot be started or a setting is wrong, 3 where nothing was seen, and why.
pub fn audit_command(
    settings: &Settings,
    interrupt: &Interrupt,
    sink: Option<Sink>,
    differ: &mut dyn FnMut(&Run, &Run) -> bool,
) -> Result<LiveOutcome> {
    let mut program = program::Program::new(settings, interrupt, sink)?;
    schedule::conduct(&plan(settings), &mut program, differ)
}

/// Records one run of a program, as is.
///
/// # Errors
/// Likewise.
pub fn record_command(settings: &Settings, interrupt: &Interrupt, sink: Option<Sink>) -> Result<LiveOutcome> {
    let mut program = program::Program::new(settings, interrupt, sink)?;
    schedule::conduct(&Plan::single(settings.limits()), &mut program, &mut |_, _| false)
}
