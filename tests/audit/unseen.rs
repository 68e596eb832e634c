//! Parameters where no generator can be seen.

use pipeaudit::audit::{Options, audit};
use pipeaudit::finding::{Code, Finding};

use crate::pipeline::{Pipeline, codes};

fn findings(pipeline: Pipeline) -> Vec<Finding> {
    let pipeline = Pipeline { states: false, outputs: false, ..pipeline };
    audit(&pipeline.run(), &Options::default()).findings
}

#[test]
fn workers_and_epochs_that_draw_the_same_parameters_are_told() {
    let found = findings(Pipeline { seeding: |_, _, _, _| 5, ..Pipeline::default() });
    assert_eq!(codes(&found), [Code::PA101, Code::PA103]);
    assert!(found[0].message.starts_with("16 of 16 calls of `"), "{}", found[0].message);
    assert!(found[0].message.ends_with("in epoch 0 worker 0 and epoch 0 worker 1, although no generator can be seen"));
}

#[test]
fn ranks_that_draw_the_same_parameters_are_told() {
    assert_eq!(codes(&findings(Pipeline { ranks: 2, ..Pipeline::default() })), [Code::PA102]);
}

#[test]
fn parameters_of_sound_workers_agree_only_by_chance() {
    for seed in 0..50 {
        let found = findings(Pipeline { seed, workers: 3, epochs: 3, ..Pipeline::default() });
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
fn three_draws_are_too_few() {
    let few = Pipeline { seeding: |_, _, _, _| 5, samples: 6, workers: 2, batch: 1, epochs: 1, ..Pipeline::default() };
    assert!(findings(few).is_empty());
}
