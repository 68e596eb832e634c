//! PA402 and PA403 where samples have indices.

use std::collections::BTreeSet;

use crate::audit::Options;
use crate::audit::seen::Seen;
use crate::audit::view::{View, percent};
use crate::finding::{Code, Finding, Fix, FixKind, Number, Place, Severity};
use crate::trace::order::Order;
use crate::trace::run::Index;

/// What one epoch delivered over all ranks.
struct Epoch {
    number: u32,
    delivered: u64,
    distinct: u64,
    by_rank: Vec<u64>,
    whole: bool,
}

fn epoch(view: &View<'_>, number: u32) -> Epoch {
    let orders = view.orders_of(number);
    let mut seen = Seen::default();
    let mut delivered = 0;
    for (_, sample) in orders.iter().flat_map(|order| order.samples(view.run)) {
        seen.see(sample.index);
        delivered += u64::from(sample.index != Index::Absent);
    }
    let by_rank = orders.iter().map(|order| order.len() as u64).collect();
    let whole = !view.loader.cut_short
        && orders.iter().all(|order| order.whole)
        && orders.len() as u32 == view.run.world_size.max(view.ranks());
    Epoch { number, delivered, distinct: seen.distinct(), by_rank, whole }
}

/// What an epoch delivered: index, rank, lane, position, sorted.
fn rows(view: &View<'_>, number: u32) -> Vec<(Index, u32, u32, u32)> {
    let row = |order: &'_ Order| {
        let rank = order.rank;
        let rows = order.samples(view.run).map(move |(lane, sample)| (sample.index, rank, lane as u32, sample.seq));
        rows.filter(|row| row.0 != Index::Absent).collect::<Vec<_>>()
    };
    let mut rows: Vec<_> = view.orders_of(number).iter().flat_map(row).collect();
    rows.sort_unstable();
    rows
}

fn indices(view: &View<'_>, number: u32) -> BTreeSet<Index> {
    rows(view, number).into_iter().map(|row| row.0).collect()
}

fn show(view: &View<'_>, index: Index) -> String {
    match index {
        Index::Number(number) => number.to_string(),
        Index::Text(text) => format!("`{}`", view.run.names.texts.get(text as usize).map_or("?", String::as_str)),
        Index::Absent => "absent".to_owned(),
    }
}

/// Looks for samples that an epoch delivered more than once.
pub fn duplicated(view: &View<'_>, options: &Options) -> Option<Finding> {
    if view.loader.replacement {
        return None;
    }
    let mut epochs = view.epochs().into_iter().map(|number| epoch(view, number));
    let first = epochs.find(|epoch| {
        let extra = epoch.delivered - epoch.distinct;
        extra > if view.loader.shuffled { view.loader.padding } else { 0 }
    })?;
    let (delivered, extra) = (first.delivered, first.delivered - first.distinct);
    let rows = rows(view, first.number);
    let repeated = rows.chunk_by(|a, b| a.0 == b.0).find(|same| same.len() > 1)?;
    let padding = extra <= view.loader.padding;
    let complete = first.by_rank.len() > 1 && first.by_rank.iter().all(|rank| *rank == first.distinct);
    let mut finding = view.finding(Code::PA402, options);
    finding.message = format!(
        "{delivered} delivered in epoch {}, {} distinct ({}): index {} came {} times",
        first.number,
        first.distinct,
        percent(first.distinct, delivered),
        show(view, repeated[0].0),
        repeated.len()
    );
    let across = repeated.windows(2).any(|pair| pair[0].1 != pair[1].1);
    finding.cause = Some(if padding {
        "the DistributedSampler repeats samples to make all ranks equally long; metrics that add up ranks count them twice".to_owned()
    } else if complete {
        "each rank delivers the whole dataset: nothing splits it between the ranks".to_owned()
    } else if across {
        "the parts of the ranks overlap".to_owned()
    } else {
        "the sampler gives some indices more than once".to_owned()
    });
    if padding || (complete && !view.loader.shuffled) {
        finding.severity = Severity::Note;
    } else if complete {
        let text = "give the loader a `DistributedSampler`, or each rank its own part".to_owned();
        finding.fix = Some(Fix { kind: FixKind::Advice, text });
    } else if across {
        let text = "draw the split from one seed on all ranks and take `[rank::world_size]` of it".to_owned();
        finding.fix = Some(Fix { kind: FixKind::Advice, text });
    }
    finding.evidence = vec![
        ("delivered", Number::Count(delivered)),
        ("distinct", Number::Count(first.distinct)),
        ("more_than_once", Number::Count(extra)),
        ("padding", Number::Count(view.loader.padding)),
    ];
    finding.places = repeated.iter().take(3).map(|(_, _, lane, seq)| view.place(*lane as usize, *seq)).collect();
    Some(finding)
}

/// How samples came to be left out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// By the ranks' parts, which overlap.
    Split,
    /// A remainder of a division.
    Remainder,
    /// By a sampler that takes part of the dataset, as it may.
    Sampler,
}

