//! Random number generators, bit for bit as the libraries that people train with have them.

pub mod chacha;
pub mod draw;
pub mod generator;
pub mod state;

pub use draw::Draw;
pub use generator::Generator;
pub use state::{Key, State};
