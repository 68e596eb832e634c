//! Reads a run and returns what is wrong with it. Knows nothing of sources and reports.

mod arms;
mod duplicates;
mod numbers;
mod reproducibility;
mod sampling;
mod seen;
mod skew;
mod view;
mod worker_count;

use crate::finding::Finding;
use crate::finding::numbers::LoaderNumbers;
use crate::stats::holm;
use crate::trace::Run;

use duplicates::Duplicates;
use view::View;

pub use arms::{compare_seeds, compare_worker_counts};
pub use reproducibility::compare;
pub use worker_count::depends_on_worker_count;

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
///
/// All tests share the family-wise error [`Options::alpha`] (Holm); what is certain, as meetings of states are, needs
/// no share of it.
pub fn audit(run: &Run, options: &Options) -> Audited {
    let mut audited = Audited::default();
    let views = View::all(run);
    let mut skews = Vec::new();
    for view in &views {
        let mut duplicates = Duplicates::audit(view, options);
        audited.findings.append(&mut duplicates.findings);
        let (mut findings, mut not_tested) = sampling::audit(view, &duplicates, options);
        audited.findings.append(&mut findings);
        audited.not_tested.append(&mut not_tested);
        audited.numbers.push(numbers::numbers(view, &duplicates));
        let mut copies = duplicates.copies(view);
        let mut unseen = None;
        if duplicates.index.streams.is_empty() {
            let found = duplicates::unseen(view, options);
            for lane in &found.copies {
                copies[lane - view.lanes.start] = vec![true; run.lanes[*lane].len()];
            }
            unseen = Some(found);
        }
        let mut skew = skew::audit(view, &copies, options);
        skew.candidates.extend(unseen.into_iter().flat_map(|unseen| unseen.candidates));
        skews.push(skew);
    }
    let p_values: Vec<f64> = skews.iter().flat_map(|skew| &skew.candidates).map(|candidate| candidate.p).collect();
    let mut rejected = holm::rejected(&p_values, options.alpha).into_iter();
    let level = options.alpha / p_values.len().max(1) as f64;
    for ((view, skew), numbers) in views.iter().zip(skews).zip(&mut audited.numbers) {
        numbers.resolution = skew::sentences(view, &skew.collected, level);
        for candidate in skew.candidates {
            let rejected = rejected.next().unwrap_or_default();
            audited.findings.extend(candidate.finding.filter(|_| rejected));
        }
    }
    if audited.numbers.iter().all(|numbers| numbers.delivered == 0) {
        audited.inconclusive.push("no sample was delivered".to_owned());
    }
    audited.findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.code));
    audited
}
