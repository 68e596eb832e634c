//! Orders that repeat, samples that come twice, samples that never come.

use pipeaudit::audit::{Options, audit, compare_seeds, compare_worker_counts};
use pipeaudit::finding::{Code, Finding, Place, Severity};
use pipeaudit::rng::{Key, State};
use pipeaudit::trace::record::{Loader, Seeding};
use pipeaudit::trace::run::{Digest, Index, Moved, Pass, Seeded, Worker};
use pipeaudit::trace::{Lane, Run};

use crate::pipeline::{Generator, Pipeline, codes, hash};

fn findings(run: &Run) -> Vec<Finding> {
    audit(run, &Options::default()).findings
}

fn notes(findings: &[Finding]) -> Vec<Code> {
    findings.iter().filter(|finding| finding.severity == Severity::Note).map(|finding| finding.code).collect()
}

fn loader(length: u64, workers: u32) -> Loader {
    Loader {
        location: Some("train.py:9".to_owned()),
        kind: "map".to_owned(),
        length: Some(length),
        batch_size: Some(8),
        num_workers: workers,
        sampler: Some("RandomSampler".to_owned()),
        shuffled: true,
        ..Loader::default()
    }
}

/// A run of one loader: by epoch and rank, what was delivered in order, in batches of eight dealt to two workers.
fn map_run(loader: Loader, epochs: &[Vec<Vec<i64>>]) -> Run {
    let ranks = epochs[0].len() as u32;
    let mut run = Run { world_size: ranks, loaders: vec![loader], ..Run::default() };
    for (epoch, by_rank) in epochs.iter().enumerate() {
        for (rank, order) in by_rank.iter().enumerate() {
            let (epoch, rank) = (epoch as u32, rank as u32);
            let mut lanes = [0, 1].map(|worker| Lane::new(0, epoch, rank, Worker(worker)));
            for (batch, indices) in order.chunks(8).enumerate() {
                for index in indices {
                    let output = Digest(u128::from(hash(*index as u64)));
                    lanes[batch % 2].push(Some(batch as u32), Index::Number(*index), Some(output));
                }
            }
            run.lanes.extend(lanes);
            run.passes.push(Pass { loader: 0, epoch, rank, delivered: None, whole: true });
        }
    }
    run
}

fn order(seed: u64, n: usize) -> Vec<i64> {
    Generator::new(seed).permutation(n)
}

fn part(order: &[i64], rank: usize, ranks: usize) -> Vec<i64> {
    order.iter().skip(rank).step_by(ranks).copied().collect()
}

#[test]
fn without_set_epoch_the_order_repeats_and_nothing_else_is_wrong() {
    let seeding = |base: u64, _, rank, worker| base.wrapping_add(worker) ^ (rank << 40);
    let found = findings(&Pipeline { ranks: 2, set_epoch: false, seeding, ..Pipeline::default() }.run());
    assert_eq!(codes(&found), [Code::PA401]);
    assert_eq!(found[0].message, "32 samples delivered in the same order in all 2 epochs on all 2 ranks");
    let at = |epoch| Place { epoch, rank: 0, worker: 0, seq: 0 };
    assert_eq!(found[0].places, [at(0), at(1)]);
    assert!(found[0].cause.as_ref().unwrap().contains("not told the epoch"));
}

#[test]
fn a_main_process_that_is_seeded_each_epoch_is_named() {
    let mut run = map_run(loader(96, 2), &[vec![order(1, 96)], vec![order(2, 96)], vec![order(1, 96)]]);
    let call = Seeding {
        location: "train.py:42".to_owned(),
        call: "torch.manual_seed".to_owned(),
        source: Some("torch".to_owned()),
        worker: -1,
        seed: Some("1234".to_owned()),
    };
    run.seedings = vec![Seeded { rank: 0, call: call.clone() }, Seeded { rank: 0, call }];
    let found = findings(&run);
    assert_eq!(codes(&found), [Code::PA401]);
    assert_eq!(found[0].message, "96 samples delivered in the same order in epochs 0 and 2");
    assert!(found[0].cause.as_ref().unwrap().ends_with("at train.py:42"));
}

#[test]
fn an_order_repeats_as_far_as_epochs_that_were_cut_short_went() {
    let mut run = map_run(loader(96, 2), &[vec![order(1, 96)], vec![order(1, 96)]]);
    for pass in &mut run.passes {
        (pass.delivered, pass.whole) = (Some(vec![0, 1, 2]), false);
    }
    run.loaders[0].cut_short = true;
    assert_eq!(
        findings(&run)[0].message,
        "24 samples delivered in the same order in all 2 epochs, as far as they went"
    );
}

