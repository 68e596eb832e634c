//! Runs a command as a process tree and leaves nothing of it behind.
//!
//! Three threads: two read what the program prints (bounded, whatever it prints), this one looks every `TICK`
//! whether the command has ended, the recorder has seen enough, the time is up or the user asked to stop. Whichever
//! comes first, every process of the tree is ended before [`run`] returns: gently, and after a grace without mercy.
//!
//! The command reads nothing from the terminal (its standard input is empty), since it is run more than once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::interrupt::Interrupt;
use super::tail::Tail;
use super::tree::{Ending, Force, Tree};
use crate::error::{Error, Result};

/// How often to look: short against the 0.3 s that an audit may cost, long against the work of one look.
const TICK: Duration = Duration::from_millis(10);

/// How long to wait at first, and at most, before looking again who is left: a look walks over all processes.
const LOOK: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(64));

/// How often to take leave of orphans that ended.
const REAP: Duration = Duration::from_secs(1);

/// How long the rest of a tree may take to end by itself after its first process: queues and trackers that notice.
const SETTLE: Duration = Duration::from_millis(500);

/// How long caretakers may take after the others, and how long a killed process may take to go.
const LAST: Duration = Duration::from_secs(2);

/// How long a reader may take to see the end of a pipe whose writers have all ended.
const DRAIN: Duration = Duration::from_secs(2);

/// Bytes kept of each of the program's outputs.
const KEPT: usize = 16 << 10;

/// Where the program's output is passed on to while it runs.
pub type Sink = Arc<Mutex<dyn Write + Send>>;

/// What to run.
#[derive(Clone, Debug)]
pub struct Command {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// The folder to run it in; ours where absent.
    pub folder: Option<PathBuf>,
    /// Variables that are set in our environment, or taken away from it.
    pub environment: BTreeMap<OsString, Option<OsString>>,
    /// When to end it.
    pub timeout: Option<Duration>,
    /// How long it may take to end when asked gently.
    pub grace: Duration,
}

impl Command {
    /// The default of [`Command::grace`].
    pub const GRACE: Duration = Duration::from_secs(2);

    /// A command without additions or limits.
    pub fn new(argv: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self {
            argv: argv.into_iter().map(Into::into).collect(),
            folder: None,
            environment: BTreeMap::new(),
            timeout: None,
            grace: Self::GRACE,
        }
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with status 0.
    Success,
    /// By itself, with another status.
    Failure {
        /// The status.
        status: i32,
    },
    /// By a signal that was not ours.
    Signal {
        /// Its number.
        number: i32,
    },
    /// It was ended because its time was up.
    TimedOut {
        /// The time that it had.
        after: Duration,
    },
    /// It was ended because the user asked to stop.
    Interrupted,
    /// It was ended because the recorder had seen enough.
    Stopped,
}

/// As a fragment that follows the command: "exited with status 1".
impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Success => f.write_str("ended by itself with status 0"),
            // Shells and launchers pass a child's signal on as 128 and its number.
            Self::Failure { status } if (129..=128 + 64).contains(&status) => {
                write!(f, "exited with status {status}, which says that a process of it {}", by_signal(status - 128))
            }
            Self::Failure { status } => write!(f, "exited with status {status}"),
            Self::Signal { number } => f.write_str(&by_signal(number)),
            Self::TimedOut { after } => write!(f, "was ended after {} s", after.as_secs_f64()),
            Self::Interrupted => f.write_str("was ended because you asked to stop"),
            Self::Stopped => f.write_str("was ended when enough had been seen"),
        }
    }
}

fn by_signal(number: i32) -> String {
    #[cfg(unix)]
    let name = nix::sys::signal::Signal::try_from(number).map_or("", nix::sys::signal::Signal::as_str);
    #[cfg(not(unix))]
    let name = "";
    let why = match number {
        9 => "; where nobody sent it, the system ran out of memory",
        7 => "; in a data loader this is often a full /dev/shm",
        _ => "",
    };
    let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
    format!("was killed by signal {number}{name}{why}")
}

/// What is left of a command that was run.
#[derive(Clone, Debug)]
pub struct Ended {
    /// How it ended.
    pub exit: Exit,
    /// The end of what it printed to standard output.
    pub stdout: Tail,
    /// The end of what it printed to standard error.
    pub stderr: Tail,
    /// Processes that outlived the first one and were ended.
    pub left_behind: usize,
    /// Processes that could not be ended, by number.
    pub beyond_reach: Vec<u32>,
}

