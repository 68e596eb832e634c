//! What was drawn for the transforms of a loader, counted by worker.
//!
//! Values are counted, not kept: whole numbers by value, and every value by where it lies in its declared range, in
//! [`BINS`] steps. Where a range depends on the sample, values of all ranges meet in the steps. A whole number fills
//! its share of the range at random (by a hash of its place), which makes it uniform and comparable.

use std::collections::BTreeMap;

use statrs::function::erf::erfc;

use crate::audit::view::{View, mix};
use crate::finding::Place;
use crate::trace::Lane;
use crate::trace::run::{Distribution, Event, KindId, ParameterKind};

/// Steps of a declared range.
pub const BINS: usize = 4096;

/// Most values of a whole number that are counted one by one.
pub const CELLS: u64 = 4096;

/// How far beyond a declared end a value may lie: torch rounds ends and values to 24 bits.
const ROUNDING: f64 = 1e-6;

/// A transform's calls and applications, by worker.
pub struct Applied {
    /// The transform.
    pub name: String,
    /// Declared probability.
    pub p: Option<f64>,
    /// (applied, called) by worker.
    pub by_worker: Vec<(u64, u64)>,
}

/// The values of one range of whole numbers.
pub struct Cells {
    /// Lowest value.
    pub low: i64,
    /// Counts by worker, then value.
    pub by_worker: Vec<Vec<u64>>,
}

impl Cells {
    /// Counts of all workers together, by value.
    pub fn total(&self) -> Vec<u64> {
        let mut total = vec![0; self.by_worker.first().map_or(0, Vec::len)];
        for counts in &self.by_worker {
            total.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        total
    }
}

/// A parameter of a transform.
pub struct Parameter {
    /// `ColorJitter.hue`.
    pub name: String,
    /// The declared ends, where all kinds have the same.
    pub range: Option<(f64, f64)>,
    /// How it is declared.
    pub distribution: Distribution,
    /// Where values lie in their range, by worker, then step.
    pub steps: Vec<Vec<u32>>,
    /// Whole numbers by their range.
    pub cells: BTreeMap<KindId, Cells>,
    /// Values without a declared range, by worker.
    pub raw: Vec<Vec<f64>>,
    /// Values outside their range: how many, the first one and its place.
    pub outside: (u64, Option<(f64, Place)>),
    /// Values that were drawn.
    pub drawn: u64,
}

/// All that was drawn for a loader.
pub struct Collected {
    /// (rank, worker) of each worker's number.
    pub workers: Vec<(u32, i32)>,
    /// Transforms.
    pub applied: Vec<Applied>,
    /// Parameters that are tested.
    pub parameters: Vec<Parameter>,
}

#[derive(Clone, Default)]
struct Slots {
    applied: Option<usize>,
    parameters: Vec<Option<usize>>,
}

/// Counts what was drawn, copies left out.
pub fn collect(view: &View<'_>, copies: &[Vec<bool>]) -> Collected {
    let mut workers: Vec<(u32, i32)> = view.lanes().map(|(_, lane)| (lane.rank, lane.worker.0)).collect();
    workers.sort_unstable();
    workers.dedup();
    let mut collected = Collected { workers, applied: Vec::new(), parameters: Vec::new() };
    let slots = collected.slots(view);
    for (number, lane) in view.lanes() {
        let worker = collected.workers.binary_search(&(lane.rank, lane.worker.0)).unwrap_or_default();
        let copies = &copies[number - view.lanes.start];
        for sample in lane.samples() {
            if copies.get(sample.seq as usize).copied().unwrap_or_default() {
                continue;
            }
            for (call, event) in sample.events().enumerate() {
                let place = Spot { view, number, lane, seq: sample.seq, call, worker };
                collected.event(&slots[event.kind.0 as usize], &event, &place);
            }
        }
    }
    collected
}

/// Where a value was drawn.
struct Spot<'a> {
    view: &'a View<'a>,
    number: usize,
    lane: &'a Lane,
    seq: u32,
    call: usize,
    worker: usize,
}

