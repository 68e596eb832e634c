//! Which streams meet, and the fewest relations that explain all meetings.
//!
//! Stands that share a state form a group. Within it, places are joined by the plainest relation first: two workers at
//! one position, two ranks, two epochs, two sources of one worker; only what is then still apart has met "elsewhere".
//! So equal workers that also repeat their epochs are told as these two facts, and not as every pair that follows.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::trace::index::{Stand, StateIndex};
use crate::trace::run::{Index, Run, SourceId};

/// How two places that share a state lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// Two workers of one epoch and rank, at one position.
    Workers,
    /// Two ranks, in one worker and epoch, at one position.
    Ranks,
    /// Two epochs of one worker, at one position.
    Epochs,
    /// Two sources of one worker in one epoch.
    Sources,
    /// Two epochs, for one index, wherever it was made.
    EpochsByIndex,
    /// Any other.
    Elsewhere,
}

/// Two streams that stand in one state.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// How they lie to each other.
    pub relation: Relation,
    /// How many states they share.
    pub count: u64,
    /// The first places.
    pub first: (Stand, Stand),
    /// Where the group of the first state starts in [`StateIndex::stands`].
    pub group: usize,
}

/// A stream in which samples start in one state again and again.
#[derive(Clone, Copy, Debug)]
pub struct Reset {
    /// Number in [`StateIndex::streams`].
    pub stream: u32,
    /// Stands of the stream.
    pub stands: u64,
    /// Stands in a state that had been seen in it before.
    pub repeated: u64,
    /// Where the group of the state that is seen most often starts.
    pub group: usize,
}

/// What meets in one loader.
#[derive(Debug, Default)]
pub struct Relations {
    /// All meetings, by relation, then by stream.
    pub meetings: Vec<Meeting>,
    /// The streams that are reset for each sample.
    pub resets: Vec<Reset>,
    /// Streams joined by a meeting, at one position or by source.
    pub joined: Union,
}

/// Disjoint sets of numbers.
#[derive(Debug, Default)]
pub struct Union(Vec<u32>);

impl Union {
    /// Every number below `len` by itself.
    pub fn new(len: usize) -> Self {
        Self((0..len as u32).collect())
    }

    /// The number that stands for a set.
    pub fn find(&mut self, mut at: u32) -> u32 {
        while self.0[at as usize] != at {
            let up = self.0[self.0[at as usize] as usize];
            self.0[at as usize] = up;
            at = up;
        }
        at
    }

    /// Joins two sets; false where they were one already.
    pub fn join(&mut self, a: u32, b: u32) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b) as usize] = a.min(b);
        a != b
    }
}

/// Fewest stands of a stream in which a reset is looked for.
const FEWEST: u64 = 4;

/// Share of repeated starts, in quarters, from which a stream counts as reset for each sample. Seeds that are drawn
/// from a small range collide now and then, which is another matter.
const REPEATED_QUARTERS: u64 = 1;

#[derive(Clone, Copy)]
struct Member {
    stand: Stand,
    source: SourceId,
    epoch: u32,
    rank: u32,
    worker: i32,
}

impl Relations {
    /// Finds what meets among the sources for which `counts` is true.
    pub fn find(run: &Run, index: &StateIndex, counts: &[bool]) -> Self {
        let resets = resets(run, index, counts);
        let mut is_reset = vec![false; index.streams.len()];
        for reset in &resets {
            is_reset[reset.stream as usize] = true;
        }
        let mut finder = Finder {
            run,
            index,
            meetings: BTreeMap::new(),
            joined: Union::new(index.streams.len()),
            members: Vec::new(),
            local: Union::default(),
        };
        for group in index.groups() {
            finder.group(group, counts, &is_reset);
        }
        finder.finish(resets)
    }
}

fn counts_stand(index: &StateIndex, counts: &[bool], stand: Stand) -> bool {
    counts[usize::from(index.streams[stand.stream as usize].source.0)]
}

/// Streams whose samples start in few states. Starts that one index brought about are no repeats: that sample is
/// seeded by its index and was asked for twice.
fn resets(run: &Run, index: &StateIndex, counts: &[bool]) -> Vec<Reset> {
    let mut stands = vec![0_u64; index.streams.len()];
    for stand in &index.stands {
        stands[stand.stream as usize] += 1;
    }
    let mut found: BTreeMap<u32, (u64, u64, usize)> = BTreeMap::new();
    for group in index.groups() {
        for same in index.stands[group.clone()].chunk_by(|a, b| a.stream == b.stream) {
            if same.len() < 2 || !counts_stand(index, counts, same[0]) {
                continue;
            }
            let mut brought: Vec<Index> = same.iter().map(|stand| index.brought_by(run, *stand)).collect();
            let known = brought.iter().all(|index| *index != Index::Absent);
            brought.sort_unstable();
            brought.dedup();
            let repeated = if known { brought.len() - 1 } else { same.len() - 1 } as u64;
            let (sum, most, at) = found.entry(same[0].stream).or_default();
            *sum += repeated;
            if repeated > *most {
                (*most, *at) = (repeated, group.start);
            }
        }
    }
    let reset = |(stream, (repeated, _, group)): (u32, (u64, u64, usize))| {
        let stands = stands[stream as usize];
        (stands >= FEWEST && 4 * repeated >= REPEATED_QUARTERS * stands).then_some(Reset {
            stream,
            stands,
            repeated,
            group,
        })
    };
    found.into_iter().filter_map(reset).collect()
}

/// Whether one index brought both streams to where they meet first.
fn one_index(run: &Run, index: &StateIndex, meeting: &Meeting) -> bool {
    let (a, b) = meeting.first;
    let brought = index.brought_by(run, a);
    brought != Index::Absent && brought == index.brought_by(run, b)
}

