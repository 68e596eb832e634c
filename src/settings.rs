//! What is meant: flags over defaults, checked. Commands see only this.

mod output;
mod pipeline;
mod program;

use std::path::PathBuf;

pub use output::{Output, ReportFormat};
pub use program::{Lock, Program, Record};

use crate::cli;
use crate::error::{Error, Result};
use crate::finding::Severity;
use crate::seeding::Policy;
use crate::source::simulate::{Dataset, Holder, Library, OutputDigest, Simulation};

/// Workers of the built-in pipeline.
const DEFAULT_WORKERS: u32 = 4;
/// More threads than this in one rank are a slip of the finger.
const MAX_WORKERS: u32 = 1024;
/// Likewise for ranks.
const MAX_RANKS: u32 = 4096;
/// Samples of one run over all epochs that are held in memory, at about 150 bytes each.
const MAX_SAMPLES: u64 = 100_000_000;

/// What `check` on the built-in pipeline is asked.
#[derive(Debug)]
pub struct Check {
    /// The pipeline; its policy is that of the `with init` arm.
    pub simulation: Simulation,
    /// Whether the missing init itself is audited (`--init none`).
    pub audit_missing_init: bool,
    /// Where images come from.
    pub images: Images,
    /// What is reported and how.
    pub output: Output,
    /// Where records are kept.
    pub keep: Option<PathBuf>,
    /// What a finding must be.
    pub judgement: Judgement,
}

/// What a finding must be.
#[derive(Clone, Copy, Debug)]
pub struct Judgement {
    /// Family-wise error.
    pub alpha: f64,
    /// The severity from which a finding fails.
    pub fail_on: Severity,
}

impl Judgement {
    /// Checks what was typed.
    ///
    /// # Errors
    /// Where alpha is no probability.
    pub fn new(typed: &cli::AuditArgs) -> Result<Self> {
        let alpha = typed.alpha;
        if !(alpha > 0.0 && alpha < 1.0) {
            return Err(Error::usage(format!("--alpha {alpha} is no probability between 0 and 1"))
                .help("leave it out for 1e-6: a sound pipeline then fails once in a million audits"));
        }
        let fail_on = match typed.fail_on {
            cli::FailOn::Error => Severity::Error,
            cli::FailOn::Warning => Severity::Warning,
            cli::FailOn::Note => Severity::Note,
        };
        Ok(Self { alpha, fail_on })
    }
}

/// What `simulate` is asked.
#[derive(Debug)]
pub struct Simulate {
    /// The pipeline.
    pub simulation: Simulation,
    /// Where images come from.
    pub images: Images,
    /// The folder to keep the run in.
    pub folder: PathBuf,
}

/// Where images come from.
#[derive(Debug)]
pub struct Images {
    /// A folder; the embedded ones where there is none.
    pub folder: Option<PathBuf>,
    /// Samples an epoch.
    pub samples: Option<u64>,
    /// The most pixels that an image may have.
    pub max_pixels: u64,
}

impl Images {
    /// Reads them.
    ///
    /// # Errors
    /// Where the folder or an image cannot be read.
    pub fn load(&self) -> Result<Dataset> {
        match &self.folder {
            Some(folder) => Dataset::folder(folder, self.samples, self.max_pixels),
            None => Dataset::embedded(self.samples),
        }
    }
}

impl Check {
    /// Checks what was typed.
    ///
    /// # Errors
    /// Where a value makes no sense, with the one that does.
    pub fn new(typed: &cli::Check) -> Result<Self> {
        let judgement = Judgement::new(&typed.audit)?;
        let mut simulation = simulation(&typed.pipeline)?;
        let audit_missing_init = typed.pipeline.init.is_some() && simulation.policy == Policy::None;
        if typed.pipeline.init.is_none() {
            simulation.policy = Policy::BasePlusWorker;
        }
        Ok(Self {
            simulation,
            audit_missing_init,
            images: images(&typed.pipeline),
            output: Output::new(&typed.output),
            keep: typed.keep.clone(),
            judgement,
        })
    }
}

impl Simulate {
    /// Checks what was typed.
    ///
    /// # Errors
    /// Where a value makes no sense.
    pub fn new(typed: &cli::Simulate) -> Result<Self> {
        let mut simulation = simulation(&typed.pipeline)?;
        simulation.pixels = !typed.no_pixels;
        Ok(Self { simulation, images: images(&typed.pipeline), folder: typed.output.clone() })
    }
}

fn images(typed: &cli::PipelineArgs) -> Images {
    Images { folder: typed.images.clone(), samples: typed.samples, max_pixels: typed.max_pixels }
}

fn simulation(typed: &cli::PipelineArgs) -> Result<Simulation> {
    let workers = typed.workers.unwrap_or(DEFAULT_WORKERS);
    within("--workers", workers, 0, MAX_WORKERS, "try the number of cores, or 0 for the main process")?;
    within("--epochs", typed.epochs, 1, 100_000, "2 epochs show a stream that repeats")?;
    within("--batch-size", typed.batch_size, 1, u32::MAX, "try 4")?;
    within("--ranks", typed.ranks, 1, MAX_RANKS, "1 is a job that is not distributed")?;
    if typed.samples == Some(0) {
        return Err(Error::usage("--samples 0 leaves nothing to audit").help("leave it out, or give at least 1"));
    }
    let a_run = typed.samples.unwrap_or(1).saturating_mul(u64::from(typed.epochs));
    if a_run > MAX_SAMPLES {
        return Err(Error::usage(format!("{a_run} samples a run are more than {MAX_SAMPLES}, which memory holds"))
            .help("lower --samples or --epochs"));
    }
    if typed.persistent_workers && workers == 0 {
        return Err(
            Error::usage("--persistent-workers needs workers, and --workers is 0").help("give --workers 1 or more")
        );
    }
    if typed.no_set_epoch && typed.ranks == 1 {
        return Err(Error::usage("--no-set-epoch needs a distributed sampler").help("add --ranks 2"));
    }
    let library: Library = typed.rng.parse()?;
    let holder: Option<Holder> = typed.generator.as_deref().map(str::parse).transpose()?;
    if library == Library::Torch && holder == Some(Holder::Held) {
        return Err(Error::usage(
            "--rng torch --generator held: torchvision's transforms draw from torch's global generator",
        )
        .help("leave out --generator held, or use --rng numpy or --rng python, which a dataset can hold"));
    }
    let held = if library == Library::Torch { Holder::Global } else { Holder::Held };
    Ok(Simulation {
        workers,
        epochs: typed.epochs,
        batch_size: typed.batch_size,
        seed: typed.seed,
        start_method: typed.start_method.parse()?,
        persistent_workers: typed.persistent_workers,
        policy: typed.init.as_deref().map_or(Ok(Policy::None), str::parse)?,
        ranks: typed.ranks,
        set_epoch: !typed.no_set_epoch,
        library,
        holder: holder.unwrap_or(held),
        pipeline: pipeline::parse(typed.pipeline.as_deref().unwrap_or(""), library)?,
        pixels: true,
        digest: OutputDigest::Fast,
    })
}

fn within(flag: &str, value: u32, low: u32, high: u32, help: &str) -> Result<()> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(Error::usage(format!("{flag} {value} makes no sense: it must be from {low} to {high}")).help(help))
}