impl Spot<'_> {
    /// A number in 0..1 that depends on the place alone.
    fn unit(&self, parameter: usize) -> f64 {
        let lane = u64::from(self.lane.epoch) << 32 ^ u64::from(self.lane.rank) << 16 ^ self.lane.worker.0 as u64;
        let hash = mix(mix(lane) ^ u64::from(self.seq) << 16 ^ (self.call as u64) << 8 ^ parameter as u64);
        (hash >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl Collected {
    /// Makes room for every kind and says where each goes.
    fn slots(&mut self, view: &View<'_>) -> Vec<Slots> {
        let used = Self::used(view);
        let mut applied: BTreeMap<(u32, Option<u64>), usize> = BTreeMap::new();
        let mut parameters: BTreeMap<(u32, String), usize> = BTreeMap::new();
        let workers = self.workers.len();
        let mut slots = vec![Slots::default(); used.len()];
        for (number, kind) in view.run.names.kinds.iter().enumerate().filter(|(number, _)| used[*number]) {
            let name = view.name_number(KindId(number as u32));
            let slot = *applied.entry((name, kind.p.map(f64::to_bits))).or_insert_with(|| {
                self.applied.push(Applied { name: kind.name.clone(), p: kind.p, by_worker: vec![(0, 0); workers] });
                self.applied.len() - 1
            });
            slots[number].applied = Some(slot);
            for parameter in &kind.parameters {
                if parameter.distribution == Distribution::Constant {
                    slots[number].parameters.push(None);
                    continue;
                }
                let slot = *parameters.entry((name, parameter.name.clone())).or_insert_with(|| {
                    self.parameters.push(Parameter::new(&kind.name, parameter, workers));
                    self.parameters.len() - 1
                });
                self.parameters[slot].add_kind(KindId(number as u32), parameter, workers);
                slots[number].parameters.push(Some(slot));
            }
        }
        slots
    }

    fn used(view: &View<'_>) -> Vec<bool> {
        let mut used = vec![false; view.run.names.kinds.len()];
        for (_, lane) in view.lanes() {
            for event in lane.samples().flat_map(|sample| sample.events()) {
                used[event.kind.0 as usize] = true;
            }
        }
        used
    }

    fn event(&mut self, slots: &Slots, event: &Event<'_>, spot: &Spot<'_>) {
        if let (Some(slot), Some(applied)) = (slots.applied, event.applied) {
            let count = &mut self.applied[slot].by_worker[spot.worker];
            *count = (count.0 + u64::from(applied), count.1 + 1);
        }
        let kind = &spot.view.run.names.kinds[event.kind.0 as usize];
        for (at, (value, declared)) in event.values.iter().zip(&kind.parameters).enumerate() {
            if let (Some(Some(slot)), false) = (slots.parameters.get(at), value.is_nan()) {
                self.parameters[*slot].value(event.kind, declared, *value, spot, at);
            }
        }
    }
}

impl Parameter {
    fn new(transform: &str, declared: &ParameterKind, workers: usize) -> Self {
        Self {
            name: format!("{transform}.{}", declared.name),
            range: declared.low.zip(declared.high),
            distribution: declared.distribution.clone(),
            steps: vec![Vec::new(); workers],
            cells: BTreeMap::new(),
            raw: vec![Vec::new(); workers],
            outside: (0, None),
            drawn: 0,
        }
    }

    fn add_kind(&mut self, kind: KindId, declared: &ParameterKind, workers: usize) {
        let range = declared.low.zip(declared.high);
        if range != self.range {
            self.range = None;
        }
        if let (Distribution::Integer, Some((low, high))) = (&declared.distribution, range)
            && let Some(cells) = whole_numbers(low, high)
            && cells <= CELLS
        {
            let by_worker = vec![vec![0; cells as usize]; workers];
            self.cells.insert(kind, Cells { low: low as i64, by_worker });
        }
    }

    fn value(&mut self, kind: KindId, declared: &ParameterKind, value: f64, spot: &Spot<'_>, at: usize) {
        self.drawn += 1;
        let Some((low, high)) =
            declared.low.zip(declared.high).filter(|(low, high)| low.is_finite() && high.is_finite())
        else {
            return self.raw[spot.worker].push(value);
        };
        let slack = ROUNDING * low.abs().max(high.abs());
        let unit = match declared.distribution {
            Distribution::Uniform if high > low => (value - low) / (high - low),
            Distribution::Integer if high >= low => (value - low + spot.unit(at)) / (high - low + 1.0),
            Distribution::Normal if high > 0.0 => 0.5 * erfc((low - value) / (high * std::f64::consts::SQRT_2)),
            Distribution::Other(_) => return self.raw[spot.worker].push(value),
            Distribution::Uniform | Distribution::Integer | Distribution::Normal | Distribution::Constant => return,
        };
        let bounded = declared.distribution != Distribution::Normal;
        let whole = declared.distribution != Distribution::Integer || value.fract() == 0.0;
        if bounded && (value < low - slack || value > high + slack || !whole) {
            self.outside.0 += 1;
            self.outside.1.get_or_insert((value, spot.view.place(spot.number, spot.seq)));
            return;
        }
        let steps = &mut self.steps[spot.worker];
        steps.resize(BINS, 0);
        steps[((unit * BINS as f64) as usize).min(BINS - 1)] += 1;
        if let Some(cells) = self.cells.get_mut(&kind) {
            let cell = (value as i64 - cells.low) as usize;
            if let Some(count) = cells.by_worker[spot.worker].get_mut(cell) {
                *count += 1;
            }
        }
    }
}

/// How many whole numbers a range holds; `None` where its ends are none.
pub fn whole_numbers(low: f64, high: f64) -> Option<u64> {
    let whole = low.fract() == 0.0 && high.fract() == 0.0 && low.abs() < 1e15 && high.abs() < 1e15 && high >= low;
    whole.then(|| (high - low) as u64 + 1)
}

/// Steps of several workers together.
pub fn sum_of_steps(steps: &[Vec<u32>], of: impl Fn(usize) -> bool) -> Vec<u64> {
    let mut sum = vec![0; BINS];
    for (_, counts) in steps.iter().enumerate().filter(|(worker, _)| of(*worker)) {
        sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += u64::from(*count));
    }
    sum
}
