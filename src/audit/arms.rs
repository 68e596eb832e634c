//! Two runs that were varied on purpose: another number of workers, another seed. (PA302, PA304, and PA402 and PA403 of
//! iterable datasets)

use std::collections::BTreeMap;

use crate::finding::{Code, Finding, Fix, FixKind, Number};
use crate::trace::index::StateIndex;
use crate::trace::run::{Digest, Index, Run};

use super::Options;
use super::view::{View, count, percent};

/// Compares two runs that differ in the number of workers alone. Beside PA302 it finds iterable datasets that are not
/// split between workers (PA402: more workers, more samples) or that lose a remainder (PA403).
pub fn compare_worker_counts(a: &Run, b: &Run, options: &Options) -> Vec<Finding> {
    let loaders = 0..a.loaders.len().min(b.loaders.len()) as u32;
    let pairs = loaders.map(|number| (View::of(a, number), View::of(b, number)));
    pairs.flat_map(|(a, b)| [counts(&a, &b, options), contents(&a, &b, options)]).flatten().collect()
}

fn workers(view: &View<'_>) -> u64 {
    u64::from(view.loader.num_workers.max(1))
}

/// Samples of one whole epoch over all ranks.
fn delivered(view: &View<'_>, epoch: u32) -> Option<u64> {
    let orders = view.orders_of(epoch);
    let whole = !view.loader.cut_short && !orders.is_empty() && orders.iter().all(|order| order.whole);
    whole.then(|| orders.iter().map(|order| order.len() as u64).sum())
}

fn counts(a: &View<'_>, b: &View<'_>, options: &Options) -> Option<Finding> {
    if a.is_map() {
        return None;
    }
    let (epoch, of_a, of_b) = a.epochs().into_iter().find_map(|epoch| {
        let (of_a, of_b) = (delivered(a, epoch)?, delivered(b, epoch)?);
        (of_a != of_b && of_a > 0 && of_b > 0).then_some((epoch, of_a, of_b))
    })?;
    let (workers_a, workers_b) = (workers(a), workers(b));
    let grows = of_a * workers_b == of_b * workers_a;
    let batch = a.loader.batch_size.unwrap_or(1);
    if !grows && a.loader.drop_last && of_a.abs_diff(of_b) < workers_a.max(workers_b).saturating_mul(batch) {
        return None;
    }
    let mut finding = a.finding(if grows { Code::PA402 } else { Code::PA403 }, options);
    let seen =
        format!("{of_a} delivered with {}, {of_b} with {workers_b}, in epoch {epoch}", count(workers_a, "worker"));
    let text = if grows {
        finding.message = format!("{seen}: the samples grow with the workers");
        finding.cause =
            Some("the dataset yields everything in every worker: it does not ask `get_worker_info()`".to_owned());
        "take every `num_workers`-th item from `get_worker_info().id` on"
    } else {
        finding.message = format!("{seen}: {} missing", of_a.abs_diff(of_b));
        finding.cause = Some(
            "what a worker yields depends on the number of workers: a remainder is lost where the dataset is divided"
                .to_owned(),
        );
        "give the remainder to the last worker, or take every `num_workers`-th item"
    };
    finding.fix = Some(Fix { kind: FixKind::Advice, text: text.to_owned() });
    finding.evidence = vec![
        ("workers", Number::Count(workers_a)),
        ("delivered", Number::Count(of_a)),
        ("other_workers", Number::Count(workers_b)),
        ("other_delivered", Number::Count(of_b)),
    ];
    Some(finding)
}

/// Outputs of one epoch by index (by nothing where there is none).
fn outputs(view: &View<'_>) -> BTreeMap<(u32, Option<String>, Index), Vec<Digest>> {
    let mut outputs: BTreeMap<_, Vec<Digest>> = BTreeMap::new();
    for (lane, sample) in view.delivered() {
        let epoch = view.run.lanes[lane].epoch;
        let key = match sample.index {
            Index::Text(text) => (epoch, view.run.names.texts.get(text as usize).cloned(), Index::Absent),
            index => (epoch, None, index),
        };
        outputs.entry(key).or_default().extend(sample.output);
    }
    for outputs in outputs.values_mut() {
        outputs.sort_unstable();
    }
    outputs
}

