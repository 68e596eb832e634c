//! What a recorder sees of programs: faults and their look-alikes.

use std::collections::BTreeMap;

use pipeaudit::audit::{Options, audit, depends_on_worker_count};
use pipeaudit::finding::{Code, Finding, Place, Severity};
use pipeaudit::rng::{Key, State};
use pipeaudit::trace::record::Loader;
use pipeaudit::trace::run::{BatchRow, Digest, Index, KindId, Moved, SourceId, TransformKind, Worker};
use pipeaudit::trace::{Lane, Run};

use crate::pipeline::{Generator, codes, hash};

const SAMPLES: usize = 96;
const WORKERS: usize = 2;
const EPOCHS: u32 = 3;
const BATCH: usize = 8;

/// Where a sample is made.
#[derive(Clone, Copy)]
struct At {
    epoch: u32,
    worker: u64,
    seq: u64,
    index: i64,
}

/// What one sample leaves behind: states by source, sources that it seeded, events, and what its output depends on beside its index.
#[derive(Default)]
struct Made {
    states: Vec<(&'static str, State)>,
    reseeded: Vec<&'static str>,
    events: Vec<(&'static str, bool)>,
    drawn: u64,
}

fn state(seed: u64, position: u64) -> State {
    State { key: Key(u128::from(hash(seed)) << 64 | u128::from(hash(!seed))), position }
}

/// A program with one loader of 96 images, shuffled, for two workers and three epochs.
fn program(starts: impl Fn(At) -> Vec<(&'static str, State)>, mut make: impl FnMut(At) -> Made) -> Run {
    let loader = Loader {
        location: Some("train.py:40".to_owned()),
        kind: "map".to_owned(),
        length: Some(SAMPLES as u64),
        batch_size: Some(BATCH as u64),
        num_workers: WORKERS as u32,
        shuffled: true,
        ..Loader::default()
    };
    let mut run = Run { world_size: 1, loaders: vec![loader], ..Run::default() };
    let mut sources: BTreeMap<&str, SourceId> = BTreeMap::new();
    let mut kinds: BTreeMap<&str, KindId> = BTreeMap::new();
    for epoch in 0..EPOCHS {
        let order = Generator::new(u64::from(epoch) + 1).permutation(SAMPLES);
        let mut lanes: Vec<Lane> = (0..WORKERS).map(|worker| Lane::new(0, epoch, 0, Worker(worker as i32))).collect();
        for (worker, lane) in lanes.iter_mut().enumerate() {
            for (source, state) in starts(At { epoch, worker: worker as u64, seq: 0, index: 0 }) {
                let source = *sources.entry(source).or_insert_with(|| run.names.source(source, "mt19937"));
                lane.starts.push(Moved { source, state });
            }
        }
        for (position, index) in order.into_iter().enumerate() {
            let batch = position / BATCH;
            let lane = &mut lanes[batch % WORKERS];
            let made = make(At { epoch, worker: (batch % WORKERS) as u64, seq: lane.len() as u64, index });
            for (source, state) in made.states {
                let source = *sources.entry(source).or_insert_with(|| run.names.source(source, "mt19937"));
                lane.moved(source, state);
            }
            for source in made.reseeded {
                lane.reseeded(sources[source]);
            }
            for (name, applied) in made.events {
                let kind = TransformKind { name: name.to_owned(), p: None, parameters: vec![] };
                let kind = *kinds.entry(name).or_insert_with(|| run.names.kind(kind));
                lane.event(kind, Some(applied), &[]);
            }
            let output = Digest(u128::from(hash(hash(index as u64) ^ made.drawn)));
            lane.push(Some(batch as u32), Index::Number(index), Some(output));
        }
        run.lanes.extend(lanes);
    }
    run
}

fn findings(run: &Run) -> Vec<Finding> {
    audit(run, &Options::default()).findings
}

/// A seed of its own for each epoch and worker.
fn own(at: At) -> u64 {
    1000 + u64::from(at.epoch) * 10 + at.worker
}

/// A source that starts at a seed and draws nine words a sample; the output depends on it.
fn drawing(source: &'static str, seed: u64, at: At) -> Made {
    Made { states: vec![(source, state(seed, 9 * (at.seq + 1)))], drawn: hash(seed ^ hash(at.seq)), ..Made::default() }
}

#[test]
fn a_generator_that_the_first_sample_seeds_was_never_drawn_from_as_it_was_copied() {
    for said in [true, false] {
        // The dataset's own object, copied into both workers; who makes a worker's first sample seeds it there.
        let run = program(
            |_| vec![("dataset.rng", state(3, 0))],
            |at| Made {
                reseeded: if said && at.seq == 0 { vec!["dataset.rng"] } else { vec![] },
                ..drawing("dataset.rng", own(at), at)
            },
        );
        let expected: &[Code] = if said { &[] } else { &[Code::PA101, Code::PA103] };
        assert_eq!(codes(&findings(&run)), expected);
    }
}

#[test]
fn a_seed_that_is_the_same_in_each_worker_is_found_wherever_it_is_given() {
    let run = program(
        |_| vec![("dataset.rng", state(3, 0))],
        |at| Made {
            reseeded: if at.seq == 0 { vec!["dataset.rng"] } else { vec![] },
            ..drawing("dataset.rng", 1000 + u64::from(at.epoch), at)
        },
    );
    assert_eq!(codes(&findings(&run)), [Code::PA101]);
}

#[test]
fn outputs_follow_the_number_of_workers_where_streams_are_drawn_on() {
    let notes = |run: &Run| -> Vec<Code> {
        depends_on_worker_count(run, &Options::default()).iter().map(|finding| finding.code).collect()
    };
    let drawn_on = program(|at| vec![("torch", state(own(at), 0))], |at| drawing("torch", own(at), at));
    assert_eq!(notes(&drawn_on), [Code::PA302]);
    // Seeded anew for each sample, from its index and the epoch: who makes it is no matter.
    let by_sample = |at: At| {
        let seed = 5000 + 100 * u64::from(at.epoch) + at.index as u64;
        Made { states: vec![("dataset.rng", state(seed, 9))], drawn: hash(seed), ..Made::default() }
    };
    assert_eq!(notes(&program(|_| vec![("dataset.rng", state(3, 0))], by_sample)), []);
    // Drawn on without effect.
    let idle = |at: At| Made { drawn: 0, ..drawing("torch", own(at), at) };
    assert_eq!(notes(&program(|at| vec![("torch", state(own(at), 0))], idle)), []);
}

#[test]
fn a_constant_seed_for_each_sample_is_one_fault_and_not_five() {
    let run = program(
        |at| vec![("torch", state(own(at), 0))],
        |_| Made { states: vec![("torch", state(42, 30)), ("local:aug.py:20", state(42, 624))], ..Made::default() },
    );
    let found = findings(&run);
    assert_eq!(codes(&found), [Code::PA105]);
    assert_eq!(found[0].sources, ["torch", "local:aug.py:20"]);
    assert_eq!(found[0].places.len(), 3);
}

#[test]
fn a_worker_whose_seeds_are_all_zero_is_named() {
    let run = program(
        |_| vec![],
        |at| {
            let seed = 1337 * at.worker * (u64::from(at.epoch) * 1000 + at.seq + 1);
            Made { states: vec![("local:data.py:27", state(seed, 624))], drawn: seed, ..Made::default() }
        },
    );
    let found = findings(&run);
    assert_eq!(codes(&found), [Code::PA105]);
    assert!(
        found[0].message.starts_with("48 delivered, 1 distinct augmentations (2 %): 47 of 48 samples of worker 0"),
        "{}",
        found[0].message
    );
}

fn seeded(seed: impl Fn(At) -> u64) -> Vec<Finding> {
    let run = program(
        |_| vec![],
        |at| Made { states: vec![("local:data.py:20", state(seed(at), 624))], drawn: seed(at), ..Made::default() },
    );
    findings(&run)
}

#[test]
fn a_seed_by_epoch_and_index_is_sound_and_one_by_index_repeats_epochs() {
    assert!(seeded(|at| hash(u64::from(at.epoch) << 32 | at.index as u64)).is_empty());
    let found = seeded(|at| hash(at.index as u64));
    assert_eq!(codes(&found), [Code::PA103]);
    assert!(found[0].message.starts_with("288 delivered, 96 distinct augmentations (33 %)"), "{}", found[0].message);
    assert!(found[0].cause.as_ref().unwrap().contains("data.py:20"));
    let places = &found[0].places;
    assert_eq!(places.iter().map(|place| place.epoch).collect::<Vec<_>>(), [0, 1, 2]);
    let index = |place: &Place, run: &Run| {
        let lane = run.lanes.iter().find(|lane| (lane.epoch, lane.worker.0) == (place.epoch, place.worker)).unwrap();
        lane.sample(place.seq as usize).index
    };
    let run = program(|_| vec![], |_| Made::default());
    assert!(places.iter().all(|place| index(place, &run) == index(&places[0], &run)));
}

#[test]
fn a_global_generator_that_is_seeded_by_index_in_each_sample_repeats_epochs() {
    let run = program(
        |at| vec![("torch", state(own(at), 0))],
        |at| Made { states: vec![("torch", state(at.index as u64, 40))], drawn: at.index as u64, ..Made::default() },
    );
    assert_eq!(codes(&findings(&run)), [Code::PA103]);
}

#[test]
fn a_call_counter_without_worker_is_the_same_in_workers_and_epochs() {
    assert_eq!(codes(&seeded(|at| 77 + at.seq)), [Code::PA101, Code::PA103]);
}

#[test]
fn small_seeds_that_collide_now_and_then_are_no_reset() {
    // Birthdays: 48 draws from 2^12 seeds in a lane.
    let found = seeded(|at| hash(own(at) << 20 | at.seq) % 4096);
    assert!(!codes(&found).contains(&Code::PA105), "{found:?}");
}

#[test]
fn a_fresh_seed_that_image_and_mask_share_is_sound() {
    let run = program(
        |at| vec![("python", state(own(at), 0)), ("torch", state(own(at) + 500, 0))],
        |at| {
            let seed = hash(own(at) ^ hash(at.seq));
            let states = vec![
                ("python", state(own(at), at.seq + 1)),
                ("torch", state(seed, 20)),
                ("local:pair.py:34", state(seed, 624)),
                ("local:pair.py:36", state(seed, 624)),
            ];
            Made { states, drawn: seed, ..Made::default() }
        },
    );
    assert!(findings(&run).is_empty());
}

#[test]
fn libraries_that_are_seeded_with_one_number_are_a_warning() {
    let both = |at: At| {
        let states = vec![("numpy", state(own(at), 2 * (at.seq + 1))), ("torch", state(own(at), 9 * (at.seq + 1)))];
        Made { states, drawn: hash(own(at) ^ hash(at.seq)), ..Made::default() }
    };
    let starts = |at| vec![("numpy", state(own(at), 0)), ("torch", state(own(at), 0))];
    let found = findings(&program(starts, both));
    assert_eq!(codes(&found), [Code::PA106]);
    assert_eq!(
        (found[0].severity, found[0].sources.as_slice()),
        (Severity::Warning, &["numpy".to_owned(), "torch".to_owned()][..])
    );
    // The one that nobody draws from does not count.
    assert!(findings(&program(starts, |at| drawing("numpy", own(at), at))).is_empty());
}

#[test]
fn held_generators_that_stay_in_step_are_a_note() {
    let run = program(
        |at| vec![("dataset.image.rng", state(own(at), 0)), ("dataset.mask.rng", state(own(at), 0))],
        |at| {
            let after = state(own(at), 9 * (at.seq + 1));
            let states = vec![("dataset.image.rng", after), ("dataset.mask.rng", after)];
            Made { states, drawn: hash(own(at) ^ hash(at.seq)), ..Made::default() }
        },
    );
    let found = findings(&run);
    assert_eq!(found.iter().map(|f| (f.code, f.severity)).collect::<Vec<_>>(), [(Code::PA106, Severity::Note)]);
}

#[test]
fn attributes_of_neighbouring_workers_that_share_seeds_meet_elsewhere() {
    let starts = |at| vec![("dataset.crop.R", state(own(at), 0)), ("dataset.flip.R", state(own(at) + 1, 0))];
    let run = program(starts, |at| {
        let states = vec![
            ("dataset.crop.R", state(own(at), 5 * (at.seq + 1))),
            ("dataset.flip.R", state(own(at) + 1, 7 * (at.seq + 1))),
        ];
        Made { states, drawn: hash(own(at) ^ hash(at.seq)), ..Made::default() }
    });
    let found = findings(&run);
    assert_eq!(codes(&found), [Code::PA104]);
    assert_eq!(found[0].sources, ["dataset.crop.R", "dataset.flip.R"]);
    assert!(found[0].message.contains("`dataset.crop.R` of epoch 0 worker 1"), "{}", found[0].message);
}

#[test]
fn a_main_generator_that_moves_on_a_little_is_told_in_words() {
    // Fork copies the main process's generator; each epoch the loader takes four words of it.
    let start = |at: At| 4 * (u64::from(at.epoch) + 1);
    let run = program(
        |at| vec![("numpy", state(7, start(at)))],
        |at| {
            let position = start(at) + 9 * (at.seq + 1);
            Made { states: vec![("numpy", state(7, position))], drawn: position, ..Made::default() }
        },
    );
    let found = findings(&run);
    assert_eq!(
        found.iter().map(|f| (f.code, f.severity)).collect::<Vec<_>>(),
        [(Code::PA101, Severity::Error), (Code::PA104, Severity::Warning)]
    );
    assert!(found[1].message.contains("4 words shifted"), "{}", found[1].message);
}

#[test]
fn streams_of_one_key_that_lie_far_apart_do_not_overlap() {
    let start = |at: At| own(at) << 32;
    let run = program(
        |at| vec![("dataset.rng", state(7, start(at)))],
        |at| {
            let position = start(at) + 9 * (at.seq + 1);
            Made { states: vec![("dataset.rng", state(7, position))], drawn: position, ..Made::default() }
        },
    );
    assert!(findings(&run).is_empty());
}

#[test]
fn two_copied_generators_of_one_object_are_one_finding_a_code() {
    let run = program(
        |_| vec![("dataset.transform.random_generator", state(1, 0)), ("dataset.transform.py_random", state(2, 0))],
        |at| {
            let states = vec![
                ("dataset.transform.random_generator", state(1, 3 * (at.seq + 1))),
                ("dataset.transform.py_random", state(2, 5 * (at.seq + 1))),
            ];
            Made {
                states,
                events: vec![("Affine", hash(at.seq).is_multiple_of(2))],
                drawn: hash(at.seq),
                ..Made::default()
            }
        },
    );
    let found = findings(&run);
    assert_eq!(codes(&found), [Code::PA101, Code::PA103]);
    for finding in &found {
        assert_eq!(finding.sources, ["dataset.transform.random_generator", "dataset.transform.py_random"]);
    }
    assert!(found[0].cause.as_ref().unwrap().contains("made before the workers start"));
}

#[test]
fn a_constant_compose_beside_sound_flips_accuses_nobody() {
    let run = program(
        |at| vec![("dataset.prep.rng", state(1, 0)), ("torch", state(own(at), 0))],
        |at| {
            let flip = hash(own(at) ^ hash(at.seq)).is_multiple_of(2);
            let states = vec![("dataset.prep.rng", state(1, 3 * (at.seq + 1))), ("torch", state(own(at), at.seq + 1))];
            Made { states, events: vec![("RandomHorizontalFlip", flip)], drawn: u64::from(flip), ..Made::default() }
        },
    );
    assert!(findings(&run).is_empty());
}

#[test]
fn a_generator_that_is_drawn_from_once_a_worker_builds_something() {
    let run = program(
        |at| vec![("dataset.rng", state(1, 0)), ("torch", state(own(at), 0))],
        |at| {
            let mut made = drawing("torch", own(at), at);
            if at.seq == 0 {
                made.states.push(("dataset.rng", state(1, 500)));
            }
            made
        },
    );
    assert!(findings(&run).is_empty());
}

#[test]
fn samples_that_are_kept_after_augmentation_repeat_epochs() {
    let kept = |events: bool| {
        program(
            |at| vec![("torch", state(own(at), 0))],
            move |at| {
                // All is drawn in epoch 0, and nothing later.
                let drawn = hash(at.index as u64 ^ 0x55);
                if at.epoch > 0 {
                    return Made { drawn, ..Made::default() };
                }
                let events = if events { vec![("Flip", drawn.is_multiple_of(2))] } else { vec![] };
                Made { states: vec![("torch", state(own(at), 9 * (at.seq + 1)))], events, drawn, ..Made::default() }
            },
        )
    };
    let found = findings(&kept(true));
    assert_eq!(codes(&found), [Code::PA103]);
    assert!(found[0].message.starts_with("288 delivered, 192 of them as in an earlier epoch"), "{}", found[0].message);
    let plain = findings(&kept(false));
    assert_eq!(plain.iter().map(|f| (f.code, f.severity)).collect::<Vec<_>>(), [(Code::PA103, Severity::Note)]);
}

/// Batches that are mixed while they are collated, from a seed for each lane.
fn mixing(seed: fn(At) -> u64) -> Run {
    let start = move |at| vec![("torch", state(seed(at), 0))];
    let mut run = program(start, |_| Made::default());
    let source = run.names.source("torch", "mt19937");
    for lane in &mut run.lanes {
        let at = At { epoch: lane.epoch, worker: lane.worker.0 as u64, seq: 0, index: 0 };
        let mut batches: Vec<u32> = lane.samples().filter_map(|sample| sample.batch).collect();
        batches.dedup();
        let row = |(number, batch): (usize, &u32)| BatchRow {
            batch: *batch,
            output: Some(Digest(u128::from(hash(seed(at) ^ hash(u64::from(*batch)))))),
            states: vec![Moved { source, state: state(seed(at), 6 * (number as u64 + 1)) }],
        };
        lane.batches = batches.iter().enumerate().map(row).collect();
    }
    run
}

#[test]
fn batches_may_be_mixed_from_the_workers_own_streams_but_not_from_copies() {
    assert!(findings(&mixing(own)).is_empty());
    assert_eq!(codes(&findings(&mixing(|_| 5))), [Code::PA101, Code::PA103]);
}

#[test]
fn a_source_that_workers_begin_to_use_at_different_samples_is_alike_from_the_start() {
    let run = program(
        |_| vec![("dataset.rng", state(3, 0))],
        |at| {
            let used = (at.seq + 1).saturating_sub(2 * at.worker);
            let mut made = Made { drawn: hash(own(at) ^ hash(at.seq)), ..Made::default() };
            if used > 0 {
                made.states.push(("dataset.rng", state(3, 9 * used)));
            }
            made
        },
    );
    let found = findings(&run);
    assert_eq!(codes(&found), [Code::PA101, Code::PA103]);
}
