//! What is written is read back, bit for bit.

use pipeaudit::trace::Run;
use pipeaudit::trace::read::from_lines;
use pipeaudit::trace::write::to_lines;
use proptest::prelude::*;

use super::runs;
use super::view::view;

/// The shards of a run.
pub fn shards(run: &Run) -> Vec<(String, Vec<u8>)> {
    let shard = |rank| {
        let mut lines = Vec::new();
        to_lines(run, rank, &mut lines).expect("memory takes everything");
        (format!("rank{rank}.jsonl"), lines)
    };
    (0..run.world_size.max(1)).map(shard).collect()
}

fn read(shards: &[(String, Vec<u8>)]) -> Run {
    let inputs = shards.iter().map(|(name, lines)| (name.as_str(), lines.as_slice()));
    from_lines(inputs).unwrap_or_else(|error| panic!("{error}")).run
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn a_run_is_read_back_as_it_was(run in runs::run()) {
        prop_assert_eq!(view(&read(&shards(&run))), view(&run));
    }

    #[test]
    fn what_was_read_is_written_as_it_stood(run in runs::run()) {
        let written = shards(&read(&shards(&run)));
        prop_assert_eq!(&shards(&read(&written)), &written);
    }
}
