//! The same arguments give the same report, byte for byte.

use std::fs;

use crate::harness::{pipeaudit, text, with};

const LINE: &str = "check --format json --workers 3 --samples 50 --init seed+epoch+worker";

#[test]
fn two_calls_print_the_same_bytes() {
    let first = pipeaudit(LINE);
    assert!(first.stdout.ends_with("}\n"));
    assert_eq!(first.stdout, pipeaudit(LINE).stdout);
}

#[cfg(target_os = "linux")]
#[test]
fn one_core_prints_what_two_cores_print() {
    let pinned = std::process::Command::new("taskset")
        .args(["-c", "0", env!("CARGO_BIN_EXE_pipeaudit")])
        .args(LINE.split_whitespace())
        .output()
        .expect("taskset is part of util-linux");
    assert_eq!(String::from_utf8(pinned.stdout).unwrap(), pipeaudit(LINE).stdout);
}

#[test]
fn a_file_holds_what_standard_output_would() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let outcome = with(&["check", "--format", "json", "-o", text(&file)]);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (0, ""));
    assert_eq!(fs::read_to_string(file).unwrap(), pipeaudit("check --format json").stdout);
}

#[test]
fn kept_runs_hold_the_streams_that_the_report_counts() {
    // An independent count: plain loops over the kept lines.
    let folder = tempfile::tempdir().unwrap();
    let keep = folder.path().join("kept");
    assert_eq!(with(&["check", "--workers", "4", "--keep", text(&keep)]).status, 0);
    for (run, distinct) in [("without-init-a", 1), ("with-init-a", 8)] {
        let lines = fs::read_to_string(keep.join(run).join("rank0.jsonl")).unwrap();
        let mut starts = Vec::new();
        let mut samples = 0;
        for line in lines.lines() {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            if record["type"] == "stream" {
                let state = record["state"].as_str().unwrap().to_owned();
                if !starts.contains(&state) {
                    starts.push(state);
                }
            }
            samples += usize::from(record["type"] == "sample");
        }
        assert_eq!((starts.len(), samples), (distinct, 128), "{run}");
    }
}