fn contents(a: &View<'_>, b: &View<'_>, options: &Options) -> Option<Finding> {
    let (of_a, of_b) = (outputs(a), outputs(b));
    let (mut compared, mut differ) = (0, 0);
    for (key, of_a) in &of_a {
        let Some(of_b) = of_b.get(key) else { continue };
        let common = of_a.len().min(of_b.len()) as u64;
        let shared = of_a.iter().filter(|output| of_b.binary_search(output).is_ok()).count() as u64;
        compared += common;
        differ += common.saturating_sub(shared);
    }
    if differ == 0 {
        return None;
    }
    let mut finding = a.finding(Code::PA302, options);
    finding.message = format!(
        "{compared} compared by index, {differ} differ ({}) between {} and {}",
        percent(differ, compared),
        a.loader.num_workers,
        count(u64::from(b.loader.num_workers), "worker")
    );
    finding.cause = Some(
        "each worker draws from a stream of its own, so who makes a sample decides what is drawn for it".to_owned(),
    );
    finding.fix = Some(Fix { kind: FixKind::Advice, text: super::worker_count::ADVICE.to_owned() });
    finding.evidence = vec![
        ("compared", Number::Count(compared)),
        ("differ", Number::Count(differ)),
        ("workers", Number::Count(u64::from(a.loader.num_workers))),
        ("other_workers", Number::Count(u64::from(b.loader.num_workers))),
    ];
    Some(finding)
}

/// Compares two runs that differ in the seed alone (PA304).
pub fn compare_seeds(a: &Run, b: &Run, options: &Options) -> Vec<Finding> {
    let loaders = 0..a.loaders.len().min(b.loaders.len()) as u32;
    loaders.filter_map(|number| seed_ignored(&View::of(a, number), &View::of(b, number), options)).collect()
}

fn seed_ignored(a: &View<'_>, b: &View<'_>, options: &Options) -> Option<Finding> {
    let starts = |view: &View<'_>| {
        let index = StateIndex::of(view.run, view.lanes.clone());
        let row = |stream: &crate::trace::index::Stream| {
            let lane = &view.run.lanes[stream.lane as usize];
            let source = view.run.names.source_name(stream.source).to_owned();
            stream.start.map(|start| ((source, lane.epoch, lane.rank, lane.worker.0), start))
        };
        index.streams.iter().filter_map(row).collect::<BTreeMap<_, _>>()
    };
    let (of_a, of_b) = (starts(a), starts(b));
    if of_a.is_empty() || of_a != of_b || is_deterministic(a, b) {
        return None;
    }
    let mut finding = a.finding(Code::PA304, options);
    let streams = of_a.len() as u64;
    finding.message = format!("{streams} of {} alike under another seed", count(streams, "stream"));
    finding.cause = Some("the generators are seeded with a constant, whatever seed the program is given".to_owned());
    finding.fix = Some(Fix {
        kind: FixKind::Advice,
        text: "derive the loader's and the workers' seeds from the program's seed".to_owned(),
    });
    let mut sources: Vec<String> = of_a.keys().map(|(source, ..)| source.clone()).collect();
    sources.dedup();
    finding.sources = sources;
    finding.evidence = vec![("streams", Number::Count(streams)), ("alike", Number::Count(streams))];
    Some(finding)
}

/// Whether what is drawn changes nothing: one output for each index in both runs, and no parameter that varies.
fn is_deterministic(a: &View<'_>, b: &View<'_>) -> bool {
    let mut rows: Vec<(Index, Option<Digest>)> = Vec::new();
    let mut augmentations = Vec::new();
    for view in [a, b] {
        for (_, sample) in view.delivered() {
            rows.push((sample.index, sample.output));
            augmentations.extend(view.augmentation(&sample));
        }
    }
    rows.sort_unstable();
    let single = rows.chunk_by(|a, b| a.0 == b.0).all(|same| same[0].1 == same[same.len() - 1].1);
    single && augmentations.windows(2).all(|pair| pair[0] == pair[1])
}
