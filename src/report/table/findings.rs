//! Findings as a person reads them: the count, then the code, the cause, the places, and what to do.

use super::super::model::Report;
use super::super::text::{clean, clean_block, worker};
use super::{Context, severity_word};
use crate::finding::{Code, Finding, FixKind, Number, Place, Severity};

/// Places that are shown of a finding.
const SHOWN_PLACES: usize = 3;
/// Sources that are named of a finding without `-v`.
const SHOWN_SOURCES: usize = 4;

/// The findings that count, errors first.
pub(super) fn deciding(report: &Report, context: &Context) -> Vec<String> {
    let mut findings: Vec<&Finding> = report.findings().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let shown = Shown {
        arms: report.arms.iter().filter(|arm| arm.decides).count() > 1,
        loaders: loaders(report) > 1,
        ranks: several_ranks(report),
        context,
    };
    let mut lines = Vec::new();
    let mut before: Option<&Finding> = None;
    for finding in findings {
        if before.is_some() {
            lines.push(String::new());
        }
        lines.extend(shown.whole(finding));
        lines.extend(shown.remedy(finding, before));
        before = Some(finding);
    }
    lines
}

/// What the other arms show: a sentence and a code each.
pub(super) fn comparisons(report: &Report, context: &Context) -> Vec<String> {
    let several = loaders(report) > 1;
    let mut lines = Vec::new();
    for arm in report.arms.iter().filter(|arm| !arm.decides && !arm.findings.is_empty()) {
        lines.push(context.paint.bold(&format!("{}, for comparison", clean(&arm.name))));
        for finding in &arm.findings {
            let loader = finding.loader.as_deref().filter(|_| several).map(|l| format!(", {l}")).unwrap_or_default();
            let sentence = finding.message.trim_end_matches('.');
            let text = format!("{sentence} ({} {}{loader})", finding.code, finding.code.name());
            lines.extend(context.hang("  ", &text));
        }
    }
    lines
}

fn loaders(report: &Report) -> usize {
    let names = report.arms.iter().flat_map(|arm| &arm.numbers).map(|numbers| numbers.loader.as_str());
    names.collect::<std::collections::BTreeSet<_>>().len()
}

fn several_ranks(report: &Report) -> bool {
    report.arms.iter().flat_map(|arm| &arm.numbers).any(|numbers| numbers.ranks > 1)
        || report.findings().flat_map(|finding| &finding.places).any(|place| place.rank > 0)
}

/// What need not be said where there is only one of it.
struct Shown<'a> {
    arms: bool,
    loaders: bool,
    ranks: bool,
    context: &'a Context,
}

