//! PA202 of parameters: whether workers draw from one distribution.

use crate::audit::Options;
use crate::audit::view::{View, count};
use crate::finding::{Code, Number};
use crate::stats::{hypergeometric, kolmogorov};

use super::collect::{Parameter, sum_of_steps};
use super::{Candidate, candidate, name};

/// Most whole numbers of which each is compared between workers.
const CELLS_BY_WORKER: usize = 64;

/// PA202: each worker's values against those of the others.
pub fn by_worker(
    view: &View<'_>,
    parameter: &Parameter,
    workers: &[(u32, i32)],
    options: &Options,
) -> Option<Candidate> {
    let mut looks: Vec<(f64, usize, String)> = Vec::new();
    by_steps(parameter, &mut looks);
    by_cells(parameter, &mut looks);
    // Without a declared range, values may depend on the sample (a box on its image's size): only where samples reach
    // the workers at random do they have to be alike.
    if view.loader.shuffled {
        by_raw(parameter, &mut looks);
    }
    let number = looks.len() as f64;
    let (p, worker, what) = looks.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let p = (p * number).min(1.0);
    Some(candidate(p, options, || {
        let mut finding = view.finding(Code::PA202, options);
        finding.sources = vec![parameter.name.clone()];
        finding.message = format!(
            "{} of `{}`: {what} in {} and in the others",
            count(parameter.drawn, "draw"),
            parameter.name,
            name(view, workers[worker])
        );
        finding.cause = Some(
            "the workers draw from different distributions: a seed or a state that depends on the worker".to_owned(),
        );
        finding.evidence = vec![
            ("worker", Number::Text(name(view, workers[worker]))),
            ("drawn", Number::Count(parameter.drawn)),
            ("p_value", Number::Real(p)),
        ];
        finding
    }))
}

fn by_steps(parameter: &Parameter, looks: &mut Vec<(f64, usize, String)>) {
    let drew = |worker: &usize| !parameter.steps[*worker].is_empty();
    let workers: Vec<usize> = (0..parameter.steps.len()).filter(drew).collect();
    if workers.len() < 2 {
        return;
    }
    for worker in workers {
        let own = sum_of_steps(&parameter.steps, |other| other == worker);
        let others = sum_of_steps(&parameter.steps, |other| other != worker);
        let (n, m) = (own.iter().sum::<u64>() as usize, others.iter().sum::<u64>() as usize);
        let distance = distance_between(&own, &others);
        let what = format!("the distributions are {distance:.3} apart");
        looks.push((kolmogorov::two_samples(distance, n, m), worker, what));
    }
}

fn by_raw(parameter: &Parameter, looks: &mut Vec<(f64, usize, String)>) {
    let drew = |worker: &usize| !parameter.raw[*worker].is_empty();
    let workers: Vec<usize> = (0..parameter.raw.len()).filter(drew).collect();
    if workers.len() < 2 {
        return;
    }
    let mut sorted = parameter.raw.clone();
    for values in &mut sorted {
        values.sort_unstable_by(f64::total_cmp);
    }
    for worker in workers {
        let others = sorted.iter().enumerate().filter(|(other, _)| *other != worker);
        let mut others: Vec<f64> = others.flat_map(|(_, values)| values.iter().copied()).collect();
        others.sort_unstable_by(f64::total_cmp);
        let distance = kolmogorov::distance(&sorted[worker], &others);
        let what = format!("the distributions are {distance:.3} apart");
        looks.push((kolmogorov::two_samples(distance, sorted[worker].len(), others.len()), worker, what));
    }
}

fn by_cells(parameter: &Parameter, looks: &mut Vec<(f64, usize, String)>) {
    for cells in parameter.cells.values() {
        let total = cells.total();
        let drawn: u64 = total.iter().sum();
        let own: Vec<(usize, u64)> =
            cells.by_worker.iter().enumerate().map(|(worker, counts)| (worker, counts.iter().sum())).collect();
        if total.len() > CELLS_BY_WORKER || own.iter().filter(|(_, own)| *own > 0).count() < 2 {
            continue;
        }
        for (worker, own) in own.into_iter().filter(|(_, own)| *own > 0) {
            let counts = &cells.by_worker[worker];
            let p_of = |cell: usize| hypergeometric::two_sided(counts[cell], drawn, total[cell], own);
            let best = (0..total.len()).map(|cell| (p_of(cell), cell)).min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((p, cell)) = best {
                let value = cells.low + cell as i64;
                let what = format!(
                    "{value} was drawn {} of {own} and {} of {} times",
                    counts[cell],
                    total[cell] - counts[cell],
                    drawn - own
                );
                looks.push(((p * total.len() as f64).min(1.0), worker, what));
            }
        }
    }
}

fn distance_between(a: &[u64], b: &[u64]) -> f64 {
    let (all_a, all_b): (u64, u64) = (a.iter().sum(), b.iter().sum());
    let (mut below_a, mut below_b, mut largest) = (0, 0, 0.0_f64);
    for (a, b) in a.iter().zip(b) {
        below_a += a;
        below_b += b;
        largest = largest.max((below_a as f64 / all_a as f64 - below_b as f64 / all_b as f64).abs());
    }
    largest
}
