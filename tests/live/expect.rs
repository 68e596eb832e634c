//! The programs and what must be found in them.

use std::path::{Path, PathBuf};

use serde::Deserialize;

/// What an `expect.toml` says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// What the program shows, in one sentence.
    pub about: String,
    /// The command; `python` stands for the interpreter.
    pub run: Vec<String>,
    /// How many copies are started at once, as ranks of one job.
    pub env_ranks: Option<u32>,
    /// Modules that it imports besides torch.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The exit status.
    pub exit: i32,
    /// Codes that must be reported; `A|B`: either.
    pub report: Vec<String>,
    /// Codes that may be reported besides; notes always may.
    pub allow: Vec<String>,
    /// Texts that the report (or the error) must hold.
    #[serde(default)]
    pub says: Vec<String>,
    /// Whether it belongs to the plain run.
    #[serde(default)]
    pub quick: bool,
}

/// A program under test.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its folder's name.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
    /// What must be found.
    pub expect: Expect,
}

/// All programs, by name.
pub fn programs() -> Vec<Program> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/programs");
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut programs: Vec<Program> = entries.map(|entry| program(&entry.unwrap().path())).collect();
    programs.sort_by(|one, other| one.name.cmp(&other.name));
    programs
}

fn program(folder: &Path) -> Program {
    let path = folder.join("expect.toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let expect: Expect = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(!expect.about.is_empty() && folder.join("train.py").exists(), "{}", folder.display());
    Program { name: folder.file_name().unwrap().to_string_lossy().into_owned(), folder: folder.to_owned(), expect }
}
