//! Reads a run and returns what is wrong with it. Knows nothing of sources and reports.

use crate::finding::Finding;
use crate::finding::numbers::LoaderNumbers;
use crate::trace::Run;

/// What an audit is asked.
#[derive(Clone, Debug)]
pub struct Options {
    /// Family-wise error of all statistical tests of one audit together.
    pub alpha: f64,
    /// The arm's name, for findings.
    pub arm: String,
}

/// What an audit of one run says.
#[derive(Clone, Debug, Default)]
pub struct Audited {
    /// Numbers by loader.
    pub numbers: Vec<LoaderNumbers>,
    /// Findings, worst first.
    pub findings: Vec<Finding>,
    /// What saw too little to decide although a verdict depends on it.
    pub inconclusive: Vec<String>,
    /// What was not tested and why.
    pub not_tested: Vec<String>,
}

/// Audits one run.
pub fn audit(_run: &Run, _options: &Options) -> Audited {
    Audited::default()
}

/// Compares two runs that should reproduce each other (PA301, PA303).
pub fn compare(_a: &Run, _b: &Run, _options: &Options) -> Vec<Finding> {
    Vec::new()
}
