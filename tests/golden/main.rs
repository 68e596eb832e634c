//! Every vector that the real libraries wrote, reproduced: see fixtures/vectors/README.md.

mod pictures;
mod rng;
mod runs;
mod transforms;
mod vectors;
mod workers;
