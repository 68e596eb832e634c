//! Sound pipelines have no finding.

use pipeaudit::audit::{Options, audit};

use crate::pipeline::{Pipeline, Seeding, hash};

const SOUND: [(&str, Seeding); 3] = [
    ("base+worker", |base, _, _, worker| base.wrapping_add(worker)),
    ("epoch", |base, epoch, _, worker| base.wrapping_add(2 * worker + 1000 * epoch)),
    ("lightning", |base, _, rank, worker| hash(base ^ hash(worker << 16 | rank))),
];

#[test]
fn sound_policies_have_no_finding_over_many_seeds() {
    for seed in 0..100 {
        for (name, seeding) in SOUND {
            for workers in [1, 2, 4, 7] {
                let persistent = seed % 2 == 1;
                let run = Pipeline { seed, workers, persistent, seeding, ..Pipeline::default() }.run();
                let audited = audit(&run, &Options::default());
                assert!(audited.findings.is_empty(), "{name}, seed {seed}, {workers} workers: {:?}", audited.findings);
            }
        }
    }
}

/// At a family-wise error of one in a thousand, 4000 sound audits may fail 4 times. More than 13 failures have a
/// probability below 1e-4 (Poisson with mean 4: `scipy.stats.poisson.sf(13, 4)` = 7.6e-05).
#[test]
fn false_alarms_stay_below_the_family_wise_error() {
    let options = Options { alpha: 1e-3, ..Options::default() };
    let failures = (0..4000_u64).filter(|seed| {
        let run = Pipeline {
            seed: seed + 1_000_000,
            workers: [1, 2, 3, 5][*seed as usize % 4],
            samples: [24, 64, 200][*seed as usize % 3],
            outputs: false,
            seeding: SOUND[2].1,
            ..Pipeline::default()
        };
        !audit(&run.run(), &options).findings.is_empty()
    });
    let failures = failures.count();
    assert!(failures <= 13, "{failures} of 4000 sound audits failed");
}
