//! The numbers that a person wants of a loader, whatever was found.

/// A count of distinct things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Distinct {
    /// How many differ.
    pub distinct: u64,
    /// Of how many.
    pub of: u64,
}

/// How often a transform was applied in one worker (or in all: `worker` is `None`), over all epochs, copies of streams
/// counted as they were delivered.
#[derive(Clone, Debug, PartialEq)]
pub struct AppliedRatio {
    /// The transform.
    pub transform: String,
    /// Rank of the worker.
    pub rank: u32,
    /// The worker, -1 for the main process; `None` for all together.
    pub worker: Option<i32>,
    /// Declared probability.
    pub p: Option<f64>,
    /// Times applied.
    pub applied: u64,
    /// Times called.
    pub called: u64,
    /// 95 % Clopper-Pearson interval of the ratio.
    pub interval: (f64, f64),
}

/// What one epoch of a loader delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochNumbers {
    /// The epoch.
    pub epoch: u32,
    /// Distinct streams of workers (over ranks).
    pub streams: Distinct,
    /// Distinct augmentations (all parameters that were drawn for a sample; its moved states where none are known) of
    /// the samples delivered.
    pub augmentations: Distinct,
}

/// The numbers of one loader in one arm.
#[derive(Clone, Debug, PartialEq)]
pub struct LoaderNumbers {
    /// The loader, as people know it.
    pub loader: String,
    /// Ranks.
    pub ranks: u32,
    /// Workers a rank.
    pub workers: u32,
    /// Samples delivered over all epochs and ranks.
    pub delivered: u64,
    /// Samples in the dataset, where known.
    pub dataset: Option<u64>,
    /// Distinct samples ever delivered.
    pub ever_delivered: u64,
    /// By epoch.
    pub epochs: Vec<EpochNumbers>,
    /// Distinct augmentations over all epochs.
    pub augmentations: Distinct,
    /// Distinct streams over all epochs, ranks and workers.
    pub streams: Distinct,
    /// Generators that were consumed, counted by source; 0 where no state could be seen.
    pub generators: u64,
    /// Applied ratios of the transforms that have a declared p strictly between 0 and 1, by worker, then together.
    pub applied: Vec<AppliedRatio>,
    /// Whether two runs reproduced each other; `None` where there was one run only.
    pub reproduces: Option<bool>,
    /// What the tests could have seen: sentences such as "with 128 samples a flip ratio from 0.29 to 0.71 passes;
    /// `--samples 4096` narrows that to 0.46-0.54".
    pub resolution: Vec<String>,
}
