//! What is said of streams that meet.

use std::collections::BTreeSet;

use crate::audit::Options;
use crate::audit::view::{View, count, is_held, percent, worker_name};
use crate::finding::{Code, Finding, Number, Place, Severity};
use crate::trace::Lane;
use crate::trace::index::{Stand, StateIndex, is_local};
use crate::trace::run::{Index, SourceId};

use super::advice;
use super::effect::{Effect, Judge};
use super::overlap::{Overlap, overlaps};
use super::relations::{Meeting, Relation, Relations, Reset, Union};

/// All findings on the streams of a loader.
pub fn findings(
    view: &View<'_>,
    index: &StateIndex,
    relations: &mut Relations,
    counts: &[bool],
    options: &Options,
) -> (Vec<Finding>, Vec<Effect>) {
    let mut effects = vec![Effect::Unknown; counts.len()];
    let mut overlaps = overlaps(index, relations, |source| counts[usize::from(source.0)]);
    if relations.meetings.is_empty() && relations.resets.is_empty() && overlaps.is_empty() {
        return (Vec::new(), effects);
    }
    let judge = Judge::new(view, index);
    let sources: BTreeSet<SourceId> = index.streams.iter().map(|stream| stream.source).collect();
    for source in sources {
        effects[usize::from(source.0)] = judge.effect(source, relations);
    }
    let of = |stream: u32| effects[usize::from(index.streams[stream as usize].source.0)];
    let matters = |a: u32, b: u32| of(a) != Effect::No && of(b) != Effect::No;
    // Two epochs, one of which was only peeked into.
    let peeked = |a: u32, b: u32| {
        let (a, b) = (index.lane(view.run, a).epoch, index.lane(view.run, b).epoch);
        a != b && (view.peeks.contains(&a) || view.peeks.contains(&b))
    };
    let meetings = relations.meetings.iter().copied();
    let told = |a: u32, b: u32| matters(a, b) && !peeked(a, b);
    let meetings = meetings.filter(|m| told(m.first.0.stream, m.first.1.stream)).collect();
    let resets = relations.resets.iter().copied().filter(|reset| of(reset.stream) != Effect::No).collect();
    overlaps.retain(|overlap| told(overlap.behind.stream, overlap.ahead.stream));
    let shows = effects.contains(&Effect::Yes) || judge.parameters_vary();
    let teller = Teller {
        view,
        index,
        meetings,
        resets,
        ends: view.delivered_ends(),
        evaluates: evaluates(view, shows),
        options,
    };
    let told = [
        teller.workers(),
        teller.ranks(),
        teller.epochs(Relation::Epochs),
        teller.epochs(Relation::EpochsByIndex),
        teller.elsewhere(),
        teller.overlapping(&overlaps),
        teller.resets(),
        teller.sources(),
    ];
    (told.into_iter().flatten().collect(), effects)
}

/// How a loader that does not shuffle looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluates {
    /// It shuffles, or delivers something else each time.
    No,
    /// It delivers the same in each epoch, but what it draws is seen to matter: repeats alone are a note.
    Repeats,
    /// It delivers the same in each epoch and nothing shows that its draws matter: all is a note.
    Yes,
}

/// How a loader looks, given whether something shows that its draws matter.
pub fn evaluates(view: &View<'_>, draws_matter: bool) -> Evaluates {
    if view.loader.shuffled || (view.is_map() && view.order_varies()) || !repeats_wholly(view) {
        Evaluates::No
    } else if view.beside_training || (view.is_map() && !draws_matter) {
        Evaluates::Yes
    } else if view.is_map() {
        Evaluates::Repeats
    } else {
        Evaluates::No
    }
}

/// Whether each rank received the same samples in the same order in all epochs, as far as the run shows.
fn repeats_wholly(view: &View<'_>) -> bool {
    view.orders.iter().all(|order| {
        let first = view.orders.iter().find(|first| first.rank == order.rank).unwrap_or(order);
        order.samples(view.run).zip(first.samples(view.run)).all(|((_, a), (_, b))| {
            let alike = match (a.output, b.output) {
                (Some(a), Some(b)) => a == b,
                _ => view.augmentation(&a) == view.augmentation(&b),
            };
            alike && a.index == b.index
        })
    })
}

