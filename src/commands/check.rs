//! `pipeaudit check` on the built-in pipeline: two arms side by side, each run twice.

use std::fmt::Write;
use std::path::Path;

use crate::audit::{self, Audited, Options};
use crate::commands::console::Bar;
use crate::commands::render;
use crate::commands::sink::Sink;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::report::{ArmReport, Origin, Report};
use crate::seeding::Policy;
use crate::settings::{self, ReportFormat};
use crate::source::simulate::{Dataset, Progress, Simulated, Simulation, WorkerSeed};
use crate::trace::write;

/// An arm as planned: what runs, and whether it decides.
struct Arm {
    name: &'static str,
    detail: String,
    decides: bool,
    simulation: Simulation,
}

/// Audits it and shows the report.
///
/// # Errors
/// Where something cannot be read or written.
pub fn run(settings: &settings::Check) -> Result<Exit> {
    let sink = Sink::open(settings.output.file.as_deref(), settings.output.quiet)?;
    let keep = settings.keep.as_deref().map(write::Folder::create_parent).transpose()?;
    let dataset = settings.images.load()?;
    let arms = plan(settings);
    if let Some(keep) = &keep {
        refuse_other_runs(keep, &arms)?;
    }
    let total = arms.iter().map(|arm| 2 * arm.simulation.samples(&dataset)).sum();
    let mut bar = Bar::new(total);
    let mut report = Report {
        origin: Origin::Simulate,
        arms: Vec::new(),
        not_tested: Vec::new(),
        remarks: dataset.remarks().to_vec(),
        faults: Vec::new(),
        fail_on: settings.judgement.fail_on,
    };
    report.remarks.extend(remarks(settings, &dataset));
    let mut seeds = Vec::new();
    for arm in arms {
        let (mut audited, arm_seeds) = run_arm(&arm, settings.judgement.alpha, &dataset, keep.as_deref(), &mut bar)?;
        seeds.push((arm.name, arm_seeds));
        too_little(&mut audited);
        if arm.decides {
            report.not_tested.extend(audited.not_tested);
        }
        report.arms.push(ArmReport {
            name: arm.name.to_owned(),
            detail: arm.detail,
            decides: arm.decides,
            numbers: audited.numbers,
            findings: audited.findings,
            inconclusive: audited.inconclusive,
        });
    }
    drop(bar);
    let mut text = render::report(&report, &settings.output);
    if settings.output.verbose && settings.output.format == ReportFormat::Table {
        text.push_str(&show_seeds(&seeds));
    }
    sink.write(&text)?;
    Ok(report.exit())
}

/// Without an init and with one; one arm alone where the missing init is what is audited, or there are no workers to
/// seed.
fn plan(settings: &settings::Check) -> Vec<Arm> {
    let arm = |name, policy: Policy, decides| Arm {
        name,
        detail: format!("--init {policy}"),
        decides,
        simulation: Simulation { policy, ..settings.simulation.clone() },
    };
    if settings.simulation.workers == 0 {
        return vec![Arm { detail: "no workers to seed".to_owned(), ..arm("main process", Policy::None, true) }];
    }
    if settings.audit_missing_init {
        return vec![arm("without init", Policy::None, true)];
    }
    vec![arm("without init", Policy::None, false), arm("with init", settings.simulation.policy, true)]
}

/// Runs of another audit beside this one's would be taken for its own.
fn refuse_other_runs(keep: &Path, arms: &[Arm]) -> Result<()> {
    for name in ["without-init", "with-init", "main-process"] {
        let planned = arms.iter().any(|arm| arm.name.replace(' ', "-") == name);
        let folder = keep.join(format!("{name}-a"));
        if !planned && folder.exists() {
            return Err(Error::usage(format!("{} holds a run of another audit", folder.display()))
                .help("give --keep a new folder"));
        }
    }
    Ok(())
}

/// Runs an arm twice and audits it. The second run is let go as soon as it is compared.
fn run_arm(
    arm: &Arm,
    alpha: f64,
    dataset: &Dataset,
    keep: Option<&Path>,
    bar: &mut dyn Progress,
) -> Result<(Audited, Vec<WorkerSeed>)> {
    let options = Options { alpha, arm: arm.name.to_owned() };
    let once = |name: &str, bar: &mut dyn Progress| -> Result<Simulated> {
        let simulated = arm.simulation.run(&format!("{} {name}", arm.name), dataset, bar)?;
        if let Some(keep) = keep {
            let folder = keep.join(format!("{}-{name}", arm.name.replace(' ', "-")));
            write::Folder::create(&folder)?.write(&simulated.run)?;
        }
        Ok(simulated)
    };
    let Simulated { run: a, seeds } = once("a", bar)?;
    let mut audited = audit::audit(&a, &options);
    let Simulated { run: b, .. } = once("b", bar)?;
    let differences = audit::compare(&a, &b, &options);
    for numbers in &mut audited.numbers {
        numbers.reproduces = Some(differences.is_empty());
    }
    audited.findings.extend(differences);
    audited.findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.code));
    Ok((audited, seeds))
}

/// One stream alone can be compared with nothing: that is no pass.
fn too_little(audited: &mut Audited) {
    for numbers in &audited.numbers {
        if numbers.streams.of < 2 && audited.findings.is_empty() {
            audited.inconclusive.push(
                "one worker in one epoch drew random numbers: there is nothing to compare them with (--epochs 2, --samples)"
                    .to_owned(),
            );
        } else if numbers.workers > 1 && numbers.epochs.iter().all(|epoch| epoch.streams.of < 2) {
            audited.not_tested.push("workers against each other: one alone got a batch (--samples)".to_owned());
        }
    }
}

fn remarks(settings: &settings::Check, dataset: &Dataset) -> Vec<String> {
    let simulation = &settings.simulation;
    let batches = dataset.len().div_ceil(u64::from(simulation.ranks)).div_ceil(u64::from(simulation.batch_size));
    let idle = u64::from(simulation.workers).saturating_sub(batches);
    if idle == 0 {
        return Vec::new();
    }
    vec![format!(
        "{idle} of {} workers get no batch: {} samples in batches of {} make {batches} (--samples, --batch-size)",
        simulation.workers,
        dataset.len(),
        simulation.batch_size
    )]
}

fn show_seeds(arms: &[(&str, Vec<WorkerSeed>)]) -> String {
    let mut text = String::from("\nSeeds of each worker and epoch\n");
    for (arm, seeds) in arms {
        let _ = writeln!(text, "  {arm}");
        for seed in seeds {
            let given = seed.seed.as_deref().unwrap_or("(none: the generator stays as it was started)");
            let _ = writeln!(
                text,
                "    rank {} epoch {} {}: initial_seed {}, seeded with {given}",
                seed.rank, seed.epoch, seed.worker, seed.initial_seed
            );
        }
    }
    text
}
