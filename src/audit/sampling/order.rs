//! PA401: a loader that was asked to shuffle gives the same order in two epochs.

use crate::audit::Options;
use crate::audit::view::{View, count};
use crate::finding::{Code, Finding, Fix, FixKind, Number};
use crate::trace::order::Order;
use crate::trace::run::{Digest, Index, SampleView};

/// What tells a sample from others: its index, or its contents.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    Index(Index),
    Contents(Digest),
}

fn identity(sample: &SampleView<'_>) -> Option<Identity> {
    match sample.index {
        Index::Absent => sample.output.map(Identity::Contents),
        index => Some(Identity::Index(index)),
    }
}

/// The order of one rank's epoch; `None` for samples that cannot be told from others.
fn sequence<'a>(view: &'a View<'_>, order: &'a Order) -> impl Iterator<Item = Option<Identity>> + 'a {
    order.samples(view.run).map(|(_, sample)| identity(&sample))
}

/// Natural logarithm of the chance that two random orders of these samples agree over a length.
fn ln_chance(mut samples: Vec<Identity>, length: usize) -> f64 {
    samples.sort_unstable();
    samples.dedup();
    let pool = samples.len();
    (0..length.min(pool)).map(|done| -((pool - done) as f64).ln()).sum()
}

/// Two epochs of one rank in the same order.
struct Repeat {
    rank: u32,
    epochs: Vec<u32>,
    length: usize,
    whole: bool,
}

/// Looks for orders that repeat.
pub fn repeats(view: &View<'_>, options: &Options, not_tested: &mut Vec<String>) -> Option<Finding> {
    if !view.loader.shuffled {
        return None;
    }
    if view.epochs().len() < 2 {
        not_tested.push(format!(
            "{}: one epoch only: whether epochs repeat their order or their random numbers",
            view.name()
        ));
        return None;
    }
    let mut ranks: Vec<u32> = view.orders.iter().map(|order| order.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let pairs = (view.orders.len() * view.orders.len()) as f64;
    let mut too_few = false;
    let repeats: Vec<Repeat> =
        ranks.iter().filter_map(|rank| repeat(view, *rank, (options.alpha / pairs).ln(), &mut too_few)).collect();
    if repeats.is_empty() && too_few {
        not_tested.push(format!("{}: so few samples that an order repeats by chance", view.name()));
    }
    let first = repeats.first()?;
    let all = view.epochs().len();
    let epochs: Vec<String> = first.epochs.iter().map(u32::to_string).collect();
    let which = if first.epochs.len() == all {
        format!("all {all} epochs")
    } else {
        format!("epochs {}", epochs.join(" and "))
    };
    let who = match (ranks.len(), repeats.len()) {
        (1, _) => String::new(),
        (ranks, same) if ranks == same => format!(" on all {ranks} ranks"),
        (ranks, same) => format!(" on {same} of {ranks} ranks"),
    };
    let mut finding = view.finding(Code::PA401, options);
    finding.message = format!(
        "{} delivered in the same order in {which}{who}{}",
        count(first.length as u64, "sample"),
        if first.whole { "" } else { ", as far as they went" }
    );
    (finding.cause, finding.fix) = cause(view);
    finding.evidence = vec![
        ("samples", Number::Count(first.length as u64)),
        ("epochs", Number::Count(first.epochs.len() as u64)),
        ("ranks", Number::Count(repeats.len() as u64)),
    ];
    finding.places = first.epochs.iter().take(3).filter_map(|epoch| first_place(view, *epoch, first.rank)).collect();
    Some(finding)
}

fn first_place(view: &View<'_>, epoch: u32, rank: u32) -> Option<crate::finding::Place> {
    let order = view.orders_of(epoch).iter().find(|order| order.rank == rank)?;
    order.chunks.first().map(|chunk| view.place(chunk.lane, chunk.start))
}

fn repeat(view: &View<'_>, rank: u32, ln_alpha: f64, too_few: &mut bool) -> Option<Repeat> {
    let mut distinct: Vec<(&Order, Vec<u32>)> = Vec::new();
    let counts =
        |order: &&Order| order.rank == rank && order.known && !order.is_empty() && !view.peeks.contains(&order.epoch);
    for order in view.orders.iter().filter(counts) {
        let same = distinct.iter_mut().find(|(first, _)| {
            let lengths = first.len() == order.len() || !first.whole || !order.whole;
            lengths && sequence(view, first).zip(sequence(view, order)).all(|(a, b)| a.is_some() && a == b)
        });
        match same {
            Some((_, epochs)) => epochs.push(order.epoch),
            None => distinct.push((order, vec![order.epoch])),
        }
    }
    let (first, epochs) = distinct.into_iter().find(|(_, epochs)| epochs.len() > 1)?;
    let same = || view.orders.iter().filter(|order| order.rank == rank && epochs.contains(&order.epoch));
    let length = same().map(Order::len).min()?;
    let whole = same().all(|order| order.whole);
    if ln_chance(sequence(view, first).collect::<Option<_>>()?, length) > ln_alpha {
        *too_few = true;
        return None;
    }
    Some(Repeat { rank, epochs, length, whole })
}

fn cause(view: &View<'_>) -> (Option<String>, Option<Fix>) {
    let distributed =
        view.ranks() > 1 || view.loader.sampler.as_deref().is_some_and(|name| name.contains("Distributed"));
    let seeded = view.run.seedings.iter().filter(|seeded| seeded.call.worker < 0);
    let mut calls: Vec<&str> = seeded.map(|seeded| seeded.call.location.as_str()).collect();
    calls.sort_unstable();
    let again = calls.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
    let (cause, fix) = if let Some(call) = again {
        (
            format!("the main process is seeded again before each epoch, at {call}"),
            "seed once, before the first epoch".to_owned(),
        )
    } else if distributed {
        let fix = if view.is_built_in() {
            "leave out `--no-set-epoch`"
        } else {
            "call `sampler.set_epoch(epoch)` before each epoch"
        };
        ("the DistributedSampler is not told the epoch".to_owned(), fix.to_owned())
    } else if !view.is_map() {
        let cause = "the dataset shuffles from the same seed in every epoch".to_owned();
        (
            cause,
            "give the epoch to the dataset where its workers see it (`set_epoch` before the workers start)".to_owned(),
        )
    } else {
        let cause = "the generator of the sampler is in the same state before each epoch".to_owned();
        (cause, "make the sampler's generator once, before the first epoch".to_owned())
    };
    (Some(cause), Some(Fix { kind: FixKind::Advice, text: fix }))
}
