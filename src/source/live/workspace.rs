//! The private folder of one audit: the recorder, a trace folder for each run, and the programs' temporary files.
//!
//! It lies in the system's folder for temporary files with mode 0700 and goes when the audit ends. All runs of an
//! audit see paths of equal length, since object addresses move with them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::embed;
use crate::error::{Error, Result};

/// The longest path of a folder for temporary files that is handed to a program: programs make sockets below it, whose
/// paths may have 104 bytes on some systems, and `multiprocessing` adds 32.
const LONGEST_TEMPORARY: usize = 64;

/// The private folder of one audit.
#[derive(Debug)]
pub struct Workspace {
    folder: TempDir,
    keep: Option<PathBuf>,
}

impl Workspace {
    /// Makes the folder and lays the recorder out. Traces go to `keep` where it is given and stay there; it is made,
    /// and must be empty.
    ///
    /// # Errors
    /// Exit status 2 where `keep` cannot be used, 3 where there is no room for temporary files.
    pub fn new(keep: Option<&Path>) -> Result<Self> {
        let keep = keep.map(prepare).transpose()?;
        let make = || {
            let mut builder = tempfile::Builder::new();
            builder.prefix("pipeaudit-");
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
            let folder = builder.tempdir()?;
            // Programs may change their folder; a relative TMPDIR must not follow them.
            let path = std::path::absolute(folder.path())?;
            fs::create_dir(path.join("recorder"))?;
            fs::create_dir(path.join("t"))?;
            embed::lay_out(&path.join("recorder"))?;
            Ok(folder)
        };
        let folder = make().map_err(|error: std::io::Error| {
            Error::not_audited(format!("cannot write to {}: {error}", std::env::temp_dir().display()))
                .help("set TMPDIR to a folder with room")
        })?;
        Ok(Self { folder, keep })
    }

    /// Makes the trace folder of a run. `letter` is its name: all names are equally long.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub fn trace(&self, letter: char) -> Result<PathBuf> {
        let folder = self.keep.clone().unwrap_or_else(|| self.root()).join(letter.to_string());
        fs::create_dir(&folder)
            .map_err(|error| Error::not_audited(format!("cannot make the folder {}: {error}", folder.display())))?;
        Ok(folder)
    }

    /// `PYTHONPATH` with the recorder first and what the user has there after it.
    pub fn python_path(&self, users: Option<&OsStr>) -> OsString {
        let mut path = self.root().join("recorder").into_os_string();
        if let Some(users) = users.filter(|users| !users.is_empty()) {
            path.push(if cfg!(windows) { ";" } else { ":" });
            path.push(users);
        }
        path
    }

    /// Where programs shall put their temporary files, so that those of a program that is killed go too; absent where
    /// the path would be too long for sockets. All runs of an audit share it, as they share the system's.
    pub fn temporary(&self) -> Option<PathBuf> {
        Some(self.root().join("t")).filter(|path| path.as_os_str().len() <= LONGEST_TEMPORARY)
    }

    fn root(&self) -> PathBuf {
        std::path::absolute(self.folder.path()).unwrap_or_else(|_| self.folder.path().to_owned())
    }
}

/// An empty folder for traces that stay, as an absolute path.
fn prepare(keep: &Path) -> Result<PathBuf> {
    let wrong = |why: &str| Error::usage(format!("cannot keep traces in {}: {why}", keep.display()));
    fs::create_dir_all(keep).map_err(|error| wrong(&error.to_string()))?;
    let mut entries = fs::read_dir(keep).map_err(|error| wrong(&error.to_string()))?;
    if entries.next().is_some() {
        return Err(wrong("it is not empty").help("name a new folder, so that no other run's records get in"));
    }
    std::path::absolute(keep).map_err(|error| wrong(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_it_and_it_goes_with_the_audit() {
        use std::os::unix::fs::PermissionsExt;
        let workspace = Workspace::new(None).unwrap();
        let root = workspace.root();
        assert_eq!(fs::metadata(&root).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(workspace.trace('a').unwrap().starts_with(&root));
        drop(workspace);
        assert!(!root.exists());
    }

    #[test]
    fn the_recorder_comes_first_and_the_users_path_after_it() {
        let workspace = Workspace::new(None).unwrap();
        let path = workspace.python_path(Some(OsStr::new("mine")));
        let parts: Vec<PathBuf> = std::env::split_paths(&path).collect();
        assert!(parts[0].join("sitecustomize.py").exists());
        assert_eq!(parts[1..], [PathBuf::from("mine")]);
        let alone = workspace.python_path(Some(OsStr::new("")));
        assert_eq!(std::env::split_paths(&alone).count(), 1);
    }

    #[test]
    fn runs_have_folders_of_their_own_and_equally_long_paths() {
        let workspace = Workspace::new(None).unwrap();
        let (a, b) = (workspace.trace('a').unwrap(), workspace.trace('b').unwrap());
        assert_ne!(a, b);
        assert_eq!(a.as_os_str().len(), b.as_os_str().len());
        assert!(workspace.trace('a').is_err());
    }

    #[test]
    fn kept_traces_stay_and_other_runs_are_not_mixed_in() {
        let folder = tempfile::tempdir().unwrap();
        let keep = folder.path().join("new/kept");
        let workspace = Workspace::new(Some(&keep)).unwrap();
        let trace = workspace.trace('a').unwrap();
        drop(workspace);
        assert!(trace.is_absolute() && trace.exists());
        let error = Workspace::new(Some(&keep)).unwrap_err();
        assert_eq!(error.exit, Exit::Usage);
        assert!(error.message.ends_with("it is not empty"), "{}", error.message);
    }
}
