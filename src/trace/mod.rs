//! What each worker drew and delivered: records on disk, runs in memory.
//!
//! `FORMAT.md` beside this file is the format's documentation for those who write traces in other languages.

pub mod index;
pub mod notation;
pub mod order;
pub mod read;
pub mod record;
pub mod run;
pub mod write;

pub use read::{Loaded, Notes};
pub use record::Record;
pub use run::{Lane, Run};