struct Teller<'a> {
    view: &'a View<'a>,
    index: &'a StateIndex,
    meetings: Vec<Meeting>,
    resets: Vec<Reset>,
    ends: Vec<u32>,
    evaluates: Evaluates,
    options: &'a Options,
}

impl<'a> Teller<'a> {
    fn lane(&self, stand: Stand) -> &'a Lane {
        self.index.lane(self.view.run, stand.stream)
    }

    fn source(&self, stand: Stand) -> SourceId {
        self.index.streams[stand.stream as usize].source
    }

    fn source_name(&self, source: SourceId) -> &'a str {
        self.view.run.names.source_name(source)
    }

    fn place(&self, stand: Stand) -> Place {
        self.view.place(self.index.streams[stand.stream as usize].lane as usize, stand.position)
    }

    fn order(&self, stand: Stand) -> (u32, u32, u32, i32) {
        let place = self.place(stand);
        (place.epoch, place.seq, place.rank, place.worker)
    }

    /// The meetings of one relation, the first place first.
    fn of(&self, relation: Relation) -> Vec<&Meeting> {
        let mut meetings: Vec<&Meeting> = self.meetings.iter().filter(|m| m.relation == relation).collect();
        meetings.sort_by_key(|m| (self.order(m.first.0), self.order(m.first.1)));
        meetings
    }

    /// Samples delivered that start in a state of a source, and how many distinct states these are.
    fn tally(&self, source: SourceId, among: impl Fn(&Lane) -> bool) -> (u64, u64) {
        let (mut delivered, mut distinct) = (0, 0);
        let mut last: Option<Stand> = None;
        for stand in &self.index.stands {
            let stream = self.index.streams[stand.stream as usize];
            let lane = stream.lane as usize;
            let end = self.ends[lane - self.view.lanes.start];
            if stream.source != source || stand.position >= end || !among(&self.view.run.lanes[lane]) {
                continue;
            }
            delivered += 1;
            distinct += u64::from(!last.is_some_and(|last| last.same_state(stand)));
            last = Some(*stand);
        }
        (delivered, distinct)
    }

    /// The first three places that share a state, of those that a predicate selects.
    fn places(&self, group: usize, select: impl Fn(Stand) -> bool) -> Vec<Place> {
        let stands = &self.index.stands[group..];
        let mut places: Vec<Place> = stands
            .iter()
            .take_while(|stand| stand.same_state(&stands[0]))
            .filter(|stand| select(**stand))
            .map(|stand| self.place(*stand))
            .collect();
        places.sort_by_key(|place| (place.epoch, place.seq, place.rank, place.worker));
        places.dedup();
        places.truncate(3);
        places
    }

    fn names(&self, sources: impl Iterator<Item = SourceId>) -> Vec<String> {
        let sources: BTreeSet<SourceId> = sources.collect();
        sources.into_iter().map(|source| self.source_name(source).to_owned()).collect()
    }

    fn names_of(&self, meetings: &[&Meeting]) -> Vec<String> {
        self.names(meetings.iter().flat_map(|m| [self.source(m.first.0), self.source(m.first.1)]))
    }

    /// A finding with what all of them have in common.
    fn tell(&self, code: Code, relation: Relation, sources: Vec<String>, tally: (u64, u64), rest: &str) -> Finding {
        let (delivered, distinct) = tally;
        let mut finding = self.view.finding(code, self.options);
        let note = self.evaluates == Evaluates::Yes || (self.evaluates == Evaluates::Repeats && code == Code::PA103);
        let mut message = format!("{delivered} delivered, {distinct} distinct augmentations");
        if distinct < delivered {
            message = format!("{message} ({})", percent(distinct, delivered));
        }
        message = format!("{message}: {rest}");
        if note {
            finding.severity = Severity::Note;
            message += "; the loader does not shuffle: it looks like evaluation";
        }
        finding.message = message;
        finding.cause = advice::cause(self.view, relation, &sources);
        finding.fix = advice::fix(self.view, relation, &sources);
        finding.sources = sources;
        finding.evidence =
            vec![("delivered", Number::Count(delivered)), ("distinct_augmentations", Number::Count(distinct))];
        finding
    }

    /// How many streams of a source there are among lanes, and how many sets a relation makes of them.
    fn sets(&self, source: SourceId, relation: Relation, among: impl Fn(&Lane) -> bool) -> (u64, u64) {
        let mut union = Union::new(self.index.streams.len());
        for meeting in self.meetings.iter().filter(|m| m.relation == relation) {
            union.join(meeting.first.0.stream, meeting.first.1.stream);
        }
        let selected = |stream: &u32| {
            let row = self.index.streams[*stream as usize];
            row.source == source && among(&self.view.run.lanes[row.lane as usize])
        };
        let streams: Vec<u32> = (0..self.index.streams.len() as u32).filter(selected).collect();
        let sets: BTreeSet<u32> = streams.iter().map(|stream| union.find(*stream)).collect();
        (streams.len() as u64, sets.len() as u64)
    }

    fn epochs_of(&self, meetings: &[&Meeting]) -> BTreeSet<u32> {
        meetings.iter().map(|m| self.lane(m.first.0).epoch).collect()
    }

    fn when(&self, meetings: &[&Meeting]) -> String {
        let epochs = self.epochs_of(meetings);
        let all = self.view.epochs().len();
        match epochs.first() {
            Some(_) if all > 1 && epochs.len() == all => format!(" in each of {all} epochs"),
            Some(first) if epochs.len() == 1 => format!(" in epoch {first}"),
            _ => format!(" in {} of {all} epochs", epochs.len()),
        }
    }

    fn workers(&self) -> Option<Finding> {
        let meetings = self.of(Relation::Workers);
        let first = meetings.first()?;
        let (source, lane) = (self.source(first.first.0), self.lane(first.first.0));
        let beside = |other: &Lane| other.epoch == lane.epoch && other.rank == lane.rank;
        let (workers, streams) = self.sets(source, Relation::Workers, beside);
        let rank = if self.view.ranks() > 1 { format!(" of rank {}", lane.rank) } else { String::new() };
        let rest =
            format!("{workers} workers{rank} have {}{}", count(streams, "distinct stream"), self.when(&meetings));
        let tally = self.tally(source, beside);
        let mut finding = self.tell(Code::PA101, Relation::Workers, self.names_of(&meetings), tally, &rest);
        finding.evidence.push(("workers", Number::Count(workers)));
        finding.evidence.push(("distinct_streams", Number::Count(streams)));
        let position = first.first.0.position;
        finding.places = self.places(first.group, |stand| {
            self.source(stand) == source && stand.position == position && beside(self.lane(stand))
        });
        Some(finding)
    }

    fn ranks(&self) -> Option<Finding> {
        let meetings = self.of(Relation::Ranks);
        let first = meetings.first()?;
        let (source, lane) = (self.source(first.first.0), self.lane(first.first.0));
        let beside = |other: &Lane| other.epoch == lane.epoch && other.worker == lane.worker;
        let (ranks, streams) = self.sets(source, Relation::Ranks, beside);
        let alike: BTreeSet<i32> = meetings.iter().map(|m| self.lane(m.first.0).worker.0).collect();
        let of_workers =
            if lane.worker.0 < 0 { String::new() } else { format!(", in {}", count(alike.len() as u64, "worker")) };
        let rest = format!(
            "{ranks} ranks have {} worker by worker{of_workers}{}",
            count(streams, "distinct stream"),
            self.when(&meetings)
        );
        let tally = self.tally(source, |other| other.epoch == lane.epoch);
        let mut finding = self.tell(Code::PA102, Relation::Ranks, self.names_of(&meetings), tally, &rest);
        finding.evidence.push(("ranks", Number::Count(ranks)));
        finding.evidence.push(("distinct_streams", Number::Count(streams)));
        let position = first.first.0.position;
        finding.places = self.places(first.group, |stand| {
            self.source(stand) == source && stand.position == position && beside(self.lane(stand))
        });
        Some(finding)
    }

    fn epochs(&self, relation: Relation) -> Option<Finding> {
        let meetings = self.of(relation);
        let first = meetings.first()?;
        let (source, lane) = (self.source(first.first.0), self.lane(first.first.0));
        let later = self.lane(first.first.1).epoch;
        let rest = if relation == Relation::EpochsByIndex {
            format!("a sample gets the same random numbers in epoch {} and epoch {later}", lane.epoch)
        } else {
            let pair = |m: &&&Meeting| {
                (self.lane(m.first.0).epoch, self.lane(m.first.1).epoch) == (lane.epoch, later)
                    && self.source(m.first.0) == source
            };
            let repeat = meetings.iter().filter(pair).count() as u64;
            let all = self.index.streams.iter().filter(|stream| {
                stream.source == source && self.view.run.lanes[stream.lane as usize].epoch == lane.epoch
            });
            let all = all.count() as u64;
            let who = if lane.worker.0 < 0 {
                "the main process".to_owned()
            } else {
                format!("{repeat} of {}", count(all, "worker"))
            };
            format!("epoch {later} draws what epoch {} drew in {who}", lane.epoch)
        };
        let tally = self.tally(source, |_| true);
        let mut finding = self.tell(Code::PA103, relation, self.names_of(&meetings), tally, &rest);
        finding.evidence.push(("epochs", Number::Count(self.view.epochs().len() as u64)));
        let brought = self.index.brought_by(self.view.run, first.first.0);
        finding.places = self.places(first.group, |stand| {
            let other = self.lane(stand);
            let same_worker =
                stand.position == first.first.0.position && (other.rank, other.worker) == (lane.rank, lane.worker);
            let same_index = brought != Index::Absent && self.index.brought_by(self.view.run, stand) == brought;
            let alike = if relation == Relation::Epochs { same_worker } else { same_index };
            alike && self.source(stand) == source
        });
        Some(finding)
    }

    fn elsewhere(&self) -> Option<Finding> {
        let meetings = self.of(Relation::Elsewhere);
        let first = meetings.first()?;
        let (a, b) = first.first;
        let rest = match i64::from(b.position) - i64::from(a.position) {
            0 => format!("{} draws what {} drew", self.who(b, a), self.who(a, b)),
            lag => format!(
                "{} draws what {} drew, {} {}",
                self.who(b, a),
                self.who(a, b),
                count(lag.unsigned_abs(), "sample"),
                if lag > 0 { "later" } else { "earlier" }
            ),
        };
        let tally = self.tally(self.source(a), |_| true);
        let mut finding = self.tell(Code::PA104, Relation::Elsewhere, self.names_of(&meetings), tally, &rest);
        finding.evidence.push(("pairs_of_streams", Number::Count(meetings.len() as u64)));
        finding.places = self.places(first.group, |_| true);
        Some(finding)
    }

    /// A stream as people know it, with its source where another one has another.
    fn who(&self, stand: Stand, other: Stand) -> String {
        let lane = self.lane(stand);
        let worker = worker_name(lane.rank, lane.worker, self.view.ranks());
        let source = self.source(stand);
        let of =
            if source == self.source(other) { String::new() } else { format!("`{}` of ", self.source_name(source)) };
        format!("{of}epoch {} {worker}", lane.epoch)
    }

    fn overlapping(&self, overlaps: &[Overlap]) -> Option<Finding> {
        let first = overlaps.first()?;
        let as_stand = |words: &crate::trace::index::Words| {
            self.index.stands.iter().copied().find(|s| s.stream == words.stream && s.position <= words.position)
        };
        let (behind, ahead) = (as_stand(&first.behind)?, as_stand(&first.ahead)?);
        let words = first.ahead.low - first.behind.low;
        let rest = format!(
            "{} draws random numbers that {} drew too, {} shifted: no sample is a copy, but they are not independent",
            self.who(ahead, behind),
            self.who(behind, ahead),
            count(words, "word")
        );
        let sources = self.names([self.source(behind), self.source(ahead)].into_iter());
        let tally = self.tally(self.source(behind), |_| true);
        let mut finding = self.tell(Code::PA104, Relation::Elsewhere, sources, tally, &rest);
        finding.severity = finding.severity.min(Severity::Warning);
        finding.cause = Some(
            "the main process's generator had moved on only a little when the workers were started again".to_owned(),
        );
        finding.evidence.push(("words_shifted", Number::Count(words)));
        finding.evidence.push(("words_shared", Number::Count(first.shared)));
        finding.evidence.push(("pairs_of_streams", Number::Count(overlaps.len() as u64)));
        let place = |words: &crate::trace::index::Words| {
            self.view.place(self.index.streams[words.stream as usize].lane as usize, words.position)
        };
        finding.places = vec![place(&first.behind), place(&first.ahead)];
        Some(finding)
    }

    fn resets(&self) -> Option<Finding> {
        let order = |reset: &&Reset| self.order(self.index.stands[reset.group]);
        let first = self.resets.iter().min_by_key(order)?;
        let stream = self.index.streams[first.stream as usize];
        let lane = &self.view.run.lanes[stream.lane as usize];
        let source = self.source_name(stream.source);
        let sources = self.names(self.resets.iter().map(|r| self.index.streams[r.stream as usize].source));
        let what = if is_local(source) {
            format!("the generator made at {} has the same seed for each", source.trim_start_matches("local:"))
        } else {
            format!("`{source}` is set back for each")
        };
        let rest = format!(
            "{} of {} of {} in epoch {} start where an earlier one started: {what}",
            first.repeated,
            count(first.stands, "sample"),
            worker_name(lane.rank, lane.worker, self.view.ranks()),
            lane.epoch
        );
        let tally = self.tally(stream.source, |other| {
            (other.epoch, other.rank, other.worker) == (lane.epoch, lane.rank, lane.worker)
        });
        let mut finding = self.tell(Code::PA105, Relation::Elsewhere, sources, tally, &rest);
        finding.cause = None;
        finding.fix = Some(crate::finding::Fix {
            kind: crate::finding::FixKind::Advice,
            text: "seed once per worker and epoch, or per sample from (base seed, epoch, index)".to_owned(),
        });
        finding.evidence.push(("repeated_starts", Number::Count(first.repeated)));
        finding.evidence.push(("streams", Number::Count(self.resets.len() as u64)));
        finding.places = self.places(first.group, |stand| stand.stream == first.stream);
        Some(finding)
    }

    fn sources(&self) -> Option<Finding> {
        let name = |stand: Stand| self.source_name(self.source(stand));
        let mut meetings = self.of(Relation::Sources);
        // Generators made for one sample and seeded alike keep, say, an image and its mask in step.
        meetings.retain(|m| !is_local(name(m.first.0)) && !is_local(name(m.first.1)));
        // So do two that the dataset holds; a library's own generator has no such reason.
        let held = |m: &&&Meeting| is_held(name(m.first.0)) && is_held(name(m.first.1));
        let by_design = meetings.iter().all(|m| held(&m));
        if !by_design {
            meetings.retain(|m| !held(&m));
        }
        let first = meetings.first()?;
        let (a, b) = first.first;
        let lane = self.lane(a);
        let streams: BTreeSet<u32> =
            meetings.iter().map(|m| self.index.streams[m.first.0.stream as usize].lane).collect();
        let rest = format!(
            "`{}` and `{}` draw the same random numbers in {}{}",
            name(a),
            name(b),
            count(streams.len() as u64, "worker and epoch").replace("epochs", "epoch"),
            if by_design { ", as an image and its mask do that are to stay in step" } else { "" }
        );
        let tally = self.tally(self.source(a), |_| true);
        let mut finding = self.tell(Code::PA106, Relation::Sources, self.names_of(&meetings), tally, &rest);
        if by_design {
            finding.severity = Severity::Note;
        } else {
            finding.cause = Some("the libraries' generators are seeded with one number".to_owned());
        }
        finding.evidence.push(("workers_and_epochs", Number::Count(streams.len() as u64)));
        finding.places = self.places(first.group, |stand| std::ptr::eq(self.lane(stand), lane));
        Some(finding)
    }
}
