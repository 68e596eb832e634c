//! `pipeaudit audit`: recorded runs, taken together as one.

use crate::audit::{self, Options};
use crate::cli;
use crate::commands::program::recorded_report;
use crate::commands::render;
use crate::commands::sink::Sink;
use crate::error::Result;
use crate::exit::Exit;
use crate::report::Origin;
use crate::settings::{Judgement, Output};
use crate::trace::read::{self, Loaded};

/// Audits them.
///
/// # Errors
/// Where a run cannot be read.
pub fn run(typed: &cli::AuditRuns) -> Result<Exit> {
    let (judgement, output) = (Judgement::new(&typed.audit)?, Output::new(&typed.output));
    let sink = Sink::open(output.file.as_deref(), output.quiet)?;
    let loaded = read::read(&typed.runs)?;
    let options = Options { alpha: judgement.alpha, arm: "as is".to_owned() };
    let audited = audit::audit(&loaded.run, &options);
    let mut report = recorded_report(Origin::Files, audited, String::new(), judgement);
    report.faults.extend(faults(&loaded));
    sink.write(&render::report(&report, &output))?;
    Ok(report.exit())
}

/// What reading a run showed that an audit cannot pass over.
pub fn faults(loaded: &Loaded) -> Vec<String> {
    let fault = |fault: &crate::trace::record::Fault| {
        if fault.location.is_empty() { fault.message.clone() } else { format!("{}: {}", fault.location, fault.message) }
    };
    loaded.run.faults.iter().map(fault).collect()
}
