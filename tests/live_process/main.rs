//! Process trees of audited commands: however a program ends, its tree goes with it and what it said is kept.
//!
//! Needs `sh`, `python3` and Linux, no torch. Nothing waits for a time here: a subject says by a file or a pipe that it
//! got somewhere. Every run has an outer timeout.
#![cfg(target_os = "linux")]

mod ends;
mod errors;
mod interrupts;
mod output;
mod subject;
mod trees;
