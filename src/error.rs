//! Expected errors: what failed, where, and what to do next. Anything else is a bug and panics.

use crate::exit::Exit;

/// An error that a person can mend. Shown as `error: {message}` and, on a line of its own, `help: {help}`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    /// What failed, with the thing and its place; lower case, no full stop.
    pub message: String,
    /// The next step.
    pub help: Option<String>,
    /// The status to exit with.
    pub exit: Exit,
}

impl Error {
    /// Wrong usage or configuration (exit status 2).
    pub fn usage(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, exit: Exit::Usage }
    }

    /// The audit could not be made (exit status 3).
    pub fn not_audited(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, exit: Exit::NotAudited }
    }

    /// Adds the next step.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The library's result.
pub type Result<T> = std::result::Result<T, Error>;
