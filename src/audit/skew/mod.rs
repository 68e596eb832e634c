//! Are transforms applied and parameters drawn as declared, and alike in every worker? (PA201 to PA203)
//!
//! Copies count once. Each transform object and each parameter is one test; all tests of an audit share one
//! family-wise error, so findings are made by the caller once all p-values are known.

mod applied;
mod collect;
mod parameter;
mod resolution;
mod workers;

use crate::finding::Finding;
use crate::trace::run::Worker;

use super::Options;
use super::view::{View, worker_name};

pub use resolution::sentences;

/// A test that was made, with what is to be said if it is rejected.
pub struct Candidate {
    /// P-value, or an upper bound of it.
    pub p: f64,
    /// The finding; absent where the p-value cannot be rejected at any number of tests.
    pub finding: Option<Finding>,
}

/// A test with its finding, which is made where the p-value may be rejected at all.
fn candidate(p: f64, options: &Options, finding: impl FnOnce() -> Finding) -> Candidate {
    Candidate { p, finding: (p <= options.alpha).then(finding) }
}

fn name(view: &View<'_>, (rank, worker): (u32, i32)) -> String {
    worker_name(rank, Worker(worker), view.ranks())
}

/// The tests of one loader.
pub struct Skew {
    /// What was drawn.
    pub collected: collect::Collected,
    /// The tests.
    pub candidates: Vec<Candidate>,
}

/// Tests what was drawn for a loader. Copies are given by lane (counted from the loader's first) and position.
pub fn audit(view: &View<'_>, copies: &[Vec<bool>], options: &Options) -> Skew {
    let collected = collect::collect(view, copies);
    let mut candidates = Vec::new();
    for applied in &collected.applied {
        candidates.extend(applied::ratio(view, applied, options));
        if applied.p.is_some() || view.loader.shuffled {
            candidates.extend(applied::by_worker(view, applied, &collected.workers, options));
        }
    }
    for parameter in &collected.parameters {
        candidates.extend(parameter::declared(view, parameter, options));
        candidates.extend(workers::by_worker(view, parameter, &collected.workers, options));
    }
    Skew { collected, candidates }
}
