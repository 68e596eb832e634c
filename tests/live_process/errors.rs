//! A command that cannot be started is named, with the next step.

use std::os::unix::fs::PermissionsExt;

use pipeaudit::error::Error;
use pipeaudit::exit::Exit;
use pipeaudit::source::live::command::Command;

use crate::subject::Subject;

/// Runs `name` in a folder that holds files of these names, permissions and contents.
fn refused(files: &[(&str, u32, &str)], name: &str) -> Error {
    let mut subject = Subject::sh("");
    for (file, mode, content) in files {
        std::fs::write(subject.path(file), content).unwrap();
        std::fs::set_permissions(subject.path(file), std::fs::Permissions::from_mode(*mode)).unwrap();
    }
    subject.command = Command::new([name]);
    subject.command.folder = Some(subject.path(""));
    let error = subject.run_until(|| false).unwrap_err();
    assert_eq!(error.exit, Exit::Usage);
    error
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let error = refused(&[], "pipeaudit-no-such-program");
    assert_eq!(error.message, "cannot run pipeaudit-no-such-program: there is no such program on the PATH");
    assert!(error.help.unwrap().contains("activate the environment"));
    assert_eq!(refused(&[], "./nothing").message, "cannot run ./nothing: there is no such file");
}

#[test]
fn a_python_file_is_run_through_python() {
    let error = refused(&[("train.py", 0o644, "")], "train.py");
    assert_eq!(error.message, "cannot run train.py: it is no program");
    assert_eq!(error.help.unwrap(), "run it through an interpreter: `-- python train.py`");
    let error = refused(&[("train.py", 0o644, "")], "./train.py");
    assert_eq!(error.message, "cannot run ./train.py: it is not executable");
    assert_eq!(error.help.unwrap(), "run it through an interpreter: `-- python ./train.py`");
}

#[test]
fn a_file_that_is_not_executable_a_folder_and_one_without_an_interpreter_are_told_apart() {
    assert_eq!(refused(&[("go", 0o644, "")], "./go").message, "cannot run ./go: it is not executable");
    assert_eq!(refused(&[], "../").message, "cannot run ../: it is a folder");
    let error = refused(&[("go", 0o755, "echo no first line\n")], "./go");
    assert_eq!(error.message, "cannot run ./go: it is neither a program nor does its first line name an interpreter");
    let error = refused(&[("go", 0o755, "#!/no/such/interpreter\n")], "./go");
    assert_eq!(error.message, "cannot run ./go: the interpreter that its first line names is not there");
}

#[test]
fn no_command_and_no_folder_are_refused() {
    let mut subject = Subject::sh("");
    subject.command = Command::new([""; 0]);
    assert_eq!(subject.run_until(|| false).unwrap_err().message, "no command was given");
    let mut subject = Subject::sh("");
    subject.command.folder = Some("no/such/folder".into());
    let error = subject.run_until(|| false).unwrap_err();
    assert_eq!((error.message.as_str(), error.exit), ("there is no folder no/such/folder to run in", Exit::Usage));
}
