//! What a person or a program reads: the audit's outcome as data, and its renderings.

pub mod json;
pub mod model;
pub mod table;
pub mod text;

pub use model::{ArmReport, Origin, Report, Verdict};
