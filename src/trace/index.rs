//! The index from generator states to places: a state seen twice is a stream that repeats.
//!
//! A *stand* says that a source stands in a state at a position of a lane and that a later sample draws from there;
//! the state after a lane's last draw is therefore none (the next epoch of a persistent worker goes on from it). Stands
//! are kept in one sorted array of 24 bytes each, which at a million samples is smaller and faster than a map.

use std::ops::Range;

use super::run::{BatchRow, Index, Lane, Run, SourceId};
use crate::rng::State;

/// One source in one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// Number of the lane in [`Run::lanes`].
    pub lane: u32,
    /// The source.
    pub source: SourceId,
    /// Samples in which it moved.
    pub moves: u32,
    /// Whether it moved in a sample after the lane's first, or while collating.
    pub goes_on: bool,
    /// Whether it moved while collating.
    pub collates: bool,
    /// Whether it is a local generator, made anew for each sample.
    pub local: bool,
    /// Where it stood before the first sample, where known.
    pub start: Option<State>,
}

/// A source stands in a state that a later sample draws from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stand {
    state: [u64; 2],
    /// Number in [`StateIndex::streams`].
    pub stream: u32,
    /// The sample at this position starts in the state.
    pub position: u32,
}

impl Stand {
    /// Whether both stand in one state.
    pub fn same_state(&self, other: &Self) -> bool {
        self.state == other.state
    }
}

/// Words of one key that a stream drew: `low..high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Words {
    /// The key, as two halves.
    key: [u64; 2],
    /// First word.
    pub low: u64,
    /// Number in [`StateIndex::streams`].
    pub stream: u32,
    /// Position of the sample that drew the first.
    pub position: u32,
    /// Word after the last.
    pub high: u64,
}

impl Words {
    /// Whether both are of one key.
    pub fn same_key(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

/// All streams of one loader and the states they go through.
#[derive(Clone, Debug, Default)]
pub struct StateIndex {
    /// The streams that drew, in the order of their lanes.
    pub streams: Vec<Stream>,
    /// The stands, sorted by state, then stream, then position.
    pub stands: Vec<Stand>,
    /// The words drawn of generators whose positions count words, sorted by key, then first word.
    pub words: Vec<Words>,
}

/// Whether a source is a local generator: made anew for each sample, its recorded states being those in which it starts.
pub fn is_local(name: &str) -> bool {
    name.starts_with("local:")
}

/// Whether positions of an algorithm's states count words under one key.
pub fn counts_words(algorithm: &str) -> bool {
    algorithm.starts_with("mt19937") || algorithm.starts_with("chacha")
}

impl StateIndex {
    /// Indexes the lanes of a range of [`Run::lanes`].
    pub fn of(run: &Run, lanes: Range<usize>) -> Self {
        let mut index = Self::default();
        let kinds: Vec<(bool, bool)> =
            run.names.sources.iter().map(|(name, algorithm)| (is_local(name), counts_words(algorithm))).collect();
        for number in lanes {
            Walk::new(&mut index, &run.lanes[number], number as u32, &kinds).walk();
        }
        index.stands.sort_unstable();
        index.stands.shrink_to_fit();
        index.words.sort_unstable();
        index
    }

    /// Ranges of [`StateIndex::stands`] that share a state, two stands or more each.
    pub fn groups(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            while at < self.stands.len() {
                let start = at;
                let state = self.stands[start].state;
                at += 1;
                while at < self.stands.len() && self.stands[at].state == state {
                    at += 1;
                }
                if at - start > 1 {
                    return Some(start..at);
                }
            }
            None
        })
    }

    /// The lane of a stream.
    pub fn lane<'a>(&self, run: &'a Run, stream: u32) -> &'a Lane {
        &run.lanes[self.streams[stream as usize].lane as usize]
    }

    /// The index of the sample that brought a stream to a position: for a local generator the sample that made it, for
    /// any other the one before.
    pub fn brought_by(&self, run: &Run, stand: Stand) -> Index {
        let stream = &self.streams[stand.stream as usize];
        let lane = &run.lanes[stream.lane as usize];
        let seq = if stream.local { Some(stand.position) } else { stand.position.checked_sub(1) };
        seq.filter(|seq| (*seq as usize) < lane.len()).map_or(Index::Absent, |seq| lane.sample(seq as usize).index)
    }
}

