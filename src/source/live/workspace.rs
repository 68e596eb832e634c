//! The private folder of one audit: the recorder, a trace folder for each run, and the programs' temporary files.
//!
//! It lies in the system's folder for temporary files with mode 0700 and goes when the audit ends. All runs of an
//! audit see paths of equal length, since object addresses move with them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::embed;
use super::settings::Keep;
use crate::error::{Error, Result};
use crate::trace::read::About;
use crate::trace::write::Folder;

/// The longest path of a folder for temporary files that is handed to a program: programs make sockets below it, whose
/// paths may have 104 bytes on some systems, and `multiprocessing` adds 32.
const LONGEST_TEMPORARY: usize = 64;

/// The private folder of one audit.
#[derive(Debug)]
pub struct Workspace {
    folder: TempDir,
    keep: Keep,
}

impl Workspace {
    /// Makes the folder and lays the recorder out.
    ///
    /// # Errors
    /// Exit status 2 where the folder for traces that stay cannot be used, 3 where there is no room for temporary files.
    pub fn new(keep: &Keep) -> Result<Self> {
        let keep = match keep {
            Keep::No => Keep::No,
            Keep::Runs(folder) => Keep::Runs(absolute(&Folder::create_parent(folder)?)),
            Keep::Run(folder) => Keep::Run(absolute(Folder::create(folder)?.path())),
        };
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

    /// Makes the trace folder of a run and says in it what the run is. `letter` is its name: all are equally long.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub fn trace(&self, letter: char, about: About, name: &str) -> Result<PathBuf> {
        let path = match &self.keep {
            Keep::No => self.root().join(letter.to_string()),
            Keep::Runs(folder) => folder.join(letter.to_string()),
            Keep::Run(folder) => folder.clone(),
        };
        let folder = Folder::create(&path)?.about(about);
        folder.begin(name)?;
        Ok(path)
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
        absolute(self.folder.path())
    }
}

/// A path that stays the same when a program changes its folder.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit::Exit;

    fn trace(workspace: &Workspace, letter: char) -> PathBuf {
        workspace.trace(letter, About::default(), "as is").unwrap()
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_it_and_it_goes_with_the_audit() {
        use std::os::unix::fs::PermissionsExt;
        let workspace = Workspace::new(&Keep::No).unwrap();
        let root = workspace.root();
        assert_eq!(fs::metadata(&root).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(trace(&workspace, 'a').starts_with(&root));
        drop(workspace);
        assert!(!root.exists());
    }

    #[test]
    fn the_recorder_comes_first_and_the_users_path_after_it() {
        let workspace = Workspace::new(&Keep::No).unwrap();
        let path = workspace.python_path(Some(OsStr::new("mine")));
        let parts: Vec<PathBuf> = std::env::split_paths(&path).collect();
        assert!(parts[0].join("sitecustomize.py").exists());
        assert_eq!(parts[1..], [PathBuf::from("mine")]);
        let alone = workspace.python_path(Some(OsStr::new("")));
        assert_eq!(std::env::split_paths(&alone).count(), 1);
    }

    #[test]
    fn runs_have_folders_of_their_own_and_equally_long_paths() {
        let workspace = Workspace::new(&Keep::No).unwrap();
        let (a, b) = (trace(&workspace, 'a'), trace(&workspace, 'b'));
        assert_ne!(a, b);
        assert_eq!(a.as_os_str().len(), b.as_os_str().len());
    }

    #[test]
    fn kept_traces_stay_and_say_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let keep = folder.path().join("new/kept");
        let workspace = Workspace::new(&Keep::Runs(keep.clone())).unwrap();
        let path = trace(&workspace, 'a');
        drop(workspace);
        assert!(path.is_absolute() && path == keep.join("a"));
        let about = fs::read_to_string(path.join("run.json")).unwrap();
        assert!(about.contains(r#""name": "as is""#), "{about}");
        let workspace = Workspace::new(&Keep::Run(folder.path().join("run"))).unwrap();
        assert_eq!(trace(&workspace, 'a'), folder.path().join("run"));
    }

    #[test]
    fn a_folder_with_something_else_in_it_is_refused_before_anything_runs() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("thesis.tex"), "").unwrap();
        let error = Workspace::new(&Keep::Run(folder.path().to_owned())).unwrap_err();
        assert_eq!(error.exit, Exit::Usage);
    }
}
