//! What a worker's generators are seeded with: the policies of `--init`, and torch's own.

pub mod lightning;
pub mod policy;
pub mod torch;

pub use policy::{Policy, WorkerPlace};
