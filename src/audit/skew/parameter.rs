//! PA203: a parameter against its declared distribution.
//!
//! Several looks at one parameter are paid for by their number (Bonferroni).

use crate::audit::Options;
use crate::audit::view::{View, count};
use crate::finding::{Code, Finding, Fix, FixKind, Number};
use crate::stats::{binomial, chi_square, kolmogorov};

use super::collect::{Cells, Parameter, sum_of_steps};
use super::{Candidate, candidate};

/// What a test of a parameter saw.
enum Seen {
    Cell { value: i64, count: u64, expected: f64, last: bool, first: bool },
    Cells,
    End { last: bool, expected: f64 },
    Distance(f64),
}

/// PA203: a parameter against its declared distribution.
pub fn declared(view: &View<'_>, parameter: &Parameter, options: &Options) -> Option<Candidate> {
    if let (outside, Some((value, place))) = parameter.outside {
        return Some(candidate(0.0, options, || {
            let mut finding = view.finding(Code::PA203, options);
            finding.sources = vec![parameter.name.clone()];
            let range = parameter.range.map_or("its range".to_owned(), |(low, high)| format!("{low} to {high}"));
            finding.message = format!(
                "{} of {} of `{}` outside {range}: the first is {value}",
                outside,
                count(parameter.drawn, "value"),
                parameter.name
            );
            finding.evidence = vec![
                ("drawn", Number::Count(parameter.drawn)),
                ("outside", Number::Count(outside)),
                ("value", Number::Real(value)),
            ];
            finding.places = vec![place];
            finding
        }));
    }
    let mut looks: Vec<(f64, Seen)> = Vec::new();
    for cells in parameter.cells.values() {
        look_at_cells(cells, &mut looks);
    }
    if parameter.cells.len() > 1 {
        look_at_ends(parameter, &mut looks);
    }
    let steps = sum_of_steps(&parameter.steps, |_| true);
    let drawn: u64 = steps.iter().sum();
    if drawn > 0 {
        let distance = distance_from_even(&steps);
        looks.push((kolmogorov::one_sample(distance, drawn as usize), Seen::Distance(distance)));
    }
    let number = looks.len() as f64;
    let (p, seen) = looks.into_iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let p = (p * number).min(1.0);
    Some(candidate(p, options, || told(view, parameter, p, drawn, &seen, options)))
}

fn told(view: &View<'_>, parameter: &Parameter, p: f64, drawn: u64, seen: &Seen, options: &Options) -> Finding {
    let mut finding = view.finding(Code::PA203, options);
    finding.sources = vec![parameter.name.clone()];
    let range = parameter.range.map_or(String::new(), |(low, high)| format!(" (declared {low} to {high})"));
    let what = match seen {
        Seen::Cell { value, count: 0, expected, .. } => format!("{value} was never drawn, {expected:.0} expected"),
        Seen::Cell { value, count, expected, .. } => format!("{value} was drawn {count} times, {expected:.0} expected"),
        Seen::Cells => "the values are not equally likely".to_owned(),
        Seen::End { last, expected } => {
            format!("the {} position was never drawn, {expected:.0} expected", if *last { "last" } else { "first" })
        }
        Seen::Distance(distance) => format!("its distribution is off by {distance:.3}"),
    };
    finding.message = format!("{} of `{}`{range}: {what}", count(drawn, "draw"), parameter.name);
    let end = match seen {
        Seen::Cell { count: 0, last: true, .. } | Seen::End { last: true, .. } => {
            Some("the upper end is left out: a bound that is exclusive is used as if it were inclusive")
        }
        Seen::Cell { count: 0, first: true, .. } | Seen::End { last: false, .. } => Some("the lower end is left out"),
        Seen::Cell { .. } | Seen::Cells | Seen::Distance(_) => None,
    };
    finding.cause = end.map(str::to_owned);
    if matches!(seen, Seen::Cell { count: 0, last: true, .. } | Seen::End { last: true, .. }) {
        let text = "add 1 to the upper bound (`randint(0, height - size + 1)`)".to_owned();
        finding.fix = Some(Fix { kind: FixKind::Advice, text });
    }
    finding.evidence = vec![("drawn", Number::Count(drawn))];
    match seen {
        Seen::Cell { value, count, expected, .. } => finding.evidence.extend([
            ("value", Number::Real(*value as f64)),
            ("count", Number::Count(*count)),
            ("expected", Number::Real(*expected)),
        ]),
        Seen::End { expected, .. } => finding.evidence.push(("expected", Number::Real(*expected))),
        Seen::Distance(distance) => finding.evidence.push(("distance", Number::Real(*distance))),
        Seen::Cells => {}
    }
    finding.evidence.push(("p_value", Number::Real(p)));
    finding
}

/// The rarest and the commonest value by their exact probability, and all of them by chi-square.
fn look_at_cells(cells: &Cells, looks: &mut Vec<(f64, Seen)>) {
    let total = cells.total();
    let drawn: u64 = total.iter().sum();
    let number = total.len();
    if number < 2 || drawn == 0 {
        return;
    }
    let expected = drawn as f64 / number as f64;
    let extreme = [
        total.iter().enumerate().min_by_key(|(_, count)| **count),
        total.iter().enumerate().max_by_key(|(_, count)| **count),
    ];
    for (cell, count) in extreme.into_iter().flatten() {
        let p = binomial::two_sided(*count, drawn, 1.0 / number as f64) * number as f64;
        let (first, last) = (cell == 0, cell + 1 == number);
        looks.push((p, Seen::Cell { value: cells.low + cell as i64, count: *count, expected, last, first }));
    }
    if let Some(p) = chi_square::equal(&total) {
        looks.push((p, Seen::Cells));
    }
}

/// Where ranges depend on the sample: the chance that none of all draws hits its first, or its last, value.
fn look_at_ends(parameter: &Parameter, looks: &mut Vec<(f64, Seen)>) {
    for last in [false, true] {
        let (mut ln_chance, mut expected, mut hits) = (0.0, 0.0, 0);
        for cells in parameter.cells.values() {
            let total = cells.total();
            let drawn: u64 = total.iter().sum();
            let share = 1.0 / total.len() as f64;
            if total.len() > 1 {
                ln_chance += drawn as f64 * (-share).ln_1p();
                expected += drawn as f64 * share;
                hits += if last { total[total.len() - 1] } else { total[0] };
            }
        }
        let p = if hits == 0 && expected > 0.0 { f64::exp(ln_chance) } else { 1.0 };
        looks.push((p, Seen::End { last, expected }));
    }
}

/// Largest distance from the even distribution, looked at between steps: at most the true one.
fn distance_from_even(steps: &[u64]) -> f64 {
    let drawn: u64 = steps.iter().sum();
    let (mut below, mut largest) = (0, 0.0_f64);
    for (step, count) in steps.iter().enumerate() {
        below += count;
        let expected = (step + 1) as f64 / steps.len() as f64;
        largest = largest.max((below as f64 / drawn as f64 - expected).abs());
    }
    largest
}