const UNKNOWN: u32 = u32::MAX;

struct Slot {
    source: SourceId,
    stream: u32,
    now: Option<(State, u32)>,
}

/// One pass over a lane, following each of its sources.
struct Walk<'a> {
    index: &'a mut StateIndex,
    lane: &'a Lane,
    number: u32,
    kinds: &'a [(bool, bool)],
    slots: Vec<Slot>,
}

impl<'a> Walk<'a> {
    fn new(index: &'a mut StateIndex, lane: &'a Lane, number: u32, kinds: &'a [(bool, bool)]) -> Self {
        let slot =
            |start: &super::run::Moved| Slot { source: start.source, stream: UNKNOWN, now: Some((start.state, 0)) };
        let slots = lane.starts.iter().map(slot).collect();
        Self { index, lane, number, kinds, slots }
    }

    fn walk(mut self) {
        let lane = self.lane;
        let mut batches = lane.batches.iter().filter(|batch| !batch.states.is_empty()).peekable();
        let mut samples = lane.samples().peekable();
        while let Some(sample) = samples.next() {
            for moved in sample.before() {
                self.stands_at(moved.source, Some((moved.state, sample.seq)));
            }
            for source in sample.reseeded() {
                self.stands_at(source, None);
            }
            for moved in sample.states {
                self.moved(moved.source, moved.state, sample.seq, false);
            }
            let ends = samples.peek().is_none_or(|next| next.batch != sample.batch);
            if ends && let Some(batch) = batches.next_if(|batch| Some(batch.batch) == sample.batch) {
                self.collated(batch, sample.seq);
            }
        }
    }

    /// Draws that are not this loader's, or a seed, brought a source elsewhere than its last sample did.
    fn stands_at(&mut self, source: SourceId, now: Option<(State, u32)>) {
        if let Some(slot) = self.slots.iter_mut().find(|slot| slot.source == source) {
            slot.now = now;
        }
    }

    fn collated(&mut self, batch: &BatchRow, last: u32) {
        for moved in &batch.states {
            self.moved(moved.source, moved.state, last, true);
        }
    }

    fn moved(&mut self, source: SourceId, after: State, seq: u32, collating: bool) {
        let (local, words) = self.kinds.get(usize::from(source.0)).copied().unwrap_or_default();
        let slot = self.slots.iter().position(|slot| slot.source == source).unwrap_or_else(|| {
            self.slots.push(Slot { source, stream: UNKNOWN, now: None });
            self.slots.len() - 1
        });
        let now = self.slots[slot].now;
        let stream = self.stream(slot, local);
        let row = &mut self.index.streams[stream as usize];
        row.moves += 1;
        row.goes_on |= seq > 0 || collating;
        row.collates |= collating;
        if local {
            self.index.stands.push(stand(after, stream, seq));
            return;
        }
        if let Some((before, position)) = now {
            self.index.stands.push(stand(before, stream, position));
        }
        if words {
            self.words(now.map(|(state, _)| state), after, stream, seq);
        }
        self.slots[slot].now = Some((after, seq + 1));
    }

    fn stream(&mut self, slot: usize, local: bool) -> u32 {
        let slot = &mut self.slots[slot];
        if slot.stream == UNKNOWN {
            slot.stream = self.index.streams.len() as u32;
            self.index.streams.push(Stream {
                lane: self.number,
                source: slot.source,
                moves: 0,
                goes_on: false,
                collates: false,
                local,
                start: slot.now.map(|(state, _)| state).filter(|_| !local),
            });
        }
        slot.stream
    }

