//! Do two runs that should be equal deliver the same samples? (PA301, PA303)
//!
//! Only what is delivered decides: generators that start differently in each run and touch no output are common and
//! harmless. What differs first (index, initial state, later state, output) then names the cause.

use std::collections::BTreeMap;

use crate::finding::{Code, Finding, Fix, FixKind, Number, Place};
use crate::trace::Lane;
use crate::trace::order::Order;
use crate::trace::run::{Digest, Event, Index, Moved, Run, SampleView};

use super::Options;
use super::view::{View, is_global, percent};

/// Compares two runs.
pub fn compare(a: &Run, b: &Run, options: &Options) -> Vec<Finding> {
    let mut findings = Vec::new();
    for number in 0..a.loaders.len().max(b.loaders.len()) as u32 {
        if number as usize >= a.loaders.len().min(b.loaders.len()) {
            let run = if b.loaders.len() > a.loaders.len() { b } else { a };
            let view = View::of(run, number);
            let mut finding = view.finding(Code::PA301, options);
            finding.message = format!("{} was iterated in one of two runs only", view.name());
            findings.push(finding);
            continue;
        }
        let pair = Pair::new(View::of(a, number), View::of(b, number));
        findings.extend(pair.finding(options));
    }
    findings
}

/// What differs first.
#[derive(Clone, Debug, PartialEq, Eq)]
enum First {
    Count,
    Index,
    Initial(Vec<String>),
    Later(Vec<String>, u32),
    Output,
    Collated,
}

/// One loader in two runs.
struct Pair<'a> {
    a: View<'a>,
    b: View<'a>,
    lanes: Vec<(Option<usize>, Option<usize>)>,
}

#[derive(Default)]
struct Tally {
    compared: u64,
    differ: u64,
    first: Option<(Place, usize, First)>,
}

impl Tally {
    fn see(&mut self, place: Place, lanes: usize, first: First) {
        let order = |place: &Place| (place.epoch, place.seq, place.rank, place.worker);
        if self.first.as_ref().is_none_or(|(known, ..)| order(&place) < order(known)) {
            self.first = Some((place, lanes, first));
        }
    }
}

impl<'a> Pair<'a> {
    fn new(a: View<'a>, b: View<'a>) -> Self {
        let key = |lane: &Lane| (lane.epoch, lane.rank, lane.worker);
        let mut lanes: BTreeMap<_, (Option<usize>, Option<usize>)> = BTreeMap::new();
        for (number, lane) in a.lanes() {
            lanes.entry(key(lane)).or_default().0 = Some(number);
        }
        for (number, lane) in b.lanes() {
            lanes.entry(key(lane)).or_default().1 = Some(number);
        }
        let lanes = lanes.into_values().collect();
        Self { a, b, lanes }
    }

    fn finding(&self, options: &Options) -> Option<Finding> {
        let tally = self.tally();
        let (place, lanes, first) = match &tally.first {
            Some((place, lanes, first)) => (Some(*place), Some(*lanes), first.clone()),
            None if self.deliveries_differ() => (None, None, First::Index),
            None => return None,
        };
        let reordered = first != First::Count && self.same_contents();
        let first = match (first, lanes, place) {
            (First::Output, Some(lanes), Some(place)) => self.first_state(lanes, place.seq).unwrap_or(First::Output),
            (first, ..) => first,
        };
        let code = if reordered { Code::PA303 } else { Code::PA301 };
        let mut finding = self.a.finding(code, options);
        finding.message = self.message(&tally, reordered, place, &first);
        finding.cause = Some(self.cause(&first));
        finding.fix = self.fix(&first);
        finding.evidence = vec![
            ("compared", Number::Count(tally.compared)),
            ("differ", Number::Count(tally.differ)),
            ("differs_first", Number::Text(first.word().to_owned())),
        ];
        finding.places = place.into_iter().collect();
        if let First::Initial(sources) | First::Later(sources, _) = &first {
            if self.starts_from_entropy(sources) {
                finding.factors = Some(vec!["entropy".to_owned()]);
            }
            finding.sources.clone_from(sources);
        }
        Some(finding)
    }

    fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        let (ends_a, ends_b) = (self.a.delivered_ends(), self.b.delivered_ends());
        let same = Translate::new(self.a.run, self.b.run);
        for (number, (a, b)) in self.lanes.iter().enumerate() {
            let end_a = a.map_or(0, |lane| ends_a[lane - self.a.lanes.start]);
            let end_b = b.map_or(0, |lane| ends_b[lane - self.b.lanes.start]);
            let lane = |view: &View<'a>, lane: &Option<usize>| lane.map(|lane| &view.run.lanes[lane]);
            let (lane_a, lane_b) = (lane(&self.a, a), lane(&self.b, b));
            let Some(any) = lane_a.or(lane_b) else { continue };
            let place = |seq| Place { epoch: any.epoch, rank: any.rank, worker: any.worker.0, seq };
            if let (Some(lane_a), Some(lane_b)) = (lane_a, lane_b) {
                for seq in 0..end_a.min(end_b) {
                    tally.compared += 1;
                    let (x, y) = (lane_a.sample(seq as usize), lane_b.sample(seq as usize));
                    if let Some(first) = same.difference(&x, &y) {
                        tally.differ += 1;
                        tally.see(place(seq), number, first);
                    }
                }
                Self::collated(lane_a, lane_b, number, &mut tally);
            }
            let whole = self.whole(any.epoch, any.rank);
            if end_a != end_b && whole {
                tally.differ += u64::from(end_a.abs_diff(end_b));
                tally.see(place(end_a.min(end_b)), number, First::Count);
            }
        }
        tally
    }

    fn whole(&self, epoch: u32, rank: u32) -> bool {
        let whole = |view: &View<'_>| view.orders_of(epoch).iter().all(|order| order.rank != rank || order.whole);
        whole(&self.a) && whole(&self.b)
    }

    fn collated(a: &Lane, b: &Lane, number: usize, tally: &mut Tally) {
        for (x, y) in a.batches.iter().zip(&b.batches) {
            if x.batch != y.batch || x.output.is_none() || y.output.is_none() || x.output == y.output {
                continue;
            }
            let seq = a.samples().find(|sample| sample.batch == Some(x.batch)).map_or(0, |sample| sample.seq);
            let place = Place { epoch: a.epoch, rank: a.rank, worker: a.worker.0, seq };
            let known = tally.first.as_ref().is_some_and(|(known, ..)| known.epoch <= place.epoch);
            if !known {
                tally.differ += 1;
                tally.see(place, number, First::Collated);
            }
        }
    }

    /// Whether the loop received batches in another order, as far as both runs went.
    fn deliveries_differ(&self) -> bool {
        self.a.orders.iter().any(|a| {
            let other = self.b.orders_of(a.epoch).iter().find(|b| b.rank == a.rank);
            other.is_some_and(|b| {
                let batches = |order: &Order| order.chunks.iter().map(|chunk| chunk.batch).collect::<Vec<_>>();
                a.known && b.known && batches(a).iter().zip(&batches(b)).any(|(a, b)| a != b)
            })
        })
    }

    /// Whether each epoch delivered the same outputs in both runs, in whatever order.
    fn same_contents(&self) -> bool {
        let contents = |view: &View<'_>, epoch: u32| -> Option<Vec<Digest>> {
            let samples = view.orders_of(epoch).iter().flat_map(|order| order.samples(view.run));
            let mut outputs: Vec<Digest> = samples.map(|(_, sample)| sample.output).collect::<Option<_>>()?;
            outputs.sort_unstable();
            Some(outputs)
        };
        let epochs = self.a.epochs();
        epochs == self.b.epochs()
            && epochs.into_iter().all(|epoch| {
                let contents = (contents(&self.a, epoch), contents(&self.b, epoch));
                contents.0.is_some() && contents.0 == contents.1
            })
    }

    /// The state that differed first, up to and with a sample.
    fn first_state(&self, lanes: usize, seq: u32) -> Option<First> {
        let (a, b) = self.lanes[lanes];
        let (a, b) = (&self.a.run.lanes[a?], &self.b.run.lanes[b?]);
        let same = Translate::new(self.a.run, self.b.run);
        let moved = |lane: &Lane, source| {
            (0..=seq).any(|seq| lane.sample(seq as usize).states.iter().any(|moved| moved.source == source))
        };
        let starts = a.starts.iter().filter(|start| {
            let other = b.starts.iter().find(|other| same.source(start.source, other.source));
            other.is_some_and(|other| other.state != start.state) && moved(a, start.source)
        });
        let name = |moved: &Moved| self.a.run.names.source_name(moved.source).to_owned();
        let initial: Vec<String> = starts.map(name).collect();
        if !initial.is_empty() {
            return Some(First::Initial(initial));
        }
        (0..=seq).find_map(|seq| {
            let (x, y) = (a.sample(seq as usize), b.sample(seq as usize));
            let differs = |moved: &&Moved| {
                !y.states.iter().any(|other| same.source(moved.source, other.source) && moved.state == other.state)
            };
            let later: Vec<String> = x.states.iter().filter(differs).map(name).collect();
            (!later.is_empty()).then_some(First::Later(later, seq))
        })
    }

    fn message(&self, tally: &Tally, reordered: bool, place: Option<Place>, first: &First) -> String {
        let mut message =
            format!("{} compared, {} differ ({})", tally.compared, tally.differ, percent(tally.differ, tally.compared));
        if reordered {
            message = format!("{} compared: the same outputs in another order", tally.compared);
        }
        if let Some(place) = place {
            let rank = if self.a.ranks() > 1 { format!(", rank {}", place.rank) } else { String::new() };
            let worker = crate::trace::run::Worker(place.worker);
            message = format!("{message}: first at epoch {}{rank}, {worker}, sample {}", place.epoch, place.seq);
        }
        let list = |sources: &[String]| format!("`{}`", sources.join("`, `"));
        let detail = match first {
            First::Count => "one run has more samples".to_owned(),
            First::Index => "another index".to_owned(),
            First::Initial(sources) => format!("same index, but {} started in another state", list(sources)),
            First::Later(sources, seq) => {
                format!("same index and start, but {} went another way from sample {seq} on", list(sources))
            }
            First::Output => "same index and generator states, but another output".to_owned(),
            First::Collated => "same samples, but another collated batch".to_owned(),
        };
        if reordered { message } else { message + ": " + &detail }
    }

    fn starts_from_entropy(&self, sources: &[String]) -> bool {
        let spawned = matches!(self.a.loader.start_method.as_deref(), Some("spawn" | "forkserver"));
        let unseeded = self.a.loader.init.as_deref().is_none_or(|init| init == "none");
        spawned && unseeded && sources.iter().any(|source| is_global(source))
    }

    fn seeded_in_main(&self) -> bool {
        self.a.run.seedings.iter().any(|seeded| seeded.call.worker < 0)
    }

    fn cause(&self, first: &First) -> String {
        let unseeded = !self.a.is_built_in() && !self.seeded_in_main();
        match first {
            First::Index | First::Initial(_) if unseeded => "no seed is set (torch, numpy, random)".to_owned(),
            First::Count => "the runs delivered different numbers of samples".to_owned(),
            First::Index => "the order of the samples differs: the sampler or the dataset's own order is not seeded".to_owned(),
            First::Initial(sources) if self.starts_from_entropy(sources) => format!(
                "operating-system entropy: {} starts workers afresh, their library generators begin from the operating \
                 system's entropy, and no init seeds them",
                self.a.loader.start_method.as_deref().unwrap_or("the start method")
            ),
            First::Initial(sources) => format!(
                "`{}` is seeded by something that differs from run to run: the operating system's entropy, the clock, a process id",
                sources.join("`, `")
            ),
            First::Later(..) => {
                "another number of draws: what is drawn depends on something beside the seed, or another thread draws too".to_owned()
            }
            First::Output => {
                "something beside the recorded generators: hash order, directory order, the clock, threads, or a generator that cannot be seen".to_owned()
            }
            First::Collated => "the collate function depends on something beside the seed".to_owned(),
        }
    }

    fn fix(&self, first: &First) -> Option<Fix> {
        let text = match first {
            First::Index | First::Initial(_) if self.a.is_built_in() => {
                "`--init base+worker` seeds every worker from the main process's generator".to_owned()
            }
            First::Index | First::Initial(_) if !self.seeded_in_main() => {
                "import random, numpy, torch\nrandom.seed(0); numpy.random.seed(0); torch.manual_seed(0)".to_owned()
            }
            First::Initial(sources) => {
                format!("seed `{}` from `torch.initial_seed()` in the loader's `worker_init_fn`", sources.join("`, `"))
            }
            First::Index | First::Count | First::Later(..) | First::Output | First::Collated => return None,
        };
        Some(Fix { kind: FixKind::Advice, text })
    }
}

