//! A program under audit in its own folder, and what is left of it.

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pipeaudit::error::Result;
use pipeaudit::source::live::command::{Command, Ended, Sink, run};
use pipeaudit::source::live::interrupt::Interrupt;
use tempfile::TempDir;

/// A run that takes this long hangs.
pub const OUTER_TIMEOUT: Duration = Duration::from_secs(120);

/// A program's folder. Its path stands in the command line of every process that a subject starts.
pub struct Subject {
    folder: TempDir,
    pub command: Command,
    pub interrupt: Interrupt,
    pub said: Arc<Mutex<Vec<u8>>>,
    pub sink: Option<Sink>,
}

impl Subject {
    /// A shell script; `$1` is the folder.
    pub fn sh(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap().to_owned();
        Self::new(Command::new(["sh", "-c", script, "sh", &path]), folder)
    }

    /// A Python script; `sys.argv[1]` is the folder.
    pub fn python(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap().to_owned();
        let file = folder.path().join("subject.py");
        std::fs::write(&file, script).unwrap();
        Self::new(Command::new(["python3", file.to_str().unwrap(), &path]), folder)
    }

    fn new(command: Command, folder: TempDir) -> Self {
        let said = Arc::<Mutex<Vec<u8>>>::default();
        Self { folder, command, interrupt: Interrupt::default(), sink: Some(said.clone()), said }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn mkfifo(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    /// Runs it to its own end.
    pub fn run(&self) -> Ended {
        self.run_until(|| false).unwrap()
    }

    /// Runs it until it has made a file.
    pub fn run_until_there_is(&self, name: &str) -> Ended {
        let file = self.path(name);
        self.run_until(move || file.exists()).unwrap()
    }

    /// Runs it until its first line has come through.
    pub fn run_until_it_said_a_line(&self) -> Ended {
        let said = self.said.clone();
        self.run_until(move || said.lock().unwrap().contains(&b'\n')).unwrap()
    }

    /// Runs it until `enough` says so, under the outer timeout.
    pub fn run_until(&self, mut enough: impl FnMut() -> bool + Send + 'static) -> Result<Ended> {
        let (command, interrupt, sink) = (self.command.clone(), self.interrupt.clone(), self.sink.clone());
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let _ = sender.send(run(&command, sink, &interrupt, &mut enough));
        });
        receiver.recv_timeout(OUTER_TIMEOUT).unwrap_or_else(|_| {
            // One hanging run must not keep the others from theirs.
            self.interrupt.raise();
            self.interrupt.raise();
            panic!("the run hangs")
        })
    }

    /// What it printed, as it was passed on.
    pub fn said(&self) -> String {
        String::from_utf8_lossy(&self.said.lock().unwrap()).into_owned()
    }

    /// Command lines of processes that still are, zombies included.
    pub fn left(&self) -> Vec<String> {
        processes_with(self.folder.path())
    }
}

/// Command lines that name a folder.
pub fn processes_with(folder: &Path) -> Vec<String> {
    let name = folder.to_str().unwrap();
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read(entry.ok()?.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(name))
        .collect()
}

/// Whether a process with this number is there at all, even as a zombie.
pub fn is_there(pid: &str) -> bool {
    Path::new("/proc").join(pid.trim()).exists()
}

/// An ignored test of this binary in a process of its own.
pub fn this_test_alone(name: &str) -> std::process::Command {
    let mut test = std::process::Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", name, "--ignored", "--nocapture"]);
    test
}