/// Runs a command until it ends, `enough` says so, its time is up, or the user asks to stop; then ends all that came
/// of it. What it prints goes to `sink` as it comes, up to the moment when it is asked to end.
///
/// # Errors
/// Exit status 2 where the program cannot be started, 3 where the system fails.
pub fn run(
    command: &Command,
    sink: Option<Sink>,
    interrupt: &Interrupt,
    enough: &mut dyn FnMut() -> bool,
) -> Result<Ended> {
    let mut tree = start(command)?;
    let muted = Arc::new(AtomicBool::new(false));
    let stdout = tree.child().stdout.take().map(|pipe| Reader::start(pipe, sink.clone(), &muted));
    let stderr = tree.child().stderr.take().map(|pipe| Reader::start(pipe, sink, &muted));
    let exit = wait(&mut tree, command, interrupt, enough)?;
    let outlived = match exit {
        Exit::Success | Exit::Failure { .. } | Exit::Signal { .. } => settle(&mut tree, interrupt),
        Exit::TimedOut { .. } | Exit::Interrupted | Exit::Stopped => {
            // What it says of being ended by us is no word of its own. (Of one that ended by itself the last words may
            // still be on their way.)
            muted.store(true, Ordering::Relaxed);
            0
        }
    };
    end_gently(&mut tree, command.grace, interrupt);
    let beyond_reach = kill_all(&mut tree);
    Ok(Ended {
        exit,
        stdout: stdout.map_or_else(|| Tail::new(0), Reader::finish),
        stderr: stderr.map_or_else(|| Tail::new(0), Reader::finish),
        left_behind: outlived,
        beyond_reach,
    })
}

/// Starts the command, or says what is wrong with it.
fn start(command: &Command) -> Result<Tree> {
    let Some((program, arguments)) = command.argv.split_first() else {
        return Err(
            Error::usage("no command was given").help("write it after `--`: pipeaudit check -- python train.py")
        );
    };
    let mut process = std::process::Command::new(program);
    process.args(arguments);
    for (name, value) in &command.environment {
        match value {
            Some(value) => process.env(name, value),
            None => process.env_remove(name),
        };
    }
    process.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(folder) = &command.folder {
        if !folder.is_dir() {
            return Err(Error::usage(format!("there is no folder {} to run in", folder.display())));
        }
        process.current_dir(folder);
    }
    Tree::spawn(&mut process).map_err(|error| cannot_start(program, command, &error))
}

fn cannot_start(program: &OsString, command: &Command, error: &io::Error) -> Error {
    let name = program.to_string_lossy();
    let path = command.folder.clone().unwrap_or_default().join(program);
    let is_path = name.contains(std::path::is_separator);
    let is_python = path.extension().is_some_and(|extension| extension == "py") && path.is_file();
    let through_python = format!("run it through an interpreter: `-- python {name}`");
    match error.kind() {
        io::ErrorKind::NotFound if is_python && !is_path => {
            Error::usage(format!("cannot run {name}: it is no program")).help(through_python)
        }
        io::ErrorKind::NotFound if is_path && path.exists() => {
            Error::usage(format!("cannot run {name}: the interpreter that its first line names is not there"))
                .help("mend its first line, or run it through an interpreter")
        }
        io::ErrorKind::NotFound if is_path => Error::usage(format!("cannot run {name}: there is no such file")),
        io::ErrorKind::NotFound => Error::usage(format!("cannot run {name}: there is no such program on the PATH"))
            .help("activate the environment that the program needs, or give the program's path"),
        io::ErrorKind::PermissionDenied if path.is_dir() => Error::usage(format!("cannot run {name}: it is a folder")),
        io::ErrorKind::PermissionDenied if is_python => {
            Error::usage(format!("cannot run {name}: it is not executable")).help(through_python)
        }
        io::ErrorKind::PermissionDenied => Error::usage(format!("cannot run {name}: it is not executable"))
            .help("make it executable, or run it through an interpreter: `-- sh script.sh`"),
        // A text file without a first line that names its interpreter; shells run it, the system does not.
        _ if error.raw_os_error() == Some(8) && cfg!(unix) => Error::usage(format!(
            "cannot run {name}: it is neither a program nor does its first line name an interpreter"
        ))
        .help("run it through an interpreter: `-- sh script.sh`"),
        _ => Error::usage(format!("cannot run {name}: {error}")),
    }
}

