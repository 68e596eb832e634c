//! Whatever a program starts goes when it goes.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::Duration;

use pipeaudit::source::live::command::Exit;

use crate::subject::{Subject, is_there, this_test_alone};

/// Longer than any test: who waits for it hangs.
const FOR_EVER: Duration = Duration::from_secs(3600);

#[test]
fn a_program_may_put_its_things_in_order_before_it_ends() {
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
    subject.command.grace = FOR_EVER;
    assert_eq!(subject.run_until_there_is("ready").exit, Exit::Stopped);
    assert!(subject.path("tidied").exists());
}

#[test]
fn a_program_that_ignores_sigterm_is_killed() {
    let mut subject = Subject::sh("trap '' TERM; touch $1/ready; tail -f $1/ready; tail -f $1/ready");
    subject.command.grace = Duration::from_millis(50);
    assert_eq!(subject.run_until_there_is("ready").exit, Exit::Stopped);
    assert_eq!(subject.left(), [""; 0]);
}

#[test]
fn a_stopped_program_is_woken_to_end() {
    let mut subject = Subject::python(
        "import os, pathlib, signal, sys
folder = pathlib.Path(sys.argv[1])
def tidy(*_):
    (folder / 'tidied').touch()
    os._exit(0)
signal.signal(signal.SIGTERM, tidy)
(folder / 'ready').touch()
while True:
    os.kill(os.getpid(), signal.SIGSTOP)
",
    );
    subject.command.grace = FOR_EVER;
    assert_eq!(subject.run_until_there_is("ready").exit, Exit::Stopped);
    assert!(subject.path("tidied").exists());
}

#[test]
fn a_daemon_with_its_own_session_and_no_environment_does_not_outlive_the_command() {
    let mut subject = Subject::python(
        "import os, sys
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(write, b'%d' % os.getpid())
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2, write, read):
            os.dup2(null, fd)
        os.execve('/bin/sh', ['sh', '-c', 'tail -f /dev/null; : ' + sys.argv[1]], {})
    os._exit(0)
print(os.read(read, 20).decode())
",
    );
    subject.command.grace = Duration::from_millis(50);
    let ended = subject.run();
    assert_eq!(ended.exit, Exit::Success);
    // The daemon's shell, and the program that it runs.
    assert!((1..=2).contains(&ended.left_behind), "{ended:?}");
    assert!(ended.beyond_reach.is_empty());
    assert!(!is_there(&ended.stdout.last_lines(1)));
    assert_eq!(subject.left(), [""; 0]);
}

#[test]
fn grandchildren_in_sessions_of_their_own_end_with_a_program_that_is_stopped() {
    let mut subject = Subject::sh("setsid sh -c 'touch $0/ready; tail -f $0/ready; :' $1 & tail -f $1/other /dev/null");
    subject.command.grace = Duration::from_millis(50);
    assert_eq!(subject.run_until_there_is("ready").exit, Exit::Stopped);
    assert_eq!(subject.left(), [""; 0]);
}

#[test]
fn a_program_that_forks_when_it_is_asked_to_end_is_ended_whole() {
    let mut subject = Subject::python(
        "import os, pathlib, signal, sys
def again(*_):
    if os.fork() == 0:
        os.setsid()
signal.signal(signal.SIGTERM, again)
(pathlib.Path(sys.argv[1]) / 'ready').touch()
while True:
    signal.pause()
",
    );
    subject.command.grace = Duration::from_millis(300);
    assert_eq!(subject.run_until_there_is("ready").exit, Exit::Stopped);
    assert_eq!(subject.left(), [""; 0]);
}

#[test]
fn helpers_that_end_by_themselves_a_moment_later_are_not_left_behind() {
    // The child notices its parent's end by the pipe that is closed then, and has something left to do.
    let subject = Subject::python(
        "import os, pathlib, sys
read, write = os.pipe()
if os.fork() == 0:
    os.close(write)
    os.read(read, 1)
    sum(range(10**6))
    (pathlib.Path(sys.argv[1]) / 'tidied').touch()
    os._exit(0)
",
    );
    assert_eq!(subject.run().left_behind, 0);
    assert!(subject.path("tidied").exists());
}

#[test]
fn killed_programs_leave_no_shared_memory() {
    // Spawned workers' semaphores are files; Python's resource tracker unlinks them once all others are gone.
    let mut subject = Subject::python(
        "import multiprocessing, signal
if __name__ == '__main__':
    semaphore = multiprocessing.get_context('spawn').Semaphore()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(semaphore._semlock.name, flush=True)
    while True:
        signal.pause()
",
    );
    subject.command.grace = Duration::from_millis(50);
    let ended = subject.run_until_it_said_a_line();
    let name = ended.stdout.last_lines(1);
    assert!(name.starts_with("/mp-"), "{name}");
    assert!(!std::path::Path::new("/dev/shm").join(format!("sem.{}", &name[1..])).exists());
    assert_eq!(subject.left(), [""; 0]);
}

#[test]
fn no_zombie_is_left_of_orphans_that_ended() {
    let subject = Subject::sh("for i in 1 2 3 4 5; do sh -c 'setsid sh -c \"echo \\$\\$ >>$0/pids\" &' $1; done");
    assert_eq!(subject.run().exit, Exit::Success);
    let pids = std::fs::read_to_string(subject.path("pids")).unwrap();
    assert_eq!(pids.lines().count(), 5);
    assert_eq!(pids.lines().filter(|pid| is_there(pid)).count(), 0);
}

#[test]
fn children_that_other_code_started_live_on() {
    // Alone, since a child in a group of its own passes for an orphan of any tree that runs already.
    let output = this_test_alone("trees::children_of_ours_live_on").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// What [`children_that_other_code_started_live_on`] runs in a process of its own.
#[test]
#[ignore = "is run by another test"]
fn children_of_ours_live_on() {
    let cat = || {
        let mut cat = std::process::Command::new("cat");
        cat.stdin(Stdio::piped()).stdout(Stdio::piped());
        cat
    };
    let before = cat().process_group(0).spawn().unwrap();
    let subject = Subject::sh("touch $1/ready; tail -f $1/ready");
    let ready = subject.path("ready");
    let (sender, receiver) = std::sync::mpsc::channel();
    let started = subject.run_until(move || ready.exists() && sender.send(cat().spawn().unwrap()).is_ok()).unwrap();
    assert_eq!(started.exit, Exit::Stopped);
    for mut child in [before, receiver.recv().unwrap()] {
        child.stdin.take().unwrap().write_all(b"alive").unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        assert_eq!(output.stdout, b"alive");
    }
}
