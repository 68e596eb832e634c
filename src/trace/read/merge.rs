//! Processes to one run: workers to their main processes, loaders over ranks, passes to epochs.
//!
//! Ranks that run the same program have the same loaders: those of one place in the source (`where`), the first made
//! there with the first, the second with the second. Two main processes that claim the same rank are no ranks of one
//! job (one program after another; ranks that do not know it): each keeps loaders of its own, and they are not compared
//! with each other.

use std::collections::{BTreeMap, BTreeSet};

use super::process::{LaneSoFar, PassSoFar, Process};
use super::{Loaded, Notes};
use crate::trace::record::{self, Fault};
use crate::trace::run::{Lane, Names, Pass, PassStart, Run, Seeded, Worker};

/// What makes two ranks' loaders one.
type LoaderKey = (u32, usize, Option<String>, Option<String>, usize);

/// A main process: where it stands, and what its numbers are in the run.
struct Main {
    process: usize,
    rank: u32,
    /// Number in the run by number in the process.
    loaders: BTreeMap<u32, u32>,
    /// Epoch by (loader, pass), both of the process; `None`: passes are epochs.
    epochs: Option<BTreeMap<(u32, u32), u32>>,
}

impl Main {
    /// The run's loader and epoch; `None` where the pass does not count or the loader was not described.
    fn place(&self, loader: u32, pass: u32) -> Option<(u32, u32)> {
        let number = *self.loaders.get(&loader)?;
        let epoch = self.epochs.as_ref().map_or(Some(pass), |epochs| epochs.get(&(loader, pass)).copied())?;
        Some((number, epoch))
    }
}

/// Merges what shards said.
pub(super) fn merge(mut processes: Vec<Process>, names: Names, faults: Vec<Fault>, notes: Notes) -> Loaded {
    let mut merged = Merged { run: Run { names, faults, ..Run::default() }, notes, mains: Vec::new() };
    merged.describe(&processes);
    merged.find_mains(&processes);
    let owners = merged.owners(&processes);
    for (process, owner) in processes.iter_mut().zip(owners) {
        merged.take(process, owner);
    }
    merged.finish(&processes)
}

struct Merged {
    run: Run,
    notes: Notes,
    mains: Vec<Main>,
}

impl Merged {
    /// What holds for the whole run.
    fn describe(&mut self, processes: &[Process]) {
        let run = &mut self.run;
        run.world_size = processes.iter().map(|process| process.about.world_size).max().unwrap_or(1);
        run.name = processes
            .iter()
            .map(|process| &process.about.run)
            .find(|name| !name.is_empty())
            .cloned()
            .unwrap_or_default();
        run.cores = processes.iter().find_map(|process| process.about.cores);
        for process in processes {
            for (library, version) in &process.about.libraries {
                run.libraries.entry(library.clone()).or_insert_with(|| version.clone());
            }
        }
        let ranks: BTreeSet<u32> = processes.iter().map(|process| process.about.rank).collect();
        let missing: Vec<u32> = (0..run.world_size).filter(|rank| !ranks.contains(rank)).take(9).collect();
        if !missing.is_empty() {
            let shown: Vec<String> = missing.iter().take(8).map(u32::to_string).collect();
            let more = if missing.len() > 8 { " and others" } else { "" };
            let message = format!("no shard of rank {}{more} of {} ranks", shown.join(", "), run.world_size);
            run.faults.push(Fault { location: "ranks".to_owned(), message, count: 1 });
        }
    }

