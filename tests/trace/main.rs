//! Traces on disk: the documented format, what is written is read back, shards of many processes, hostile input.

mod folder;
mod format;
mod hostile;
mod merging;
mod round_trip;
mod runs;
mod view;