/// Looks for samples that whole epochs never delivered.
pub fn missing(view: &View<'_>, options: &Options, not_tested: &mut Vec<String>) -> Option<Finding> {
    if view.loader.replacement {
        return None;
    }
    let Some(length) = view.loader.length else {
        not_tested.push(format!("{}: the dataset has no length: whether samples are missing", view.name()));
        return None;
    };
    let epochs: Vec<Epoch> = view.epochs().into_iter().map(|number| epoch(view, number)).filter(|e| e.whole).collect();
    if epochs.is_empty() {
        not_tested.push(format!("{}: no epoch was read to its end: whether samples are missing", view.name()));
    }
    let (first, expected, left) = epochs.iter().find_map(|epoch| {
        let (expected, left) = expectation(view, epoch, length, &epochs)?;
        Some((epoch, expected, left))
    })?;
    let gone = expected - first.distinct;
    let ever: BTreeSet<Index> = epochs.iter().flat_map(|epoch| indices(view, epoch.number)).collect();
    let never = expected.saturating_sub(ever.len() as u64);
    let mut finding = view.finding(Code::PA403, options);
    finding.message = format!(
        "{} of {expected} samples delivered in epoch {} ({}): {gone} missing{}",
        first.distinct,
        first.number,
        percent(first.distinct, expected),
        if epochs.len() > 1 { format!(", {never} of them in all {} epochs", epochs.len()) } else { String::new() }
    );
    let names = absent(&indices(view, first.number), expected);
    if !names.is_empty() && left != Left::Sampler {
        finding.message = format!("{} (first: {})", finding.message, names.join(", "));
    }
    finding.cause = Some(match left {
        Left::Split => {
            "the ranks draw their parts from different orders, so the parts overlap and leave gaps".to_owned()
        }
        Left::Remainder => "a remainder is lost where the indices are divided".to_owned(),
        Left::Sampler => format!(
            "the sampler{} takes part of the dataset",
            view.loader.sampler.as_ref().map(|name| format!(" `{name}`")).unwrap_or_default()
        ),
    });
    if left == Left::Sampler {
        finding.severity = Severity::Note;
    } else if left == Left::Split {
        let text = "draw the split from one seed on all ranks and take `[rank::world_size]` of it".to_owned();
        finding.fix = Some(Fix { kind: FixKind::Advice, text });
    }
    finding.evidence = vec![
        ("expected", Number::Count(expected)),
        ("distinct", Number::Count(first.distinct)),
        ("missing", Number::Count(gone)),
        ("never_delivered", Number::Count(never)),
    ];
    let end = |order: &crate::trace::order::Order| -> Option<Place> {
        order.chunks.last().map(|chunk| view.place(chunk.lane, chunk.end - 1))
    };
    finding.places = view.orders_of(first.number).iter().filter_map(end).take(3).collect();
    Some(finding)
}

/// How many samples an epoch should have delivered, where it delivered fewer and that needs saying.
fn expectation(view: &View<'_>, epoch: &Epoch, length: u64, epochs: &[Epoch]) -> Option<(u64, Left)> {
    let ranks = epoch.by_rank.len() as u64;
    let batch = view.loader.batch_size.unwrap_or(1).max(1);
    let tail = if view.loader.drop_last { ranks.saturating_mul(batch - 1) } else { 0 }.saturating_add(ranks - 1);
    // Each rank has a part of its own as long as "the dataset", and the parts are not copies of each other.
    let own_parts =
        ranks > 1 && epoch.distinct > length && epoch.by_rank.iter().all(|rank| rank.saturating_add(batch) > length);
    if own_parts {
        let expected = ranks.saturating_mul(length);
        return (epoch.distinct.saturating_add(tail) < expected).then_some((expected, Left::Split));
    }
    if epoch.distinct.saturating_add(tail) >= length {
        return None;
    }
    let gone = length - epoch.distinct;
    let own = indices(view, epoch.number);
    let alike = |other: &Epoch| other.number == epoch.number || indices(view, other.number) == own;
    let on_purpose = view.loader.shuffled && epochs.len() > 1 && epochs.iter().all(alike);
    let overlapping = ranks > 1 && epoch.delivered - epoch.distinct > view.loader.padding;
    let remainder = gone < batch.max(u64::from(view.loader.num_workers)).max(ranks);
    let left = if overlapping {
        Left::Split
    } else if view.is_built_in() || (remainder && !on_purpose) {
        Left::Remainder
    } else {
        Left::Sampler
    };
    Some((length, left))
}

/// The first three numbers below a length that were not delivered, where all indices are below it.
fn absent(delivered: &BTreeSet<Index>, length: u64) -> Vec<String> {
    let in_range = delivered.iter().all(|index| matches!(index, Index::Number(n) if *n >= 0 && (*n as u64) < length));
    if !in_range {
        return Vec::new();
    }
    let missing = (0..length as i64).filter(|number| !delivered.contains(&Index::Number(*number)));
    missing.take(3).map(|number| number.to_string()).collect()
}
