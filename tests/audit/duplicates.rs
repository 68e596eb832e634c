//! Streams that meet: which code, which places, which numbers.

use pipeaudit::audit::{Audited, Options, audit};
use pipeaudit::finding::{Code, Place};

use crate::pipeline::{Pipeline, codes};

fn audited(pipeline: &Pipeline) -> Audited {
    audit(&pipeline.run(), &Options::default())
}

const fn place(epoch: u32, worker: i32, seq: u32) -> Place {
    Place { epoch, rank: 0, worker, seq }
}

#[test]
fn a_generator_that_fork_copies_is_alike_in_workers_and_epochs_and_nothing_more() {
    let audited = audited(&Pipeline { seeding: |_, _, _, _| 5, ..Pipeline::default() });
    assert_eq!(codes(&audited.findings), [Code::PA101, Code::PA103]);
    let workers = &audited.findings[0];
    assert!(
        workers.message.starts_with("64 delivered, 16 distinct augmentations (25 %): 4 workers have 1 distinct stream"),
        "{}",
        workers.message
    );
    assert_eq!(workers.places, [place(0, 0, 0), place(0, 1, 0), place(0, 2, 0)]);
    assert_eq!(audited.findings[1].places, [place(0, 0, 0), place(1, 0, 0)]);
    assert!(audited.findings[1].message.starts_with("128 delivered, 16 distinct augmentations"));
    let numbers = &audited.numbers[0];
    for epoch in &numbers.epochs {
        assert_eq!((epoch.streams.distinct, epoch.streams.of), (1, 4));
        assert_eq!((epoch.augmentations.distinct, epoch.augmentations.of), (16, 64));
    }
    assert_eq!((numbers.streams.distinct, numbers.streams.of), (1, 8));
    assert_eq!(numbers.ever_delivered, 64);
}

#[test]
fn a_seed_per_worker_repeats_epochs_only() {
    let pipeline = Pipeline { seeding: |_, _, _, worker| worker, ..Pipeline::default() };
    assert_eq!(codes(&audited(&pipeline).findings), [Code::PA103]);
    assert!(codes(&audited(&Pipeline { persistent: true, ..pipeline }).findings).is_empty());
}

#[test]
fn persistent_copies_go_on_in_step() {
    let pipeline = Pipeline { seeding: |_, _, _, _| 5, persistent: true, ..Pipeline::default() };
    assert_eq!(codes(&audited(&pipeline).findings), [Code::PA101]);
}

#[test]
fn a_sum_of_epoch_and_worker_meets_across_both() {
    let audited = audited(&Pipeline { seeding: |_, epoch, _, worker| 9 + epoch + worker, ..Pipeline::default() });
    assert_eq!(codes(&audited.findings), [Code::PA104]);
    let finding = &audited.findings[0];
    assert_eq!(finding.places, [place(0, 1, 0), place(1, 0, 0)]);
    assert!(finding.message.contains("epoch 1 worker 0 draws what epoch 0 worker 1 drew"), "{}", finding.message);
}

#[test]
fn ranks_that_are_seeded_alike_meet_worker_by_worker() {
    let pipeline = Pipeline { ranks: 2, ..Pipeline::default() };
    let audited_alike = audited(&pipeline);
    assert_eq!(codes(&audited_alike.findings), [Code::PA102]);
    assert_eq!(audited_alike.findings[0].places, [place(0, 0, 0), Place { epoch: 0, rank: 1, worker: 0, seq: 0 }]);
    let seeding = |base: u64, _, rank, worker| base.wrapping_add(worker).wrapping_add(rank << 32);
    assert!(codes(&audited(&Pipeline { seeding, ..pipeline }).findings).is_empty());
}

#[test]
fn one_seed_for_all_tells_workers_ranks_and_epochs_and_nothing_more() {
    let pipeline = Pipeline { ranks: 2, seeding: |_, _, _, _| 5, ..Pipeline::default() };
    assert_eq!(codes(&audited(&pipeline).findings), [Code::PA101, Code::PA102, Code::PA103]);
}

#[test]
fn a_source_without_effect_accuses_nobody() {
    let pipeline =
        Pipeline { seeding: |_, _, _, _| 5, effective: false, parameters: false, samples: 96, ..Pipeline::default() };
    assert!(audited(&pipeline).findings.is_empty());
}

#[test]
fn the_main_process_alone_has_one_stream() {
    let audited = audited(&Pipeline { workers: 0, persistent: true, ..Pipeline::default() });
    assert!(audited.findings.is_empty());
    assert_eq!(audited.numbers[0].epochs[0].streams.of, 1);
}
