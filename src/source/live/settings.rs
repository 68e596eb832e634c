//! What is meant by an audit of a program, checked.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::error::{Error, Result};

/// What is audited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A command that trains.
    Command(Vec<OsString>),
    /// What a function returns: a loader or several.
    Loader {
        /// The Python to run it with.
        python: OsString,
        /// `package.module:function`.
        function: String,
    },
}

/// Where traces go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Nowhere: they go with the audit.
    No,
    /// Into a folder for each run in this one.
    Runs(PathBuf),
    /// Into this folder, for a single run.
    Run(PathBuf),
}

/// What is meant by an audit of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What is audited.
    pub target: Target,
    /// The folder to run it in; ours where absent.
    pub folder: Option<PathBuf>,
    /// Epochs of each loader, after which the program is stopped.
    pub epochs: u32,
    /// Batches after which a loader's epoch is ended; 0: none.
    pub batches: u64,
    /// `num_workers` of every loader instead of its own.
    pub workers: Option<u32>,
    /// How long one run may take.
    pub timeout: Option<Duration>,
    /// Let the program come to its own end, never stop it and never cut a loader short.
    pub whole: bool,
    /// Try another worker count for datasets of any kind.
    pub thorough: bool,
    /// Where traces go.
    pub keep: Keep,
}

impl Settings {
    /// The usual ones: two epochs, whole, no time limit, nothing kept.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            folder: None,
            epochs: 2,
            batches: 0,
            workers: None,
            timeout: None,
            whole: false,
            thorough: false,
            keep: Keep::No,
        }
    }

    /// The limits of each run in words, for the plan.
    pub fn limits(&self) -> String {
        let count = |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        let mut limits = vec![if self.whole {
            "to its own end".to_owned()
        } else {
            count(u64::from(self.epochs), "epoch", "epochs") + " of each loader"
        }];
        if self.batches > 0 && !self.whole {
            limits.push(count(self.batches, "batch", "batches") + " of each epoch");
        }
        limits.extend(self.workers.map(|workers| format!("num_workers={workers}")));
        limits.extend(self.timeout.map(|timeout| format!("at most {} s", timeout.as_secs_f64())));
        limits.join(", ")
    }

    /// The command that is run.
    ///
    /// # Errors
    /// Where there is none, or a loader's function is not written as `package.module:function`.
    pub fn argv(&self) -> Result<Vec<OsString>> {
        match &self.target {
            Target::Command(argv) if argv.is_empty() => {
                Err(Error::usage("no command was given")
                    .help("write it after `--`: pipeaudit check -- python train.py"))
            }
            Target::Command(argv) => Ok(argv.clone()),
            Target::Loader { python, function } => {
                let names = |text: &str| text.split('.').all(is_name);
                match function.split_once(':') {
                    Some((module, function)) if names(module) && names(function) => {}
                    _ => {
                        return Err(Error::usage(format!(
                            "{function:?} does not name a function that returns a loader"
                        ))
                        .help("write it as package.module:function"));
                    }
                }
                let runner = ["-m", "pipeaudit_recorder.runner", function].map(OsString::from);
                Ok(std::iter::once(python.clone()).chain(runner).collect())
            }
        }
    }
}

fn is_name(text: &str) -> bool {
    let first = text.chars().next();
    first.is_some_and(|first| first.is_alphabetic() || first == '_')
        && text.chars().all(|char| char.is_alphanumeric() || char == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    fn settings(argv: &[&str]) -> Settings {
        Settings::new(Target::Command(argv.iter().map(OsString::from).collect()))
    }

    fn loader(function: &str) -> Settings {
        Settings::new(Target::Loader { python: "python3".into(), function: function.to_owned() })
    }

    #[test]
    fn a_function_that_returns_loaders_is_run_by_the_recorders_runner() {
        let argv = loader("my.data:train_loader").argv().unwrap();
        assert_eq!(argv, ["python3", "-m", "pipeaudit_recorder.runner", "my.data:train_loader"]);
        assert!(loader("data:Module.train_dataloader").argv().is_ok());
    }

    #[test]
    fn what_does_not_name_a_function_is_refused_before_anything_runs() {
        for wrong in ["", "data", "data:", ":make", "../data:make", "data:make()", "a b:c", "data:make; x", "-c:x"] {
            let error = loader(wrong).argv().unwrap_err();
            assert_eq!(error.exit, Exit::Usage, "{wrong}");
            assert_eq!(error.message, format!("{wrong:?} does not name a function that returns a loader"));
        }
        assert_eq!(settings(&[]).argv().unwrap_err().message, "no command was given");
    }

    #[test]
    fn limits_are_put_in_words() {
        let mut settings = settings(&["train"]);
        assert_eq!(settings.limits(), "2 epochs of each loader");
        settings.batches = 8;
        settings.epochs = 1;
        settings.workers = Some(2);
        settings.timeout = Some(Duration::from_secs(60));
        assert_eq!(settings.limits(), "1 epoch of each loader, 8 batches of each epoch, num_workers=2, at most 60 s");
        settings.whole = true;
        assert_eq!(settings.limits(), "to its own end, num_workers=2, at most 60 s");
    }
}
