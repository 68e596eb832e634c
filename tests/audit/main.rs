//! Audits on runs that are built by hand, with a generator and references of their own.

mod compare;
mod duplicates;
mod pipeline;
mod programs;
mod reference;
mod sampling;
mod skew;
mod sound;
mod statistics;
mod unseen;
