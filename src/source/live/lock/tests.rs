//! Locks are made from small runs and compared with ones that differ in a single thing.

use super::*;
use crate::exit::Exit;
use crate::rng::State;
use crate::rng::state::Key;
use crate::trace::record::Loader;
use crate::trace::run::{Digest, ParameterKind, Worker};

/// Two workers with two samples each; a flip draws from `source`.
fn run(source: &str) -> Run {
    let mut run = Run { world_size: 1, ..Run::default() };
    run.libraries.insert("torchvision".to_owned(), "0.6.1".to_owned());
    run.loaders.push(Loader {
        location: Some("train.py:7".to_owned()),
        dataset: Some("Birds".to_owned()),
        num_workers: 2,
        ..Loader::default()
    });
    let drawn = run.names.source(source, "mt19937");
    let idle = run.names.source("numpy", "mt19937");
    let angle = ParameterKind {
        name: "angle".to_owned(),
        distribution: Distribution::Uniform,
        low: Some(-15.0),
        high: Some(15.0),
    };
    let kind = run.names.kind(TransformKind { name: "flip".to_owned(), p: Some(0.5), parameters: vec![angle] });
    for worker in 0..2 {
        let mut lane = Lane::new(0, 0, 0, Worker(worker));
        let state = |position| State { key: Key(7 + worker as u128), position };
        lane.starts = [drawn, idle].map(|source| crate::trace::run::Moved { source, state: state(0) }).to_vec();
        for sample in 0..2 {
            lane.event(kind, Some(true), &[3.0]);
            lane.moved(drawn, state(sample + 1));
            let number = worker as u64 * 2 + sample;
            lane.push(Some(0), Index::Number(number as i64), Some(Digest(u128::from(number) + 100)));
        }
        run.lanes.push(lane);
    }
    run
}

fn changes(locked: &Run, now: &Run) -> Vec<String> {
    compare(&Lock::of(locked, None), &Lock::of(now, None))
}

#[test]
fn equal_runs_have_equal_locks_and_a_written_lock_reads_back() {
    let lock = Lock::of(&run("python"), Some(&run("python")));
    assert_eq!(compare(&lock, &Lock::of(&run("python"), None)), [""; 0]);
    assert_eq!(lock.varying(), [""; 0]);
    let json = lock.to_json();
    assert_eq!(Lock::from_json(&json, "pipeaudit.lock").unwrap(), lock);
    assert_eq!(Lock::from_json(&json, "pipeaudit.lock").unwrap().to_json(), json);
}

#[test]
fn the_file_is_small_and_readable() {
    // The digests were recomputed with Python's hashlib over the texts that `digest` describes.
    insta::assert_snapshot!(Lock::of(&run("python"), None).to_json());
}

#[test]
fn sources_that_nothing_draws_from_are_not_locked() {
    let lock = Lock::of(&run("python"), None);
    assert_eq!(lock.loaders[0].sources.keys().collect::<Vec<_>>(), ["python"]);
}

#[test]
fn a_transform_that_draws_from_another_source_is_named_with_the_library_that_changed() {
    let mut now = run("torch");
    now.libraries.insert("torchvision".to_owned(), "0.7.0".to_owned());
    assert_eq!(
        changes(&run("python"), &now),
        [
            "train.py:7: nothing draws from python (mt19937) any more",
            "train.py:7: samples draw from torch (mt19937) now",
            "train.py:7: flip: source python -> torch",
            "libraries: torchvision 0.6.1 -> 0.7.0",
        ]
    );
}

#[test]
fn an_upgrade_without_an_effect_on_the_data_is_no_change() {
    let mut now = run("python");
    now.libraries.insert("torchvision".to_owned(), "0.7.0".to_owned());
    now.loaders[0].location = Some("train.py:9".to_owned());
    assert_eq!(changes(&run("python"), &now), [""; 0]);
}

#[test]
fn streams_order_and_outputs_are_told_apart() {
    let locked = run("python");
    let mut streams = run("python");
    streams.lanes[1].starts[0].state.position = 9;
    assert_eq!(changes(&locked, &streams), ["train.py:7: streams of python changed"]);
    let mut swapped = run("python");
    swapped.lanes.swap(0, 1);
    for (number, lane) in swapped.lanes.iter_mut().enumerate() {
        lane.worker = Worker(number as i32);
        lane.starts.clone_from(&locked.lanes[number].starts);
    }
    assert_eq!(changes(&locked, &swapped), ["train.py:7: order changed", "train.py:7: outputs changed"]);
}

#[test]
fn other_counts_are_said_once_and_not_again_by_every_digest() {
    let mut now = run("python");
    now.loaders[0].num_workers = 1;
    now.lanes.pop();
    assert_eq!(
        changes(&run("python"), &now),
        ["train.py:7: workers 2 -> 1", "train.py:7: samples in the first epoch 4 -> 2"]
    );
}

#[test]
fn what_varies_from_run_to_run_is_not_locked() {
    let mut again = run("python");
    again.lanes[0].starts[0].state.position = 5;
    let lock = Lock::of(&run("python"), Some(&again));
    assert_eq!(lock.varying(), ["train.py:7: the streams of python vary from run to run and are not locked"]);
    assert_eq!(compare(&lock, &Lock::of(&again, None)), [""; 0]);
    // The other way round, data that was the same and now varies has changed.
    let stable = Lock::of(&run("python"), None);
    assert_eq!(compare(&stable, &lock), ["train.py:7: streams of python now vary from run to run"]);
}

#[test]
fn a_generator_made_anew_in_samples_is_known_by_its_number_not_its_line() {
    assert_eq!(changes(&run("local:train.py:31"), &run("local:train.py:33")), [""; 0]);
    let lock = Lock::of(&run("local:train.py:31"), None);
    assert_eq!(lock.loaders[0].sources.keys().collect::<Vec<_>>(), ["local:train.py#1"]);
}

#[test]
fn loaders_come_and_go() {
    let none = Run::default();
    assert_eq!(changes(&run("python"), &none)[0], "train.py:7: this loader is gone");
    assert_eq!(changes(&none, &run("python"))[0], "train.py:7: this loader is new");
}

#[test]
fn files_that_are_no_lock_are_refused_with_their_name() {
    for (json, message) in [
        ("", "cannot read the lock file x.lock: EOF while parsing a value at line 1 column 0"),
        ("{}", "cannot read the lock file x.lock: it is no lock file"),
        (
            r#"{"format": "pipeaudit-lock/2"}"#,
            r#"cannot read the lock file x.lock: its format is "pipeaudit-lock/2", pipeaudit-lock/1 is known here"#,
        ),
        (r#"{"format": "pipeaudit-lock/1"}"#, "cannot read the lock file x.lock: missing field `libraries`"),
    ] {
        let error = Lock::from_json(json, "x.lock").unwrap_err();
        assert_eq!((error.message.as_str(), error.exit), (message, Exit::Usage));
        assert!(error.help.is_some());
    }
}