struct Finder<'a> {
    run: &'a Run,
    index: &'a StateIndex,
    meetings: BTreeMap<(Relation, u32, u32), Meeting>,
    joined: Union,
    members: Vec<Member>,
    local: Union,
}

impl Finder<'_> {
    fn group(&mut self, group: Range<usize>, counts: &[bool], is_reset: &[bool]) {
        self.members.clear();
        for same in self.index.stands[group.clone()].chunk_by(|a, b| a.stream == b.stream) {
            let stream = same[0].stream;
            if !counts_stand(self.index, counts, same[0]) {
                continue;
            }
            if same.len() > 1 && is_reset[stream as usize] {
                // The state that samples are reset to: that it is met elsewhere follows.
                return;
            }
            let lane = self.index.lane(self.run, stream);
            self.members.push(Member {
                stand: same[0],
                source: self.index.streams[stream as usize].source,
                epoch: lane.epoch,
                rank: lane.rank,
                worker: lane.worker.0,
            });
        }
        if self.members.len() < 2 {
            return;
        }
        self.local = Union::new(self.members.len());
        let at = group.start;
        self.relate(at, Relation::Workers, |m| (m.source, m.epoch, m.rank, m.stand.position));
        self.relate(at, Relation::Ranks, |m| (m.source, m.epoch, m.worker, m.stand.position));
        self.relate(at, Relation::Epochs, |m| (m.source, m.rank, m.worker, m.stand.position));
        self.relate(at, Relation::Sources, |m| (m.epoch, m.rank, m.worker));
        self.by_index(at);
        self.elsewhere(at);
    }

    /// Joins members that share a key.
    fn relate<K: Ord>(&mut self, group: usize, relation: Relation, key: impl Fn(&Member) -> K) {
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        order.sort_by_key(|i| key(&self.members[*i]));
        for pair in order.windows(2) {
            if key(&self.members[pair[0]]) == key(&self.members[pair[1]]) {
                self.local.join(pair[0] as u32, pair[1] as u32);
                self.joined.join(self.members[pair[0]].stand.stream, self.members[pair[1]].stand.stream);
                self.meet(relation, pair[0], pair[1], group);
            }
        }
    }

    fn apart(&mut self) -> bool {
        let first = self.local.find(0);
        (1..self.members.len() as u32).any(|i| self.local.find(i) != first)
    }

    /// Joins members that one index brought about: within an epoch that is no fault, over epochs it is one.
    fn by_index(&mut self, group: usize) {
        if !self.apart() {
            return;
        }
        let key = |m: &Member| (m.source, self.index.brought_by(self.run, m.stand), m.epoch);
        let mut order: Vec<_> = self.members.iter().enumerate().map(|(i, member)| (key(member), i)).collect();
        order.sort_unstable();
        for pair in order.windows(2) {
            let ((source_a, index_a, epoch_a), a) = pair[0];
            let ((source_b, index_b, epoch_b), b) = pair[1];
            if source_a == source_b && index_a == index_b && index_a != Index::Absent {
                let new = self.local.join(a as u32, b as u32);
                if new && epoch_a != epoch_b {
                    self.meet(Relation::EpochsByIndex, a, b, group);
                }
            }
        }
    }

    fn elsewhere(&mut self, group: usize) {
        let mut last = 0;
        for i in 1..self.members.len() {
            if self.local.join(last as u32, i as u32) {
                self.meet(Relation::Elsewhere, last, i, group);
            }
            last = i;
        }
    }

    fn meet(&mut self, relation: Relation, a: usize, b: usize, group: usize) {
        let order = |member: &Member| (member.epoch, member.stand.position, member.rank, member.worker, member.source);
        let (a, b) = (self.members[a], self.members[b]);
        let (a, b) = if order(&b) < order(&a) { (b, a) } else { (a, b) };
        let key = (relation, a.stand.stream.min(b.stand.stream), a.stand.stream.max(b.stand.stream));
        let new = Meeting { relation, count: 0, first: (a.stand, b.stand), group };
        let meeting = self.meetings.entry(key).or_insert(new);
        meeting.count += 1;
        let position = |stands: (Stand, Stand)| (stands.0.position, stands.1.position);
        if position((a.stand, b.stand)) < position(meeting.first) {
            (meeting.first, meeting.group) = ((a.stand, b.stand), group);
        }
    }

    fn finish(mut self, resets: Vec<Reset>) -> Relations {
        let mut meetings: Vec<Meeting> = std::mem::take(&mut self.meetings).into_values().collect();
        let sum = |relation| meetings.iter().filter(|m| m.relation == relation).map(|m| m.count).sum::<u64>();
        // A shuffle now and then brings one index to the same position of streams that overlap for another reason, and a
        // sample that is seeded by its index to the position that it had before.
        let by_index = sum(Relation::EpochsByIndex);
        let (elsewhere, epochs) = (sum(Relation::Elsewhere), sum(Relation::Epochs));
        for meeting in &mut meetings {
            match meeting.relation {
                Relation::EpochsByIndex if by_index < elsewhere => meeting.relation = Relation::Elsewhere,
                Relation::Epochs if by_index > epochs && one_index(self.run, self.index, meeting) => {
                    meeting.relation = Relation::EpochsByIndex;
                }
                _ => {}
            }
        }
        let joined = &mut self.joined;
        meetings.retain(|meeting| {
            let (a, b) = (meeting.first.0.stream, meeting.first.1.stream);
            meeting.relation != Relation::Elsewhere || joined.find(a) != joined.find(b)
        });
        Relations { meetings, resets, joined: self.joined }
    }
}
