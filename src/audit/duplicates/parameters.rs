//! Where no state can be seen, parameters stand in.
//!
//! Two workers that draw equal parameters call after call share a stream, or it is luck: the chance of that many
//! matches is binomial, with the probability that two draws of the pool agree. A transform that knows few values shows
//! nothing, so streams need [`FEWEST`] draws and [`FEWEST_DISTINCT`] distinct values.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::Options;
use crate::audit::skew::Candidate;
use crate::audit::view::{View, count, mix, worker_name};
use crate::finding::{Code, Finding, Number, Severity};
use crate::stats::binomial;
use crate::trace::run::Index;

use super::advice;
use super::findings::{Evaluates, evaluates};
use super::relations::Relation;

/// Fewest draws of a stream.
const FEWEST: usize = 4;
/// Fewest distinct values of a stream.
const FEWEST_DISTINCT: usize = 3;
/// Workers up to which each is compared with each, and not only with the next.
const ALL_PAIRS: usize = 16;

/// The draws of one transform in one lane: a digest of all parameters of each call, with its position.
struct Draws {
    lane: usize,
    calls: Vec<(u32, u64)>,
}

struct Match {
    lanes: (usize, usize),
    transform: String,
    matches: u64,
    of: u64,
    p: f64,
    seq: (u32, u32),
}

/// What parameters show where no state can be seen.
pub struct Unseen {
    /// One candidate for each way in which lanes may be alike.
    pub candidates: Vec<Candidate>,
    /// Lanes that are most likely copies of earlier ones.
    pub copies: BTreeSet<usize>,
}

/// Compares what lanes drew.
pub fn unseen(view: &View<'_>, options: &Options) -> Unseen {
    let mut pairs: BTreeMap<Relation, Vec<Match>> = BTreeMap::new();
    for (transform, draws) in by_transform(view) {
        let chance = collision(draws.iter().flat_map(|draws| draws.calls.iter().map(|call| call.1)));
        for (relation, a, b) in related(view, &draws) {
            if let Some(found) = aligned(&draws[a], &draws[b], &transform, chance) {
                pairs.entry(relation).or_default().push(found);
            }
        }
    }
    if let Some(found) = by_index(view) {
        pairs.entry(Relation::EpochsByIndex).or_default().push(found);
    }
    let copied = |found: &&Match| found.p <= options.alpha;
    let copies = pairs.values().flatten().filter(copied).map(|found| found.lanes.0.max(found.lanes.1)).collect();
    let candidate = |(relation, matches): (Relation, Vec<Match>)| {
        let number = matches.len() as f64;
        let best = matches.into_iter().min_by(|a, b| a.p.total_cmp(&b.p))?;
        let p = (best.p * number).min(1.0);
        let finding = (p <= options.alpha).then(|| told(view, relation, &best, p, options));
        Some(Candidate { p, finding })
    };
    Unseen { candidates: pairs.into_iter().filter_map(candidate).collect(), copies }
}

fn by_transform(view: &View<'_>) -> BTreeMap<String, Vec<Draws>> {
    let mut all: BTreeMap<String, Vec<Draws>> = BTreeMap::new();
    for (number, lane) in view.lanes() {
        let mut calls: BTreeMap<&str, Vec<(u32, u64)>> = BTreeMap::new();
        for sample in lane.samples() {
            for event in sample.events() {
                let applied = mix(event.applied.map_or(2, u64::from));
                let digest = event.values.iter().fold(applied, |digest, value| mix(digest ^ value.to_bits()));
                let name = &view.run.names.transform(event.kind).name;
                calls.entry(name).or_default().push((sample.seq, digest));
            }
        }
        for (name, calls) in calls {
            let mut distinct: Vec<u64> = calls.iter().map(|call| call.1).collect();
            distinct.sort_unstable();
            distinct.dedup();
            if calls.len() >= FEWEST && distinct.len() >= FEWEST_DISTINCT {
                all.entry(name.to_owned()).or_default().push(Draws { lane: number, calls });
            }
        }
    }
    all
}

/// Probability that two draws of a pool agree, estimated from the pool and rounded up.
fn collision(pool: impl Iterator<Item = u64>) -> f64 {
    let mut pool: Vec<u64> = pool.collect();
    pool.sort_unstable();
    let n = pool.len() as f64;
    let equal: f64 = pool.chunk_by(|a, b| a == b).map(|same| (same.len() as f64).powi(2)).sum();
    (equal / (n * n)).min(1.0)
}

