//! A command's process tree: the process that was started and all that come of it, also those that leave its group
//! or session or outlive it.
//!
//! On Linux the tree is whole: pipeaudit is made the foster parent of orphans (`PR_SET_CHILD_SUBREAPER`, see
//! prctl(2)), so that every descendant stays within reach of a walk over `/proc`. Elsewhere the reach is what the
//! system offers: the process group on other Unixes, `taskkill /T` on Windows.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::Tree;

#[cfg(not(target_os = "linux"))]
mod other;
#[cfg(not(target_os = "linux"))]
pub use other::Tree;

/// How hard to ask a process to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Force {
    /// It may put its things in order (SIGTERM).
    Gentle,
    /// It has no say (SIGKILL).
    Hard,
    /// Likewise, and caretakers too: helpers of a library that clear up shared memory once all others have ended,
    /// and that the other two therefore spare.
    Last,
}

/// How the first process of a tree ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this status.
    Status(i32),
    /// By this signal.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has signals"))]
    Signal(i32),
}