    /// Notes the words between two states. Of a key that is new, those from its first word on were drawn.
    fn words(&mut self, before: Option<State>, after: State, stream: u32, position: u32) {
        let Some(before) = before else { return };
        let fresh = before.key != after.key;
        let low = if fresh { 0 } else { before.position };
        // A position of 624 under a new key may be a seed from which nothing was drawn yet.
        if low >= after.position || (fresh && after.position >= 624) {
            return;
        }
        let key = halves(after.key.0);
        match self.index.words.last_mut() {
            Some(last) if last.stream == stream && last.key == key && last.high == low => last.high = after.position,
            _ => self.index.words.push(Words { key, low, stream, position, high: after.position }),
        }
    }
}

/// Keys are digests, so a multiple of the position may be mixed in without a further hash.
fn stand(state: State, stream: u32, position: u32) -> Stand {
    let mixed = state.key.0 ^ u128::from(state.position).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    Stand { state: halves(mixed), stream, position }
}

const fn halves(value: u128) -> [u64; 2] {
    [(value >> 64) as u64, value as u64]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;
    use crate::trace::run::{Moved, Worker};

    fn state(key: u128, position: u64) -> State {
        State { key: Key(key), position }
    }

    fn lane(run: &mut Run, epoch: u32, source: SourceId, states: &[State]) {
        let mut lane = Lane::new(0, epoch, 0, Worker(0));
        lane.starts.push(Moved { source, state: states[0] });
        for after in &states[1..] {
            lane.moved(source, *after);
            lane.push(Some(0), Index::Number(0), None);
        }
        run.lanes.push(lane);
    }

    #[test]
    fn the_state_after_the_last_draw_is_no_stand() {
        let mut run = Run::default();
        let source = run.names.source("torch", "mt19937");
        lane(&mut run, 0, source, &[state(1, 0), state(1, 9), state(1, 18)]);
        lane(&mut run, 1, source, &[state(1, 18), state(1, 27)]);
        let index = StateIndex::of(&run, 0..2);
        assert_eq!(index.stands.len(), 3);
        assert_eq!(index.groups().count(), 0, "a stream that goes on in the next epoch meets nothing");
        assert_eq!(index.words.iter().map(|words| (words.low, words.high)).collect::<Vec<_>>(), [(0, 18), (18, 27)]);
    }

    #[test]
    fn a_source_that_never_moves_is_no_stream() {
        let mut run = Run::default();
        let source = run.names.source("numpy", "mt19937");
        lane(&mut run, 0, source, &[state(1, 0)]);
        run.lanes[0].push(None, Index::Absent, None);
        assert!(StateIndex::of(&run, 0..1).streams.is_empty());
    }

    #[test]
    fn a_collated_draw_stands_after_its_batch() {
        let mut run = Run::default();
        let source = run.names.source("torch", "mt19937");
        lane(&mut run, 0, source, &[state(1, 0)]);
        let lane = &mut run.lanes[0];
        for batch in [0, 0, 1, 1] {
            lane.push(Some(batch), Index::Number(0), None);
        }
        let row = |batch, position| BatchRow {
            batch,
            output: None,
            states: vec![Moved { source, state: state(1, position) }],
        };
        lane.batches = vec![row(0, 4), row(1, 8)];
        let index = StateIndex::of(&run, 0..1);
        let mut positions: Vec<u32> = index.stands.iter().map(|stand| stand.position).collect();
        positions.sort_unstable();
        assert_eq!(positions, [0, 2]);
        assert!(index.streams[0].collates && index.streams[0].goes_on);
    }

    #[test]
    fn a_local_generator_stands_where_its_sample_starts() {
        let mut run = Run::default();
        let source = run.names.source("local:data.py:9", "mt19937");
        let mut lane = Lane::new(0, 0, 0, Worker(0));
        for index in 0..3 {
            lane.moved(source, state(7, 624));
            lane.push(None, Index::Number(index), None);
        }
        run.lanes.push(lane);
        let index = StateIndex::of(&run, 0..1);
        assert_eq!(index.groups().collect::<Vec<_>>(), std::slice::from_ref(&(0..3)));
        assert_eq!(index.brought_by(&run, index.stands[2]), Index::Number(2));
    }
}
