//! Process trees on Linux, read from `/proc`.
//!
//! A process belongs to the tree if it descends from the first process, is in its group, or is an orphan that came to
//! us since. An orphan of the tree is told from a child that other code of this process started: the latter is in our
//! own group, the former cannot be, since the tree started in a group of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nix::errno::Errno;
use nix::sys::prctl::set_child_subreaper;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{Pid, getpgrp, getpid};

use super::{Ending, Force};

/// One tree at a time: two could not tell whose orphan came to us.
static TURN: Mutex<()> = Mutex::new(());

/// A process as `/proc` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
    group: i32,
    /// Ended, but not yet waited for by its parent.
    zombie: bool,
}

/// A running command with everything that came of it. What is left of it is killed when it is dropped.
#[derive(Debug)]
pub struct Tree {
    child: Child,
    /// Children that we had before; they are none of the tree's.
    before: BTreeSet<i32>,
    _turn: MutexGuard<'static, ()>,
}

impl Tree {
    /// Starts a command in a group of its own. Waits for its turn where another tree of this process is running.
    ///
    /// # Errors
    /// Where it cannot be started.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        set_child_subreaper(true)?;
        let us = getpid().as_raw();
        let before = processes().values().filter(|process| process.parent == us).map(|process| process.pid).collect();
        let child = command.process_group(0).spawn()?;
        Ok(Self { child, before, _turn: turn })
    }

    /// The standard library's handle, for the pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// How the first process ended, if it has. It stays a zombie until [`Tree::reap`], so that neither its number nor
    /// its group's can go to another process while signals are sent.
    ///
    /// # Errors
    /// Where the system cannot say.
    pub fn ending(&mut self) -> io::Result<Option<Ending>> {
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        match waitid(Id::Pid(self.root()), flags) {
            Ok(WaitStatus::Exited(_, status)) => Ok(Some(Ending::Status(status))),
            Ok(WaitStatus::Signaled(_, signal, _)) => Ok(Some(Ending::Signal(signal as i32))),
            Ok(_) | Err(Errno::EINTR) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Numbers of the processes that are alive.
    pub fn living(&self) -> Vec<u32> {
        self.members().iter().filter(|process| !process.zombie).map(|process| process.pid as u32).collect()
    }

    /// Asks all that are alive to end.
    pub fn end(&mut self, force: Force) {
        for process in self.members().iter().filter(|process| !process.zombie) {
            if force != Force::Last && is_caretaker(process.pid) {
                continue;
            }
            let pid = Pid::from_raw(process.pid);
            // One that ended meanwhile is no error, nor is one that changed its user: the caller looks who is left.
            match force {
                Force::Gentle => {
                    let _ = kill(pid, Signal::SIGTERM);
                    // A stopped process would see the first signal only once it goes on.
                    let _ = kill(pid, Signal::SIGCONT);
                }
                Force::Hard | Force::Last => {
                    let _ = kill(pid, Signal::SIGKILL);
                }
            }
        }
    }

    /// Takes leave of orphans that ended, so that a program that makes many does not use up the process table.
    pub fn reap_orphans(&mut self) {
        let us = getpid().as_raw();
        for process in self.members() {
            if process.zombie && process.parent == us && process.pid != self.root().as_raw() {
                let _ = waitpid(Pid::from_raw(process.pid), Some(WaitPidFlag::WNOHANG));
            }
        }
    }

    /// Takes leave of all that ended, the first process included.
    pub fn reap(&mut self) {
        self.reap_orphans();
        let _ = self.child.try_wait();
    }

    fn root(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    fn members(&self) -> Vec<Process> {
        let root = self.root().as_raw();
        members(&processes(), root, getpid().as_raw(), getpgrp().as_raw(), &self.before)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        super::super::command::kill_all(self);
        let _ = set_child_subreaper(false);
    }
}

/// The processes of the tree of `root`, zombies included, by number.
fn members(
    processes: &BTreeMap<i32, Process>,
    root: i32,
    us: i32,
    our_group: i32,
    before: &BTreeSet<i32>,
) -> Vec<Process> {
    let is_seed = |process: &Process| {
        process.pid == root
            || process.group == root
            || (process.parent == us && process.group != our_group && !before.contains(&process.pid))
    };
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for process in processes.values() {
        children.entry(process.parent).or_default().push(process.pid);
    }
    let mut found = BTreeSet::new();
    let mut open: Vec<i32> = processes.values().filter(|process| is_seed(process)).map(|process| process.pid).collect();
    while let Some(pid) = open.pop() {
        // We can be a descendant only if numbers were reused between two reads: never end ourselves.
        if pid != us && found.insert(pid) {
            open.extend(children.get(&pid).into_iter().flatten());
        }
    }
    found.iter().map(|pid| processes[pid]).collect()
}

/// All processes that `/proc` shows; one that ends meanwhile is left out.
fn processes() -> BTreeMap<i32, Process> {
    let Ok(folder) = std::fs::read_dir("/proc") else { return BTreeMap::new() };
    folder
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(|pid| parse(&String::from_utf8_lossy(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)))
        .map(|process| (process.pid, process))
        .collect()
}

/// Whether a process is one that clears up semaphores and shared memory when the last of those that it serves has
/// ended: CPython's `multiprocessing.resource_tracker` and PyTorch's `torch_shm_manager`. Killed with the others,
/// they would leave files in `/dev/shm`.
fn is_caretaker(pid: i32) -> bool {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let holds = |name: &[u8]| words.windows(name.len()).any(|window| window == name);
    holds(b"multiprocessing.resource_tracker") || holds(b"torch_shm_manager")
}

/// Reads a line of proc_pid_stat(5): `pid (name) state ppid pgrp ...`, where the name may hold anything.
fn parse(stat: &str) -> Option<Process> {
    let (pid, rest) = stat.split_once(" (")?;
    let (_, fields) = rest.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    Some(Process { pid: pid.parse().ok()?, parent, group, zombie: matches!(state, "Z" | "X" | "x") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(i32, i32, i32)]) -> BTreeMap<i32, Process> {
        rows.iter().map(|&(pid, parent, group)| (pid, Process { pid, parent, group, zombie: false })).collect()
    }

    #[test]
    fn a_name_may_hold_parentheses_spaces_and_digits() {
        let process = parse("42 (evil) S 1 (x) Z 7 9 11 0 -1 4194560").unwrap();
        assert_eq!(process, Process { pid: 42, parent: 7, group: 9, zombie: true });
        assert_eq!(parse("42 (no end"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn descendants_orphans_and_the_group_belong_to_the_tree_and_nothing_else_does() {
        const US: i32 = 10;
        let processes = table(&[
            (1, 0, 1),
            (US, 1, US),
            (20, US, 20), // the first process
            (21, 20, 20), // its child
            (22, 21, 22), // a grandchild in a session of its own
            (30, US, 30), // an orphan that came to us
            (31, 30, 30), // and its child
            (40, 1, 20),  // in the group, though its parent is someone else
            (50, US, US), // a child of ours that other code started
            (51, 50, US), // and its child
            (60, US, 60), // a child that we had before
            (99, 1, 99),  // someone else's
        ]);
        let before = BTreeSet::from([60]);
        let pids: Vec<i32> = members(&processes, 20, US, US, &before).iter().map(|process| process.pid).collect();
        assert_eq!(pids, [20, 21, 22, 30, 31, 40]);
    }

    #[test]
    fn we_are_never_a_member_of_the_tree_that_we_started() {
        let processes = table(&[(10, 20, 10), (20, 10, 20)]);
        let pids: Vec<i32> =
            members(&processes, 20, 10, 10, &BTreeSet::new()).iter().map(|process| process.pid).collect();
        assert_eq!(pids, [20]);
    }
}
