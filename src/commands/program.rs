//! `pipeaudit check -- COMMAND`: the loaders of a program, in the runs of a plan.

use std::io::Write;
use std::sync::{Arc, Mutex};

use crate::audit::{self, Audited, Options};
use crate::commands::render;
use crate::commands::sink::Sink;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::finding::{Finding, Severity};
use crate::report::{ArmReport, Origin, Report};
use crate::settings::{self, Judgement};
use crate::source::live::plan::Purpose;
use crate::source::live::{self, Interrupt, LiveOutcome, lock};
use crate::trace::Run;

/// Audits it and shows the report.
///
/// # Errors
/// Where the program cannot be run or nothing was seen, with the reason.
pub fn run(settings: &settings::Program) -> Result<Exit> {
    if settings.dry_run {
        Sink::Standard.write(&live::plan(&settings.live).to_string())?;
        return Ok(Exit::Clean);
    }
    let sink = Sink::open(settings.output.file.as_deref(), settings.output.quiet)?;
    let locked = settings.locked.as_deref().map(read_lock).transpose()?;
    let options = Options { alpha: settings.judgement.alpha, arm: "as is".to_owned() };
    let mut differ = |a: &Run, b: &Run| !audit::compare(a, b, &options).is_empty();
    let outcome = live::audit_command(&settings.live, &Interrupt::of_process()?, Some(passed_on()), &mut differ)?;
    let mut report = report(&outcome, &options, settings.judgement)?;
    if let Some(locked) = locked {
        let now = outcome.run(Purpose::AsIs).map(|run| lock::Lock::of(run, outcome.run(Purpose::Again)));
        let changes = now.map(|now| lock::compare(&locked, &now)).unwrap_or_default();
        if !changes.is_empty() {
            let text = changes.join("; ");
            return Err(Error {
                exit: Exit::Findings,
                ..Error::usage(format!("the data is not as it was locked: {text}"))
            }
            .help("if the change is meant, lock it anew: pipeaudit lock -- COMMAND"));
        }
        report.remarks.push("the data is as it was locked".to_owned());
    }
    sink.write(&render::report(&report, &settings.output))?;
    Ok(report.exit())
}

fn read_lock(path: &std::path::Path) -> Result<lock::Lock> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        Error::usage(format!("cannot read {name}: {error}")).help("pipeaudit lock -- COMMAND writes it")
    })?;
    lock::Lock::from_json(&text, &name)
}

fn report(outcome: &LiveOutcome, options: &Options, judgement: Judgement) -> Result<Report> {
    let first = outcome.run(Purpose::AsIs).ok_or_else(|| unaudited("the program was not run"))?;
    let mut audited = audit::audit(first, options);
    if let Some(again) = outcome.run(Purpose::Again) {
        let differences = audit::compare(first, again, options);
        for numbers in &mut audited.numbers {
            let differs = |finding: &Finding| finding.loader.as_ref() == Some(&numbers.loader);
            numbers.reproduces = Some(!differences.iter().any(differs));
        }
        let held = outcome.run(Purpose::ListingHeld).map(|held| audit::compare(first, held, options));
        audited.findings.extend(differences.into_iter().map(|finding| by_listing(finding, held.as_deref())));
    }
    for (arm, run) in &outcome.runs {
        if let Purpose::Workers(_) = arm.purpose {
            let known: Vec<_> = audited.findings.iter().map(|f| (f.code, f.loader.clone())).collect();
            let more = audit::compare_worker_counts(first, run, options);
            audited.findings.extend(more.into_iter().filter(|f| !known.contains(&(f.code, f.loader.clone()))));
        }
    }
    if !outcome.runs.iter().any(|(arm, _)| matches!(arm.purpose, Purpose::Workers(_))) {
        audited.findings.extend(audit::depends_on_worker_count(first, options));
    }
    audited.findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.code));
    let mut report = recorded_report(Origin::Live, audited, "two runs with the same seed".to_owned(), judgement);
    report.not_tested.extend(outcome.not_tested.iter().cloned());
    report.remarks.extend(outcome.remarks.iter().cloned());
    report.faults.extend(outcome.unfinished.iter().chain(&outcome.faults).cloned());
    Ok(report)
}

/// A difference that only the permuted listing brings out will show on another machine, and is a warning here.
fn by_listing(finding: Finding, held: Option<&[Finding]>) -> Finding {
    let Some(held) = held else { return finding };
    if held.iter().any(|other| other.loader == finding.loader) {
        return finding;
    }
    Finding {
        severity: Severity::Warning,
        cause: Some(
            "the order in which folders are listed: with it held the runs are equal, and on another machine or file \
             system it is another"
                .to_owned(),
        ),
        factors: Some(vec!["listing-order".to_owned()]),
        fix: Some(crate::finding::Fix {
            kind: crate::finding::FixKind::Advice,
            text: "sort what is listed: sorted(os.listdir(folder))".to_owned(),
        }),
        ..finding
    }
}

/// A report of one arm that decides.
pub fn recorded_report(origin: Origin, audited: Audited, detail: String, judgement: Judgement) -> Report {
    let arm = ArmReport {
        name: "as is".to_owned(),
        detail,
        decides: true,
        numbers: audited.numbers,
        findings: audited.findings,
        inconclusive: audited.inconclusive,
    };
    Report {
        origin,
        arms: vec![arm],
        not_tested: audited.not_tested,
        remarks: Vec::new(),
        faults: Vec::new(),
        fail_on: judgement.fail_on,
    }
}

/// Where the program's own output goes: standard error, so that standard output holds the report alone.
pub fn passed_on() -> Arc<Mutex<dyn Write + Send>> {
    Arc::new(Mutex::new(std::io::stderr()))
}

/// The error of a run that says too little.
pub fn unaudited(problem: &str) -> Error {
    Error::not_audited(problem).help("see the program's own messages above")
}
