//! PA402 and PA403 where samples have no index: by their contents.
//!
//! Data that hold true duplicates must not be accused. What betrays an iterable dataset that is not split is that whole
//! workers deliver the same: all that one of them delivered, another one delivered too.

use crate::audit::Options;
use crate::audit::view::{View, count, percent, worker_name};
use crate::finding::{Code, Finding, Fix, FixKind, Number, Place, Severity};
use crate::trace::run::Digest;

/// Fewest samples and fewest distinct ones of a worker that are evidence.
const FEWEST: usize = 8;
/// See [`FEWEST`].
const FEWEST_DISTINCT: usize = 4;

struct Part {
    lane: usize,
    outputs: Vec<Digest>,
    distinct: usize,
}

/// What each worker of an epoch delivered, as far as it is known and enough to judge.
fn parts(view: &View<'_>, epoch: u32) -> Vec<Part> {
    let ends = view.delivered_ends();
    let lanes = view.lanes().filter(|(_, lane)| lane.epoch == epoch);
    let part = |(number, lane): (usize, &crate::trace::Lane)| {
        let end = ends[number - view.lanes.start] as usize;
        let outputs = lane.samples().take(end).map(|sample| sample.output);
        let mut outputs: Vec<Digest> = outputs.collect::<Option<_>>()?;
        outputs.sort_unstable();
        let distinct = outputs.chunk_by(|a, b| a == b).count();
        Some(Part { lane: number, outputs, distinct })
    };
    lanes.filter_map(part).filter(|part| part.outputs.len() >= FEWEST && part.distinct >= FEWEST_DISTINCT).collect()
}

/// Looks for workers that deliver the same samples.
pub fn duplicated(view: &View<'_>, options: &Options) -> Option<Finding> {
    let (epoch, parts, delivered) = view.epochs().into_iter().find_map(|epoch| {
        let delivered: u64 = view.orders_of(epoch).iter().map(|order| order.len() as u64).sum();
        // A dataset that says how long it is, and delivers no more than that, is split.
        let fits = view.loader.length.is_some_and(|length| delivered <= length);
        let parts = parts(view, epoch);
        let several = |part: &Part| parts.iter().any(|other| other.lane != part.lane && alike(view, part, other));
        let alike: Vec<usize> = parts.iter().enumerate().filter(|(_, part)| several(part)).map(|(i, _)| i).collect();
        (!fits && alike.len() > 1).then(|| {
            let mut parts = parts;
            let mut at = 0;
            parts.retain(|_| {
                at += 1;
                alike.contains(&(at - 1))
            });
            (epoch, parts, delivered)
        })
    })?;
    let mut all: Vec<Digest> = parts.iter().flat_map(|part| part.outputs.iter().copied()).collect();
    let made = all.len() as u64;
    all.sort_unstable();
    all.dedup();
    let distinct = all.len() as u64;
    let lane = |part: &Part| &view.run.lanes[part.lane];
    let in_rank = parts
        .iter()
        .any(|a| parts.iter().any(|b| a.lane != b.lane && lane(a).rank == lane(b).rank && alike(view, a, b)));
    let who: Vec<String> =
        parts.iter().take(3).map(|part| worker_name(lane(part).rank, lane(part).worker, view.ranks())).collect();
    let mut finding = view.finding(Code::PA402, options);
    finding.message = format!(
        "{made} delivered in epoch {epoch} by {}, {distinct} distinct ({}): {} deliver the same samples",
        count(parts.len() as u64, "worker"),
        percent(distinct, made),
        who.join(", ")
    );
    let (cause, fix) = if in_rank {
        (
            "the dataset yields everything in every worker: it does not ask `get_worker_info()`",
            "take every `num_workers`-th item from `get_worker_info().id` on",
        )
    } else {
        (
            "the dataset yields the same in every rank: it does not ask for its rank",
            "take every `world_size`-th item from `rank` on",
        )
    };
    finding.cause = Some(cause.to_owned());
    finding.fix = Some(Fix { kind: FixKind::Advice, text: fix.to_owned() });
    if !in_rank && view.beside_training {
        finding.severity = Severity::Note;
    }
    finding.evidence = vec![
        ("delivered", Number::Count(delivered)),
        ("distinct", Number::Count(distinct)),
        ("workers_alike", Number::Count(parts.len() as u64)),
    ];
    finding.places = places(view, &parts);
    Some(finding)
}

/// Places of one sample that several workers delivered.
fn places(view: &View<'_>, parts: &[Part]) -> Vec<Place> {
    let Some(first) = parts.first() else { return Vec::new() };
    let wanted = view.run.lanes[first.lane].sample(0).output;
    let place = |part: &Part| {
        let sample = view.run.lanes[part.lane].samples().find(|sample| sample.output == wanted)?;
        Some(view.place(part.lane, sample.seq))
    };
    parts.iter().filter_map(place).take(3).collect()
}

/// Whether two workers delivered the same contents. Where one was cut short, that it is part of the other is enough.
fn alike(view: &View<'_>, a: &Part, b: &Part) -> bool {
    let whole = |part: &Part| {
        let lane = &view.run.lanes[part.lane];
        view.orders_of(lane.epoch).iter().all(|order| order.rank != lane.rank || order.whole)
    };
    if whole(a) && whole(b) {
        return a.outputs == b.outputs;
    }
    let (short, long) = if a.outputs.len() <= b.outputs.len() { (a, b) } else { (b, a) };
    let shared = short.outputs.iter().filter(|output| long.outputs.binary_search(output).is_ok()).count();
    10 * shared >= 9 * short.outputs.len()
}

/// Looks for samples that a dataset which says its length never delivered.
pub fn missing(view: &View<'_>, options: &Options) -> Option<Finding> {
    let length = view.loader.length.filter(|_| !view.loader.cut_short)?;
    let workers = u64::from(view.loader.num_workers.max(1)) * u64::from(view.ranks());
    let (epoch, delivered) = view.epochs().into_iter().find_map(|epoch| {
        let orders = view.orders_of(epoch);
        let delivered: u64 = orders.iter().map(|order| order.len() as u64).sum();
        let batch = view.loader.batch_size.unwrap_or(1).max(1);
        let tail = if view.loader.drop_last { workers.saturating_mul(batch - 1) } else { 0 };
        let whole =
            orders.iter().all(|order| order.whole) && orders.len() as u32 == view.run.world_size.max(view.ranks());
        (whole && delivered.saturating_add(tail) < length).then_some((epoch, delivered))
    })?;
    let mut finding = view.finding(Code::PA403, options);
    finding.message = format!(
        "{delivered} of {length} samples delivered in epoch {epoch} ({}): {} missing",
        percent(delivered, length),
        length - delivered
    );
    let remainder = length - delivered < workers;
    if remainder {
        finding.cause = Some("a remainder is lost where the dataset is divided between workers".to_owned());
    } else {
        // The length may be a guess, or the dataset may stop early on purpose.
        finding.severity = Severity::Warning;
    }
    finding.evidence = vec![("expected", Number::Count(length)), ("delivered", Number::Count(delivered))];
    Some(finding)
}
