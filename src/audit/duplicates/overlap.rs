//! Streams that share words although no sample of theirs starts in one state.
//!
//! Where the positions of a generator count words, two streams of one key that cover the same words draw the same
//! random numbers, shifted against each other. Samples are then no copies (a flip here is a crop there), but they are
//! not independent either, so this is a warning. Streams that lie apart within one key, as generators that were jumped
//! ahead do, share no word and are left alone.

use crate::trace::index::{StateIndex, Words};
use crate::trace::run::SourceId;

use super::relations::{Relations, Union};

/// Two streams that drew the same words, the one that is behind first.
#[derive(Clone, Copy, Debug)]
pub struct Overlap {
    /// The stream that is behind.
    pub behind: Words,
    /// The stream that is ahead.
    pub ahead: Words,
    /// Words that both drew, of this stretch.
    pub shared: u64,
}

/// Finds the overlaps between streams that nothing else joins, one for each pair.
pub fn overlaps(index: &StateIndex, relations: &mut Relations, counts: impl Fn(SourceId) -> bool) -> Vec<Overlap> {
    let mut joined = Union::new(index.streams.len());
    for meeting in &relations.meetings {
        joined.join(meeting.first.0.stream, meeting.first.1.stream);
    }
    for stream in 0..index.streams.len() as u32 {
        joined.join(stream, relations.joined.find(stream));
    }
    // A stream that is reset for each sample draws the same words again and again, here and elsewhere.
    let reset = |stream: u32| relations.resets.iter().any(|reset| reset.stream == stream);
    let counted = |words: &&Words| counts(index.streams[words.stream as usize].source) && !reset(words.stream);
    let mut found = Vec::new();
    let mut furthest: Option<Words> = None;
    for words in index.words.iter().filter(counted) {
        let before = furthest.filter(|before| before.same_key(words) && before.high > words.low);
        if let Some(before) = before
            && joined.join(before.stream, words.stream)
        {
            let shared = before.high.min(words.high) - words.low;
            found.push(Overlap { behind: before, ahead: *words, shared });
        }
        if before.is_none_or(|before| words.high > before.high) {
            furthest = Some(*words);
        }
    }
    found
}
