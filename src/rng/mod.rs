//! Random number generators, bit for bit as the libraries that people train with have them.

pub mod chacha;
pub mod draw;
pub mod generator;
pub mod seed;
pub mod seed_sequence;
pub mod state;

pub use draw::Draw;
pub use generator::Generator;
pub use seed::{Kind, Seed};
pub use seed_sequence::SeedSequence;
pub use state::{Key, State};
