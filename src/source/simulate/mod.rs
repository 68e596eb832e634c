//! The built-in pipeline: a faithful model of a PyTorch `DataLoader` over torchvision's transforms.
//!
//! Each rank has a main process, which draws the workers' base seed and the sampler's seed in torch's order; worker
//! threads take batches round robin and deliver them in order. What is drawn and delivered becomes a [`Run`].
//!
//! `fork` gives a worker bit copies of the main process's generators. `spawn` and `forkserver` give it copies of what
//! the dataset holds; a library's global generator starts there from the operating system's entropy, the only thing
//! here that differs from call to call.

pub mod dataset;
mod decode;
mod folder;
mod jpeg;
mod kinds;
mod process;
mod sampler;
mod worker;

use std::str::FromStr;

pub use dataset::Dataset;

use crate::error::{Error, Result};
use crate::seeding::Policy;
use crate::trace::run::{Names, Worker};
use crate::trace::{Run, record};
use crate::transform::Pipeline;

/// How worker processes begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartMethod {
    /// A copy of the main process.
    Fork,
    /// A fresh interpreter; the dataset is pickled.
    Spawn,
    /// A copy of a fresh interpreter; the dataset is pickled.
    ForkServer,
}

impl StartMethod {
    /// As `multiprocessing` names it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Spawn => "spawn",
            Self::ForkServer => "forkserver",
        }
    }
}

/// Whose random numbers the pipeline draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// ChaCha with 12 rounds: no library's.
    ChaCha,
    /// torch's CPU generator, always the global one.
    Torch,
    /// NumPy: `default_rng` where the dataset holds it, the legacy one where it is global.
    Numpy,
    /// Python's `random`.
    Python,
}

/// Where the generator lives that the pipeline draws from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// An object that the dataset holds, made in the main process.
    Held,
    /// The library's own.
    Global,
}

macro_rules! named {
    ($kind:ident, $what:literal, $($name:literal => $variant:ident),+) => {
        impl FromStr for $kind {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                match text {
                    $($name => Ok(Self::$variant),)+
                    _ => Err(Error::usage(format!(concat!("unknown ", $what, " '{}'"), text))
                        .help(concat!("one of:" $(, " ", $name)+))),
                }
            }
        }
    };
}

named!(StartMethod, "start method", "fork" => Fork, "spawn" => Spawn, "forkserver" => ForkServer);
named!(Library, "generator", "chacha" => ChaCha, "torch" => Torch, "numpy" => Numpy, "python" => Python);
named!(Holder, "holder of the generator", "held" => Held, "global" => Global);

/// How outputs are digested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputDigest {
    /// 128 bits of XXH3 over the pixels, seeded by their shape: fast, for outputs that meet no other program's.
    #[default]
    Fast,
    /// The first 128 bits of SHA-256 over the pixels, as any program can make it.
    Sha256,
}

/// What is simulated: everything that decides a run.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// Worker threads a rank; 0 is the main process itself.
    pub workers: u32,
    /// Passes over the dataset.
    pub epochs: u32,
    /// Samples a batch.
    pub batch_size: u32,
    /// The user's seed.
    pub seed: u64,
    /// How workers begin.
    pub start_method: StartMethod,
    /// Whether workers live on over epochs.
    pub persistent_workers: bool,
    /// What seeds a worker.
    pub policy: Policy,
    /// Ranks of a distributed job, each with its own main process.
    pub ranks: u32,
    /// Whether the distributed sampler is told the epoch.
    pub set_epoch: bool,
    /// Whose random numbers are drawn.
    pub library: Library,
    /// Where their generator lives.
    pub holder: Holder,
    /// The transforms.
    pub pipeline: Pipeline,
    /// Whether pixels are made; without them samples have no output, only states and parameters.
    pub pixels: bool,
    /// How outputs are digested.
    pub digest: OutputDigest,
}

/// What a worker was seeded with, as people print it while debugging.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSeed {
    /// Rank of the worker.
    pub rank: u32,
    /// Epoch in which it was seeded.
    pub epoch: u32,
    /// The worker.
    pub worker: Worker,
    /// `torch.initial_seed()` there: base seed + worker.
    pub initial_seed: u64,
    /// What the init gave the generator; `None` where it did nothing.
    pub seed: Option<String>,
}

/// One simulated run.
#[derive(Clone, Debug)]
pub struct Simulated {
    /// Its records.
    pub run: Run,
    /// What each worker was seeded with, sorted by rank, epoch, worker.
    pub seeds: Vec<WorkerSeed>,
}

/// Told of samples as they are delivered.
pub trait Progress {
    /// `samples` more were delivered.
    fn advance(&mut self, samples: u64);
}

/// Shows nothing.
pub struct Silent;

impl Progress for Silent {
    fn advance(&mut self, _samples: u64) {}
}

impl Simulation {
    /// Runs it once.
    ///
    /// # Errors
    /// Where an image is smaller than the crop, or cannot be read.
    pub fn run(&self, name: &str, dataset: &Dataset, progress: &mut dyn Progress) -> Result<Simulated> {
        let mut names = Names::default();
        let kinds = kinds::Kinds::new(&self.pipeline, dataset, &mut names)?;
        let mut run = Run { name: name.to_owned(), world_size: self.ranks, ..Run::default() };
        let mut seeds = Vec::new();
        for rank in 0..self.ranks {
            let mut main = process::MainProcess::new(self, rank, dataset, &kinds, &mut names);
            for epoch in 0..self.epochs {
                main.epoch(epoch, progress)?;
            }
            let (lanes, passes, more) = main.finish();
            run.lanes.extend(lanes);
            run.passes.extend(passes);
            seeds.extend(more);
        }
        run.lanes.sort_by_key(|lane| (lane.loader, lane.epoch, lane.rank, lane.worker));
        run.passes.sort_by_key(|pass| (pass.loader, pass.epoch, pass.rank));
        run.names = names;
        run.loaders = vec![self.loader(dataset)];
        Ok(Simulated { run, seeds })
    }

    /// Samples that one run delivers, over all epochs and ranks.
    pub fn samples(&self, dataset: &Dataset) -> u64 {
        let a_rank = if self.ranks > 1 { dataset.len().div_ceil(u64::from(self.ranks)) } else { dataset.len() };
        a_rank * u64::from(self.ranks) * u64::from(self.epochs)
    }

    fn loader(&self, dataset: &Dataset) -> record::Loader {
        let length = dataset.len();
        let distributed = self.ranks > 1;
        record::Loader {
            loader: 0,
            dataset: Some("ImageFolder".to_owned()),
            kind: "map".to_owned(),
            length: Some(length),
            batch_size: Some(u64::from(self.batch_size)),
            num_workers: self.workers,
            sampler: Some(if distributed { "DistributedSampler" } else { "RandomSampler" }.to_owned()),
            shuffled: true,
            padding: length.next_multiple_of(u64::from(self.ranks)) - length,
            persistent_workers: self.persistent_workers,
            worker_method: Some("thread".to_owned()),
            start_method: Some(self.start_method.as_str().to_owned()),
            init: (self.policy != Policy::None).then(|| self.policy.to_string()),
            ..record::Loader::default()
        }
    }
}
