//! The live source: runs a user's own command with the recorder attached and returns what its loaders drew and
//! delivered.
//!
//! [`command`] runs the command as a process tree and leaves nothing of it behind; [`interrupt`] is Ctrl-C as a flag;
//! [`tail`] keeps the end of what the program printed.

pub mod command;
pub mod embed;
pub mod interrupt;
pub mod lock;
pub mod plan;
pub mod tail;
mod tree;
pub mod workspace;