/// Waits for the first reason to end the tree.
fn wait(tree: &mut Tree, command: &Command, interrupt: &Interrupt, enough: &mut dyn FnMut() -> bool) -> Result<Exit> {
    let started = Instant::now();
    let mut reaped = started;
    loop {
        let ending = tree.ending().map_err(|error| Error::not_audited(format!("cannot watch the command: {error}")))?;
        // Asked before the ending is judged: the recorder may have ended the program itself.
        if enough() {
            return Ok(Exit::Stopped);
        }
        if interrupt.is_raised() {
            return Ok(Exit::Interrupted);
        }
        match ending {
            Some(Ending::Status(0)) => return Ok(Exit::Success),
            Some(Ending::Status(status)) => return Ok(Exit::Failure { status }),
            Some(Ending::Signal(number)) => return Ok(Exit::Signal { number }),
            None => {}
        }
        if let Some(after) = command.timeout.filter(|timeout| started.elapsed() >= *timeout) {
            return Ok(Exit::TimedOut { after });
        }
        if reaped.elapsed() >= REAP {
            tree.reap_orphans();
            reaped = Instant::now();
        }
        std::thread::sleep(TICK);
    }
}

/// Lets the rest of a tree end by itself; how many did not.
fn settle(tree: &mut Tree, interrupt: &Interrupt) -> usize {
    wait_until_gone(tree, SETTLE, |_| interrupt.is_raised());
    tree.living().len()
}

/// Asks all to end, and gives them a grace unless the user is in a hurry.
fn end_gently(tree: &mut Tree, grace: Duration, interrupt: &Interrupt) {
    if !tree.living().is_empty() {
        tree.end(Force::Gentle);
        wait_until_gone(tree, grace, |_| interrupt.is_urgent());
    }
}

/// Kills all that is left, caretakers last, again and again since the dying may still fork. Returns those that would
/// not go.
pub(super) fn kill_all(tree: &mut Tree) -> Vec<u32> {
    for force in [Force::Hard, Force::Last] {
        wait_until_gone(tree, LAST, |tree| {
            tree.end(force);
            false
        });
    }
    tree.reap();
    tree.living()
}

/// Waits until nothing of a tree is alive, the time is up, or `impatient`, which is asked before each look, says so.
fn wait_until_gone(tree: &mut Tree, time: Duration, mut impatient: impl FnMut(&mut Tree) -> bool) {
    let deadline = Instant::now() + time;
    let (mut pause, longest) = LOOK;
    loop {
        tree.reap_orphans();
        if tree.living().is_empty() || Instant::now() >= deadline || impatient(tree) {
            return;
        }
        std::thread::sleep(pause);
        pause = longest.min(pause * 2);
    }
}

/// A thread that reads one of the program's outputs.
struct Reader {
    tail: Arc<Mutex<Tail>>,
    done: Receiver<()>,
}

impl Reader {
    fn start(mut pipe: impl Read + Send + 'static, sink: Option<Sink>, muted: &Arc<AtomicBool>) -> Self {
        let tail = Arc::new(Mutex::new(Tail::new(KEPT)));
        let (sender, done) = channel();
        let (kept, muted) = (Arc::clone(&tail), Arc::clone(muted));
        std::thread::spawn(move || {
            let mut buffer = [0; 16 << 10];
            loop {
                match pipe.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => pass(&buffer[..count], &kept, sink.as_ref(), &muted),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            // Nobody listens any more where the reader took too long.
            let _ = sender.send(());
        });
        Self { tail, done }
    }

    /// What was kept. A reader that does not see the end of its pipe (a process beyond reach holds it, or the sink
    /// takes nothing) is left to itself.
    fn finish(self) -> Tail {
        let _ = self.done.recv_timeout(DRAIN);
        self.tail.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Keeps and passes on what was printed; what dying processes print is read, so that they can die, and dropped.
fn pass(bytes: &[u8], tail: &Mutex<Tail>, sink: Option<&Sink>, muted: &AtomicBool) {
    if muted.load(Ordering::Relaxed) {
        return;
    }
    tail.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
    if let Some(sink) = sink {
        let mut sink = sink.lock().unwrap_or_else(PoisonError::into_inner);
        // Where nobody reads our stderr, the audit goes on all the same.
        let _ = sink.write_all(bytes).and_then(|()| sink.flush());
    }
}
