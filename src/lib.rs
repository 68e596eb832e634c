//! pipeaudit audits the randomness of the data pipelines that models are trained with.
//!
//! The crate is one flow, and a module knows only those before it:
//!
//! ```text
//! source ──► trace ──► audit ──► findings ──► report
//! ```
//!
//! * [`source`] produces records of what each worker drew and delivered: [`source::simulate`] runs the built-in
//!   pipeline over [`rng`], [`seeding`] and [`transform`].
//! * [`trace`] holds those records in memory and on disk.
//! * [`audit`] reads a trace (with [`stats`]) and returns [`finding`]s; it never knows where a record came from.
//! * [`report`] shows them.
//!
//! The binary only parses, runs a command and exits: see [`commands`] and [`exit`].

pub mod audit;
pub mod cli;
pub mod commands;
pub mod error;
pub mod exit;
pub mod finding;
pub mod report;
pub mod rng;
pub mod seeding;
pub mod settings;
pub mod source;
pub mod stats;
pub mod trace;
pub mod transform;
