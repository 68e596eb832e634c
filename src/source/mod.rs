//! Sources of records: an arm in, a run out.

pub mod live;
pub mod simulate;