    /// Numbers the loaders of the main processes, in the order of ranks.
    fn find_mains(&mut self, processes: &[Process]) {
        let counted = processes.iter().any(|process| process.passes.values().any(|pass| pass.counts.is_some()));
        let mut order: Vec<usize> = (0..processes.len()).filter(|at| !processes[*at].is_worker()).collect();
        // Stable: shards come sorted, so that equal ranks stay in the order in which they were started.
        order.sort_by_key(|at| (processes[*at].about.rank, processes[*at].loaders.is_empty()));
        let mut instances: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        let mut known: BTreeMap<LoaderKey, u32> = BTreeMap::new();
        for at in order {
            let process = &processes[at];
            let job = (process.about.world_size, process.about.rank);
            let instance = instances.entry(job).or_default();
            let loaders = self.number_loaders(process, *instance, &mut known);
            *instance += 1;
            let epochs = counted.then(|| {
                let counting =
                    process.passes.iter().filter_map(|(key, pass)| Some((*key, pass.counts.as_ref()?.epoch)));
                counting.collect()
            });
            self.mains.push(Main { process: at, rank: process.about.rank, loaders, epochs });
        }
    }

    fn number_loaders(
        &mut self,
        process: &Process,
        instance: usize,
        known: &mut BTreeMap<LoaderKey, u32>,
    ) -> BTreeMap<u32, u32> {
        let mut ordinals: BTreeMap<(Option<&str>, Option<&str>), usize> = BTreeMap::new();
        let mut numbers = BTreeMap::new();
        for (own, loader) in &process.loaders {
            // Where no place is known the dataset's class stands in for it.
            let dataset = if loader.location.is_some() { None } else { loader.dataset.as_deref() };
            let ordinal = ordinals.entry((loader.location.as_deref(), dataset)).or_default();
            let key =
                (process.about.world_size, instance, loader.location.clone(), dataset.map(str::to_owned), *ordinal);
            *ordinal += 1;
            let run = &mut self.run;
            let number = *known.entry(key).or_insert_with(|| {
                let number = run.loaders.len() as u32;
                run.loaders.push(record::Loader { loader: number, ..loader.clone() });
                number
            });
            run.loaders[number as usize].cut_short |= loader.cut_short;
            numbers.insert(*own, number);
        }
        numbers
    }

    /// The main process, by its number in [`Merged::mains`], that each process is or serves.
    fn owners(&self, processes: &[Process]) -> Vec<Option<usize>> {
        let of = |at: usize, process: &Process| {
            if !process.is_worker() {
                return self.mains.iter().position(|main| main.process == at);
            }
            let about = &process.about;
            let is_parent = |main: &Main| {
                let other = &processes[main.process].about;
                about.parent.is_some() && other.pid == about.parent && other.host == about.host
            };
            self.mains.iter().position(is_parent).or_else(|| {
                let mut same_rank = self.mains.iter().enumerate().filter(|(_, main)| main.rank == about.rank);
                let only = same_rank.next().map(|(number, _)| number);
                if about.parent.is_none() && same_rank.next().is_none() { only } else { None }
            })
        };
        processes.iter().enumerate().map(|(at, process)| of(at, process)).collect()
    }

    /// Takes a process's records into the run.
    fn take(&mut self, process: &mut Process, owner: Option<usize>) {
        self.run.faults.append(&mut process.faults);
        self.notes.stopped |= !process.stopped.is_empty();
        self.notes.made += process.exit.made;
        self.notes.iterated += process.exit.iterated;
        let Some(owner) = owner else {
            let message = "a worker's records, without those of its main process: left out".to_owned();
            self.run.faults.push(Fault { location: process.shard.clone(), message, count: 1 });
            return;
        };
        let main = &self.mains[owner];
        let rank = main.rank;
        let seeded = process.seedings.drain(..).map(|call| Seeded { rank, call });
        self.run.seedings.extend(seeded);
        for threads in process.threads.drain(..) {
            if let Some((loader, epoch)) = main.place(threads.loader, threads.epoch) {
                self.run.threads.push((rank, record::Threads { loader, epoch, ..threads }));
            }
        }
        let mut undescribed = BTreeSet::new();
        for ((loader, pass, _), so_far) in &mut process.lanes {
            if !main.loaders.contains_key(loader) {
                undescribed.insert(*loader);
            } else if let Some((number, epoch)) = main.place(*loader, *pass) {
                let mut lane = std::mem::replace(&mut so_far.lane, Lane::new(0, 0, 0, Worker::MAIN));
                (lane.loader, lane.epoch, lane.rank) = (number, epoch, rank);
                self.run.lanes.push(lane);
            }
        }
        for loader in undescribed {
            let message = format!("records of loader {loader}, which no record describes: left out");
            self.run.faults.push(Fault { location: process.shard.clone(), message, count: 1 });
        }
    }

