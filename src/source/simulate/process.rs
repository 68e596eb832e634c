//! A rank's main process: draws, starts workers, deals batches, takes them back in order.

use std::sync::mpsc;

use rand::TryRng;
use rand::rngs::SysRng;

use super::kinds::Kinds;
use super::worker::{Place, WorkerState, batches};
use super::{Dataset, Holder, Library, Progress, Simulation, StartMethod, WorkerSeed, sampler};
use crate::error::Result;
use crate::rng::{Generator, Kind, Seed};
use crate::seeding::{Policy, WorkerPlace};
use crate::trace::Lane;
use crate::trace::run::{Names, Pass, SourceId, Worker};

/// Batches that a worker may be ahead of the loop, as torch's `prefetch_factor`.
const PREFETCH: usize = 2;

/// The main process's own generator: the one that the loader draws from.
#[derive(Clone, Debug)]
pub struct Main(Generator);

impl Main {
    fn new(library: Library, seed: u64) -> Self {
        let kind = match library {
            Library::ChaCha => Kind::ChaCha,
            Library::Torch | Library::Numpy | Library::Python => Kind::Torch,
        };
        Self(Generator::new(kind, &Seed::from(seed)))
    }

    /// 63 random bits.
    pub fn random63(&mut self) -> u64 {
        match &mut self.0 {
            Generator::ChaCha(generator) => generator.random63(),
            Generator::Torch(generator) => generator.random63(),
            other => unreachable!("a loader does not draw from {}", other.algorithm()),
        }
    }

    /// A generator of the same library with another seed.
    pub fn fresh(&self, seed: u64) -> Self {
        Self(Generator::new(self.0.kind(), &Seed::from(seed)))
    }

    /// A permutation of `0..n`.
    pub fn permutation(&mut self, n: u64) -> Vec<u64> {
        let order = match &mut self.0 {
            Generator::ChaCha(generator) => generator.permutation(n as usize),
            Generator::Torch(generator) => generator.randperm(n as usize),
            other => unreachable!("a loader does not draw from {}", other.algorithm()),
        };
        order.into_iter().map(u64::from).collect()
    }
}

/// The generator that the pipeline draws from, in the main process.
enum Pipe {
    /// The main generator itself.
    Main,
    /// Another one: held by the dataset, or another library's global one.
    Own(Generator),
}

/// One rank's main process.
pub struct MainProcess<'a> {
    simulation: &'a Simulation,
    rank: u32,
    dataset: &'a Dataset,
    kinds: &'a Kinds,
    source: SourceId,
    main: Main,
    pipe: Pipe,
    base_seed: u64,
    workers: Vec<WorkerState>,
    lanes: Vec<Lane>,
    passes: Vec<Pass>,
    seeds: Vec<WorkerSeed>,
}

impl<'a> MainProcess<'a> {
    /// Seeds a rank: all ranks alike, as a program does that calls `manual_seed(seed)` in each.
    pub fn new(
        simulation: &'a Simulation,
        rank: u32,
        dataset: &'a Dataset,
        kinds: &'a Kinds,
        names: &mut Names,
    ) -> Self {
        let seed = simulation.seed;
        let main = Main::new(simulation.library, seed);
        let own = |kind, seed| Pipe::Own(Generator::new(kind, &Seed::from(seed)));
        let pipe = match (simulation.library, simulation.holder) {
            (Library::Torch, _) | (Library::ChaCha, Holder::Global) => Pipe::Main,
            (Library::ChaCha, Holder::Held) => own(Kind::ChaCha, seed),
            (Library::Numpy, Holder::Held) => own(Kind::NumpyGenerator, seed),
            // np.random.seed takes 32 bits only.
            (Library::Numpy, Holder::Global) => own(Kind::NumpyLegacy, seed & u64::from(u32::MAX)),
            (Library::Python, _) => own(Kind::Python, seed),
        };
        let algorithm = match &pipe {
            Pipe::Main => main.0.algorithm(),
            Pipe::Own(generator) => generator.algorithm(),
        };
        let source = names.source(source_name(simulation), algorithm);
        Self {
            simulation,
            rank,
            dataset,
            kinds,
            source,
            main,
            pipe,
            base_seed: 0,
            workers: Vec::new(),
            lanes: Vec::new(),
            passes: Vec::new(),
            seeds: Vec::new(),
        }
    }

    /// One pass over the dataset.
    ///
    /// # Errors
    /// Where an image cannot be read.
    pub fn epoch(&mut self, epoch: u32, progress: &mut dyn Progress) -> Result<()> {
        let simulation = self.simulation;
        let starting = self.workers.is_empty() || !simulation.persistent_workers;
        if starting {
            self.base_seed = self.main.random63();
            self.workers = (0..simulation.workers).map(|worker| self.start(worker, epoch)).collect();
        }
        let length = self.dataset.len();
        let order = if simulation.ranks > 1 {
            let told = if simulation.set_epoch { epoch } else { 0 };
            sampler::distributed(&self.main, length, self.rank, simulation.ranks, told)
        } else {
            sampler::random(&mut self.main, length)
        };
        let order: Vec<&[u64]> = order.chunks(simulation.batch_size as usize).collect();
        if simulation.workers == 0 {
            self.in_main(epoch, &order, progress)?;
        } else {
            self.in_workers(epoch, &order, progress)?;
        }
        self.passes.push(Pass { loader: 0, epoch, rank: self.rank, delivered: None, whole: true });
        Ok(())
    }

