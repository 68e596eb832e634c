//! What a program prints, is given and reads.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use pipeaudit::source::live::command::Exit;

use crate::subject::Subject;

#[test]
fn both_outputs_are_passed_on_as_they_come_and_their_ends_kept_apart() {
    let subject = Subject::sh("echo to stdout; echo to stderr >&2");
    let ended = subject.run();
    let mut lines: Vec<String> = subject.said().lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["to stderr", "to stdout"]);
    assert_eq!(ended.stdout.last_lines(9), "to stdout");
    assert_eq!(ended.stderr.last_lines(9), "to stderr");
}

#[test]
fn a_gigabyte_of_prints_takes_no_memory() {
    let mut subject = Subject::sh("head -c 1073741824 /dev/zero; printf '\\nthe end\\n'");
    subject.sink = None;
    let peak = peak_memory();
    let ended = subject.run();
    assert_eq!(ended.exit, Exit::Success);
    assert_eq!(ended.stdout.seen(), 1_073_741_824 + 9);
    assert_eq!(ended.stdout.last_lines(1), "the end");
    assert!(peak_memory() - peak < 64 << 20, "memory grew from {peak} to {}", peak_memory());
}

/// The most memory that this process ever had, in bytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[test]
fn what_a_program_says_of_being_ended_by_us_is_not_passed_on() {
    let subject = Subject::python(
        "import pathlib, signal, sys
def complain(*_):
    print('killed in the middle of my work', flush=True)
    sys.exit(1)
signal.signal(signal.SIGTERM, complain)
print('working', flush=True)
(pathlib.Path(sys.argv[1]) / 'ready').touch()
while True:
    signal.pause()
",
    );
    let ended = subject.run_until_there_is("ready");
    assert_eq!(ended.exit, Exit::Stopped);
    assert!(!subject.said().contains("killed"), "{}", subject.said());
    assert!(!ended.stdout.last_lines(9).contains("killed"));
}

#[test]
fn the_program_runs_on_where_nobody_takes_its_output() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut subject = Subject::sh("echo one; echo two; touch $1/done");
    subject.sink = Some(Arc::new(Mutex::new(Closed)));
    let ended = subject.run();
    assert_eq!(ended.exit, Exit::Success);
    assert_eq!(ended.stdout.last_lines(9), "one\ntwo");
    assert!(subject.path("done").exists());
}

#[test]
fn variables_are_added_to_ours_and_the_folder_is_the_given_one() {
    let mut subject = Subject::sh("echo $PIPEAUDIT_TEST; test -n \"$PATH\" && pwd -P");
    let folder = std::fs::canonicalize(subject.path("")).unwrap();
    subject.command.environment.insert("PIPEAUDIT_TEST".into(), "added".into());
    subject.command.folder = Some(folder.clone());
    assert_eq!(subject.run().stdout.last_lines(9), format!("added\n{}", folder.display()));
}

#[test]
fn a_program_that_reads_its_input_finds_it_empty() {
    let ended = Subject::sh("cat; echo read").run();
    assert_eq!((ended.exit, ended.stdout.last_lines(9).as_str()), (Exit::Success, "read"));
}