/// Pairs of lanes that ought to differ, with how they lie to each other.
fn related(view: &View<'_>, draws: &[Draws]) -> Vec<(Relation, usize, usize)> {
    let lane = |draws: &Draws| &view.run.lanes[draws.lane];
    let mut pairs = Vec::new();
    for (a, first) in draws.iter().enumerate() {
        let x = lane(first);
        let mut workers = 0;
        let (mut rank, mut epoch) = (false, false);
        for (b, second) in draws.iter().enumerate().skip(a + 1) {
            let y = lane(second);
            if (x.epoch, x.rank) == (y.epoch, y.rank) && workers < ALL_PAIRS {
                workers += 1;
                pairs.push((Relation::Workers, a, b));
            } else if (x.epoch, x.worker) == (y.epoch, y.worker) && !rank {
                rank = true;
                pairs.push((Relation::Ranks, a, b));
            } else if (x.rank, x.worker) == (y.rank, y.worker) && !epoch {
                epoch = true;
                pairs.push((Relation::Epochs, a, b));
            }
        }
    }
    pairs
}

fn aligned(a: &Draws, b: &Draws, transform: &str, chance: f64) -> Option<Match> {
    let of = a.calls.len().min(b.calls.len()) as u64;
    let equal = |(a, b): &(&(u32, u64), &(u32, u64))| a.1 == b.1;
    let matches = a.calls.iter().zip(&b.calls).filter(equal).count() as u64;
    let first = a.calls.iter().zip(&b.calls).find(equal);
    let seq = first.map_or((0, 0), |(a, b)| (a.0, b.0));
    let p = binomial::at_least(matches, of, chance);
    (of >= FEWEST as u64).then(|| Match {
        lanes: (a.lane, b.lane),
        transform: transform.to_owned(),
        matches,
        of,
        p,
        seq,
    })
}

/// Whether one index gets one augmentation in two epochs.
fn by_index(view: &View<'_>) -> Option<Match> {
    let mut rows: Vec<(Index, u32, u64, usize, u32)> = Vec::new();
    for (lane, sample) in view.delivered() {
        if let (true, Some(augmentation)) = (sample.index != Index::Absent, view.augmentation(&sample)) {
            rows.push((sample.index, view.run.lanes[lane].epoch, augmentation, lane, sample.seq));
        }
    }
    rows.sort_unstable();
    let chance = collision(rows.iter().map(|row| row.2));
    let pairs = || rows.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1);
    let of = pairs().count() as u64;
    let equal = |pair: &&[(Index, u32, u64, usize, u32)]| pair[0].2 == pair[1].2;
    let matches = pairs().filter(equal).count() as u64;
    let first = pairs().find(equal)?;
    let mut distinct: Vec<u64> = rows.iter().map(|row| row.2).collect();
    distinct.sort_unstable();
    distinct.dedup();
    (of >= FEWEST as u64 && distinct.len() >= FEWEST_DISTINCT).then(|| Match {
        lanes: (first[0].3, first[1].3),
        transform: "all transforms".to_owned(),
        matches,
        of,
        p: binomial::at_least(matches, of, chance),
        seq: (first[0].4, first[1].4),
    })
}

fn told(view: &View<'_>, relation: Relation, found: &Match, p: f64, options: &Options) -> Finding {
    let code = match relation {
        Relation::Workers => Code::PA101,
        Relation::Ranks => Code::PA102,
        Relation::Epochs | Relation::EpochsByIndex => Code::PA103,
        Relation::Sources | Relation::Elsewhere => Code::PA104,
    };
    let mut finding = view.finding(code, options);
    let who = |lane: usize| {
        let lane = &view.run.lanes[lane];
        format!("epoch {} {}", lane.epoch, worker_name(lane.rank, lane.worker, view.ranks()))
    };
    let what = if relation == Relation::EpochsByIndex {
        "for the same index in two epochs".to_owned()
    } else {
        format!("in {} and {}", who(found.lanes.0), who(found.lanes.1))
    };
    finding.message = format!(
        "{} of {} of `{}` have equal parameters {what}, although no generator can be seen",
        found.matches,
        count(found.of, "call"),
        found.transform
    );
    let note = match evaluates(view, true) {
        Evaluates::Yes => true,
        Evaluates::Repeats => code == Code::PA103,
        Evaluates::No => false,
    };
    if note {
        finding.severity = Severity::Note;
    }
    finding.sources = vec![found.transform.clone()];
    finding.cause = advice::cause_unseen(relation);
    finding.evidence =
        vec![("matches", Number::Count(found.matches)), ("of", Number::Count(found.of)), ("p_value", Number::Real(p))];
    finding.places = vec![view.place(found.lanes.0, found.seq.0), view.place(found.lanes.1, found.seq.1)];
    finding
}
