//! Audits a program with the binary and judges the report.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use libtest_mimic::Failed;
use serde_json::Value;

use crate::expect::Program;
use crate::interpreter::Interpreter;

/// An audit that takes this long hangs.
const OUTER_TIMEOUT: Duration = Duration::from_secs(600);

/// Audits a program in a copy of its folder.
pub fn check(program: &Program, interpreter: &Interpreter) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    for entry in std::fs::read_dir(&program.folder)? {
        let entry = entry?;
        std::fs::copy(entry.path(), folder.path().join(entry.file_name()))?;
    }
    let output = audit(program, interpreter, folder.path())?;
    let (report, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    judge(program, output.status.code(), &report, &said)
        .map_err(|problem| format!("{}\n{problem}\n{report}\n{said}", program.expect.about).into())
}

fn audit(program: &Program, interpreter: &Interpreter, folder: &Path) -> Result<Output, Failed> {
    let python = interpreter.path.to_string_lossy().into_owned();
    let words = program.expect.run.iter().map(|word| if word == "python" { python.clone() } else { word.clone() });
    let mut words: Vec<String> = words.collect();
    if let Some(ranks) = program.expect.env_ranks {
        let line = words.join(" ");
        let copies: String = (0..ranks).map(|rank| format!("RANK={rank} WORLD_SIZE={ranks} {line} & ")).collect();
        words = vec!["sh".to_owned(), "-c".to_owned(), copies + "wait"];
    }
    // Launchers such as torchrun lie beside the interpreter.
    let mut path = std::ffi::OsString::from(interpreter.path.parent().unwrap_or(Path::new("")));
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let child = Command::new(env!("CARGO_BIN_EXE_pipeaudit"))
        .args(["check", "--format", "json", "--"])
        .args(words)
        .current_dir(folder)
        .env("PATH", path)
        .env_remove("PYTHONHASHSEED")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let id = child.id().to_string();
    let (sender, receiver) = channel();
    std::thread::spawn(move || sender.send(child.wait_with_output()).is_ok());
    match receiver.recv_timeout(OUTER_TIMEOUT) {
        Ok(output) => Ok(output?),
        Err(_) => {
            // Asked to stop, it ends the program too.
            let _ = Command::new("kill").args(["-TERM", &id]).status();
            Err("the audit hangs".into())
        }
    }
}

/// What is wrong with a report.
fn judge(program: &Program, status: Option<i32>, report: &str, said: &str) -> Result<(), String> {
    let expect = &program.expect;
    if status != Some(expect.exit) {
        return Err(format!("exit status {status:?} instead of {}", expect.exit));
    }
    if let Some(missing) = expect.says.iter().find(|text| !report.contains(*text) && !said.contains(*text)) {
        return Err(format!("{missing:?} is not said"));
    }
    if expect.exit > 1 {
        return Ok(());
    }
    let report: Value = serde_json::from_str(report).map_err(|error| format!("no JSON: {error}"))?;
    let findings = report["findings"].as_array().ok_or("no findings in the report")?;
    let codes = |note: bool| -> BTreeSet<&str> {
        let chosen = findings.iter().filter(|finding| (finding["severity"] == "note") == note);
        chosen.filter_map(|finding| finding["code"].as_str()).collect()
    };
    let (notes, others) = (codes(true), codes(false));
    let mut wanted = BTreeSet::new();
    for codes in &expect.report {
        match codes.split('|').find(|code| notes.contains(code) || others.contains(code)) {
            Some(code) => wanted.insert(code),
            None => return Err(format!("{codes} is missing; reported: {others:?}, as notes: {notes:?}")),
        };
    }
    let allowed = |code: &&&str| !wanted.contains(**code) && !expect.allow.iter().any(|allow| allow == **code);
    match others.iter().find(allowed) {
        Some(code) => Err(format!("{code} is a false alarm")),
        None => Ok(()),
    }
}
