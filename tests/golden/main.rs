//! Every vector that the real libraries wrote, reproduced: see fixtures/vectors/README.md.

mod rng;
mod vectors;
mod workers;