impl First {
    const fn word(&self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Index => "index",
            Self::Initial(_) => "initial state",
            Self::Later(..) => "later state",
            Self::Output => "output",
            Self::Collated => "collated batch",
        }
    }
}

/// Names of two runs against each other: each run numbers its own.
struct Translate<'a> {
    a: &'a Run,
    b: &'a Run,
    same_numbers: bool,
}

impl<'a> Translate<'a> {
    fn new(a: &'a Run, b: &'a Run) -> Self {
        let same_numbers =
            a.names.sources == b.names.sources && a.names.kinds == b.names.kinds && a.names.texts == b.names.texts;
        Self { a, b, same_numbers }
    }

    fn source(&self, a: crate::trace::run::SourceId, b: crate::trace::run::SourceId) -> bool {
        if self.same_numbers { a == b } else { self.a.names.source_name(a) == self.b.names.source_name(b) }
    }

    fn index(&self, a: Index, b: Index) -> bool {
        match (a, b) {
            (Index::Text(x), Index::Text(y)) if !self.same_numbers => {
                self.a.names.texts.get(x as usize) == self.b.names.texts.get(y as usize)
            }
            _ => a == b,
        }
    }

    fn event(&self, a: &Event<'_>, b: &Event<'_>) -> bool {
        let name = self.same_numbers && a.kind == b.kind
            || self.a.names.transform(a.kind).name == self.b.names.transform(b.kind).name;
        let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        name && a.applied == b.applied && (a.values == b.values || bits(a.values) == bits(b.values))
    }

    /// What differs between two samples that should be equal. Where outputs are not known, what was drawn stands in.
    fn difference(&self, a: &SampleView<'_>, b: &SampleView<'_>) -> Option<First> {
        if !self.index(a.index, b.index) {
            return Some(First::Index);
        }
        let equal = match (a.output, b.output) {
            (Some(x), Some(y)) => x == y,
            (None, None) => {
                let states = a.states.len() == b.states.len()
                    && a.states
                        .iter()
                        .zip(b.states)
                        .all(|(x, y)| self.source(x.source, y.source) && x.state == y.state);
                let (mut x, mut y) = (a.events(), b.events());
                states
                    && loop {
                        match (x.next(), y.next()) {
                            (None, None) => break true,
                            (Some(x), Some(y)) if self.event(&x, &y) => {}
                            _ => break false,
                        }
                    }
            }
            _ => false,
        };
        (!equal).then_some(First::Output)
    }
}
