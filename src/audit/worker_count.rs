//! PA302 without another run: where each worker draws on one stream from sample to sample, who makes a sample decides
//! what is drawn for it, and that changes with the number of workers.

use std::collections::BTreeSet;

use crate::finding::{Code, Finding, Fix, FixKind, Number};
use crate::rng::State;
use crate::trace::Run;
use crate::trace::index::{StateIndex, counts_words, is_local};
use crate::trace::run::SourceId;

use super::Options;
use super::duplicates::{Effect, Judge, Relations, sources_that_count};
use super::view::{View, count};

/// What to do about outputs that follow the number of workers.
pub const ADVICE: &str =
    "keep the number of workers in your configuration, or seed each sample from (seed, epoch, index)";

/// Notes the loaders of a run whose outputs follow the number of workers, as far as the run itself shows that.
pub fn depends_on_worker_count(run: &Run, options: &Options) -> Vec<Finding> {
    View::all(run).iter().filter_map(|view| note(view, options)).collect()
}

fn note(view: &View<'_>, options: &Options) -> Option<Finding> {
    if !view.is_map() || view.loader.num_workers == 0 {
        return None;
    }
    let index = StateIndex::of(view.run, view.lanes.clone());
    // With generators made for each sample, it may be these that the outputs follow.
    if index.streams.iter().any(|stream| stream.local) {
        return None;
    }
    let counts = sources_that_count(view, &index);
    let mut sources: Vec<SourceId> = index.streams.iter().map(|stream| stream.source).collect();
    sources.sort_unstable();
    sources.dedup();
    let mut relations = Relations::default();
    let judge = Judge::new(view, &index);
    sources.retain(|source| {
        counts[usize::from(source.0)]
            && is_drawn_in_sequence(view, *source)
            && judge.effect(*source, &mut relations) == Effect::Yes
    });
    let streams = index.streams.iter().filter(|stream| sources.contains(&stream.source)).count() as u64;
    if streams == 0 {
        return None;
    }
    let workers = count(u64::from(view.loader.num_workers), "worker");
    let names: Vec<String> = sources.iter().map(|source| view.run.names.source_name(*source).to_owned()).collect();
    let mut finding = view.finding(Code::PA302, options);
    finding.message = format!(
        "with another number than {workers} each sample gets other random numbers: `{}` {} drawn on from sample to sample",
        names.join("`, `"),
        if names.len() == 1 { "is" } else { "are" }
    );
    finding.cause = Some(
        "each worker draws from a stream of its own, so who makes a sample decides what is drawn for it".to_owned(),
    );
    finding.fix = Some(Fix { kind: FixKind::Advice, text: ADVICE.to_owned() });
    finding.sources = names;
    finding.evidence =
        vec![("streams", Number::Count(streams)), ("workers", Number::Count(u64::from(view.loader.num_workers)))];
    Some(finding)
}

/// Whether samples go on where the one before left a source. Where they seed it instead, the words change from each sample
/// to the next and the position is that after one sample's draws. Algorithms that do not count words do not show that,
/// and are hardly ever seeded in place.
fn is_drawn_in_sequence(view: &View<'_>, source: SourceId) -> bool {
    if is_local(view.run.names.source_name(source)) {
        return false;
    }
    if !counts_words(&view.run.names.sources[usize::from(source.0)].1) {
        return true;
    }
    let (mut pairs, mut on) = (0_u64, 0_u64);
    let mut positions = BTreeSet::new();
    for (_, lane) in view.lanes() {
        let states = lane.samples().filter_map(|sample| sample.states.iter().find(|moved| moved.source == source));
        let states: Vec<State> = states.map(|moved| moved.state).collect();
        pairs += states.len().saturating_sub(1) as u64;
        let goes_on = |pair: &&[State]| pair[0].key == pair[1].key && pair[0].position < pair[1].position;
        on += states.windows(2).filter(goes_on).count() as u64;
        positions.extend(states.iter().map(|state| state.position));
    }
    pairs > 0 && (2 * on >= pairs || positions.len() > 1)
}
