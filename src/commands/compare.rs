//! `pipeaudit compare`: do two recorded runs reproduce each other.

use crate::audit::{self, Audited, Options};
use crate::cli;
use crate::commands::files::faults;
use crate::commands::program::recorded_report;
use crate::commands::render;
use crate::commands::sink::Sink;
use crate::error::Result;
use crate::exit::Exit;
use crate::report::Origin;
use crate::settings::{Judgement, Output};
use crate::trace::read;

/// Compares them.
///
/// # Errors
/// Where a run cannot be read.
pub fn run(typed: &cli::CompareRuns) -> Result<Exit> {
    let (judgement, output) = (Judgement::new(&typed.audit)?, Output::new(&typed.output));
    let sink = Sink::open(output.file.as_deref(), output.quiet)?;
    let (first, second) = (read::read(&[&typed.first])?, read::read(&[&typed.second])?);
    let options = Options { alpha: judgement.alpha, arm: "as is".to_owned() };
    let findings = audit::compare(&first.run, &second.run, &options);
    let mut numbers = audit::audit(&first.run, &options).numbers;
    for numbers in &mut numbers {
        numbers.reproduces = Some(findings.is_empty());
        numbers.resolution.clear();
    }
    let audited = Audited { numbers, findings, ..Audited::default() };
    let mut report = recorded_report(Origin::Files, audited, "two runs compared".to_owned(), judgement);
    for loaded in [&first, &second] {
        report.faults.extend(faults(loaded));
    }
    sink.write(&render::report(&report, &output))?;
    Ok(report.exit())
}
