//! The order in which a rank's loop received its samples.
//!
//! Workers make batches ahead, and some are never handed out. Order, duplicates and missing samples are judged by what
//! was received ([`Order`]); streams are judged by what the workers made ([`super::index`]).

use std::ops::Range;

use super::run::{Lane, Run, SampleView};

/// Samples of one batch, made one after the other by one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Number of the lane in [`Run::lanes`].
    pub lane: usize,
    /// Batch number in the epoch.
    pub batch: Option<u32>,
    /// First position in the lane.
    pub start: u32,
    /// Position after the last.
    pub end: u32,
}

/// What one rank received in one epoch of one loader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The epoch.
    pub epoch: u32,
    /// The rank.
    pub rank: u32,
    /// The samples, in the order in which the loop received them; where no batch numbers were recorded, lane by lane.
    pub chunks: Vec<Chunk>,
    /// Whether the order between workers is known.
    pub known: bool,
    /// Whether the epoch was read to its end.
    pub whole: bool,
}

impl Order {
    /// Number of samples received.
    pub fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| (chunk.end - chunk.start) as usize).sum()
    }

    /// Whether nothing was received.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The samples with the number of their lane, in the order of delivery.
    pub fn samples<'a>(&'a self, run: &'a Run) -> impl Iterator<Item = (usize, SampleView<'a>)> + 'a {
        self.chunks.iter().flat_map(move |chunk| {
            let lane = &run.lanes[chunk.lane];
            (chunk.start..chunk.end).map(move |seq| (chunk.lane, lane.sample(seq as usize)))
        })
    }
}

/// The lanes of a loader, as a range of [`Run::lanes`].
pub fn lanes_of(run: &Run, loader: u32) -> Range<usize> {
    let start = run.lanes.partition_point(|lane| lane.loader < loader);
    let end = run.lanes.partition_point(|lane| lane.loader <= loader);
    start..end
}

/// What each rank received in each epoch of a loader, sorted by epoch, then rank.
pub fn orders(run: &Run, loader: u32) -> Vec<Order> {
    let lanes = lanes_of(run, loader);
    let mut orders = Vec::new();
    let mut at = lanes.start;
    while at < lanes.end {
        let (epoch, rank) = (run.lanes[at].epoch, run.lanes[at].rank);
        let same = run.lanes[at..lanes.end].partition_point(|lane| (lane.epoch, lane.rank) <= (epoch, rank));
        orders.push(order(run, loader, epoch, rank, at..at + same));
        at += same;
    }
    orders
}

fn order(run: &Run, loader: u32, epoch: u32, rank: u32, lanes: Range<usize>) -> Order {
    let mut chunks: Vec<Chunk> = lanes.flat_map(|lane| chunks_of(&run.lanes[lane], lane)).collect();
    let known = chunks.iter().all(|chunk| chunk.batch.is_some());
    let key = |pass: &super::run::Pass| (pass.loader, pass.epoch, pass.rank);
    let pass = run.passes.binary_search_by_key(&(loader, epoch, rank), key).ok().map(|at| &run.passes[at]);
    if known {
        // Stable: chunks of one batch stay in the order in which they were made.
        chunks.sort_by_key(|chunk| chunk.batch);
        if let Some(delivered) = pass.and_then(|pass| pass.delivered.as_ref()) {
            chunks = delivered.iter().flat_map(|batch| of_batch(&chunks, *batch)).copied().collect();
        }
    }
    Order { epoch, rank, chunks, known, whole: pass.is_none_or(|pass| pass.whole) }
}

fn of_batch(sorted: &[Chunk], batch: u32) -> &[Chunk] {
    let start = sorted.partition_point(|chunk| chunk.batch < Some(batch));
    let end = sorted.partition_point(|chunk| chunk.batch <= Some(batch));
    &sorted[start..end]
}

fn chunks_of(lane: &Lane, number: usize) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    for sample in lane.samples() {
        match chunks.last_mut() {
            Some(chunk) if chunk.batch == sample.batch => chunk.end = sample.seq + 1,
            _ => chunks.push(Chunk { lane: number, batch: sample.batch, start: sample.seq, end: sample.seq + 1 }),
        }
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::run::{Index, Pass, Worker};

    /// Two workers, batches of two dealt in turn, indices 0, 1, 2, … in batch order.
    fn run(batches: u32) -> Run {
        let mut lanes = vec![Lane::new(0, 0, 0, Worker(0)), Lane::new(0, 0, 0, Worker(1))];
        for batch in 0..batches {
            for item in 0..2 {
                let index = i64::from(batch * 2 + item);
                lanes[(batch % 2) as usize].push(Some(batch), Index::Number(index), None);
            }
        }
        Run { lanes, ..Run::default() }
    }

    fn indices(run: &Run, order: &Order) -> Vec<i64> {
        let number = |index| if let Index::Number(number) = index { number } else { -1 };
        order.samples(run).map(|(_, sample)| number(sample.index)).collect()
    }

    #[test]
    fn without_a_pass_all_batches_count_in_the_order_of_their_numbers() {
        let run = run(5);
        let orders = orders(&run, 0);
        assert_eq!(orders.len(), 1);
        assert_eq!(indices(&run, &orders[0]), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert!(orders[0].whole && orders[0].known);
    }

    #[test]
    fn batches_that_were_made_ahead_and_never_received_do_not_count() {
        let mut run = run(5);
        run.passes = vec![Pass { loader: 0, epoch: 0, rank: 0, delivered: Some(vec![1, 0, 9]), whole: false }];
        let orders = orders(&run, 0);
        assert_eq!(indices(&run, &orders[0]), [2, 3, 0, 1]);
        assert!(!orders[0].whole);
    }

    #[test]
    fn without_batch_numbers_the_order_between_workers_is_not_known() {
        let mut lanes = vec![Lane::new(3, 0, 0, Worker(0)), Lane::new(3, 1, 0, Worker(0))];
        for lane in &mut lanes {
            lane.push(None, Index::Number(7), None);
        }
        let run = Run { lanes, ..Run::default() };
        let orders = orders(&run, 3);
        assert_eq!(orders.iter().map(|order| (order.epoch, order.len())).collect::<Vec<_>>(), [(0, 1), (1, 1)]);
        assert!(!orders[0].known);
        assert!(super::orders(&run, 2).is_empty());
    }
}
