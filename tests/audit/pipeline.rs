//! A data pipeline for tests: shares no code with the simulator. Its generator is a hash of seed and position.

use pipeaudit::finding::{Code, Finding, Severity};
use pipeaudit::rng::{Key, State};
use pipeaudit::trace::record::Loader;
use pipeaudit::trace::run::{
    Digest, Distribution, Index, KindId, Moved, ParameterKind, Pass, SourceId, TransformKind, Worker,
};
use pipeaudit::trace::{Lane, Run};

/// A 64-bit hash (murmur3's finaliser, twice).
pub fn hash(value: u64) -> u64 {
    let mut x = value ^ 0x5851_f42d_4c95_7f2d;
    for _ in 0..2 {
        x ^= x >> 33;
        x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
        x ^= x >> 33;
        x = x.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        x ^= x >> 33;
    }
    x
}

/// A generator: counter-based, its state is its seed and how far it is.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    pub seed: u64,
    pub position: u64,
}

impl Generator {
    pub fn new(seed: u64) -> Self {
        Self { seed, position: 0 }
    }

    pub fn next(&mut self) -> u64 {
        self.position += 1;
        hash(hash(self.seed) ^ hash(self.position).rotate_left(17))
    }

    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    pub fn state(&self) -> State {
        let key = u128::from(hash(self.seed)) << 64 | u128::from(hash(self.seed ^ 0xabcd));
        State { key: Key(key), position: self.position }
    }

    pub fn permutation(&mut self, n: usize) -> Vec<i64> {
        let mut order: Vec<i64> = (0..n as i64).collect();
        for i in (1..n).rev() {
            order.swap(i, self.below(i as u64 + 1) as usize);
        }
        order
    }
}

/// What is drawn for a sample, beside what is declared.
#[derive(Clone, Copy, Debug)]
pub struct Draws {
    pub flip: f64,
    pub offsets: u64,
    pub hue: f64,
}

/// Where a worker's generator starts: (base seed of the epoch, epoch, rank, worker).
pub type Seeding = fn(u64, u64, u64, u64) -> u64;

#[derive(Clone)]
pub struct Pipeline {
    pub seed: u64,
    pub workers: u32,
    pub epochs: u32,
    pub ranks: u32,
    pub samples: usize,
    pub batch: usize,
    pub shuffle: bool,
    pub set_epoch: bool,
    pub persistent: bool,
    pub seeding: Seeding,
    pub draws: Draws,
    pub source: &'static str,
    pub algorithm: &'static str,
    pub location: Option<&'static str>,
    pub outputs: bool,
    pub parameters: bool,
    pub states: bool,
    /// Whether the output depends on what is drawn.
    pub effective: bool,
}

impl Default for Pipeline {
    fn default() -> Self {
        Self {
            seed: 0,
            workers: 4,
            epochs: 2,
            ranks: 1,
            samples: 64,
            batch: 8,
            shuffle: true,
            set_epoch: true,
            persistent: false,
            seeding: |base, _, _, worker| base.wrapping_add(worker),
            draws: Draws { flip: 0.5, offsets: 9, hue: 0.1 },
            source: "generator",
            algorithm: "chacha12",
            location: None,
            outputs: true,
            parameters: true,
            states: true,
            effective: true,
        }
    }
}

pub struct Kinds {
    pub crop: KindId,
    pub flip: KindId,
    pub jitter: KindId,
}

fn parameter(name: &str, distribution: Distribution, low: f64, high: f64) -> ParameterKind {
    ParameterKind { name: name.to_owned(), distribution, low: Some(low), high: Some(high) }
}

pub fn kinds(run: &mut Run) -> Kinds {
    let offset = |name| parameter(name, Distribution::Integer, 0.0, 8.0);
    let kind = |name: &str, p, parameters| TransformKind { name: name.to_owned(), p, parameters };
    let jitter = vec![
        parameter("brightness", Distribution::Uniform, 0.6, 1.4),
        parameter("hue", Distribution::Uniform, -0.1, 0.1),
    ];
    Kinds {
        crop: run.names.kind(kind("RandomCrop", None, vec![offset("top"), offset("left")])),
        flip: run.names.kind(kind("RandomHorizontalFlip", Some(0.5), vec![])),
        jitter: run.names.kind(kind("ColorJitter", None, jitter)),
    }
}