    /// What was recorded.
    pub fn finish(self) -> (Vec<Lane>, Vec<Pass>, Vec<WorkerSeed>) {
        (self.lanes, self.passes, self.seeds)
    }

    /// A worker's generator as the start method and the seedings leave it.
    fn start(&mut self, worker: u32, epoch: u32) -> WorkerState {
        let simulation = self.simulation;
        let inherited = match &self.pipe {
            Pipe::Main => &self.main.0,
            Pipe::Own(generator) => generator,
        };
        let global = is_global(simulation);
        let fresh = global && simulation.start_method != StartMethod::Fork;
        let mut generator = if fresh { from_entropy(inherited.kind()) } else { inherited.clone() };
        let place = WorkerPlace { seed: simulation.seed, base_seed: self.base_seed, worker, rank: self.rank, epoch };
        if global && simulation.library != Library::ChaCha {
            Policy::Torch.seed(&place, &mut generator);
        }
        let seed = simulation.policy.seed(&place, &mut generator);
        self.seeds.push(WorkerSeed {
            rank: self.rank,
            epoch,
            worker: Worker(worker as i32),
            initial_seed: self.base_seed.wrapping_add(u64::from(worker)),
            seed,
        });
        WorkerState::new(generator)
    }

    fn place(&self, epoch: u32, worker: Worker) -> Place<'a> {
        Place {
            dataset: self.dataset,
            kinds: self.kinds,
            pipeline: &self.simulation.pipeline,
            pixels: self.simulation.pixels,
            digest: self.simulation.digest,
            source: self.source,
            epoch,
            rank: self.rank,
            worker,
        }
    }

    fn in_main(&mut self, epoch: u32, order: &[&[u64]], progress: &mut dyn Progress) -> Result<()> {
        let place = self.place(epoch, Worker::MAIN);
        let generator = match &mut self.pipe {
            Pipe::Main => &mut self.main.0,
            Pipe::Own(generator) => generator,
        };
        let mut state = WorkerState::new(generator.clone());
        let mut lane = place.lane(state.state());
        for (number, batch) in order.iter().enumerate() {
            state.batch(&place, number as u32, batch, &mut lane)?;
            progress.advance(batch.len() as u64);
        }
        *generator = state.into_generator();
        lane.ended = Some(lane.len() as u64);
        self.lanes.push(lane);
        Ok(())
    }

    fn in_workers(&mut self, epoch: u32, order: &[&[u64]], progress: &mut dyn Progress) -> Result<()> {
        let places: Vec<_> = (0..self.workers.len()).map(|worker| self.place(epoch, Worker(worker as i32))).collect();
        let workers = std::mem::take(&mut self.workers);
        let count = workers.len();
        let outcome = std::thread::scope(|scope| {
            let mut queues = Vec::new();
            let mut handles = Vec::new();
            for (place, state) in places.into_iter().zip(workers) {
                let worker = place.worker.0 as usize;
                let (sender, receiver) = mpsc::sync_channel(PREFETCH);
                queues.push(receiver);
                handles.push(scope.spawn(move || batches(&place, state, order, worker, count, &sender)));
            }
            // Batch b comes from worker b mod N: taking them in that order is the ordered delivery.
            let mut broken = false;
            for number in 0..order.len() {
                match queues[number % count].recv() {
                    Ok(samples) => progress.advance(samples),
                    Err(mpsc::RecvError) => {
                        broken = true;
                        break;
                    }
                }
            }
            drop(queues);
            let ended: Vec<_> =
                handles.into_iter().map(|handle| handle.join().expect("a worker does not panic")).collect();
            debug_assert!(!broken || ended.iter().any(Result::is_err));
            ended
        });
        for ended in outcome {
            let (state, lane) = ended?;
            self.workers.push(state);
            self.lanes.push(lane);
        }
        Ok(())
    }
}

/// A generator that starts from the operating system's entropy.
fn from_entropy(kind: Kind) -> Generator {
    let words = (0..8).map(|_| SysRng.try_next_u32().expect("the operating system gives entropy")).collect();
    Generator::new(kind, &Seed::Words(words))
}

/// Whether the pipeline draws from a library's own generator.
fn is_global(simulation: &Simulation) -> bool {
    simulation.holder == Holder::Global || simulation.library == Library::Torch
}

fn source_name(simulation: &Simulation) -> &'static str {
    match (simulation.library, is_global(simulation)) {
        (_, false) => "dataset.transform.rng",
        (Library::ChaCha, true) => "chacha",
        (Library::Torch, true) => "torch",
        (Library::Numpy, true) => "numpy",
        (Library::Python, true) => "python",
    }
}
