//! What `check` says of each policy: the table of the first issue.

use serde_json::Value;

use crate::harness::{codes, pipeaudit, report, set};

fn arm<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["arms"].as_array().unwrap().iter().find(|arm| arm["name"] == name).expect("the arm is there")
}

/// Asserts the exit status and that exactly these codes are reported.
#[track_caller]
fn expect(line: &str, status: i32, expected: &str) {
    let (actual, report) = report(line);
    assert_eq!((actual, codes(&report)), (status, set(expected)), "{line}\n{report:#}");
}

#[test]
fn without_an_init_workers_copy_each_other_and_with_one_they_differ() {
    let (status, report) = report("--workers 4");
    assert_eq!(status, 0);
    assert_eq!(report["verdict"], "pass");
    for (name, streams, augmentations) in [("without init", 1, 16), ("with init", 4, 64)] {
        let numbers = &arm(&report, name)["numbers"][0];
        assert_eq!(numbers["reproduces"], true);
        let epochs = numbers["epochs"].as_array().unwrap();
        assert_eq!(epochs.len(), 2);
        for epoch in epochs {
            assert_eq!(epoch["streams"], serde_json::json!({"distinct": streams, "of": 4}), "{name}");
            assert_eq!(epoch["augmentations"], serde_json::json!({"distinct": augmentations, "of": 64}), "{name}");
        }
    }
    assert_eq!(arm(&report, "without init")["decides"], false);
}

#[test]
fn a_missing_init_duplicates_workers_and_epochs() {
    expect("--workers 4 --init none", 1, "PA101 PA103");
}

#[test]
fn a_constant_seed_duplicates_workers_and_epochs() {
    expect("--workers 4 --init constant", 1, "PA101 PA103");
}

#[test]
fn a_seed_of_the_worker_alone_repeats_each_epoch() {
    expect("--workers 4 --init worker-id", 1, "PA103");
}

#[test]
fn a_seed_of_the_worker_alone_is_sound_where_workers_persist() {
    expect("--workers 4 --init worker-id --persistent-workers", 0, "");
}

#[test]
fn a_sum_of_epoch_and_worker_meets_its_neighbour() {
    let (status, report) = report("--workers 4 --init seed+epoch+worker");
    assert_eq!((status, codes(&report)), (1, set("PA104")));
    let places = &report["findings"][0]["places"];
    assert_eq!(places[0], serde_json::json!({"epoch": 0, "rank": 0, "worker": 1, "seq": 0}));
    assert_eq!(places[1], serde_json::json!({"epoch": 1, "rank": 0, "worker": 0, "seq": 0}));
}

#[test]
fn sound_policies_pass() {
    for policy in ["base+worker", "torch", "epoch", "lightning"] {
        expect(&format!("--workers 4 --init {policy}"), 0, "");
    }
}

#[test]
fn ranks_that_are_seeded_alike_are_told_apart_only_by_an_init_that_knows_the_rank() {
    expect("--workers 4 --ranks 2 --init base+worker", 1, "PA102");
    expect("--workers 4 --ranks 2 --init lightning", 0, "");
}

#[test]
fn a_sampler_that_never_hears_the_epoch_repeats_its_order_and_nothing_else_is_said() {
    expect("--workers 4 --ranks 2 --init lightning --no-set-epoch", 1, "PA401");
}

#[test]
fn persistent_workers_without_an_init_move_in_lockstep_but_do_not_repeat() {
    expect("--workers 4 --init none --persistent-workers", 1, "PA101");
}

#[test]
fn a_fresh_interpreters_entropy_is_not_reproducible() {
    let (status, report) = report("--workers 4 --init none --start-method spawn --generator global");
    assert_eq!((status, codes(&report)), (1, set("PA301")));
    let finding = &report["findings"][0];
    assert_eq!(finding["factors"], serde_json::json!(["entropy"]));
    assert!(finding["cause"].as_str().unwrap().contains("operating system"), "{finding:#}");
}

#[test]
fn a_held_generator_is_copied_by_every_start_method() {
    for method in ["spawn", "forkserver"] {
        expect(&format!("--workers 4 --init none --start-method {method}"), 1, "PA101 PA103");
    }
}

#[test]
fn the_main_process_alone_is_sound() {
    expect("--workers 0", 0, "");
}

#[test]
fn more_workers_than_batches_are_allowed_and_said() {
    let (status, report) = report("--workers 8 --samples 6 --batch-size 2");
    assert_eq!(status, 0);
    assert!(report["remarks"].to_string().contains("5 of 8 workers get no batch"), "{report:#}");
}

#[test]
fn a_lower_bar_fails_on_notes_and_quiet_prints_nothing() {
    let outcome = pipeaudit("check --workers 4 --init none --quiet");
    assert_eq!((outcome.status, outcome.stdout.as_str(), outcome.stderr.as_str()), (1, "", ""));
}

#[test]
fn verbose_prints_the_seed_of_each_worker_and_epoch() {
    let outcome = pipeaudit("check --workers 2 --init worker-id -v");
    let seeds: Vec<&str> = outcome.stdout.lines().filter(|line| line.contains("seeded with 1")).collect();
    assert_eq!(seeds.len(), 2, "worker 1 in two epochs: {}", outcome.stdout);
}
