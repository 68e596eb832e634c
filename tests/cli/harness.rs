//! Runs the binary and reads what it says.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use assert_cmd::Command;
use serde_json::Value;

/// What one call did.
pub struct Outcome {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `pipeaudit` with the words of `line`.
pub fn pipeaudit(line: &str) -> Outcome {
    with(&line.split_whitespace().collect::<Vec<_>>())
}

/// Runs `pipeaudit` with these arguments.
pub fn with<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> Outcome {
    let output = Command::cargo_bin("pipeaudit")
        .expect("the binary is built")
        .args(arguments)
        .env_remove("NO_COLOR")
        .timeout(Duration::from_secs(120))
        .output()
        .expect("it runs");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("it prints UTF-8");
    Outcome {
        status: output.status.code().expect("it exits by itself"),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

/// The JSON report of `check` with the words of `line`.
pub fn report(line: &str) -> (i32, Value) {
    let outcome = pipeaudit(&format!("check --format json {line}"));
    let json = serde_json::from_str(&outcome.stdout)
        .unwrap_or_else(|error| panic!("{line}: {error}\n{}\n{}", outcome.stdout, outcome.stderr));
    (outcome.status, json)
}

/// The codes that count in a report.
pub fn codes(report: &Value) -> BTreeSet<String> {
    report["findings"]
        .as_array()
        .expect("a report has findings")
        .iter()
        .map(|finding| finding["code"].as_str().expect("a finding has a code").to_owned())
        .collect()
}

/// A set of codes from words.
pub fn set(words: &str) -> BTreeSet<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

/// Asserts an expected error: its status, that it names the thing, and that a next step follows.
pub fn fails(outcome: &Outcome, status: i32, names: &[&str]) {
    assert_eq!(outcome.status, status, "{}", outcome.stderr);
    assert!(outcome.stdout.is_empty(), "nothing but a report on standard output: {}", outcome.stdout);
    for name in names {
        assert!(outcome.stderr.contains(name), "'{name}' is not in: {}", outcome.stderr);
    }
    assert!(outcome.stderr.contains("help:") || outcome.stderr.contains("tip:") || outcome.stderr.contains("--help"));
    assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("the test's paths are UTF-8")
}
