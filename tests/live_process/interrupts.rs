//! Ctrl-C: once gently, twice at once.

use std::io::BufRead;
use std::process::{Command, Stdio};
use std::time::Duration;

use pipeaudit::source::live::command::Exit;
use pipeaudit::source::live::interrupt::Interrupt;

use crate::subject::{Subject, is_there, this_test_alone};

#[test]
fn one_interrupt_ends_the_tree_gently() {
    let mut subject = Subject::python(
        "import pathlib, signal, sys
folder = pathlib.Path(sys.argv[1])
def tidy(*_):
    (folder / 'tidied').touch()
    sys.exit(0)
signal.signal(signal.SIGTERM, tidy)
(folder / 'ready').touch()
while True:
    signal.pause()
",
    );
    subject.command.grace = Duration::from_secs(3600);
    let (ready, interrupt) = (subject.path("ready"), subject.interrupt.clone());
    let ended = subject.run_until(move || {
        if ready.exists() {
            interrupt.raise();
        }
        false
    });
    assert_eq!(ended.unwrap().exit, Exit::Interrupted);
    assert!(subject.path("tidied").exists());
}

#[test]
fn a_second_interrupt_does_not_wait_for_the_grace() {
    // The subject says through a pipe that it was asked, and goes on.
    let mut subject = Subject::python(
        "import pathlib, signal, sys
folder = pathlib.Path(sys.argv[1])
signal.signal(signal.SIGTERM, lambda *_: (folder / 'asked').write_text('asked'))
(folder / 'ready').touch()
while True:
    signal.pause()
",
    );
    subject.command.grace = Duration::from_secs(3600);
    let asked = subject.mkfifo("asked");
    let interrupt = subject.interrupt.clone();
    std::thread::spawn(move || {
        assert_eq!(std::fs::read(asked).unwrap(), b"asked");
        interrupt.raise();
    });
    let (ready, interrupt) = (subject.path("ready"), subject.interrupt.clone());
    let ended = subject.run_until(move || {
        if ready.exists() && !interrupt.is_raised() {
            interrupt.raise();
        }
        false
    });
    assert_eq!(ended.unwrap().exit, Exit::Interrupted);
    assert_eq!(subject.left(), [""; 0]);
}

/// What [`ctrl_c_ends_the_tree_of_a_running_audit`] runs in a process of its own.
#[test]
#[ignore = "is run by another test"]
fn runs_until_ctrl_c() {
    let mut subject = Subject::sh("trap '' TERM; touch $1/ready; echo tree $$; tail -f $1/ready; tail -f $1/ready");
    subject.command.grace = Duration::from_millis(50);
    subject.interrupt = Interrupt::of_process().unwrap();
    let said = subject.said.clone();
    let mut told = false;
    let ended = subject.run_until(move || {
        if !told && said.lock().unwrap().ends_with(b"\n") {
            told = true;
            println!("{}", String::from_utf8_lossy(&said.lock().unwrap()).trim());
        }
        false
    });
    assert_eq!(ended.unwrap().exit, Exit::Interrupted);
    println!("left {:?}", subject.left());
}

#[test]
fn ctrl_c_ends_the_tree_of_a_running_audit() {
    let mut audit = this_test_alone("interrupts::runs_until_ctrl_c").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufReader::new(audit.stdout.take().unwrap()).lines().map(Result::unwrap);
    // The harness may write a line's beginning before it.
    let line = lines.find(|line| line.contains("tree ")).expect("the tree runs");
    let pid = line.rsplit(' ').next().unwrap().to_owned();
    assert!(is_there(&pid));
    assert!(Command::new("kill").args(["-INT", &audit.id().to_string()]).status().unwrap().success());
    assert!(lines.any(|line| line.contains("left []")));
    assert!(audit.wait().unwrap().success());
    assert!(!is_there(&pid));
}