    fn finish(mut self, processes: &[Process]) -> Loaded {
        self.sort_lanes();
        let owners = self.owners(processes);
        for number in 0..self.mains.len() {
            self.take_passes(number, processes, &owners);
        }
        let run = &mut self.run;
        run.passes.sort_by_key(|pass| (pass.loader, pass.epoch, pass.rank));
        run.passes.dedup_by_key(|pass| (pass.loader, pass.epoch, pass.rank));
        run.starts.sort_by_key(|start| (start.loader, start.epoch, start.rank));
        let samples = run.lanes.iter().flat_map(Lane::samples);
        self.notes.opaque = samples.filter(|sample| sample.opaque() > 0).count() as u64;
        Loaded { run: self.run, about: None, notes: self.notes }
    }

    /// Sorts the lanes; of two for one place the longer stays.
    fn sort_lanes(&mut self) {
        let run = &mut self.run;
        let place = |lane: &Lane| (lane.loader, lane.epoch, lane.rank, lane.worker);
        run.lanes.sort_by_key(|lane| (place(lane), std::cmp::Reverse(lane.len())));
        let mut faults = Vec::new();
        run.lanes.dedup_by(|later, first| {
            let same = place(later) == place(first);
            if same {
                let (epoch, rank, worker) = (first.epoch, first.rank, first.worker);
                let location = format!("epoch {epoch} rank {rank} {worker}");
                let message = "recorded by two processes: the longer record is used".to_owned();
                faults.push(Fault { location, message, count: 1 });
            }
            same
        });
        run.faults.append(&mut faults);
    }

    /// The passes of a main process, by its own records, or by those of its workers where it left none.
    fn take_passes(&mut self, number: usize, processes: &[Process], owners: &[Option<usize>]) {
        let main = &self.mains[number];
        let own = &processes[main.process];
        let mut ends: BTreeMap<(u32, u32), bool> = BTreeMap::new();
        for process in
            processes.iter().zip(owners).filter(|(_, owner)| **owner == Some(number)).map(|(process, _)| process)
        {
            for ((loader, pass, _), LaneSoFar { whole, .. }) in &process.lanes {
                *ends.entry((*loader, *pass)).or_insert(true) &= *whole == Some(true);
            }
        }
        let keys: BTreeSet<(u32, u32)> = own.passes.keys().chain(ends.keys()).copied().collect();
        for (loader, pass) in keys {
            let known = own.passes.get(&(loader, pass));
            let Some((number, epoch)) = main.place(loader, pass) else {
                self.notes.left_out += u64::from(main.loaders.contains_key(&loader));
                continue;
            };
            let short = own.loaders.get(&loader).is_some_and(|loader| loader.cut_short);
            let by_workers = ends.get(&(loader, pass)).is_some_and(|whole| *whole) && !short;
            let whole = known.map_or(by_workers, |known| known.end.as_ref().is_some_and(|end| end.whole));
            let delivered = known.and_then(delivered);
            self.run.passes.push(Pass { loader: number, epoch, rank: main.rank, delivered, whole });
            if let Some(PassSoFar { counts: Some(counts), main: states, .. }) = known
                && (counts.base_seed.is_some() || !states.is_empty())
            {
                let (base_seed, rank, states) = (counts.base_seed, main.rank, states.clone());
                self.run.starts.push(PassStart { loader: number, epoch, rank, base_seed, main: states });
            }
        }
    }
}

/// The batches that the loop received; `None` where the main process did not record them.
fn delivered(pass: &PassSoFar) -> Option<Vec<u32>> {
    let recorded = !pass.delivered.is_empty() || pass.end.as_ref().is_some_and(|end| end.batches.is_some());
    recorded.then(|| pass.delivered.clone())
}
