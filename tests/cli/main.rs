//! The command line as a person or a CI meets it.

mod bad_input;
mod explain;
mod harness;
mod images;
mod outcomes;
mod reproducible;
