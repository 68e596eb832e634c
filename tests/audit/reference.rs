//! Meetings of streams against plain loops over all pairs of places.

use std::collections::BTreeSet;

use pipeaudit::audit::{Options, audit};
use pipeaudit::finding::{Code, Place};
use pipeaudit::rng::{Key, State};
use pipeaudit::trace::run::{Digest, Index, Moved, Worker};
use pipeaudit::trace::{Lane, Run};
use proptest::prelude::*;

use crate::pipeline::Pipeline;

/// By epoch, rank and worker: the seed that a lane starts from, and how far into its stream.
#[derive(Clone, Debug)]
struct Lanes {
    ranks: u32,
    workers: i32,
    epochs: u32,
    samples: u32,
    starts: Vec<(u8, u8)>,
}

fn lanes() -> impl Strategy<Value = Lanes> {
    (1..=2_u32, 1..=3_i32, 1..=3_u32, 1..=6_u32).prop_flat_map(|(ranks, workers, epochs, samples)| {
        let count = (ranks * workers as u32 * epochs) as usize;
        proptest::collection::vec((0..12_u8, 0..4_u8), count).prop_map(move |starts| Lanes {
            ranks,
            workers,
            epochs,
            samples,
            starts,
        })
    })
}

/// Seed and position stand for a state; each sample draws one.
fn state((seed, position): (u8, u8)) -> State {
    State { key: Key(u128::from(seed) * 1000 + u128::from(position)), position: 0 }
}

fn run(lanes: &Lanes) -> Run {
    let mut run = Run { world_size: lanes.ranks, loaders: vec![Pipeline::default().loader()], ..Run::default() };
    run.loaders[0].length = None;
    let source = run.names.source("rng", "pcg64");
    let mut starts = lanes.starts.iter();
    let mut index = 0;
    for epoch in 0..lanes.epochs {
        for rank in 0..lanes.ranks {
            for worker in 0..lanes.workers {
                let (seed, first) = *starts.next().unwrap();
                let mut lane = Lane::new(0, epoch, rank, Worker(worker));
                lane.starts.push(Moved { source, state: state((seed, first)) });
                for seq in 0..lanes.samples {
                    lane.moved(source, state((seed, first + seq as u8 + 1)));
                    index += 1;
                    lane.push(None, Index::Number(index), Some(Digest(index as u128)));
                }
                run.lanes.push(lane);
            }
        }
    }
    run
}

/// Every place with the state in which its sample starts.
fn places(lanes: &Lanes) -> Vec<(Place, State)> {
    let mut places = Vec::new();
    let mut starts = lanes.starts.iter();
    for epoch in 0..lanes.epochs {
        for rank in 0..lanes.ranks {
            for worker in 0..lanes.workers {
                let (seed, first) = *starts.next().unwrap();
                for seq in 0..lanes.samples {
                    places.push((Place { epoch, rank, worker, seq }, state((seed, first + seq as u8))));
                }
            }
        }
    }
    places
}

/// The codes that some pair of places asks for by itself, and whether any pair is none of these.
fn by_pairs(lanes: &Lanes) -> (BTreeSet<Code>, bool) {
    let places = places(lanes);
    let mut codes = BTreeSet::new();
    let mut elsewhere = false;
    for (i, (a, state_a)) in places.iter().enumerate() {
        for (b, state_b) in &places[i + 1..] {
            if state_a != state_b {
                continue;
            }
            let same = (a.epoch == b.epoch, a.rank == b.rank, a.worker == b.worker, a.seq == b.seq);
            match same {
                (true, true, false, true) => _ = codes.insert(Code::PA101),
                (true, false, true, true) => _ = codes.insert(Code::PA102),
                (false, true, true, true) => _ = codes.insert(Code::PA103),
                _ => elsewhere = true,
            }
        }
    }
    (codes, elsewhere)
}

/// Lanes that can be reached from each other by pairs of the plain kinds.
fn sets(lanes: &Lanes) -> Vec<usize> {
    let places = places(lanes);
    let lane = |at: usize| at / lanes.samples as usize;
    let mut set: Vec<usize> = (0..lanes.starts.len()).collect();
    for _ in 0..lanes.starts.len() {
        for i in 0..places.len() {
            for j in 0..places.len() {
                let (a, b) = (places[i].0, places[j].0);
                let differ =
                    usize::from(a.epoch != b.epoch) + usize::from(a.rank != b.rank) + usize::from(a.worker != b.worker);
                if places[i].1 == places[j].1 && a.seq == b.seq && differ == 1 {
                    let least = set[lane(i)].min(set[lane(j)]);
                    (set[lane(i)], set[lane(j)]) = (least, least);
                }
            }
        }
    }
    set
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, rng_seed: proptest::test_runner::RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn codes_are_those_of_all_pairs(lanes in lanes()) {
        let found: Vec<_> = audit(&run(&lanes), &Options::default()).findings;
        let streams = |code: &Code| matches!(code, Code::PA101 | Code::PA102 | Code::PA103 | Code::PA104);
        let codes: BTreeSet<Code> = found.iter().map(|finding| finding.code).filter(streams).collect();
        let (mut expected, elsewhere) = by_pairs(&lanes);
        // What is met elsewhere counts only between lanes that nothing plainer joins.
        let set = sets(&lanes);
        let places = places(&lanes);
        let lane = |at: usize| at / lanes.samples as usize;
        let apart = (0..places.len()).any(|i| (0..i).any(|j| places[i].1 == places[j].1 && set[lane(i)] != set[lane(j)]));
        prop_assert!(elsewhere || !apart);
        if apart {
            expected.insert(Code::PA104);
        }
        prop_assert_eq!(codes, expected);
        for finding in &found {
            for pair in finding.places.windows(2).filter(|_| streams(&finding.code)) {
                let state = |place: &Place| places.iter().find(|(other, _)| other == place).unwrap().1;
                prop_assert_eq!(state(&pair[0]), state(&pair[1]), "places of {} share a state", finding.code);
            }
        }
    }
}
