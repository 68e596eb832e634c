//! The four exit statuses.

use std::process::ExitCode;

/// How pipeaudit ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Audited, nothing at or above `--fail-on`.
    Clean,
    /// Audited, with findings at or above `--fail-on`.
    Findings,
    /// Wrong usage or configuration.
    Usage,
    /// Could not audit.
    NotAudited,
}

impl Exit {
    /// The number that the operating system sees.
    pub const fn status(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Findings => 1,
            Self::Usage => 2,
            Self::NotAudited => 3,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.status())
    }
}
