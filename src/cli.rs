//! What was typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Audits the randomness of the data pipelines that models are trained with.
#[derive(Debug, Parser)]
#[command(name = "pipeaudit", version, about, max_term_width = 100, disable_version_flag = true)]
#[command(args_override_self = true)]
#[command(after_help = "Exit status: 0 audited, clean; 1 findings; 2 wrong usage; 3 could not audit.\n\n\
    Commonest call: pipeaudit check --workers 4")]
pub struct Cli {
    /// Print the version; with --verbose also the library versions that are reproduced bit for bit
    #[arg(short = 'V', long)]
    pub version: bool,

    /// With --version: say more
    #[arg(short, long)]
    pub verbose: bool,

    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Audit the built-in pipeline without and with a seeding init, or the loaders of a program: check -- python train.py
    Check(Box<Check>),
    /// Record one run of a program and keep it
    Record(Box<Record>),
    /// Audit recorded runs: shards of many ranks and machines together
    Audit(AuditRuns),
    /// Say whether two recorded runs reproduce each other, and what differs first
    Compare(CompareRuns),
    /// Write the fingerprint of a program's data, which check --locked compares
    Lock(Box<Lock>),
    /// Run the built-in pipeline once and keep its records
    Simulate(Box<Simulate>),
    /// Say what a finding means, why it hurts, how to fix it, and when it is fine
    Explain(Explain),
}

/// `pipeaudit check`.
#[derive(Debug, Args)]
pub struct Check {
    /// The built-in pipeline.
    #[command(flatten)]
    pub pipeline: PipelineArgs,

    /// A program's loaders.
    #[command(flatten)]
    pub program: ProgramArgs,

    /// Print the runs that would be made, and why, and make none
    #[arg(long, help_heading = "Program")]
    pub dry_run: bool,

    /// Compare with the fingerprint that `pipeaudit lock` wrote
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "pipeaudit.lock", require_equals = true, help_heading = "Program")]
    pub locked: Option<PathBuf>,

    /// Audit what this function returns, a loader or several, with no training
    #[arg(long, value_name = "MODULE:FUNCTION", conflicts_with = "command", help_heading = "Program")]
    pub loader: Option<String>,

    /// Try another worker count for datasets of any kind
    #[arg(long, help_heading = "Program")]
    pub thorough: bool,

    /// The program and its arguments, after --
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["init", "samples", "images", "pipeline", "ranks", "no_set_epoch", "persistent_workers", "start_method", "rng", "generator", "seed", "batch_size"])]
    pub command: Vec<OsString>,

    /// What is reported and how.
    #[command(flatten)]
    pub output: OutputArgs,

    /// Keep the records of every run below this folder (JSON Lines)
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub keep: Option<PathBuf>,

    /// What a finding must be.
    #[command(flatten)]
    pub audit: AuditArgs,
}

/// What a finding must be.
#[derive(Debug, Args)]
pub struct AuditArgs {
    /// How sure a finding must be: the chance that a sound pipeline fails, over all tests of an audit together
    #[arg(long, value_name = "P", default_value = "1e-6", help_heading = "Audit")]
    pub alpha: f64,

    /// The severity from which a finding fails
    #[arg(long, value_enum, default_value_t = FailOn::Error, help_heading = "Audit")]
    pub fail_on: FailOn,
}

/// Limits of a program's runs.
#[derive(Debug, Args)]
pub struct ProgramArgs {
    /// Batches after which a loader's epoch is ended [default: none]
    #[arg(long, value_name = "N", help_heading = "Program")]
    pub batches: Option<u64>,

    /// Seconds that one run may take [default: no limit]
    #[arg(long, value_name = "SECONDS", help_heading = "Program")]
    pub timeout: Option<f64>,
}

/// `pipeaudit record`.
#[derive(Debug, Args)]
pub struct Record {
    /// The folder to keep the run in
    #[arg(short, long, value_name = "RUN")]
    pub output: PathBuf,

    /// Epochs of each loader, after which the program is stopped
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub epochs: u32,

    /// num_workers of every loader instead of its own
    #[arg(short, long, value_name = "N")]
    pub workers: Option<u32>,

    /// Limits.
    #[command(flatten)]
    pub limits: ProgramArgs,

    /// Let the program come to its own end
    #[arg(long)]
    pub whole: bool,

    /// The program and its arguments, after --
    #[arg(last = true, value_name = "COMMAND", required = true)]
    pub command: Vec<OsString>,
}

/// `pipeaudit lock`.
#[derive(Debug, Args)]
pub struct Lock {
    /// The file to write
    #[arg(short, long, value_name = "FILE", default_value = "pipeaudit.lock")]
    pub output: PathBuf,

    /// Limits.
    #[command(flatten)]
    pub limits: ProgramArgs,

    /// The program and its arguments, after --
    #[arg(last = true, value_name = "COMMAND", required = true)]
    pub command: Vec<OsString>,
}

/// `pipeaudit audit`.
#[derive(Debug, Args)]
pub struct AuditRuns {
    /// Folders of runs, or their shards, taken together as one run
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,

