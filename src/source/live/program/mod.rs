//! Runs the user's program with the recorder attached: the [`Runner`] of real audits.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::command::{self, Command, Exit, Sink};
use super::harvest::harvest;
use super::interrupt::Interrupt;
use super::plan::Arm;
use super::schedule::{Recorded, Runner};
use super::settings::Settings;
use super::workspace::Workspace;
use crate::error::Result;
use crate::trace::read::About;

/// What the recorder takes from its environment; what we do not set, it must not find.
const RECORDER: [&str; 8] = [
    "PIPEAUDIT_TRACE",
    "PIPEAUDIT_RUN",
    "PIPEAUDIT_EPOCHS",
    "PIPEAUDIT_BATCHES",
    "PIPEAUDIT_WORKERS",
    "PIPEAUDIT_WHOLE",
    "PIPEAUDIT_LISTING_SEED",
    "PIPEAUDIT_KEEP_IMAGES",
];

/// The user's program.
pub struct Program<'a> {
    settings: &'a Settings,
    argv: Vec<OsString>,
    workspace: Workspace,
    interrupt: &'a Interrupt,
    sink: Option<Sink>,
}

impl<'a> Program<'a> {
    /// Prepares runs. What the program prints goes to `sink`.
    ///
    /// # Errors
    /// Where the settings name no command, or a folder cannot be made.
    pub fn new(settings: &'a Settings, interrupt: &'a Interrupt, sink: Option<Sink>) -> Result<Self> {
        let argv = settings.argv()?;
        Ok(Self { settings, argv, workspace: Workspace::new(&settings.keep)?, interrupt, sink })
    }

    /// The variables of a run; those without a value are taken away.
    fn environment(&self, arm: &Arm, trace: &Path) -> BTreeMap<OsString, Option<OsString>> {
        let settings = self.settings;
        let mut environment: BTreeMap<OsString, Option<OsString>> =
            RECORDER.iter().map(|name| (OsString::from(name), None)).collect();
        let mut set = |name: &str, value: &OsStr| environment.insert(name.into(), Some(value.to_owned()));
        let users = std::env::var_os("PYTHONPATH");
        set("PYTHONPATH", &self.workspace.python_path(users.as_deref()));
        set("PIPEAUDIT_TRACE", trace.as_os_str());
        set("PIPEAUDIT_RUN", OsStr::new(&arm.name()));
        set("PIPEAUDIT_EPOCHS", OsStr::new(&settings.epochs.to_string()));
        set("PIPEAUDIT_BATCHES", OsStr::new(&settings.batches.to_string()));
        if let Some(workers) = settings.workers {
            set("PIPEAUDIT_WORKERS", OsStr::new(&workers.to_string()));
        }
        if settings.whole {
            set("PIPEAUDIT_WHOLE", OsStr::new("1"));
        } else if let Some(temporary) = self.workspace.temporary() {
            // A program that we end cannot clear up. One that comes to its own end keeps the folder that it knows.
            for name in ["TMPDIR", "TEMP", "TMP"] {
                set(name, temporary.as_os_str());
            }
        }
        for (name, value) in &arm.environment {
            set(name, OsStr::new(value));
        }
        environment
    }
}

impl Runner for Program<'_> {
    fn run(&mut self, arm: &Arm) -> Result<Recorded> {
        let about = About {
            arm: Some(arm.name()),
            command: self.argv.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            ..About::default()
        };
        let trace = self.workspace.trace(arm.letter, about, &arm.name())?;
        let mut command = Command::new(&self.argv);
        command.folder.clone_from(&self.settings.folder);
        command.timeout = self.settings.timeout;
        command.environment = self.environment(arm, &trace);
        let ended = command::run(&command, self.sink.clone(), self.interrupt, &mut || false)?;
        let harvest = harvest(&trace, &self.argv, &ended, self.settings.epochs)?;
        // The recorder ends a program with a status of its own choice.
        let exit = match ended.exit {
            Exit::Success | Exit::Failure { .. } if harvest.loaded.notes.stopped => Exit::Stopped,
            exit => exit,
        };
        Ok(Recorded {
            run: harvest.loaded.run,
            exit,
            unfinished: harvest.unfinished,
            remarks: harvest.remarks,
            faults: harvest.faults,
        })
    }
}

#[cfg(test)]
mod tests;
