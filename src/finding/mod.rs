//! What an audit found: a code, evidence, places, a cause and a fix.

pub mod codes;
pub mod numbers;

use serde::Serialize;

pub use codes::{Code, Severity};

/// Where a sample stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Place {
    /// Epoch, from 0.
    pub epoch: u32,
    /// Rank, from 0.
    pub rank: u32,
    /// Worker, from 0; -1 is the main process.
    pub worker: i32,
    /// Position among the samples that this worker made in this epoch, from 0.
    pub seq: u32,
}

/// How a fix is known to help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FixKind {
    /// The program was run with it and the finding went.
    Verified,
    /// It was not tried.
    Advice,
}

/// What to do about a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fix {
    /// Whether it was tried.
    pub kind: FixKind,
    /// The text, code to paste included.
    pub text: String,
}

/// A number of the evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Number {
    /// A count.
    Count(u64),
    /// A ratio, a probability, a parameter.
    Real(f64),
    /// A word where a number will not do: a state, a name.
    Text(String),
}

/// One finding. Reports show counts before codes.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it is.
    pub code: Code,
    /// How bad (the code's own severity, or lower where the circumstances make it so).
    pub severity: Severity,
    /// The arm that showed it.
    pub arm: String,
    /// The loader, as people know it (`train.py:61`, or `built-in`).
    pub loader: Option<String>,
    /// `file:line` in the user's program.
    pub location: Option<String>,
    /// Sources or transforms concerned, by name or path.
    pub sources: Vec<String>,
    /// One sentence, numbers first: "64 delivered, 16 distinct augmentations (25 %): ...".
    pub message: String,
    /// Why.
    pub cause: Option<String>,
    /// The numbers that decide, in a fixed order, names in `snake_case`.
    pub evidence: Vec<(&'static str, Number)>,
    /// The first three places. For a meeting of streams these are places that share one state, the first meeting first.
    pub places: Vec<Place>,
    /// What to do.
    pub fix: Option<Fix>,
    /// For PA301 and PA303: what made the runs differ.
    pub factors: Option<Vec<String>>,
}
