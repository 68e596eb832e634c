//! The outcome of an audit as data, before it is rendered.

use crate::exit::Exit;
use crate::finding::numbers::LoaderNumbers;
use crate::finding::{Finding, Severity};

/// The verdict of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Audited, nothing at or above the severity that fails.
    Pass,
    /// Findings that count.
    Fail,
    /// Too little was seen to say.
    Inconclusive,
}

/// Where the records came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The built-in pipeline.
    Simulate,
    /// A user's program.
    Live,
    /// Recorded runs.
    Files,
}

/// The outcome of one arm.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmReport {
    /// `without init`, `with init`, `as is`.
    pub name: String,
    /// What was varied or held, in a few words: `--init base+worker`.
    pub detail: String,
    /// Whether its findings count for the verdict.
    pub decides: bool,
    /// Its numbers, by loader.
    pub numbers: Vec<LoaderNumbers>,
    /// Its findings, worst first.
    pub findings: Vec<Finding>,
    /// Tests that saw too little to decide, as sentences.
    pub inconclusive: Vec<String>,
}

/// The outcome of an audit.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Where the records came from.
    pub origin: Origin,
    /// The arms, in the order in which they are shown.
    pub arms: Vec<ArmReport>,
    /// What was not audited and why.
    pub not_tested: Vec<String>,
    /// Things worth saying once that are no findings ("3 palette images were converted to RGB").
    pub remarks: Vec<String>,
    /// What the recorder could not do.
    pub faults: Vec<String>,
    /// Severity from which a finding fails.
    pub fail_on: Severity,
}

impl Report {
    /// The findings that count, worst first.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.arms.iter().filter(|arm| arm.decides).flat_map(|arm| &arm.findings)
    }

    /// The verdict: decided in this one place.
    pub fn verdict(&self) -> Verdict {
        if self.findings().any(|finding| finding.severity >= self.fail_on) {
            Verdict::Fail
        } else if !self.faults.is_empty()
            || self.arms.iter().any(|arm| arm.decides && !arm.inconclusive.is_empty())
            || !self.arms.iter().any(|arm| arm.decides)
        {
            Verdict::Inconclusive
        } else {
            Verdict::Pass
        }
    }

    /// The exit status that follows from it.
    pub fn exit(&self) -> Exit {
        match self.verdict() {
            Verdict::Pass => Exit::Clean,
            Verdict::Fail => Exit::Findings,
            Verdict::Inconclusive => Exit::NotAudited,
        }
    }
}
