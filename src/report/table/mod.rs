//! The report that a person reads on a terminal or in a CI log.
//!
//! From top to bottom: what was audited, one row an arm and loader, applied ratios by worker, findings (errors first),
//! what the tests could have seen, what was not audited, and the verdict in the last line. It needs neither colour
//! nor more than 80 columns, and is the same bytes for the same report and options.

mod findings;
mod frame;
mod numbers;
mod paint;
mod ratios;

use super::model::{ArmReport, Report, Verdict};
use super::text::{clean, count, plural, wrap};
use crate::finding::{Finding, Severity};
use paint::Paint;

/// How the table is rendered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Columns of the terminal; 100 where it is not known. Taken as at least 40; running text is kept to 120.
    pub width: Option<u16>,
    /// Whether to use colours. The caller decides, from `--color`, `NO_COLOR` and the terminal.
    pub color: bool,
    /// Every worker's ratio, every epoch's numbers, and the evidence of each finding.
    pub verbose: bool,
}

impl Options {
    /// Usual options for a terminal or log of unknown width.
    pub fn new(color: bool) -> Self {
        Self { color, ..Self::default() }
    }
}

/// The width where none is known.
const DEFAULT_WIDTH: u16 = 100;
/// Below this nothing can be laid out.
const LEAST_WIDTH: u16 = 40;
/// Lines of running text longer than this are hard to read.
const TEXT_WIDTH: u16 = 120;

/// What the renderers of the parts share.
struct Context {
    width: u16,
    paint: Paint,
    verbose: bool,
}

impl Context {
    fn text_width(&self) -> usize {
        usize::from(self.width.min(TEXT_WIDTH))
    }

    /// A text from outside as lines that start with `first`, then with as many spaces.
    fn hang(&self, first: &str, text: &str) -> Vec<String> {
        let indent = first.chars().count();
        let lines = wrap(&clean(text), self.text_width().saturating_sub(indent).max(20));
        lines.iter().enumerate().map(|(i, line)| format!("{}{line}", lead(first, i, indent))).collect()
    }

    /// Likewise, with the label of the first line dimmed.
    fn labelled(&self, label: &str, text: &str) -> Vec<String> {
        let mut lines = self.hang(label, text);
        lines[0] = format!("{}{}", self.paint.dim(label), &lines[0][label.len()..]);
        lines
    }
}

fn lead(first: &str, line: usize, indent: usize) -> String {
    if line == 0 { first.to_owned() } else { " ".repeat(indent) }
}

/// Renders a report. Every line ends in a line break.
pub fn render(report: &Report, options: &Options) -> String {
    let context = Context {
        width: options.width.unwrap_or(DEFAULT_WIDTH).max(LEAST_WIDTH),
        paint: Paint(options.color),
        verbose: options.verbose,
    };
    let sections = [
        numbers::subjects(report, &context),
        numbers::table(report, &context),
        ratios::table(report, &context),
        findings::deciding(report, &context),
        findings::comparisons(report, &context),
        notes(report, &context),
        conclusion(report, &context),
    ];
    let shown: Vec<String> = sections.iter().filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n")).collect();
    shown.join("\n\n") + "\n"
}

/// What limits the verdict, a heading and its sentences each; the same sentence is said once.
fn notes(report: &Report, context: &Context) -> Vec<String> {
    let deciding = || report.arms.iter().filter(|arm| arm.decides);
    let resolution = deciding().flat_map(|arm| &arm.numbers).flat_map(|numbers| &numbers.resolution);
    let inconclusive = deciding().flat_map(|arm| &arm.inconclusive);
    let parts: [(&str, Vec<&String>); 5] = [
        ("Too little was seen", inconclusive.collect()),
        ("Faults of the recorder", report.faults.iter().collect()),
        ("Not tested", report.not_tested.iter().collect()),
        ("What the tests could see", resolution.collect()),
        ("Remarks", report.remarks.iter().collect()),
    ];
    let mut lines = Vec::new();
    for (heading, sentences) in parts {
        let mut said: Vec<&String> = Vec::new();
        for sentence in sentences {
            if !said.contains(&sentence) {
                said.push(sentence);
            }
        }
        if !said.is_empty() {
            lines.push(context.paint.bold(heading));
            lines.extend(said.iter().flat_map(|sentence| context.hang("  ", sentence)));
        }
    }
    lines
}

