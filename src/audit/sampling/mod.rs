//! Is every sample delivered once an epoch, in a new order each epoch? (PA401 to PA404)
//!
//! Judged by what the loop received, not by what the workers made ahead.

mod coverage;
mod evaluation;
mod iterable;
mod order;

use crate::finding::Finding;

use super::Options;
use super::duplicates::Duplicates;
use super::view::View;

/// Findings on what a loader delivered, and what could not be tested.
pub fn audit(view: &View<'_>, duplicates: &Duplicates, options: &Options) -> (Vec<Finding>, Vec<String>) {
    let mut findings = Vec::new();
    let mut not_tested = Vec::new();
    findings.extend(order::repeats(view, options, &mut not_tested));
    if view.is_map() {
        findings.extend(coverage::duplicated(view, options));
        findings.extend(coverage::missing(view, options, &mut not_tested));
        findings.extend(evaluation::random(view, duplicates, options));
    } else {
        findings.extend(iterable::duplicated(view, options));
        findings.extend(iterable::missing(view, options));
    }
    (findings, not_tested)
}
