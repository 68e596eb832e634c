//! Random number generators, bit for bit as the libraries that people train with have them.

pub mod chacha;
pub mod draw;
pub mod generator;
pub mod int;
pub mod mt19937;
pub mod numpy;
pub mod numpy_generator;
pub mod numpy_legacy;
pub mod pcg64;
pub mod philox;
pub mod python;
pub mod seed;
pub mod seed_sequence;
pub mod state;
pub mod torch;
pub mod torch_normal;

pub use draw::Draw;
pub use generator::Generator;
pub use int::Int;
pub use seed::{Kind, Seed};
pub use seed_sequence::SeedSequence;
pub use state::{Key, State};
