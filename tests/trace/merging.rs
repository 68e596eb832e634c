//! Shards of many processes become one run.

use pipeaudit::trace::Loaded;
use pipeaudit::trace::read::from_lines;
use pipeaudit::trace::run::Worker;
use serde_json::{Value, json};

fn shard(lines: &[Value]) -> String {
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

fn read(shards: &[Vec<Value>]) -> Loaded {
    let texts: Vec<String> = shards.iter().map(|lines| shard(lines)).collect();
    from_lines(texts.iter().map(|text| ("shard", text.as_bytes()))).unwrap_or_else(|error| panic!("{error}"))
}

fn main_process(rank: u32, of: u32, pid: u32) -> Value {
    json!({"type": "process", "format": 1, "rank": rank, "world_size": of, "role": "main", "host": "h", "pid": pid})
}

fn worker_of(parent: u32, pid: u32) -> Value {
    json!({"type": "process", "format": 1, "role": "worker", "host": "h", "pid": pid, "parent": parent})
}

fn loader(number: u32, place: &str, workers: u32) -> Value {
    json!({"type": "loader", "loader": number, "where": place, "num_workers": workers})
}

fn sample(loader: u32, epoch: u32, worker: i32, seq: u32) -> Value {
    json!({"type": "sample", "loader": loader, "epoch": epoch, "worker": worker, "seq": seq, "index": seq})
}

fn end(loader: u32, epoch: u32, worker: i32, samples: u32) -> Value {
    json!({"type": "end", "loader": loader, "epoch": epoch, "worker": worker, "samples": samples})
}

fn delivered(loader: u32, epoch: u32, batch: u32) -> Value {
    json!({"type": "delivered", "loader": loader, "epoch": epoch, "batch": batch})
}

fn pass(loader: u32, pass: u32, epoch: u32) -> Value {
    json!({"type": "pass", "loader": loader, "pass": pass, "epoch": epoch})
}

/// (loader, epoch, rank, worker, samples) of each lane.
fn lanes(loaded: &Loaded) -> Vec<(u32, u32, u32, i32, usize)> {
    let of = |lane: &pipeaudit::trace::Lane| (lane.loader, lane.epoch, lane.rank, lane.worker.0, lane.len());
    loaded.run.lanes.iter().map(of).collect()
}

fn faults(loaded: &Loaded) -> Vec<&str> {
    loaded.run.faults.iter().map(|fault| fault.message.as_str()).collect()
}

#[test]
fn workers_join_the_main_process_that_they_serve() {
    let loaded = read(&[
        vec![main_process(0, 2, 10), loader(0, "a.py:1", 2)],
        vec![main_process(1, 2, 20), loader(0, "a.py:1", 2)],
        // A worker need not know its rank: its main process does.
        vec![worker_of(20, 21), sample(0, 0, 0, 0), end(0, 0, 0, 1)],
        vec![worker_of(10, 11), sample(0, 0, 0, 0), sample(0, 0, 0, 1), end(0, 0, 0, 2)],
        vec![worker_of(10, 12), sample(0, 0, 1, 0)],
    ]);
    assert_eq!(lanes(&loaded), [(0, 0, 0, 0, 2), (0, 0, 0, 1, 1), (0, 0, 1, 0, 1)]);
    assert_eq!(loaded.run.loaders.len(), 1);
    assert_eq!(loaded.run.world_size, 2);
    assert!(faults(&loaded).is_empty());
    let ended: Vec<_> = loaded.run.lanes.iter().map(|lane| lane.ended).collect();
    assert_eq!(ended, [Some(2), None, Some(1)]);
    let whole: Vec<_> = loaded.run.passes.iter().map(|pass| (pass.rank, pass.whole)).collect();
    assert_eq!(whole, [(0, false), (1, true)]);
}

#[test]
fn a_worker_without_its_main_process_is_a_fault() {
    let loaded =
        read(&[vec![main_process(0, 1, 10), loader(0, "a.py:1", 1)], vec![worker_of(99, 100), sample(0, 0, 0, 0)]]);
    assert!(loaded.run.lanes.is_empty());
    assert_eq!(faults(&loaded), ["a worker's records, without those of its main process: left out"]);
}

#[test]
fn a_rank_that_becomes_known_later_holds_for_the_whole_process() {
    let loaded = read(&[
        vec![main_process(0, 1, 10), loader(0, "a.py:1", 0), sample(0, 0, -1, 0), main_process(1, 2, 10)],
        vec![main_process(0, 1, 20), main_process(0, 2, 20), loader(0, "a.py:1", 0), sample(0, 0, -1, 0)],
    ]);
    assert_eq!(lanes(&loaded), [(0, 0, 0, -1, 1), (0, 0, 1, -1, 1)]);
    assert!(faults(&loaded).is_empty(), "{:?}", faults(&loaded));
}

#[test]
fn shards_may_be_strung_together() {
    let one = json!({"type": "process", "format": 1, "rank": 0, "world_size": 2});
    let two = json!({"type": "process", "format": 1, "rank": 1, "world_size": 2});
    let loaded = read(&[vec![
        one,
        loader(0, "a.py:1", 0),
        sample(0, 0, -1, 0),
        two,
        loader(0, "a.py:1", 0),
        sample(0, 0, -1, 0),
    ]]);
    assert_eq!(lanes(&loaded), [(0, 0, 0, -1, 1), (0, 0, 1, -1, 1)]);
}

#[test]
fn loaders_of_one_place_are_matched_over_ranks_first_with_first() {
    // Rank 1 has made another loader before: its numbers are other ones.
    let loaded = read(&[
        vec![main_process(0, 2, 10), loader(0, "a.py:1", 0), loader(1, "a.py:1", 0), sample(1, 0, -1, 0)],
        vec![
            main_process(1, 2, 20),
            loader(0, "b.py:9", 0),
            loader(1, "a.py:1", 0),
            loader(2, "a.py:1", 0),
            sample(2, 0, -1, 0),
        ],
    ]);
    let places: Vec<_> = loaded.run.loaders.iter().map(|loader| loader.location.as_deref()).collect();
    assert_eq!(places, [Some("a.py:1"), Some("a.py:1"), Some("b.py:9")]);
    assert_eq!(lanes(&loaded), [(1, 0, 0, -1, 1), (1, 0, 1, -1, 1)]);
}

#[test]
fn two_programs_that_claim_one_rank_are_kept_apart() {
    let program = |pid| vec![main_process(0, 1, pid), loader(0, "a.py:1", 0), sample(0, 0, -1, 0), end(0, 0, -1, 1)];
    let loaded = read(&[program(10), program(20)]);
    assert_eq!(lanes(&loaded), [(0, 0, 0, -1, 1), (1, 0, 0, -1, 1)]);
    assert_eq!(loaded.run.world_size, 1);
}

#[test]
fn a_launcher_without_loaders_does_not_take_a_rank_from_its_children() {
    let rank = |rank, pid| vec![main_process(rank, 2, pid), loader(0, "a.py:1", 0), sample(0, 0, -1, 0)];
    let loaded = read(&[vec![main_process(0, 2, 5)], rank(0, 10), rank(1, 20)]);
    assert_eq!(lanes(&loaded), [(0, 0, 0, -1, 1), (0, 0, 1, -1, 1)]);
    assert_eq!(loaded.run.loaders.len(), 1);
}

#[test]
fn passes_that_do_not_count_are_left_out() {
    // The program peeks at a first batch (pass 0), then trains for two epochs; what counts becomes known later.
    let worker = |pid, of_pass| vec![worker_of(10, pid), sample(0, of_pass, 0, 0), end(0, of_pass, 0, 1)];
    let loaded = read(&[
        vec![
            main_process(0, 1, 10),
            loader(0, "a.py:1", 1),
            delivered(0, 0, 0),
            delivered(0, 1, 0),
            pass(0, 1, 0),
            end(0, 1, -1, 0),
            delivered(0, 2, 0),
            end(0, 2, -1, 0),
            pass(0, 2, 1),
        ],
        worker(11, 0),
        worker(12, 1),
        worker(13, 2),
    ]);
    assert_eq!(lanes(&loaded), [(0, 0, 0, 0, 1), (0, 1, 0, 0, 1)]);
    let epochs: Vec<_> = loaded.run.passes.iter().map(|pass| (pass.epoch, pass.whole)).collect();
    assert_eq!(epochs, [(0, true), (1, true)]);
    assert_eq!(loaded.notes.left_out, 1);
}

#[test]
fn a_pass_says_where_its_main_process_stood() {
    let key = "0".repeat(31) + "7";
    let mut counted = pass(0, 0, 0);
    counted["base_seed"] = json!(9_223_372_036_854_775_807_u64);
    counted["main"] = json!({"torch": format!("mt19937:{key}:624")});
    let loaded = read(&[vec![main_process(0, 1, 10), loader(0, "a.py:1", 0), counted, sample(0, 0, -1, 0)]]);
    let start = &loaded.run.starts[0];
    assert_eq!(start.base_seed, Some(9_223_372_036_854_775_807));
    assert_eq!((start.main[0].state.key.0, start.main[0].state.position), (7, 624));
    assert_eq!(loaded.run.names.source_name(start.main[0].source), "torch");
}

#[test]
fn the_loop_decides_what_was_delivered_and_whether_the_pass_was_whole() {
    let mut broken = end(0, 0, -1, 0);
    broken["whole"] = json!(false);
    broken["batches"] = json!(2);
    let loaded = read(&[
        vec![main_process(0, 1, 10), loader(0, "a.py:1", 1), delivered(0, 0, 1), delivered(0, 0, 0), broken],
        vec![worker_of(10, 11), sample(0, 0, 0, 0), sample(0, 0, 0, 1), sample(0, 0, 0, 2), end(0, 0, 0, 3)],
    ]);
    let pass = &loaded.run.passes[0];
    assert_eq!((pass.delivered.as_deref(), pass.whole), (Some(&[1, 0][..]), false));
    assert_eq!(loaded.run.lanes[0].ended, Some(3));
}

#[test]
fn a_loop_that_left_no_end_was_not_whole() {
    let loaded = read(&[
        vec![main_process(0, 1, 10), loader(0, "a.py:1", 1), delivered(0, 0, 0)],
        vec![worker_of(10, 11), sample(0, 0, 0, 0), end(0, 0, 0, 1)],
    ]);
    assert_eq!((loaded.run.passes.len(), loaded.run.passes[0].whole), (1, false));
}

#[test]
fn a_loader_that_is_described_again_is_as_it_was_said_last() {
    let mut cut = loader(0, "a.py:1", 0);
    cut["cut_short"] = json!(true);
    cut["shuffled"] = json!(true);
    let loaded = read(&[vec![main_process(0, 1, 10), loader(0, "a.py:1", 0), sample(0, 0, -1, 0), cut]]);
    assert_eq!(loaded.run.loaders.len(), 1);
    assert!(loaded.run.loaders[0].cut_short && loaded.run.loaders[0].shuffled);
}

#[test]
fn a_loader_that_one_rank_cut_short_was_cut_short() {
    let rank = |rank, cut: bool| {
        let mut described = loader(0, "a.py:1", 0);
        described["cut_short"] = json!(cut);
        vec![main_process(rank, 2, rank + 1), described, sample(0, 0, -1, 0)]
    };
    for (first, second) in [(true, false), (false, true)] {
        assert!(read(&[rank(0, first), rank(1, second)]).run.loaders[0].cut_short);
    }
    assert!(!read(&[rank(0, false), rank(1, false)]).run.loaders[0].cut_short);
}

#[test]
fn workers_alone_say_whether_a_pass_was_whole_unless_it_was_cut_short() {
    let whole = |cut: bool, ends: &[i32]| {
        let mut described = loader(0, "a.py:1", 2);
        described["cut_short"] = json!(cut);
        let mut lines = vec![main_process(0, 1, 10), described, sample(0, 0, 0, 0), sample(0, 0, 1, 0)];
        lines.extend(ends.iter().map(|worker| end(0, 0, *worker, 1)));
        read(&[lines]).run.passes[0].whole
    };
    assert!(whole(false, &[0, 1]));
    assert!(!whole(false, &[0]));
    assert!(!whole(true, &[0, 1]));
}

#[test]
fn records_of_a_loader_that_nothing_describes_are_a_fault() {
    let loaded = read(&[vec![main_process(0, 1, 10), sample(3, 0, -1, 0)]]);
    assert!(loaded.run.lanes.is_empty());
    assert_eq!(faults(&loaded), ["records of loader 3, which no record describes: left out"]);
}

#[test]
fn one_place_recorded_by_two_workers_is_a_fault_and_the_longer_stays() {
    let loaded = read(&[
        vec![main_process(0, 1, 10), loader(0, "a.py:1", 1)],
        vec![worker_of(10, 11), sample(0, 0, 0, 0)],
        vec![worker_of(10, 12), sample(0, 0, 0, 0), sample(0, 0, 0, 1)],
    ]);
    assert_eq!(lanes(&loaded), [(0, 0, 0, 0, 2)]);
    assert_eq!(faults(&loaded), ["recorded by two processes: the longer record is used"]);
}

#[test]
fn ranks_that_left_no_shard_are_a_fault() {
    let rank = |rank, pid| vec![main_process(rank, 4, pid), loader(0, "a.py:1", 0), sample(0, 0, -1, 0)];
    let loaded = read(&[rank(0, 10), rank(2, 30)]);
    assert_eq!(faults(&loaded), ["no shard of rank 1, 3 of 4 ranks"]);
    let loaded = read(&[vec![main_process(0, 1 << 20, 10)]]);
    assert_eq!(faults(&loaded), ["no shard of rank 1, 2, 3, 4, 5, 6, 7, 8 and others of 1048576 ranks"]);
}

#[test]
fn types_that_are_not_known_are_counted() {
    let other = json!({"type": "hologram", "x": [1, {"y": null}]});
    let loaded =
        read(&[vec![main_process(0, 1, 10), other.clone(), loader(0, "a.py:1", 0), other, sample(0, 0, -1, 0)]]);
    assert_eq!(loaded.notes.unknown.get("hologram"), Some(&2));
    assert_eq!(lanes(&loaded), [(0, 0, 0, -1, 1)]);
}

#[test]
fn what_the_recorder_says_of_itself_is_noted() {
    let mut opaque = sample(0, 0, -1, 0);
    opaque["opaque"] = json!(3);
    let loaded = read(&[
        vec![main_process(0, 1, 10), loader(0, "a.py:1", 0), opaque, sample(0, 0, -1, 1)],
        vec![main_process(0, 1, 20), json!({"type": "exit", "made": 3, "iterated": 2})],
        vec![main_process(0, 1, 30), json!({"type": "stopped", "reason": "enough"})],
    ]);
    let notes = &loaded.notes;
    assert_eq!((notes.shards, notes.made, notes.iterated, notes.stopped, notes.opaque), (3, 3, 2, true, 1));
    assert_eq!(loaded.run.lanes[0].sample(0).opaque(), 3);
    assert_eq!(loaded.run.lanes[0].sample(1).opaque(), 0);
}

#[test]
fn values_are_numbers_texts_or_not_drawn() {
    let mut drawn = sample(0, 0, -1, 0);
    drawn["transforms"] = json!([["t", null, null, {
        "a": [2, "integer", 0, 3],
        "b": ["nearest", "choice", null, null],
        "c": [[1, 2], "other", null, null],
        "d": [true, "other", null, null],
        "e": [null, "uniform", 0.0, 1.0],
        "f": [1e300, "uniform", 1.0, 0.0],
        "g": [1, "integer", -1e308, 1e308],
        "h": [1, "normal", 0, -1],
        "i": [1, "uniform", -1.7e308, 1.7e308],
    }]]);
    let mut again = drawn.clone();
    again["seq"] = json!(1);
    let loaded = read(&[vec![main_process(0, 1, 10), loader(0, "a.py:1", 0), drawn, again]]);
    let names = &loaded.run.names;
    assert_eq!(names.kinds.len(), 1);
    let event = loaded.run.lanes[0].sample(0).events().next().expect("one event");
    assert_eq!(event.values[0], 2.0);
    assert_eq!(names.texts[event.values[1] as usize], "nearest");
    assert!(event.values[2].is_nan() && event.values[4].is_nan());
    assert_eq!(event.values[3], 1.0);
    let words: Vec<String> =
        names.transform(event.kind).parameters.iter().map(|p| format!("{:?}", p.distribution)).collect();
    // Ends that make no sense are declared as nothing that could be tested.
    let expected = [
        "Integer",
        r#"Other("text")"#,
        r#"Other("other")"#,
        r#"Other("other")"#,
        "Uniform",
        r#"Other("uniform")"#,
        r#"Other("integer")"#,
        r#"Other("normal")"#,
        r#"Other("uniform")"#,
    ];
    assert_eq!(words, expected);
}

#[test]
fn the_first_state_of_a_source_is_where_it_starts() {
    let stream = |position: u32| {
        json!({"type": "stream", "loader": 0, "epoch": 0, "worker": -1, "source": "s", "algorithm": "x",
               "state": format!("x:{}:{position}", "0".repeat(32))})
    };
    let loaded = read(&[vec![main_process(0, 1, 10), loader(0, "a.py:1", 0), stream(1), stream(2)]]);
    let starts: Vec<u64> = loaded.run.lanes[0].starts.iter().map(|moved| moved.state.position).collect();
    assert_eq!(starts, [1]);
    assert_eq!(loaded.run.lanes[0].worker, Worker::MAIN);
}

#[test]
fn states_before_a_sample_and_joint_samples_are_kept() {
    let state = |position: u32| format!("x:{}:{position}", "0".repeat(32));
    let mut first = sample(0, 0, -1, 0);
    first["joint"] = json!(2);
    let mut second = sample(0, 0, -1, 1);
    second["joint"] = json!(2);
    second["states"] = json!({"s": state(9)});
    second["before"] = json!({"s": state(5)});
    let loaded = read(&[vec![main_process(0, 1, 10), loader(0, "a.py:1", 0), first, second, sample(0, 0, -1, 2)]]);
    let lane = &loaded.run.lanes[0];
    let before: Vec<Vec<u64>> =
        lane.samples().map(|sample| sample.before().map(|moved| moved.state.position).collect()).collect();
    assert_eq!(before, [vec![], vec![5], vec![]]);
    let joint: Vec<u32> = lane.samples().map(|sample| sample.joint()).collect();
    assert_eq!(joint, [2, 2, 1]);
}
