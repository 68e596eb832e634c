//! A worker: makes the samples of its batches and records them.

use std::sync::mpsc::SyncSender;

use twox_hash::XxHash3_128;

use super::kinds::Kinds;
use super::{Dataset, OutputDigest};
use crate::error::Result;
use crate::rng::{Draw, Generator, Key, State};
use crate::trace::Lane;
use crate::trace::run::{Digest, Index, Moved, SourceId, Worker};
use crate::transform::{Image, Pipeline, Scratch};

/// Where a worker stands and what it works with.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Images by index.
    pub dataset: &'a Dataset,
    /// Transforms as declared.
    pub kinds: &'a Kinds,
    /// Transforms as made.
    pub pipeline: &'a Pipeline,
    /// Whether pixels are made.
    pub pixels: bool,
    /// How outputs are digested.
    pub digest: OutputDigest,
    /// The generator's name.
    pub source: SourceId,
    /// Epoch, from 0.
    pub epoch: u32,
    /// Rank, from 0.
    pub rank: u32,
    /// The worker.
    pub worker: Worker,
}

impl Place<'_> {
    /// An empty lane here, from a generator's state on.
    pub fn lane(&self, start: State) -> Lane {
        let mut lane = Lane::new(0, self.epoch, self.rank, self.worker);
        lane.starts.push(Moved { source: self.source, state: start });
        lane
    }
}

/// What a worker keeps from batch to batch, and from epoch to epoch where it lives on.
pub struct WorkerState {
    generator: Generator,
    scratch: Scratch,
}

impl WorkerState {
    /// A worker with this generator.
    pub fn new(generator: Generator) -> Self {
        Self { generator, scratch: Scratch::default() }
    }

    /// Where its generator stands.
    pub fn state(&self) -> State {
        self.generator.state()
    }

    /// Its generator.
    pub fn into_generator(self) -> Generator {
        self.generator
    }

    /// Makes one batch.
    ///
    /// # Errors
    /// Where an image cannot be read.
    pub fn batch(&mut self, place: &Place<'_>, number: u32, indices: &[u64], lane: &mut Lane) -> Result<()> {
        for index in indices {
            let size = place.dataset.size(*index);
            let parameters = place.pipeline.draw(size.0, size.1, &mut self.generator)?;
            let output = if place.pixels {
                let image = place.dataset.get(*index)?;
                Some(digest(place.digest, place.pipeline.apply(&image, &parameters, &mut self.scratch)?))
            } else {
                None
            };
            place.kinds.record(lane, size, &parameters);
            lane.moved(place.source, self.generator.state());
            lane.push(Some(number), Index::Number(*index as i64), output);
        }
        Ok(())
    }
}

/// Makes every `count`-th batch from `worker` on and says after each how many samples it had.
///
/// # Errors
/// Where an image cannot be read.
pub fn batches(
    place: &Place<'_>,
    mut state: WorkerState,
    order: &[&[u64]],
    worker: usize,
    count: usize,
    delivered: &SyncSender<u64>,
) -> Result<(WorkerState, Lane)> {
    let mut lane = place.lane(state.state());
    for (number, indices) in order.iter().enumerate().skip(worker).step_by(count) {
        state.batch(place, number as u32, indices, &mut lane)?;
        if delivered.send(indices.len() as u64).is_err() {
            break;
        }
    }
    lane.ended = Some(lane.len() as u64);
    Ok((state, lane))
}

fn digest(how: OutputDigest, image: &Image) -> Digest {
    match how {
        OutputDigest::Fast => {
            let shape = u64::from(image.width) << 32 | u64::from(image.height) << 3 | u64::from(image.channels);
            Digest(XxHash3_128::oneshot_with_seed(shape, &image.data))
        }
        OutputDigest::Sha256 => Digest(Key::of(&image.data).0),
    }
}
