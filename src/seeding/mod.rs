//! What a worker's generators are seeded with: the policies of `--init`, torch's own, and other libraries' inits; and
//! in which order a DataLoader draws in the main process.

pub mod globals;
pub mod lightning;
pub mod loader;
pub mod monai;
pub mod policy;
pub mod timm;
pub mod torch;

pub use globals::Globals;
pub use policy::{Policy, WorkerPlace};