#[test]
fn a_handful_of_samples_repeat_their_order_by_chance() {
    let run = map_run(loader(6, 2), &[vec![order(1, 6)], vec![order(1, 6)]]);
    let audited = audit(&run, &Options::default());
    assert!(audited.findings.is_empty());
    assert!(audited.not_tested[0].contains("by chance"));
}

#[test]
fn a_loader_that_was_not_asked_to_shuffle_repeats_rightly() {
    let unshuffled = Loader { shuffled: false, ..loader(96, 2) };
    assert!(findings(&map_run(unshuffled, &[vec![order(1, 96)], vec![order(1, 96)]])).is_empty());
}

#[test]
fn ranks_that_split_different_orders_share_and_miss_samples() {
    let split: Vec<Vec<i64>> = (0..2).map(|rank| part(&order(rank as u64 + 5, 128), rank, 2)).collect();
    let found = findings(&map_run(
        loader(64, 2),
        &[split.clone(), split.iter().map(|p| p.iter().rev().copied().collect()).collect()],
    ));
    assert_eq!(codes(&found), [Code::PA402, Code::PA403]);
    assert!(found[0].cause.as_ref().unwrap().contains("overlap"));
    let one: Vec<Vec<i64>> = (0..2).map(|rank| part(&order(5, 128), rank, 2)).collect();
    assert!(findings(&map_run(loader(64, 2), &[one])).is_empty());
}

#[test]
fn ranks_whose_samplers_are_seeded_apart_share_and_miss_samples() {
    let epoch = |seed: u64| (0..2).map(|rank| part(&order(seed + rank as u64, 64), rank, 2)).collect::<Vec<_>>();
    let found = findings(&map_run(loader(64, 2), &[epoch(1), epoch(11)]));
    assert_eq!(codes(&found), [Code::PA402, Code::PA403]);
}

#[test]
fn a_first_look_at_a_batch_is_no_epoch_that_repeats() {
    let mut run = map_run(loader(96, 2), &[vec![order(1, 96)], vec![order(1, 96)], vec![order(2, 96)]]);
    assert_eq!(codes(&findings(&run)), [Code::PA401]);
    (run.passes[0].delivered, run.passes[0].whole) = (Some(vec![0, 1]), false);
    assert!(findings(&run).is_empty());
}

#[test]
fn a_run_that_delivers_nothing_decides_nothing() {
    let mut run = map_run(loader(96, 2), &[vec![order(1, 96)]]);
    run.passes[0].delivered = Some(Vec::new());
    let audited = audit(&run, &Options::default());
    assert_eq!(audited.inconclusive, ["no sample was delivered"]);
    assert_eq!(audit(&Run::default(), &Options::default()).inconclusive.len(), 1);
}

#[test]
fn ranks_that_each_deliver_everything_are_told() {
    let all = vec![order(1, 64), order(2, 64)];
    let found = findings(&map_run(loader(64, 2), std::slice::from_ref(&all)));
    assert_eq!(codes(&found), [Code::PA402]);
    assert!(found[0].message.starts_with("128 delivered in epoch 0, 64 distinct (50 %)"), "{}", found[0].message);
    let evaluation = Loader { shuffled: false, ..loader(64, 2) };
    let found = findings(&map_run(evaluation, &[all]));
    assert_eq!((codes(&found), notes(&found)), (vec![], vec![Code::PA402]));
}

#[test]
fn padding_is_a_note_where_nothing_is_shuffled_and_silent_elsewhere() {
    let padded: Vec<i64> = (0..21).chain([0]).collect();
    let parts = vec![part(&padded, 0, 2), part(&padded, 1, 2)];
    let distributed = Loader { padding: 1, sampler: Some("DistributedSampler".to_owned()), ..loader(21, 2) };
    assert!(findings(&map_run(distributed.clone(), std::slice::from_ref(&parts))).is_empty());
    let found = findings(&map_run(Loader { shuffled: false, ..distributed }, &[parts]));
    assert_eq!((codes(&found), notes(&found)), (vec![], vec![Code::PA402]));
    assert!(found[0].message.ends_with("index 0 came 2 times"), "{}", found[0].message);
}

#[test]
fn samplers_that_repeat_on_purpose_are_left_alone() {
    let replacing = Loader { replacement: true, ..loader(64, 2) };
    let repeated: Vec<i64> = order(1, 64).into_iter().map(|index| index / 3).collect();
    assert!(findings(&map_run(replacing, &[vec![repeated.clone()]])).is_empty());
    assert!(codes(&findings(&map_run(loader(64, 2), &[vec![repeated]]))).contains(&Code::PA402));
}

#[test]
fn drop_last_leaves_a_tail_out() {
    let dropping = Loader { drop_last: true, batch_size: Some(16), ..loader(109, 2) };
    let epoch = |seed| vec![order(seed, 109)[..96].to_vec()];
    assert!(findings(&map_run(dropping, &[epoch(1), epoch(2), epoch(3)])).is_empty());
}

