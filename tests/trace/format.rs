//! The documentation, the schema, the writer and the reader say the same.

use std::sync::LazyLock;

use jsonschema::Validator;
use pipeaudit::trace::read::from_lines;
use pipeaudit::trace::run::Index;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::round_trip::shards;
use super::runs;

const DOCUMENT: &str = include_str!("../../src/trace/FORMAT.md");
const SCHEMA_TEXT: &str = include_str!("../../fixtures/schemas/trace-1.json");

static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(SCHEMA_TEXT).expect("the schema is JSON");
    jsonschema::draft202012::meta::validate(&schema).expect("the schema is a schema");
    jsonschema::draft202012::new(&schema).expect("the schema compiles")
});

fn examples() -> Vec<&'static str> {
    let blocks = DOCUMENT.split("```jsonl\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap_or_default()).collect()
}

#[test]
fn the_documents_example_is_read_as_it_says() {
    let examples = examples();
    assert_eq!(examples.len(), 2);
    let loaded = from_lines(examples.iter().map(|shard| ("example", shard.as_bytes()))).expect("the example is read");
    let run = loaded.run;
    assert!(run.faults.is_empty() && loaded.notes.unknown.is_empty(), "{:?}", run.faults);
    assert_eq!(run.loaders[0].location.as_deref(), Some("train.py:61"));
    assert_eq!((run.passes[0].delivered.as_deref(), run.passes[0].whole), (Some(&[0][..]), true));
    let lane = &run.lanes[0];
    assert_eq!((lane.worker.0, lane.len(), lane.ended), (0, 2, Some(2)));
    assert_eq!(lane.sample(0).index, Index::Number(1));
    let events: Vec<_> = lane.sample(1).events().collect();
    assert_eq!(run.names.transform(events[1].kind).name, "RandomCrop");
    assert_eq!(events[1].values, [31.0, 12.0]);
}

#[test]
fn every_line_of_the_example_is_valid_under_the_schema() {
    for line in examples().iter().flat_map(|shard| shard.lines()) {
        let value: Value = serde_json::from_str(line).expect(line);
        let errors: Vec<String> = SCHEMA.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{line}: {errors:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(50) })]

    #[test]
    fn every_line_that_is_written_is_valid_under_the_schema(run in runs::run()) {
        for (_, lines) in shards(&run) {
            for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
                let value: Value = serde_json::from_slice(line).expect("a line is JSON");
                let errors: Vec<String> = SCHEMA.iter_errors(&value).map(|error| error.to_string()).collect();
                prop_assert!(errors.is_empty(), "{}: {:?}", value, errors);
            }
        }
    }
}

#[test]
fn every_type_and_field_of_the_schema_is_documented() {
    let schema: Value = serde_json::from_str(SCHEMA_TEXT).expect("the schema is JSON");
    let defs = schema["$defs"].as_object().expect("definitions");
    let records: Vec<_> = defs.iter().filter(|(_, def)| def["properties"]["type"]["const"].is_string()).collect();
    assert_eq!(records.len(), 13);
    for (name, def) in records {
        assert!(DOCUMENT.contains(&format!("`{name}`")), "{name}");
        for field in def["properties"].as_object().expect("fields").keys() {
            let known = DOCUMENT.contains(&format!("`{field}`"));
            assert!(known, "{name}.{field}");
        }
    }
}

/// What the schema refuses the reader refuses too, and the other way round.
#[test]
fn schema_and_reader_refuse_the_same_lines() {
    let sample = json!({"type": "sample", "loader": 0, "epoch": 0, "worker": 0, "seq": 0});
    let with = |key: &str, value: Value| {
        let mut line = sample.clone();
        line[key] = value;
        line
    };
    let key = "0".repeat(32);
    let transform = |p: Value, parameter: Value| with("transforms", json!([["t", true, p, {"x": parameter}]]));
    let good = [
        sample.clone(),
        with("worker", json!(-1)),
        with("index", json!("a")),
        with("index", Value::Null),
        with("output", json!(key)),
        with("states", json!({"s": format!("x:{key}:0")})),
        with("future", json!([1])),
        transform(json!(0.5), json!([1, "uniform", 0, 2])),
        transform(Value::Null, json!([["a"], "other", null, null])),
        json!({"type": "hologram"}),
    ];
    let bad = [
        with("worker", json!(-2)),
        with("worker", json!(70_000)),
        with("loader", json!(-1)),
        with("epoch", json!(0.5)),
        with("seq", json!(4_294_967_296_u64)),
        with("index", json!(1.5)),
        with("index", json!([])),
        with("output", json!("00")),
        with("output", json!(1)),
        with("states", json!({"s": format!("x:{}:0", &key[1..])})),
        with("states", json!({"s": format!("x:{key}:-1")})),
        with("states", json!([])),
        transform(json!(1.5), json!([1, "uniform", 0, 2])),
        transform(json!(0.5), json!([1, "uniform", 0])),
        transform(json!(0.5), json!([1, "uniform", 0, 2, 3])),
        transform(json!(0.5), json!([1, "uniform", "low", 2])),
        json!({"type": "sample"}),
        json!({"type": 1}),
        json!({}),
        json!([]),
    ];
    for (lines, valid) in [(&good[..], true), (&bad[..], false)] {
        for line in lines {
            assert_eq!(SCHEMA.is_valid(line), valid, "schema: {line}");
            let shard = format!("{}\n{line}\n", json!({"type": "process", "format": 1}));
            assert_eq!(from_lines([("shard", shard.as_bytes())]).is_ok(), valid, "reader: {line}");
        }
    }
}
