//! What was audited, and one row an arm and loader.

use std::collections::BTreeSet;

use super::super::model::{ArmReport, Report, Verdict};
use super::super::text::{clean, count, plural};
use super::{Context, frame, row_verdict};
use crate::finding::numbers::{Distinct, LoaderNumbers};

/// One line a loader; one an arm as well where arms differ in it.
pub(super) fn subjects(report: &Report, context: &Context) -> Vec<String> {
    let mut seen: Vec<(String, String, Vec<String>)> = Vec::new();
    for arm in &report.arms {
        for numbers in &arm.numbers {
            let (loader, shape) = (clean(&numbers.loader), shape(numbers));
            match seen.iter_mut().find(|(l, s, _)| *l == loader && *s == shape) {
                Some((_, _, arms)) => arms.push(clean(&arm.name)),
                None => seen.push((loader, shape, vec![clean(&arm.name)])),
            }
        }
    }
    let mut lines = Vec::new();
    for (loader, shape, arms) in &seen {
        let several = seen.iter().filter(|(l, _, _)| l == loader).count() > 1;
        let text = if several { format!("{}: {shape}", arms.join(", ")) } else { shape.clone() };
        if loader.chars().count() * 2 > context.text_width() {
            lines.push(context.paint.bold(loader));
            lines.extend(context.hang("  ", &text));
            continue;
        }
        let mut wrapped = context.hang(&format!("{loader}  "), &text);
        wrapped[0] = format!("{}{}", context.paint.bold(loader), &wrapped[0][loader.len()..]);
        lines.extend(wrapped);
    }
    lines
}

fn shape(numbers: &LoaderNumbers) -> String {
    let workers = match (numbers.ranks, numbers.workers) {
        (0 | 1, 0) => "no workers".to_owned(),
        (0 | 1, workers) => plural(workers.into(), "worker"),
        (ranks, 0) => format!("{} without workers", plural(ranks.into(), "rank")),
        (ranks, workers) => format!("{} of {}", plural(ranks.into(), "rank"), plural(workers.into(), "worker")),
    };
    let epochs = plural(numbers.epochs.len() as u64, "epoch");
    let delivered = format!("{} delivered", plural(numbers.delivered, "sample"));
    let share = numbers.dataset.filter(|size| *size > 0).map_or_else(String::new, |size| {
        let percent =
            if numbers.ever_delivered >= size { String::new() } else { percent(numbers.ever_delivered, size) };
        format!(", {} of {} in the dataset{percent}", count(numbers.ever_delivered), count(size))
    });
    format!("{workers}, {epochs}, {delivered}{share}")
}

/// Rounded down, so that 100 % is never said of less, nor 0 % of something.
fn percent(part: u64, whole: u64) -> String {
    match u128::from(part) * 100 / u128::from(whole) {
        0 if part > 0 => " (under 1 %)".to_owned(),
        percent => format!(" ({percent} %)"),
    }
}

/// The table that answers in ten seconds.
pub(super) fn table(report: &Report, context: &Context) -> Vec<String> {
    let loaders: BTreeSet<&str> =
        report.arms.iter().flat_map(|arm| &arm.numbers).map(|numbers| numbers.loader.as_str()).collect();
    if loaders.is_empty() {
        return Vec::new();
    }
    let several = loaders.len() > 1;
    let mut header = vec!["arm", "distinct\nstreams", "distinct\naugmentations", "two\nruns", "verdict"];
    if several {
        header.insert(1, "loader");
    }
    let header: Vec<String> = header.into_iter().map(str::to_owned).collect();
    let mut rows = Vec::new();
    for arm in &report.arms {
        for (i, numbers) in arm.numbers.iter().enumerate() {
            let mut row = row(report, arm, numbers);
            if i > 0 {
                row[0].clear();
            }
            if several {
                row.insert(1, clean(&numbers.loader));
            }
            rows.push(row);
        }
    }
    let mut lines = frame::painted(frame::lines(context.width, &header, &rows), context.paint);
    if context.verbose {
        lines.push(String::new());
        lines.extend(epochs(report, several, context));
    }
    lines
}

fn row(report: &Report, arm: &ArmReport, numbers: &LoaderNumbers) -> Vec<String> {
    let mut name = vec![clean(&arm.name)];
    if !arm.detail.is_empty() {
        name.push(clean(&arm.detail));
    }
    let streams: Vec<Distinct> = numbers.epochs.iter().map(|epoch| epoch.streams).collect();
    let augmentations: Vec<Distinct> = numbers.epochs.iter().map(|epoch| epoch.augmentations).collect();
    let runs = match numbers.reproduces {
        Some(true) => "same",
        Some(false) => "differ",
        None => "one run",
    };
    let verdict = match row_verdict(arm, &numbers.loader, report.fail_on) {
        Verdict::Pass => frame::PASS,
        Verdict::Fail => frame::FAIL,
        Verdict::Inconclusive => frame::INCONCLUSIVE,
    };
    vec![
        name.join("\n"),
        distinct(&streams, numbers.streams),
        distinct(&augmentations, numbers.augmentations),
        runs.to_owned(),
        if arm.decides { verdict.to_owned() } else { format!("{verdict}\n(comparison)") },
    ]
}

/// `64 of 64 an epoch`, and on a second line `64 of 128 in all` where epochs share what they have.
fn distinct(epochs: &[Distinct], all: Distinct) -> String {
    if all.distinct == 0 {
        return "none drawn".to_owned();
    }
    if epochs.len() < 2 {
        return of(all);
    }
    let lowest = epochs.iter().map(|epoch| epoch.distinct).min().unwrap_or(0);
    let highest = epochs.iter().map(|epoch| epoch.distinct).max().unwrap_or(0);
    let alike = epochs.iter().all(|epoch| epoch.of == epochs[0].of);
    let each = if !alike {
        return format!("{} in all", of(all));
    } else if lowest == highest {
        format!("{} an epoch", of(epochs[0]))
    } else {
        format!("{}–{} of {} an epoch", count(lowest), count(highest), count(epochs[0].of))
    };
    let sum: u64 = epochs.iter().map(|epoch| epoch.distinct).sum();
    if sum == all.distinct { each } else { format!("{each}\n{} in all", of(all)) }
}

fn of(distinct: Distinct) -> String {
    format!("{} of {}", count(distinct.distinct), count(distinct.of))
}

fn epochs(report: &Report, several: bool, context: &Context) -> Vec<String> {
    let mut header = vec!["arm", "epoch", "distinct streams", "distinct augmentations"];
    if several {
        header.insert(1, "loader");
    }
    let header: Vec<String> = header.into_iter().map(str::to_owned).collect();
    let mut rows = Vec::new();
    for arm in &report.arms {
        for numbers in &arm.numbers {
            for epoch in &numbers.epochs {
                let mut row =
                    vec![clean(&arm.name), epoch.epoch.to_string(), of(epoch.streams), of(epoch.augmentations)];
                if several {
                    row.insert(1, clean(&numbers.loader));
                }
                rows.push(row);
            }
        }
    }
    frame::painted(frame::lines(context.width, &header, &rows), context.paint)
}