impl Shown<'_> {
    /// All but the fix.
    fn whole(&self, finding: &Finding) -> Vec<String> {
        let context = self.context;
        let word = severity_word(finding.severity);
        let mut lines = context.hang(&format!("{word}: "), &finding.message);
        let painted = match finding.severity {
            Severity::Error => context.paint.bad(word),
            Severity::Warning => context.paint.doubtful(word),
            Severity::Note => context.paint.quiet(word),
        };
        lines[0] = format!("{painted}{}", &lines[0][word.len()..]);
        lines.extend(self.identity(finding));
        if !finding.sources.is_empty() {
            let label = if finding.sources.len() == 1 { "  source   " } else { "  sources  " };
            lines.extend(context.labelled(label, &self.sources(finding)));
        }
        if let Some(cause) = &finding.cause {
            lines.extend(context.labelled("  cause    ", cause));
        }
        if let Some(factors) = finding.factors.as_ref().filter(|factors| !factors.is_empty()) {
            lines.extend(context.labelled("  factors  ", &factors.join(", ")));
        }
        lines.extend(self.places(finding));
        if context.verbose && !finding.evidence.is_empty() {
            lines.extend(context.labelled("  evidence ", &evidence(finding)));
        }
        lines
    }

    /// The code and its name, then where: arm and loader, as far as they say anything.
    fn identity(&self, finding: &Finding) -> Vec<String> {
        let code = format!("{} {}", finding.code, finding.code.name());
        let loader = match (&finding.loader, &finding.location) {
            (Some(loader), Some(location)) if loader != location => Some(format!("{loader} ({location})")),
            (Some(loader), None) => self.loaders.then(|| loader.clone()),
            (_, location) => location.clone(),
        };
        let place = loader.map_or_else(String::new, |loader| format!(" in {loader}"));
        let arm = if self.arms { format!(", {}", finding.arm) } else { String::new() };
        let mut lines = self.context.hang("  ", &format!("{code}{place}{arm}"));
        if lines[0][2..].starts_with(&code) {
            lines[0] = format!("  {}{}", self.context.paint.bold(&code), &lines[0][2 + code.len()..]);
        }
        lines
    }

    fn sources(&self, finding: &Finding) -> String {
        let shown = if self.context.verbose { finding.sources.len() } else { SHOWN_SOURCES };
        let names = finding.sources.iter().take(shown).map(String::as_str).collect::<Vec<_>>().join(", ");
        match finding.sources.len().saturating_sub(shown) {
            0 => names,
            more => format!("{names} and {more} more (-v names them)"),
        }
    }

    /// `epoch 0 worker 1 sample 0 = epoch 1 worker 0 sample 0`; a place a line where they do not fit on one.
    fn places(&self, finding: &Finding) -> Vec<String> {
        let words: Vec<String> = finding.places.iter().take(SHOWN_PLACES).map(|at| place(*at, self.ranks)).collect();
        let (between, before) = if meets(finding.code) { (" = ", "= ") } else { (", ", "") };
        let label = if words.len() == 1 { "  place    " } else { "  places   " };
        let one_line = self.context.labelled(label, &words.join(between));
        if words.is_empty() {
            Vec::new()
        } else if one_line.len() == 1 {
            one_line
        } else {
            let rest = words[1..].iter().map(|word| format!("{}{before}{word}", " ".repeat(label.len())));
            self.context.labelled(label, &words[0]).into_iter().chain(rest).collect()
        }
    }

    /// A sentence is wrapped; code of several lines stands as it is, to be pasted. What was just shown is not shown
    /// again.
    fn remedy(&self, finding: &Finding, before: Option<&Finding>) -> Vec<String> {
        let label = "  fix      ";
        let Some(fix) = &finding.fix else { return Vec::new() };
        if let Some(before) = before.filter(|before| before.fix.as_ref() == Some(fix)) {
            return self.context.labelled(label, &format!("the same as for {}", before.code));
        }
        let tried = match fix.kind {
            FixKind::Verified => "tried: the finding goes",
            FixKind::Advice => "not tried",
        };
        let text = clean_block(&fix.text);
        let mut lines = self.context.labelled(label, tried);
        if let [line] = text.as_slice() {
            lines.extend(self.context.hang("    ", line));
        } else {
            lines.extend(text.iter().map(|line| format!("    {line}").trim_end().to_owned()));
        }
        lines
    }
}

fn place(place: Place, ranks: bool) -> String {
    let rank = if ranks { format!("rank {} ", place.rank) } else { String::new() };
    format!("epoch {} {rank}{} sample {}", place.epoch, worker(place.worker), place.seq)
}

/// Whether a finding's places share one state or one thing delivered, or stand each for itself.
const fn meets(code: Code) -> bool {
    match code {
        Code::PA101 | Code::PA102 | Code::PA103 | Code::PA104 | Code::PA105 | Code::PA106 | Code::PA402 => true,
        Code::PA201
        | Code::PA202
        | Code::PA203
        | Code::PA301
        | Code::PA302
        | Code::PA303
        | Code::PA304
        | Code::PA401
        | Code::PA403
        | Code::PA404
        | Code::PA501 => false,
    }
}

fn evidence(finding: &Finding) -> String {
    let number = |number: &Number| match number {
        Number::Count(n) => n.to_string(),
        Number::Real(x) => x.to_string(),
        Number::Text(text) => text.clone(),
    };
    let pairs: Vec<String> = finding.evidence.iter().map(|(name, value)| format!("{name} {}", number(value))).collect();
    pairs.join(", ")
}
