//! Runs to disk: a folder with `run.json` and one shard a rank.

mod lines;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::read::{About, is_shard, read_about};
use super::record::FORMAT;
use super::run::Run;
use crate::error::{Error, Result};

pub use lines::to_lines;

/// The file that describes a run.
pub const ABOUT: &str = "run.json";

/// A folder that a run is written to. It is made before work starts, so that a bad path fails at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    path: PathBuf,
    about: About,
}

impl Folder {
    /// Makes the folder, or takes one that is empty or holds a run of pipeaudit, which [`Folder::write`] replaces.
    ///
    /// # Errors
    /// Exit status 2 where it is a file, holds something else, or cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        let path = Self::create_parent(path)?;
        let mut entries = fs::read_dir(&path).map_err(|error| unwritable(&path, &error))?;
        if entries.next().is_some() && !matches!(read_about(&path.join(ABOUT)), Ok(Some(_))) {
            let error = Error::usage(format!("{} is not empty and holds no run of pipeaudit", path.display()));
            return Err(error.help("give a new or an empty folder: nothing there is overwritten"));
        }
        let about = About { format: FORMAT, ..About::default() };
        Ok(Self { path, about })
    }

    /// Makes a folder for several runs, each in a folder of its own; whatever else it holds is left alone.
    ///
    /// # Errors
    /// Exit status 2 where it is a file or cannot be written.
    pub fn create_parent(path: &Path) -> Result<PathBuf> {
        if path.exists() && !path.is_dir() {
            let error = Error::usage(format!("{} is a file", path.display()));
            return Err(error.help("give a folder: a run is several files"));
        }
        fs::create_dir_all(path).map_err(|error| unwritable(path, &error))?;
        // Whether files can be made shows only when one is; it vanishes at once.
        tempfile::tempfile_in(path).map_err(|error| unwritable(path, &error))?;
        Ok(path.to_owned())
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Says what `run.json` says: arm, command, versions, what was held. Name and format are set here.
    #[must_use]
    pub fn about(mut self, about: About) -> Self {
        self.about = About { format: FORMAT, ..about };
        self
    }

    /// Writes `run.json` and takes away shards of an earlier run: for sources whose processes write the shards.
    ///
    /// # Errors
    /// Where something cannot be written; the message names the file.
    pub fn begin(&self, name: &str) -> Result<()> {
        self.clear()?;
        let mut about = self.about.clone();
        about.name.get_or_insert_with(|| name.to_owned());
        about.versions.entry("pipeaudit".to_owned()).or_insert_with(|| env!("CARGO_PKG_VERSION").to_owned());
        let path = self.path.join(ABOUT);
        let text = serde_json::to_string_pretty(&about).expect("texts become JSON") + "\n";
        fs::write(&path, text).map_err(|error| failed(&path, &error))
    }

    /// Writes a run: `run.json`, and `rank0.jsonl` and so on.
    ///
    /// # Errors
    /// Where something cannot be written; the message names the file.
    pub fn write(&self, run: &Run) -> Result<()> {
        self.begin(&run.name)?;
        for rank in 0..run.world_size.max(1) {
            let path = self.path.join(format!("rank{rank}.jsonl"));
            let write = || -> std::io::Result<()> {
                let mut out = BufWriter::with_capacity(1 << 18, File::create(&path)?);
                to_lines(run, rank, &mut out)?;
                out.flush()
            };
            write().map_err(|error| failed(&path, &error))?;
        }
        Ok(())
    }

    /// Takes away the shards of an earlier run, and nothing else.
    fn clear(&self) -> Result<()> {
        for entry in fs::read_dir(&self.path).map_err(|error| failed(&self.path, &error))? {
            let entry = entry.map_err(|error| failed(&self.path, &error))?;
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file && is_shard(&entry.file_name().to_string_lossy()) {
                fs::remove_file(entry.path()).map_err(|error| failed(&entry.path(), &error))?;
            }
        }
        Ok(())
    }
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::usage(format!("cannot write to {}: {error}", path.display())).help("give a folder that can be written")
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::not_audited(format!("cannot write {}: {error}", path.display()))
}
