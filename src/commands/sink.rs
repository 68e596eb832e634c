//! Where a report goes: standard output, or a file that is opened before work starts and replaced at the end.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// A place to write a report to.
pub enum Sink {
    /// Standard output.
    Standard,
    /// Nowhere: `--quiet`.
    Nowhere,
    /// A file, complete or not at all.
    File(NamedTempFile, PathBuf),
    /// Something that is no regular file: a terminal, a pipe.
    Device(std::fs::File, PathBuf),
}

impl Sink {
    /// Opens it.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn open(file: Option<&Path>, quiet: bool) -> Result<Self> {
        let Some(path) = file else {
            return Ok(if quiet { Self::Nowhere } else { Self::Standard });
        };
        let cannot = |error: std::io::Error| {
            Error::usage(format!("cannot write {}: {}", path.display(), error.kind()))
                .help("give --output a file in a folder that exists and can be written")
        };
        if path.is_dir() {
            return Err(Error::usage(format!("{} is a folder", path.display())).help("give --output a file"));
        }
        if path.exists() && !path.is_file() {
            return Ok(Self::Device(OpenOptions::new().write(true).open(path).map_err(cannot)?, path.to_owned()));
        }
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // A report is no secret: readable by all whom the umask lets.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let temporary = builder.prefix(".pipeaudit-").tempfile_in(folder).map_err(cannot)?;
        Ok(Self::File(temporary, path.to_owned()))
    }

    /// Writes the whole report. A reader that went away is no error.
    ///
    /// # Errors
    /// Where the disk is full and the like.
    pub fn write(self, text: &str) -> Result<()> {
        match self {
            Self::Nowhere => Ok(()),
            Self::Standard => {
                let mut out = std::io::stdout().lock();
                match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
                    Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
                        Err(Error::not_audited(format!("cannot write to standard output: {error}")))
                    }
                    _ => Ok(()),
                }
            }
            Self::File(mut temporary, path) => {
                let failed =
                    |error: std::io::Error| Error::not_audited(format!("cannot write {}: {error}", path.display()));
                temporary.write_all(text.as_bytes()).map_err(failed)?;
                temporary.persist(&path).map_err(|error| failed(error.error))?;
                Ok(())
            }
            Self::Device(mut device, path) => device
                .write_all(text.as_bytes())
                .map_err(|error| Error::not_audited(format!("cannot write {}: {error}", path.display()))),
        }
    }
}