#[test]
fn a_remainder_that_a_sampler_loses_is_missing() {
    let epoch = |seed| vec![order(seed, 110)[..108].to_vec()];
    let found = findings(&map_run(loader(110, 4), &[epoch(1), epoch(2)]));
    assert_eq!(codes(&found), [Code::PA403]);
    assert!(
        found[0].message.starts_with("108 of 110 samples delivered in epoch 0 (98 %): 2 missing, 0 of them in all")
    );
}

#[test]
fn a_part_of_the_dataset_is_what_a_subset_sampler_takes() {
    let subset = Loader { sampler: Some("SubsetRandomSampler".to_owned()), ..loader(100, 2) };
    let epoch = |seed| vec![order(seed, 80)];
    let found = findings(&map_run(subset, &[epoch(1), epoch(2)]));
    assert_eq!((codes(&found), notes(&found)), (vec![], vec![Code::PA403]));
}

#[test]
fn nothing_is_missing_of_an_epoch_that_was_cut_short() {
    let mut run = map_run(loader(96, 2), &[vec![order(1, 96)], vec![order(2, 96)]]);
    for pass in &mut run.passes {
        (pass.delivered, pass.whole) = (Some(vec![0, 1, 2]), false);
    }
    let audited = audit(&run, &Options::default());
    assert!(audited.findings.is_empty());
    assert!(audited.not_tested.iter().any(|line| line.contains("no epoch was read to its end")));
}

/// An iterable dataset: by epoch, what each worker yields.
fn iterable(length: Option<u64>, epochs: &[Vec<Vec<u64>>]) -> Run {
    let loader = Loader {
        kind: "iterable".to_owned(),
        shuffled: false,
        sampler: None,
        length,
        ..loader(0, epochs[0].len() as u32)
    };
    let loader = Loader { length, ..loader };
    let mut run = Run { world_size: 1, loaders: vec![loader], ..Run::default() };
    for (epoch, by_worker) in epochs.iter().enumerate() {
        for (worker, items) in by_worker.iter().enumerate() {
            let mut lane = Lane::new(0, epoch as u32, 0, Worker(worker as i32));
            for (seq, item) in items.iter().enumerate() {
                let batch = (seq / 8) * by_worker.len() + worker;
                lane.push(Some(batch as u32), Index::Absent, Some(Digest(u128::from(hash(*item)))));
            }
            run.lanes.push(lane);
        }
    }
    run
}

#[test]
fn workers_that_yield_everything_are_not_split() {
    let everything: Vec<u64> = (0..96).collect();
    let found = findings(&iterable(None, &[vec![everything.clone(), everything]]));
    assert_eq!(codes(&found), [Code::PA402]);
    assert!(
        found[0].message.starts_with("192 delivered in epoch 0 by 2 workers, 96 distinct (50 %)"),
        "{}",
        found[0].message
    );
    let halves = vec![(0..96).step_by(2).collect(), (1..96).step_by(2).collect()];
    assert!(findings(&iterable(None, &[halves.clone(), halves])).is_empty());
}

#[test]
fn true_duplicates_in_split_data_are_no_fault() {
    // A third of the items are copies of others, and every worker has some that another one has too.
    let item = |i: u64| if i % 3 == 2 { i - 1 } else { i };
    let halves = vec![(0..96).step_by(2).map(item).collect(), (1..96).step_by(2).map(item).collect()];
    assert!(findings(&iterable(None, &[halves])).is_empty());
    // All items twice, dealt in turn: workers deliver the same, and the length says that this is all there is.
    let twice: Vec<u64> = (0..48).collect();
    assert!(findings(&iterable(Some(96), &[vec![twice.clone(), twice]])).is_empty());
}

#[test]
fn few_contents_are_no_evidence() {
    let same = vec![vec![1_u64; 64], vec![1; 64]];
    assert!(findings(&iterable(None, &[same])).is_empty());
}

#[test]
fn a_length_that_is_not_reached_by_a_remainder_is_missing() {
    let parts: Vec<Vec<u64>> = (0..4).map(|worker| (worker * 27..worker * 27 + 27).collect()).collect();
    let found = findings(&iterable(Some(110), std::slice::from_ref(&parts)));
    assert_eq!(codes(&found), [Code::PA403]);
    assert!(findings(&iterable(None, &[parts])).is_empty());
}