impl Pipeline {
    pub fn loader(&self) -> Loader {
        Loader {
            loader: 0,
            location: self.location.map(str::to_owned),
            dataset: Some("Images".to_owned()),
            kind: "map".to_owned(),
            length: Some(self.samples as u64),
            batch_size: Some(self.batch as u64),
            num_workers: self.workers,
            shuffled: self.shuffle,
            padding: (self.samples.div_ceil(self.ranks as usize) * self.ranks as usize - self.samples) as u64,
            persistent_workers: self.persistent,
            start_method: Some("fork".to_owned()),
            ..Loader::default()
        }
    }

    pub fn run(&self) -> Run {
        let mut run = Run { world_size: self.ranks, loaders: vec![self.loader()], ..Run::default() };
        let kinds = kinds(&mut run);
        let source = run.names.source(self.source, self.algorithm);
        let lanes = self.workers.max(1);
        let mut held: Vec<Option<Generator>> = vec![None; (self.ranks * lanes) as usize];
        for epoch in 0..self.epochs {
            let base = hash(self.seed.wrapping_mul(1000) + u64::from(epoch) * 7 + 1);
            let order_seed = if self.set_epoch { u64::from(epoch) } else { 0 };
            for rank in 0..self.ranks {
                let order = self.order(order_seed, rank);
                for worker in 0..lanes {
                    let slot = &mut held[(rank * lanes + worker) as usize];
                    let seed = (self.seeding)(base, u64::from(epoch), u64::from(rank), u64::from(worker));
                    let fresh = slot.is_none() || !self.persistent;
                    let mut generator = if fresh { Generator::new(seed) } else { slot.unwrap() };
                    run.lanes.push(self.lane(&kinds, source, (epoch, rank, worker), &order, &mut generator));
                    *slot = Some(generator);
                }
                run.passes.push(Pass { loader: 0, epoch, rank, delivered: None, whole: true });
            }
        }
        run
    }

    fn order(&self, epoch: u64, rank: u32) -> Vec<i64> {
        let all = if self.shuffle {
            Generator::new(hash(self.seed ^ 0x77) ^ epoch).permutation(self.samples)
        } else {
            (0..self.samples as i64).collect()
        };
        let each = all.len().div_ceil(self.ranks as usize);
        let at = |i: usize| all[(i * self.ranks as usize + rank as usize) % all.len()];
        (0..each).map(at).collect()
    }

    fn lane(
        &self,
        kinds: &Kinds,
        source: SourceId,
        (epoch, rank, worker): (u32, u32, u32),
        order: &[i64],
        generator: &mut Generator,
    ) -> Lane {
        let number = if self.workers == 0 { Worker::MAIN } else { Worker(worker as i32) };
        let mut lane = Lane::new(0, epoch, rank, number);
        if self.states {
            lane.starts.push(Moved { source, state: generator.state() });
        }
        let lanes = self.workers.max(1) as usize;
        for (batch, indices) in order.chunks(self.batch).enumerate() {
            if batch % lanes != worker as usize {
                continue;
            }
            for index in indices {
                let drawn = self.sample(kinds, &mut lane, generator);
                if self.states {
                    lane.moved(source, generator.state());
                }
                let output = hash(*index as u64 ^ if self.effective { drawn } else { 0 });
                let output = self.outputs.then_some(Digest(u128::from(output)));
                lane.push(Some(batch as u32), Index::Number(*index), output);
            }
        }
        lane.ended = Some(lane.len() as u64);
        lane
    }

    fn sample(&self, kinds: &Kinds, lane: &mut Lane, generator: &mut Generator) -> u64 {
        let crop = [generator.below(self.draws.offsets) as f64, generator.below(9) as f64];
        let flip = generator.unit() < self.draws.flip;
        let jitter = [generator.uniform(0.6, 1.4), generator.uniform(-self.draws.hue, self.draws.hue)];
        if self.parameters {
            lane.event(kinds.crop, Some(true), &crop);
            lane.event(kinds.flip, Some(flip), &[]);
            lane.event(kinds.jitter, Some(true), &jitter);
        }
        let bits = crop.iter().chain(&jitter).fold(u64::from(flip), |bits, value| hash(bits ^ value.to_bits()));
        hash(bits)
    }
}

/// The codes that would fail, with those of warnings.
pub fn codes(findings: &[Finding]) -> Vec<Code> {
    findings.iter().filter(|finding| finding.severity > Severity::Note).map(|finding| finding.code).collect()
}
