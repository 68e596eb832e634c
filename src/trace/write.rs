//! (being written elsewhere)
use std::path::{Path, PathBuf};
use crate::error::Result;
use crate::trace::Run;
/// A run's folder.
pub struct Folder;
impl Folder {
    /// Creates it.
    /// # Errors
    /// Never.
    pub fn create(_: &Path) -> Result<Self> { Ok(Self) }
    /// Creates it.
    /// # Errors
    /// Never.
    pub fn create_parent(p: &Path) -> Result<PathBuf> { Ok(p.to_owned()) }
    /// Writes.
    /// # Errors
    /// Never.
    pub fn write(self, _: &Run) -> Result<()> { Ok(()) }
}
