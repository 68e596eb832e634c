//! How a command ended is told apart.

use std::time::Duration;

use pipeaudit::source::live::command::Exit;

use crate::subject::Subject;

#[test]
fn success_and_failure_are_told_by_the_status() {
    assert_eq!(Subject::sh("exit 0").run().exit, Exit::Success);
    let ended = Subject::sh("exit 7").run();
    assert_eq!(ended.exit, Exit::Failure { status: 7 });
    assert_eq!(ended.exit.to_string(), "exited with status 7");
}

#[test]
fn a_program_that_is_killed_like_by_the_out_of_memory_killer_is_told_by_the_signal() {
    let ended = Subject::sh("kill -KILL $$").run();
    assert_eq!(ended.exit, Exit::Signal { number: 9 });
    assert_eq!(
        ended.exit.to_string(),
        "was killed by signal 9 (SIGKILL); where nobody sent it, the system ran out of memory"
    );
}

#[test]
fn a_signal_that_a_launcher_passes_on_is_told_too() {
    let ended = Subject::sh("sh -c 'kill -SEGV $$'; exit $?").run();
    assert_eq!(ended.exit, Exit::Failure { status: 139 });
    assert_eq!(
        ended.exit.to_string(),
        "exited with status 139, which says that a process of it was killed by signal 11 (SIGSEGV)"
    );
}

#[test]
fn a_program_that_ends_in_the_middle_keeps_its_last_words() {
    let subject = Subject::python(
        "import sys\nsys.stderr.write('x' * 100 + '\\n')\nsys.stderr.write('Traceback: disk full\\n')\nsys.exit(3)\n",
    );
    let ended = subject.run();
    assert_eq!(ended.exit, Exit::Failure { status: 3 });
    assert_eq!(ended.stderr.last_lines(1), "Traceback: disk full");
}

#[test]
fn a_program_that_hangs_is_ended_when_its_time_is_up() {
    let mut subject = Subject::sh("exec tail -f $1/nothing /dev/null");
    subject.command.timeout = Some(Duration::from_millis(200));
    let ended = subject.run();
    assert_eq!(ended.exit, Exit::TimedOut { after: Duration::from_millis(200) });
    assert_eq!(ended.exit.to_string(), "was ended after 0.2 s");
    assert_eq!(subject.left(), [""; 0]);
}

#[test]
fn a_program_is_stopped_once_enough_was_seen() {
    let subject = Subject::sh("touch $1/seen; exec tail -f $1/seen");
    assert_eq!(subject.run_until_there_is("seen").exit, Exit::Stopped);
    assert_eq!(subject.left(), [""; 0]);
}

#[test]
fn a_program_that_was_stopped_by_the_recorder_itself_counts_as_stopped_whatever_its_status() {
    let subject = Subject::sh("touch $1/seen; exit 5");
    assert_eq!(subject.run_until_there_is("seen").exit, Exit::Stopped);
}