#[test]
fn another_worker_count_betrays_a_lost_remainder_and_unsplit_data() {
    let parts = |workers: u64| -> Vec<Vec<u64>> {
        let each = 110 / workers;
        (0..workers).map(|worker| (worker * each..(worker + 1) * each).collect()).collect()
    };
    let options = Options::default();
    let (four, one) = (iterable(None, &[parts(4)]), iterable(None, &[parts(1)]));
    let found = compare_worker_counts(&four, &one, &options);
    assert_eq!(codes(&found), [Code::PA403]);
    assert!(found[0].message.contains("108 delivered with 4 workers, 110 with 1"), "{}", found[0].message);
    let all = |workers| iterable(None, &[vec![(0..50).collect(); workers]]);
    assert_eq!(codes(&compare_worker_counts(&all(4), &all(2), &options)), [Code::PA402]);
    assert!(compare_worker_counts(&four, &four, &options).is_empty());
}

#[test]
fn outputs_that_depend_on_the_worker_count_are_a_note() {
    let four = Pipeline::default();
    let two = Pipeline { workers: 2, ..four.clone() };
    let found = compare_worker_counts(&four.run(), &two.run(), &Options::default());
    assert_eq!((codes(&found), notes(&found)), (vec![], vec![Code::PA302]));
    let fixed = Pipeline { effective: false, ..four };
    let other = Pipeline { workers: 2, ..fixed.clone() };
    assert!(compare_worker_counts(&fixed.run(), &other.run(), &Options::default()).is_empty());
}

#[test]
fn streams_that_are_equal_under_another_seed_ignore_it() {
    let constant = Pipeline { seeding: |_, epoch, _, worker| 10 * epoch + worker, ..Pipeline::default() };
    let other = Pipeline { seed: 1, ..constant.clone() };
    let found = compare_seeds(&constant.run(), &other.run(), &Options::default());
    assert_eq!(codes(&found), [Code::PA304]);
    assert!(found[0].message.starts_with("8 of 8 streams alike"));
    let sound = Pipeline::default();
    assert!(compare_seeds(&sound.run(), &Pipeline { seed: 1, ..sound.clone() }.run(), &Options::default()).is_empty());
    let idle = Pipeline { effective: false, parameters: false, ..constant };
    assert!(compare_seeds(&idle.run(), &Pipeline { seed: 1, ..idle.clone() }.run(), &Options::default()).is_empty());
}

/// A loader that evaluates with draws, beside one that trains.
fn beside(training: bool) -> Run {
    let sequential = Pipeline { shuffle: false, parameters: false, location: Some("val.py:1"), ..Pipeline::default() };
    let mut run = sequential.run();
    if training {
        run.loaders.push(loader(64, 2));
    }
    run
}

#[test]
fn an_evaluation_that_draws_is_told_beside_a_loader_that_trains() {
    let found = findings(&beside(true));
    assert_eq!(codes(&found), [Code::PA404]);
    assert!(found[0].message.starts_with("64 indices delivered more than once, 64 came out differently"));
    assert_eq!(found[0].sources, ["generator"]);
}

#[test]
fn training_in_order_with_random_crops_is_no_evaluation() {
    assert!(findings(&beside(false)).is_empty());
}

#[test]
fn a_deterministic_evaluation_with_equal_generators_is_left_alone() {
    // A library draws for constant transforms: equal states in all workers and epochs, the same outputs each time.
    let val = Pipeline {
        shuffle: false,
        parameters: false,
        effective: false,
        seeding: |_, _, _, _| 5,
        location: Some("val.py:1"),
        ..Pipeline::default()
    };
    let mut run = val.run();
    assert!(codes(&findings(&run)).is_empty());
    run.loaders.push(loader(64, 2));
    assert!(codes(&findings(&run)).is_empty());
}

#[test]
fn a_copied_generator_in_a_lone_loader_that_does_not_shuffle_is_seen_by_its_parameters() {
    let run = Pipeline { shuffle: false, seeding: |_, _, _, _| 5, ..Pipeline::default() }.run();
    let found = findings(&run);
    assert_eq!((codes(&found), notes(&found)), (vec![Code::PA101], vec![Code::PA103]));
}

#[test]
fn a_list_that_iterable_workers_shuffle_alike_and_split_is_a_design() {
    let mut run = iterable(
        None,
        &[vec![(0..40).collect(), (40..80).collect()], vec![(0..40).rev().collect(), (40..80).rev().collect()]],
    );
    let source = run.names.source("dataset.rng", "mt19937");
    let names = run.names.clone();
    for lane in &mut run.lanes {
        let epoch = u128::from(lane.epoch) + 1;
        let state = |position| State { key: Key(epoch * 77), position };
        let mut drawing = Lane::new(0, lane.epoch, 0, lane.worker);
        drawing.starts.push(Moved { source, state: state(0) });
        for sample in lane.samples() {
            if sample.seq == 0 {
                drawing.moved(source, state(79));
            }
            drawing.push(sample.batch, sample.index, sample.output);
        }
        *lane = drawing;
    }
    run.names = names;
    assert!(findings(&run).is_empty());
}
