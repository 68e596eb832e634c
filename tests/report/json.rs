//! The JSON report, read by a validator that knows nothing of the code that writes it.

use std::sync::LazyLock;

use jsonschema::Validator;
use pipeaudit::finding::Code;
use pipeaudit::report::json::render;
use serde_json::{Value, json};

use super::samples;

static SCHEMA: LazyLock<Validator> = LazyLock::new(|| {
    let text = include_str!("../../fixtures/schemas/report-1.json");
    let schema: Value = serde_json::from_str(text).expect("the schema is JSON");
    jsonschema::draft202012::meta::validate(&schema).expect("the schema is a schema");
    jsonschema::draft202012::new(&schema).expect("the schema compiles")
});

fn parsed(name: &str) -> Value {
    let (_, report) = samples::SAMPLES.iter().find(|(n, _)| *n == name).expect("a sample of this name");
    serde_json::from_str(&render(&report())).expect("the report is JSON")
}

#[test]
fn every_outcome_is_valid_under_the_schema() {
    for (name, _) in samples::SAMPLES {
        let errors: Vec<String> = SCHEMA.iter_errors(&parsed(name)).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
}

#[test]
fn every_code_is_valid_under_the_schema() {
    for code in Code::ALL {
        let found = samples::finding(*code, "as is", "one");
        let report = samples::report(
            pipeaudit::report::Origin::Files,
            vec![samples::arm("as is", true, Vec::new(), vec![found])],
        );
        let json: Value = serde_json::from_str(&render(&report)).expect("the report is JSON");
        assert!(SCHEMA.is_valid(&json), "{json:#}");
        assert_eq!(json["findings"][0]["name"], code.name());
    }
}

/// Each of these is one fault in a report that is valid without it.
#[test]
fn a_broken_report_is_not_valid() {
    let faults: [(&str, Value); 16] = [
        ("/format", json!("pipeaudit-report/2")),
        ("/verdict", json!("maybe")),
        ("/exit_status", json!(0)),
        ("/exit_status", json!(2)),
        ("/source", json!("simulated")),
        ("/faults", json!([1])),
        ("/arms/0/decides", json!("yes")),
        ("/arms/0/numbers/0/delivered", json!(-1)),
        ("/arms/0/numbers/0/applied/0/interval", json!([0.1])),
        ("/arms/0/numbers/0/applied/0/worker", json!(-2)),
        ("/findings/0/code", json!("101")),
        ("/findings/0/severity", json!("fatal")),
        ("/findings/0/places/0/worker", json!(-2)),
        ("/findings/0/evidence", json!({"Not snake": 1})),
        ("/findings/0/fix/kind", json!("guess")),
        ("/findings/0/message", Value::Null),
    ];
    for (pointer, value) in faults {
        let mut report = parsed("missing_init");
        assert!(SCHEMA.is_valid(&report));
        *report.pointer_mut(pointer).expect(pointer) = value;
        assert!(!SCHEMA.is_valid(&report), "{pointer}");
    }
}

/// Removing any key of any object, or adding one, makes a report invalid.
#[test]
fn every_key_is_required_and_no_other_is_allowed() {
    let mut objects = Vec::new();
    collect_objects(&parsed("runs_differ"), String::new(), &mut objects);
    assert!(objects.len() > 20, "{objects:?}");
    for pointer in objects.iter().filter(|pointer| !pointer.ends_with("/evidence")) {
        let keys: Vec<String> = object(&mut parsed("runs_differ"), pointer).keys().cloned().collect();
        for key in keys {
            let mut report = parsed("runs_differ");
            object(&mut report, pointer).remove(&key);
            assert!(!SCHEMA.is_valid(&report), "without {pointer}/{key}");
        }
        let mut report = parsed("runs_differ");
        object(&mut report, pointer).insert("extra".to_owned(), json!(1));
        assert!(!SCHEMA.is_valid(&report), "with {pointer}/extra");
    }
}

fn object<'a>(report: &'a mut Value, pointer: &str) -> &'a mut serde_json::Map<String, Value> {
    report.pointer_mut(pointer).and_then(Value::as_object_mut).expect("an object")
}

fn collect_objects(value: &Value, pointer: String, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                collect_objects(value, format!("{pointer}/{key}"), into);
            }
            into.push(pointer);
        }
        Value::Array(items) => {
            for (i, value) in items.iter().enumerate() {
                collect_objects(value, format!("{pointer}/{i}"), into);
            }
        }
        _ => {}
    }
}

#[test]
fn the_bytes_are_as_they_were() {
    insta::assert_snapshot!(render(&samples::missing_init()));
}

#[test]
fn keys_stand_in_their_order_and_the_text_ends_in_a_line_break() {
    let text = render(&samples::runs_differ());
    assert!(
        text.starts_with("{\n  \"format\": \"pipeaudit-report/1\",\n  \"verdict\": \"fail\",\n  \"exit_status\": 1,\n")
    );
    assert!(text.ends_with("\n}\n"));
    let order = [
        "\n  \"source\"",
        "\n  \"arms\"",
        "\n  \"findings\"",
        "\n  \"not_tested\"",
        "\n  \"remarks\"",
        "\n  \"faults\"",
    ];
    let at: Vec<usize> = order.iter().map(|key| text.find(key).expect(key)).collect();
    assert!(at.is_sorted(), "{at:?}");
    let finding = &text[at[2]..];
    let keys = [
        "code", "name", "severity", "arm", "loader", "where", "sources", "message", "cause", "evidence", "places",
        "fix", "factors",
    ];
    let at: Vec<usize> = keys.iter().map(|key| finding.find(&format!("\n      \"{key}\": ")).expect(key)).collect();
    assert!(at.is_sorted(), "{at:?}");
}

#[test]
fn numbers_that_json_cannot_hold_are_null() {
    let report = parsed("hostile");
    assert_eq!(report["findings"][0]["evidence"]["chance"], Value::Null);
}

#[test]
fn texts_survive_whole_but_a_terminal_sees_no_control() {
    let text = render(&samples::hostile());
    assert!(text.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{text:?}");
    let message = parsed("hostile")["findings"][0]["message"].clone();
    assert_eq!(message, "a\u{1b}[2J\u{1b}]0;owned\u{7}b\u{202e}c\r\n\u{9b}31md\u{0}");
}

#[test]
fn findings_are_those_of_the_arms_that_decide() {
    let report = parsed("two_arms_clean");
    assert_eq!(report["findings"], json!([]));
    assert_eq!(report["arms"][0]["findings"].as_array().map(Vec::len), Some(2));
    assert_eq!((&report["verdict"], &report["exit_status"]), (&json!("pass"), &json!(0)));
}

#[test]
fn factors_stand_with_the_codes_that_have_them_and_no_other() {
    assert_eq!(parsed("runs_differ")["findings"][0]["factors"], json!(["hash-seed", "clock"]));
    assert!(parsed("missing_init")["findings"][0].get("factors").is_none());
}
