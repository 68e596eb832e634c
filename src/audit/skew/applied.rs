//! PA201 and PA202 of ratios: how often a transform is applied.

use crate::audit::Options;
use crate::audit::view::{View, count, percent};
use crate::finding::{Code, Fix, FixKind, Number};
use crate::stats::{binomial, hypergeometric};

use super::collect::Applied;
use super::{Candidate, candidate, name};

/// A transform that is certain to be applied, or not to be, and never is as declared in this many calls, is wrong.
const CERTAIN_CALLS: u64 = 20;

/// PA201: the applied count against the declared probability.
pub fn ratio(view: &View<'_>, applied: &Applied, options: &Options) -> Option<Candidate> {
    let declared = applied.p?;
    let sum = applied.by_worker.iter().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    let (hits, calls) = sum;
    if calls == 0 || !(0.0..=1.0).contains(&declared) {
        return None;
    }
    let p = if declared > 0.0 && declared < 1.0 {
        binomial::two_sided(hits, calls, declared)
    } else {
        // Whether a single application shows is a matter of the data (a grey image keeps its hue); that none does, or
        // all do, is not.
        let wrong = if declared == 0.0 { hits == calls } else { hits == 0 };
        if !wrong || calls < CERTAIN_CALLS {
            return None;
        }
        0.0
    };
    Some(candidate(p, options, || {
        let mut finding = view.finding(Code::PA201, options);
        finding.sources = vec![applied.name.clone()];
        finding.message = format!(
            "{} of `{}`, {hits} applied ({}): declared is {}",
            count(calls, "call"),
            applied.name,
            percent(hits, calls),
            share(declared)
        );
        finding.cause = applied_cause(hits, calls, declared);
        finding.fix = applied_fix(hits, calls, declared);
        finding.evidence = vec![
            ("called", Number::Count(calls)),
            ("applied", Number::Count(hits)),
            ("declared", Number::Real(declared)),
            ("p_value", Number::Real(p)),
        ];
        finding
    }))
}

fn share(p: f64) -> String {
    let percent = 100.0 * p;
    if (percent - percent.round()).abs() < 1e-9 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

fn inverted(hits: u64, calls: u64, declared: f64) -> bool {
    (declared - 0.5).abs() > 0.01 && binomial::two_sided(hits, calls, 1.0 - declared) > 1e-3
}

fn applied_cause(hits: u64, calls: u64, declared: f64) -> Option<String> {
    let cause = if hits == 0 {
        "it is never applied"
    } else if inverted(hits, calls, declared) {
        "it is applied with probability 1 - p: the comparison is the wrong way round"
    } else if hits == calls {
        "it is always applied"
    } else {
        return None;
    };
    Some(cause.to_owned())
}

fn applied_fix(hits: u64, calls: u64, declared: f64) -> Option<Fix> {
    let text = "apply it where `random() < p`".to_owned();
    (hits > 0 && inverted(hits, calls, declared)).then_some(Fix { kind: FixKind::Advice, text })
}

/// PA202: each worker's applied count against those of the others.
pub fn by_worker(view: &View<'_>, applied: &Applied, workers: &[(u32, i32)], options: &Options) -> Option<Candidate> {
    let (hits, calls) = applied.by_worker.iter().fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    let counted = || applied.by_worker.iter().enumerate().filter(|(_, count)| count.1 > 0);
    let number = counted().count();
    if number < 2 {
        return None;
    }
    let p_of = |count: &(u64, u64)| hypergeometric::two_sided(count.0, calls, hits, count.1);
    let (worker, p) = counted().map(|(worker, count)| (worker, p_of(count))).min_by(|a, b| a.1.total_cmp(&b.1))?;
    let p = (p * number as f64).min(1.0);
    let own = applied.by_worker[worker];
    Some(candidate(p, options, || {
        let mut finding = view.finding(Code::PA202, options);
        finding.sources = vec![applied.name.clone()];
        let others = (hits - own.0, calls - own.1);
        finding.message = format!(
            "{} of {} of `{}` applied in {} ({}), {} of {} in the others ({})",
            own.0,
            count(own.1, "call"),
            applied.name,
            name(view, workers[worker]),
            percent(own.0, own.1),
            others.0,
            others.1,
            percent(others.0, others.1)
        );
        finding.cause =
            Some("the workers decide by different rules: a seed or a state that depends on the worker".to_owned());
        finding.evidence = vec![
            ("worker", Number::Text(name(view, workers[worker]))),
            ("applied", Number::Count(own.0)),
            ("called", Number::Count(own.1)),
            ("others_applied", Number::Count(others.0)),
            ("others_called", Number::Count(others.1)),
            ("p_value", Number::Real(p)),
        ];
        finding
    }))
}