fn conclusion(report: &Report, context: &Context) -> Vec<String> {
    let verdict = report.verdict();
    let mut lines = Vec::new();
    if verdict == Verdict::Pass {
        lines.extend(exoneration(report).iter().flat_map(|sentence| context.hang("", sentence)));
    }
    let (word, rest) = match verdict {
        Verdict::Pass => (context.paint.good("PASS"), passed(report)),
        Verdict::Fail => (context.paint.bad("FAIL"), failed(report)),
        Verdict::Inconclusive => (context.paint.doubtful("INCONCLUSIVE"), undecided(report)),
    };
    lines.push(format!("{word}: {rest}"));
    lines
}

/// Said where the data is not to blame, so that nobody looks for the fault on the wrong side.
fn exoneration(report: &Report) -> Option<String> {
    let arm = report.arms.iter().find(|arm| arm.decides)?;
    let compared: Vec<_> = arm.numbers.iter().filter(|numbers| numbers.reproduces.is_some()).collect();
    if compared.is_empty() || compared.iter().any(|numbers| numbers.reproduces == Some(false)) {
        return None;
    }
    let samples = plural(compared.iter().map(|numbers| numbers.delivered).sum(), "sample");
    let generators: u64 = compared.iter().map(|numbers| numbers.generators).sum();
    let what = if generators == 0 { samples } else { format!("{samples}, {}", plural(generators, "generator")) };
    Some(format!("The data is identical in both runs ({what}): a difference in your loss arises after the loader."))
}

fn passed(report: &Report) -> String {
    let below = listed(report.findings());
    let what = if below.is_empty() { "no findings".to_owned() } else { format!("{below}; nothing that fails") };
    match (report.arms.len(), deciding_names(report)) {
        (0 | 1, _) => what,
        (_, names) => format!("{what} ({names})"),
    }
}

fn deciding_names(report: &Report) -> String {
    let names: Vec<String> = report.arms.iter().filter(|arm| arm.decides).map(|arm| clean(&arm.name)).collect();
    names.join(", ")
}

fn failed(report: &Report) -> String {
    let (fails, below): (Vec<_>, Vec<_>) =
        report.findings().partition(|finding: &&Finding| finding.severity >= report.fail_on);
    let counted = format!("{} ({})", plural(fails.len() as u64, "finding"), codes(&fails));
    if below.is_empty() { counted } else { format!("{counted}; also {}", listed(below.into_iter())) }
}

fn undecided(report: &Report) -> String {
    let unseen: usize = report.arms.iter().filter(|arm| arm.decides).map(|arm| arm.inconclusive.len()).sum();
    let mut why = Vec::new();
    if unseen > 0 {
        why.push(format!("{} saw too little", plural(unseen as u64, "test")));
    }
    if !report.faults.is_empty() {
        why.push(format!("{} of the recorder", plural(report.faults.len() as u64, "fault")));
    }
    if why.is_empty() {
        why.push("nothing was audited".to_owned());
    }
    let below = listed(report.findings());
    if below.is_empty() { why.join(", ") } else { format!("{}; also {below}", why.join(", ")) }
}

/// `2 warnings (PA106, PA501), 1 note (PA302)`, worst first.
fn listed<'a>(findings: impl Iterator<Item = &'a Finding>) -> String {
    let findings: Vec<&Finding> = findings.collect();
    let mut parts = Vec::new();
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        let of: Vec<&Finding> = findings.iter().copied().filter(|finding| finding.severity == severity).collect();
        if !of.is_empty() {
            parts.push(format!("{} ({})", plural(of.len() as u64, severity_word(severity)), codes(&of)));
        }
    }
    parts.join(", ")
}

/// Each code once, in order, with how often where more than once.
fn codes(findings: &[&Finding]) -> String {
    let mut codes: Vec<_> = findings.iter().map(|finding| finding.code).collect();
    codes.sort_unstable();
    let runs = codes.chunk_by(|a, b| a == b);
    let words: Vec<String> =
        runs.map(|run| {
            if run.len() == 1 { run[0].to_string() } else { format!("{} × {}", run[0], count(run.len() as u64)) }
        })
        .collect();
    words.join(", ")
}

const fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// The verdict of one loader in one arm, as the whole report's is made. Findings without a loader count for each.
fn row_verdict(arm: &ArmReport, loader: &str, fail_on: Severity) -> Verdict {
    let concerns = |finding: &&Finding| finding.loader.as_deref().is_none_or(|name| name == loader);
    if arm.findings.iter().filter(concerns).any(|finding| finding.severity >= fail_on) {
        Verdict::Fail
    } else if arm.inconclusive.is_empty() {
        Verdict::Pass
    } else {
        Verdict::Inconclusive
    }
}
