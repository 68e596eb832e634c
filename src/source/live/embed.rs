//! The recorder inside the binary: its Python files, laid out in a folder when an audit starts.
//!
//! The files are named one by one, so that no build script is needed, byte code and tests never get in, and a new file
//! makes the compiler look; a test compares the table with the folder.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

macro_rules! files {
    ($($path:literal,)*) => {
        /// Path below the recorder's folder, and content.
        const FILES: &[(&str, &str)] = &[$(($path, include_str!(concat!("recorder/", $path))),)*];
    };
}

files! {
    "pipeaudit_recorder/__init__.py",
    "pipeaudit_recorder/bounds.py",
    "pipeaudit_recorder/digest.py",
    "pipeaudit_recorder/digest_arrays.py",
    "pipeaudit_recorder/fault.py",
    "pipeaudit_recorder/fetching.py",
    "pipeaudit_recorder/find.py",
    "pipeaudit_recorder/hook.py",
    "pipeaudit_recorder/indices.py",
    "pipeaudit_recorder/lane.py",
    "pipeaudit_recorder/loader.py",
    "pipeaudit_recorder/loaders.py",
    "pipeaudit_recorder/local.py",
    "pipeaudit_recorder/passes.py",
    "pipeaudit_recorder/process.py",
    "pipeaudit_recorder/ranks.py",
    "pipeaudit_recorder/reach.py",
    "pipeaudit_recorder/seeding.py",
    "pipeaudit_recorder/settings.py",
    "pipeaudit_recorder/shard.py",
    "pipeaudit_recorder/sites.py",
    "pipeaudit_recorder/sources.py",
    "pipeaudit_recorder/states.py",
    "pipeaudit_recorder/transforms/__init__.py",
    "pipeaudit_recorder/transforms/albumentations.py",
    "pipeaudit_recorder/transforms/events.py",
    "pipeaudit_recorder/transforms/generic.py",
    "pipeaudit_recorder/transforms/images.py",
    "pipeaudit_recorder/transforms/monai.py",
    "pipeaudit_recorder/transforms/torchvision_v1.py",
    "pipeaudit_recorder/transforms/torchvision_v2.py",
    "pipeaudit_recorder/vary.py",
    "sitecustomize.py",
}

/// Writes the recorder's files below `folder`, which is then what `PYTHONPATH` starts with.
///
/// # Errors
/// Where the folder cannot be written to, or holds one of the files already.
pub fn lay_out(folder: &Path) -> io::Result<()> {
    for (path, content) in FILES {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::File::create_new(path)?.write_all(content.as_bytes())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::*;

    /// Python files below a folder, without those that are no part of the recorder.
    fn python_files(folder: &Path, below: &Path, found: &mut BTreeMap<PathBuf, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = PathBuf::from(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                if !["tests", "__pycache__"].contains(&name.to_str().unwrap()) {
                    python_files(&entry.path(), &below.join(name), found);
                }
            } else if name.extension().is_some_and(|extension| extension == "py") {
                found.insert(below.join(name), fs::read_to_string(entry.path()).unwrap());
            }
        }
    }

    fn below(folder: &Path) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        python_files(folder, Path::new(""), &mut found);
        found
    }

    #[test]
    fn every_file_of_the_recorder_is_laid_out() {
        let laid_out = tempfile::tempdir().unwrap();
        lay_out(laid_out.path()).unwrap();
        let source = below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/source/live/recorder"));
        let missing: Vec<_> = source.keys().filter(|path| !laid_out.path().join(path).exists()).collect();
        assert!(missing.is_empty(), "add these lines to embed.rs: {missing:#?}");
        assert_eq!(below(laid_out.path()), source);
    }

    #[test]
    fn a_folder_that_somebody_prepared_is_refused() {
        let prepared = tempfile::tempdir().unwrap();
        fs::write(prepared.path().join("sitecustomize.py"), "evil").unwrap();
        assert_eq!(lay_out(prepared.path()).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    }
}
