//! Process trees where there is no `/proc`: the process group on Unix, `taskkill` on Windows. A process that leaves the
//! group and outlives its parent is out of reach here.

use std::io;
use std::process::{Child, Command};

use super::{Ending, Force};

/// A running command. What is left of it is killed when it is dropped.
#[derive(Debug)]
pub struct Tree {
    child: Child,
    ended: Option<Ending>,
}

impl Tree {
    /// Starts a command, on Unix in a group of its own.
    ///
    /// # Errors
    /// Where it cannot be started.
    pub fn spawn(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        Ok(Self { child: command.spawn()?, ended: None })
    }

    /// The standard library's handle, for the pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// How the first process ended, if it has.
    ///
    /// # Errors
    /// Where the system cannot say.
    pub fn ending(&mut self) -> io::Result<Option<Ending>> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait()?.map(|status| ending(&status));
        }
        Ok(self.ended)
    }

    /// Numbers of the processes that are known to be alive; the first stands for its group.
    pub fn living(&mut self) -> Vec<u32> {
        let first = !matches!(self.ending(), Ok(Some(_)));
        if first || self.group_lives() { vec![self.child.id()] } else { Vec::new() }
    }

    /// Asks all within reach to end.
    pub fn end(&mut self, force: Force) {
        #[cfg(unix)]
        {
            use nix::sys::signal::{Signal, killpg};
            let signal = match force {
                Force::Gentle => Signal::SIGTERM,
                Force::Hard | Force::Last => Signal::SIGKILL,
            };
            let _ = killpg(self.group(), signal);
            let _ = killpg(self.group(), Signal::SIGCONT);
        }
        #[cfg(not(unix))]
        {
            let pid = self.child.id().to_string();
            let mut taskkill = Command::new("taskkill");
            taskkill.args(["/T", "/PID", &pid]);
            if force != Force::Gentle {
                taskkill.arg("/F");
            }
            // Its words are of no use to anybody.
            let _ = taskkill.output();
            if force != Force::Gentle {
                let _ = self.child.kill();
            }
        }
    }

    /// Takes leave of orphans: they are not ours here.
    pub fn reap_orphans(&mut self) {}

    /// Takes leave of the first process.
    pub fn reap(&mut self) {
        let _ = self.ending();
    }

    #[cfg(unix)]
    fn group(&self) -> nix::unistd::Pid {
        nix::unistd::Pid::from_raw(self.child.id() as i32)
    }

    #[cfg(unix)]
    fn group_lives(&self) -> bool {
        nix::sys::signal::killpg(self.group(), None).is_ok()
    }

    #[cfg(not(unix))]
    fn group_lives(&self) -> bool {
        false
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        super::super::command::kill_all(self);
    }
}

fn ending(status: &std::process::ExitStatus) -> Ending {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(status) {
        return Ending::Signal(signal);
    }
    Ending::Status(status.code().unwrap_or(1))
}