    /// What a finding must be.
    #[command(flatten)]
    pub audit: AuditArgs,

    /// What is reported and how.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `pipeaudit compare`.
#[derive(Debug, Args)]
pub struct CompareRuns {
    /// A run
    #[arg(value_name = "RUN")]
    pub first: PathBuf,

    /// Another run of the same program with the same seed
    #[arg(value_name = "RUN")]
    pub second: PathBuf,

    /// What a finding must be.
    #[command(flatten)]
    pub audit: AuditArgs,

    /// What is reported and how.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `pipeaudit simulate`.
#[derive(Debug, Args)]
pub struct Simulate {
    /// The built-in pipeline.
    #[command(flatten)]
    pub pipeline: PipelineArgs,

    /// The folder to keep the run in
    #[arg(short, long, value_name = "RUN")]
    pub output: PathBuf,

    /// Record states and parameters only, for large runs
    #[arg(long)]
    pub no_pixels: bool,
}

/// `pipeaudit explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// A code (PA101) or name (worker-streams-identical); without one, the list of all
    pub code: Option<String>,
}

/// The built-in pipeline.
#[derive(Debug, Args)]
pub struct PipelineArgs {
    /// Workers; 0: the main process itself [default: 4, or a program's own]
    #[arg(short, long, value_name = "N", help_heading = "Pipeline")]
    pub workers: Option<u32>,

    /// Passes over the dataset
    #[arg(long, value_name = "N", default_value_t = 2, help_heading = "Pipeline")]
    pub epochs: u32,

    /// Samples a batch
    #[arg(long, value_name = "N", default_value_t = 4, help_heading = "Pipeline")]
    pub batch_size: u32,

    /// Samples an epoch [default: 64, or the number of images in --images]
    #[arg(long, value_name = "N", help_heading = "Pipeline")]
    pub samples: Option<u64>,

    /// Seed of the main process
    #[arg(long, value_name = "SEED", default_value_t = 0, help_heading = "Pipeline")]
    pub seed: u64,

    /// Seeding function of the workers: none, torch, constant, worker-id, base+worker, epoch, lightning,
    /// seed+epoch+worker [default: compares none with base+worker]
    #[arg(long, value_name = "POLICY", help_heading = "Pipeline")]
    pub init: Option<String>,

    /// How workers begin: fork, spawn, forkserver
    #[arg(long, value_name = "METHOD", default_value = "fork", help_heading = "Pipeline")]
    pub start_method: String,

    /// Keep the workers over epochs
    #[arg(long, help_heading = "Pipeline")]
    pub persistent_workers: bool,

    /// Whose random numbers the transforms draw: chacha, torch, numpy, python
    #[arg(long, value_name = "LIBRARY", default_value = "chacha", help_heading = "Pipeline")]
    pub rng: String,

    /// Where the generator lives: held (by the dataset) or global (the library's own) [torch: always global]
    #[arg(long, value_name = "HOLDER", help_heading = "Pipeline")]
    pub generator: Option<String>,

    /// Ranks of a distributed job, all seeded alike
    #[arg(long, value_name = "R", default_value_t = 1, help_heading = "Pipeline")]
    pub ranks: u32,

    /// Do not tell the distributed sampler the epoch
    #[arg(long, help_heading = "Pipeline")]
    pub no_set_epoch: bool,

    /// The transforms: crop=64 or crop=HxW, padding, flip, brightness, contrast, saturation, hue
    /// (hue=0.1 or hue=-0.1..0.1) [default: crop=64,padding=0,flip=0.5,brightness=0.4,contrast=0.4,saturation=0.4,hue=0.1]
    #[arg(long, value_name = "KEY=VALUE,…", help_heading = "Pipeline")]
    pub pipeline: Option<String>,

    /// A folder of PNG and JPEG images, searched recursively [default: embedded images]
    #[arg(long, value_name = "DIR", help_heading = "Pipeline")]
    pub images: Option<PathBuf>,

    /// The most pixels that an image may have
    #[arg(long, value_name = "N", default_value_t = 89_478_485, help_heading = "Pipeline")]
    pub max_pixels: u64,
}

/// What is reported and how.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// The report's format
    #[arg(long, value_enum, default_value_t = Format::Table, help_heading = "Output")]
    pub format: Format,

    /// Write the report to a file instead of standard output
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,

    /// Print nothing but errors: the exit status is the answer
    #[arg(short, long, conflicts_with = "verbose", help_heading = "Output")]
    pub quiet: bool,

    /// Also print the seeds of each worker and epoch
    #[arg(short, long, help_heading = "Output")]
    pub verbose: bool,

    /// When to use colours
    #[arg(long, value_enum, default_value_t = Color::Auto, help_heading = "Output")]
    pub color: Color,
}

/// Formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Table,
    /// For programs; see the schema in the README
    Json,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The severity from which a finding fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Errors
    Error,
    /// Warnings and errors
    Warning,
    /// Any finding
    Note,
}
