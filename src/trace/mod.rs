//! What each worker drew and delivered: records on disk, runs in memory.

pub mod index;
pub mod order;
pub mod record;
pub mod run;
pub mod write;

pub use record::Record;
pub use run::{Lane, Run};
