//! Reads a run and returns what is wrong with it. Knows nothing of sources and reports.

mod duplicates;
mod numbers;
mod reproducibility;
mod view;

use crate::finding::Finding;
use crate::finding::numbers::LoaderNumbers;
use crate::trace::Run;

use duplicates::Duplicates;
use view::View;

pub use reproducibility::compare;

/// What an audit is asked.
#[derive(Clone, Debug)]
pub struct Options {
    /// Family-wise error of all statistical tests of one audit together.
    pub alpha: f64,
    /// The arm's name, for findings.
    pub arm: String,
}

impl Default for Options {
    fn default() -> Self {
        Self { alpha: 1e-6, arm: "as is".to_owned() }
    }
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
pub fn audit(run: &Run, options: &Options) -> Audited {
    let mut audited = Audited::default();
    for view in View::all(run) {
        let mut duplicates = Duplicates::audit(&view, options);
        audited.findings.append(&mut duplicates.findings);
        audited.numbers.push(numbers::numbers(&view, &duplicates));
    }
    audited.findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.code));
    audited
}
