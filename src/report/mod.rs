//! What a person or a program reads: the audit's outcome as data, and its renderings.

pub mod model;

pub use model::{ArmReport, Origin, Report, Verdict};
