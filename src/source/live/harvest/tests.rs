//! Trace folders as programs leave them.

use std::time::Duration;

use super::*;
use crate::error::Error;
use crate::exit::Exit as Status;
use crate::source::live::tail::Tail;

const PROCESS: &str = r#"{"type":"process","format":1,"rank":0,"world_size":1,"role":"main","pid":7}"#;
const LOADER: &str = r#"{"type":"loader","loader":0,"where":"train.py:7","length":2,"num_workers":0}"#;
const SAMPLE: &str = r#"{"type":"sample","loader":0,"epoch":0,"worker":-1,"seq":0,"batch":0,"index":0}"#;
const WHOLE: &str = r#"{"type":"end","loader":0,"epoch":0,"worker":-1,"samples":1,"whole":true}"#;

/// How a command ended, with its last words.
fn ended(exit: Exit, stderr: &str) -> Ended {
    let mut tail = Tail::new(1000);
    tail.push(stderr.as_bytes());
    Ended { exit, stdout: Tail::new(0), stderr: tail, left_behind: 0, beyond_reach: Vec::new() }
}

/// Harvests a folder with these files.
fn harvested(files: &[(&str, &[&str])], argv: &[&str], ended: &Ended) -> Result<Harvest> {
    let folder = tempfile::tempdir().unwrap();
    for (name, lines) in files {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let argv: Vec<OsString> = argv.iter().map(OsString::from).collect();
    harvest(folder.path(), &argv, ended, 2)
}

fn refused(files: &[(&str, &[&str])], argv: &[&str], ended: &Ended) -> Error {
    let error = harvested(files, argv, ended).unwrap_err();
    assert_eq!(error.exit, Status::NotAudited);
    error
}

const TRAIN: &[&str] = &["python", "train.py"];

#[test]
fn what_was_delivered_is_read() {
    let harvest = harvested(
        &[("7.attached", &["{}"]), ("7-0.jsonl", &[PROCESS, LOADER, SAMPLE, WHOLE])],
        TRAIN,
        &ended(Exit::Success, ""),
    )
    .unwrap();
    assert_eq!(harvest.loaded.run.lanes.len(), 1);
    assert_eq!((harvest.unfinished, harvest.remarks.len(), harvest.faults.len()), (None, 0, 0));
}

#[test]
fn an_option_that_keeps_the_recorder_out_is_named() {
    for (argv, option) in [
        (&["python", "-I", "train.py"][..], "-I"),
        (&["/usr/bin/python3.11", "-u", "-X", "dev", "-sE", "train.py"], "-sE"),
        (&["sh", "-c", "cd src && python3 -S train.py"], "-S"),
    ] {
        let error = refused(&[], argv, &ended(Exit::Success, ""));
        let end = format!("with `{option}`, Python passes PYTHONPATH or sitecustomize by");
        assert!(error.message.ends_with(&end), "{}", error.message);
        assert!(error.help.unwrap().starts_with(&format!("run it without `{option}`")));
    }
}

#[test]
fn options_of_the_program_are_not_taken_for_pythons() {
    for argv in [
        &["python", "train.py", "-I"][..],
        &["python", "-m", "train", "-E"],
        &["python", "-c", "import this", "-S"],
        &["python", "-W", "-I", "train.py"],
        &["python", "-Xfrozen_modules=off", "--", "-S"],
        &["./train", "-I"],
    ] {
        let error = refused(&[], argv, &ended(Exit::Success, ""));
        assert!(error.message.ends_with("no CPython that heeds PYTHONPATH ran"), "{}", error.message);
        assert!(error.help.unwrap().contains("-I, -E and -S"));
    }
}

#[test]
fn a_program_without_torch_without_a_loader_and_with_an_idle_one_are_told_apart() {
    let good = ended(Exit::Success, "");
    let attached: (&str, &[&str]) = ("7.attached", &["{}"]);
    let error = refused(&[attached], TRAIN, &good);
    assert!(error.message.starts_with("`python train.py` has no data loader"), "{}", error.message);
    let exit = |made: u32| format!(r#"{{"type":"exit","made":{made},"iterated":0}}"#);
    let error = refused(&[attached, ("7-0.jsonl", &[PROCESS, &exit(0)])], TRAIN, &good);
    assert_eq!(error.message, "`python train.py` made no data loader");
    let error = refused(&[attached, ("7-0.jsonl", &[PROCESS, &exit(1)])], TRAIN, &good);
    assert_eq!(error.message, "`python train.py` made 1 data loader and iterated none");
    let error = refused(&[attached, ("7-0.jsonl", &[PROCESS, &exit(3)])], TRAIN, &good);
    assert_eq!(error.message, "`python train.py` made 3 data loaders and iterated none");
    assert!(error.help.unwrap().contains("--loader"));
    let error = refused(&[attached, ("7-0.jsonl", &[PROCESS, LOADER])], TRAIN, &good);
    assert_eq!(error.message, "the data loaders of `python train.py` delivered nothing");
}

#[test]
fn a_program_that_fails_first_is_quoted() {
    let error = refused(
        &[("7.attached", &["{}"])],
        TRAIN,
        &ended(Exit::Failure { status: 1 }, "  File \"train.py\", line 3\nSyntaxError: invalid syntax\n"),
    );
    assert_eq!(
        error.message,
        "`python train.py` exited with status 1 before it imported torch.utils.data; its last words:\n    \
         File \"train.py\", line 3\n  SyntaxError: invalid syntax"
    );
    let error = refused(&[("7-0.jsonl", &[PROCESS])], TRAIN, &ended(Exit::Signal { number: 11 }, ""));
    assert_eq!(error.message, "`python train.py` was killed by signal 11 (SIGSEGV) before it made a data loader");
}

#[test]
fn a_program_that_hangs_or_is_interrupted_before_anything_came_says_so() {
    let hung = ended(Exit::TimedOut { after: Duration::from_secs(60) }, "waiting for the lock\n");
    let error = refused(&[("7-0.jsonl", &[PROCESS, LOADER])], TRAIN, &hung);
    assert_eq!(
        error.message,
        "`python train.py` was ended after 60 s before a data loader delivered anything; its last words:\n  \
         waiting for the lock"
    );
    assert!(error.help.unwrap().contains("--timeout"));
    let error = refused(&[], TRAIN, &ended(Exit::Interrupted, "KeyboardInterrupt"));
    assert_eq!(
        error.message,
        "`python train.py` was ended because you asked to stop before it imported torch.utils.data"
    );
}

#[test]
fn a_program_that_breaks_off_is_judged_by_what_came_and_said_to_be_unfinished() {
    let shard: (&str, &[&str]) = ("7-0.jsonl", &[PROCESS, LOADER, SAMPLE, WHOLE]);
    let harvest = harvested(&[shard], TRAIN, &ended(Exit::Failure { status: 1 }, "disk full\n")).unwrap();
    assert_eq!(
        harvest.unfinished.unwrap(),
        "`python train.py` exited with status 1 after 1 of 2 epochs of train.py:7; its last words:\n  disk full"
    );
    let torn: (&str, &[&str]) = ("7-0.jsonl", &[PROCESS, LOADER, SAMPLE]);
    let harvest = harvested(&[torn], TRAIN, &ended(Exit::Signal { number: 9 }, "")).unwrap();
    assert!(harvest.unfinished.unwrap().ends_with("after 0 of 2 epochs of train.py:7"));
}

#[test]
fn a_program_that_fails_after_all_epochs_or_was_stopped_by_the_recorder_is_finished() {
    let second = [SAMPLE, WHOLE].map(|line| line.replace(r#""epoch":0"#, r#""epoch":1"#));
    let shard = [PROCESS, LOADER, SAMPLE, WHOLE, &second[0], &second[1]];
    let failed = ended(Exit::Failure { status: 1 }, "");
    assert_eq!(harvested(&[("7-0.jsonl", &shard)], TRAIN, &failed).unwrap().unfinished, None);
    let shard = [PROCESS, LOADER, SAMPLE, r#"{"type":"stopped","reason":"enough"}"#];
    assert_eq!(harvested(&[("7-0.jsonl", &shard)], TRAIN, &failed).unwrap().unfinished, None);
}

#[test]
fn faults_are_counted_and_leftovers_are_mentioned() {
    let fault = r#"{"type":"fault","where":"digest","message":"boom","count":3}"#;
    let once = r#"{"type":"fault","where":"","message":"no room"}"#;
    let opaque = SAMPLE.replace(r#""index":0"#, r#""index":0,"opaque":1"#);
    let shard = [PROCESS, LOADER, &opaque, WHOLE, fault, fault, once];
    let mut ended = ended(Exit::Success, "");
    ended.left_behind = 2;
    ended.beyond_reach = vec![41, 42];
    let harvest = harvested(&[("7-0.jsonl", &shard)], TRAIN, &ended).unwrap();
    assert_eq!(harvest.faults, ["digest: boom (6 times)", "no room"]);
    assert_eq!(
        harvest.remarks,
        [
            "2 processes that the command left running were ended",
            "these processes of the command could not be ended: 41, 42",
            "1 sample has parts that could not be digested: it was compared by the rest",
        ]
    );
}

#[test]
fn commands_are_shown_as_they_could_be_typed_and_never_steer_a_terminal() {
    let argv: Vec<OsString> = ["sh", "-c", "echo \u{1b}[31m a\nb"].map(OsString::from).to_vec();
    assert_eq!(command_line(&argv), "sh -c 'echo  [31m a b'");
    let long: Vec<OsString> = (0..40).map(|number| OsString::from(format!("--{number:02}"))).collect();
    let line = command_line(&long);
    assert_eq!(line.chars().count(), 80);
    assert!(line.ends_with("..."));
}
