//! Do workers, ranks, epochs or samples get the same random numbers? (PA101 to PA106)
//!
//! The heart is one index: a state seen twice is a stream that repeats; where it is seen tells which code. It is
//! certain (128 bits), needs no statistics, and works although every sample is another image.

mod advice;
mod cache;
mod effect;
mod findings;
mod overlap;
mod parameters;
mod relations;

use crate::finding::Finding;
use crate::trace::index::StateIndex;
use crate::trace::run::SourceId;

use super::Options;
use super::view::View;

pub use effect::{Effect, Judge};
pub use parameters::unseen;
pub use relations::{Relation, Relations, Union};

/// Lanes shorter than this do not show whether a source goes on drawing after their first sample.
const SHORT: usize = 4;

/// The streams of one loader and what they have in common.
pub struct Duplicates {
    /// The streams and their states.
    pub index: StateIndex,
    /// What meets.
    pub relations: Relations,
    /// By [`SourceId`]: whether meetings of the source are looked at.
    pub counts: Vec<bool>,
    /// By [`SourceId`]: what the run shows of the source's effect, where it meets something.
    pub effects: Vec<Effect>,
    /// What is to be said.
    pub findings: Vec<Finding>,
}

impl Duplicates {
    /// Audits the streams of a loader.
    pub fn audit(view: &View<'_>, options: &Options) -> Self {
        let index = StateIndex::of(view.run, view.lanes.clone());
        let counts = sources_that_count(view, &index);
        let mut relations = Relations::find(view.run, &index, &counts);
        let (mut findings, effects) = findings::findings(view, &index, &mut relations, &counts, options);
        findings.extend(cache::kept(view, options));
        Self { index, relations, counts, effects, findings }
    }

    /// By lane (counted from the loader's first) and position: samples that start in a state in which an earlier one
    /// started already. They are copies, and no evidence of their own.
    pub fn copies(&self, view: &View<'_>) -> Vec<Vec<bool>> {
        let mut copies: Vec<Vec<bool>> = vec![Vec::new(); view.lanes.len()];
        for group in self.index.groups() {
            // Stands are sorted by stream, and streams by lane: the first one is the original.
            for stand in &self.index.stands[group][1..] {
                let stream = self.index.streams[stand.stream as usize];
                let lane = stream.lane as usize;
                let samples = &view.run.lanes[lane];
                let seq = drawn_at(samples, stream.source, stand.position, stream.local);
                let copies = &mut copies[lane - view.lanes.start];
                copies.resize(samples.len(), false);
                if let Some(copy) = seq.and_then(|seq| copies.get_mut(seq)) {
                    *copy = true;
                }
            }
        }
        copies
    }
}

/// The first sample from a position on in which a source moved.
fn drawn_at(lane: &crate::trace::Lane, source: SourceId, position: u32, local: bool) -> Option<usize> {
    let moved = |seq: &usize| lane.sample(*seq).states.iter().any(|moved| moved.source == source);
    if local { Some(position as usize) } else { (position as usize..lane.len()).find(moved) }
}

/// By [`SourceId`]: whether meetings of a source are looked at.
///
/// A source that draws only while a lane's first sample is made builds something once (a shuffled list that all
/// workers share and split, a table of noise): that it does so alike everywhere is a design. In an iterable dataset it
/// may do so now and then (at each shard).
pub fn sources_that_count(view: &View<'_>, index: &StateIndex) -> Vec<bool> {
    let mut long = vec![false; view.run.names.sources.len()];
    let mut goes_on = vec![false; long.len()];
    let mut short = vec![false; long.len()];
    for stream in &index.streams {
        let source = usize::from(stream.source.0);
        let len = view.run.lanes[stream.lane as usize].len();
        let often = view.is_map() || stream.collates || 2 * stream.moves as usize > len;
        goes_on[source] |= stream.goes_on && often;
        long[source] |= len >= SHORT;
        short[source] |= len < SHORT;
    }
    (0..long.len()).map(|source| goes_on[source] || (short[source] && !long[source])).collect()
}
