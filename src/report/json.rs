//! The report for programs: one JSON object, `pipeaudit-report/1`, described by `fixtures/schemas/report-1.json`.
//!
//! Keys stand in the order of the structures here, floats are finite or null, and nothing depends on time, path or thread
//! order: the same report gives the same bytes.

use std::fmt::Write;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::model::{ArmReport, Origin, Report, Verdict};
use crate::finding::numbers::{AppliedRatio, Distinct, EpochNumbers, LoaderNumbers};
use crate::finding::{Code, Finding, Fix, Number, Place, Severity};

/// Name and version of the format. Fields may be added within a version; none is removed nor changes its meaning.
pub const FORMAT: &str = "pipeaudit-report/1";

/// Renders a report as indented JSON with a line break at its end.
pub fn render(report: &Report) -> String {
    let whole = WholeOut {
        format: FORMAT,
        verdict: match report.verdict() {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Inconclusive => "inconclusive",
        },
        exit_status: report.exit().status(),
        source: match report.origin {
            Origin::Simulate => "simulate",
            Origin::Live => "live",
            Origin::Files => "files",
        },
        arms: report.arms.iter().map(ArmOut::from).collect(),
        findings: report.findings().map(FindingOut::from).collect(),
        not_tested: &report.not_tested,
        remarks: &report.remarks,
        faults: &report.faults,
    };
    let json = serde_json::to_string_pretty(&whole).expect("plain data with texts for keys");
    visible(&json) + "\n"
}

/// JSON leaves DEL, C1 controls and characters that reorder text as they are; a terminal or a reviewer would not.
/// They stand within texts only, where an escape means the same.
fn visible(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}' => write!(out, "\\u{:04x}", u32::from(c)).expect("a String takes any text"),
            c => out.push(c),
        }
    }
    out
}

#[derive(serde::Serialize)]
struct WholeOut<'a> {
    format: &'static str,
    verdict: &'static str,
    exit_status: u8,
    source: &'static str,
    arms: Vec<ArmOut<'a>>,
    findings: Vec<FindingOut<'a>>,
    not_tested: &'a [String],
    remarks: &'a [String],
    faults: &'a [String],
}

#[derive(serde::Serialize)]
struct ArmOut<'a> {
    name: &'a str,
    detail: &'a str,
    decides: bool,
    numbers: Vec<LoaderOut<'a>>,
    findings: Vec<FindingOut<'a>>,
    inconclusive: &'a [String],
}

impl<'a> From<&'a ArmReport> for ArmOut<'a> {
    fn from(arm: &'a ArmReport) -> Self {
        Self {
            name: &arm.name,
            detail: &arm.detail,
            decides: arm.decides,
            numbers: arm.numbers.iter().map(LoaderOut::from).collect(),
            findings: arm.findings.iter().map(FindingOut::from).collect(),
            inconclusive: &arm.inconclusive,
        }
    }
}

#[derive(serde::Serialize)]
struct LoaderOut<'a> {
    loader: &'a str,
    ranks: u32,
    workers: u32,
    delivered: u64,
    dataset: Option<u64>,
    ever_delivered: u64,
    generators: u64,
    streams: DistinctOut,
    augmentations: DistinctOut,
    epochs: Vec<EpochOut>,
    applied: Vec<AppliedOut<'a>>,
    reproduces: Option<bool>,
    resolution: &'a [String],
}

impl<'a> From<&'a LoaderNumbers> for LoaderOut<'a> {
    fn from(numbers: &'a LoaderNumbers) -> Self {
        Self {
            loader: &numbers.loader,
            ranks: numbers.ranks,
            workers: numbers.workers,
            delivered: numbers.delivered,
            dataset: numbers.dataset,
            ever_delivered: numbers.ever_delivered,
            generators: numbers.generators,
            streams: numbers.streams.into(),
            augmentations: numbers.augmentations.into(),
            epochs: numbers.epochs.iter().map(EpochOut::from).collect(),
            applied: numbers.applied.iter().map(AppliedOut::from).collect(),
            reproduces: numbers.reproduces,
            resolution: &numbers.resolution,
        }
    }
}

#[derive(serde::Serialize)]
struct DistinctOut {
    distinct: u64,
    of: u64,
}

impl From<Distinct> for DistinctOut {
    fn from(distinct: Distinct) -> Self {
        Self { distinct: distinct.distinct, of: distinct.of }
    }
}

#[derive(serde::Serialize)]
struct EpochOut {
    epoch: u32,
    streams: DistinctOut,
    augmentations: DistinctOut,
}

impl From<&EpochNumbers> for EpochOut {
    fn from(epoch: &EpochNumbers) -> Self {
        Self { epoch: epoch.epoch, streams: epoch.streams.into(), augmentations: epoch.augmentations.into() }
    }
}

/// `rank` and `worker` are null for all workers together.
#[derive(serde::Serialize)]
struct AppliedOut<'a> {
    transform: &'a str,
    rank: Option<u32>,
    worker: Option<i32>,
    p: Option<f64>,
    applied: u64,
    called: u64,
    interval: [f64; 2],
}

impl<'a> From<&'a AppliedRatio> for AppliedOut<'a> {
    fn from(ratio: &'a AppliedRatio) -> Self {
        Self {
            transform: &ratio.transform,
            rank: ratio.worker.map(|_| ratio.rank),
            worker: ratio.worker,
            p: ratio.p,
            applied: ratio.applied,
            called: ratio.called,
            interval: [ratio.interval.0, ratio.interval.1],
        }
    }
}

#[derive(serde::Serialize)]
struct FindingOut<'a> {
    code: Code,
    name: &'static str,
    severity: Severity,
    arm: &'a str,
    loader: Option<&'a str>,
    #[serde(rename = "where")]
    location: Option<&'a str>,
    sources: &'a [String],
    message: &'a str,
    cause: Option<&'a str>,
    evidence: EvidenceOut<'a>,
    places: &'a [Place],
    fix: Option<&'a Fix>,
    #[serde(skip_serializing_if = "Option::is_none")]
    factors: Option<&'a [String]>,
}

impl<'a> From<&'a Finding> for FindingOut<'a> {
    fn from(finding: &'a Finding) -> Self {
        // The two codes that have factors always show them, empty where none was searched for.
        let searched = matches!(finding.code, Code::PA301 | Code::PA303);
        Self {
            code: finding.code,
            name: finding.code.name(),
            severity: finding.severity,
            arm: &finding.arm,
            loader: finding.loader.as_deref(),
            location: finding.location.as_deref(),
            sources: &finding.sources,
            message: &finding.message,
            cause: finding.cause.as_deref(),
            evidence: EvidenceOut(&finding.evidence),
            places: &finding.places,
            fix: finding.fix.as_ref(),
            factors: searched.then(|| finding.factors.as_deref().unwrap_or_default()),
        }
    }
}

/// An object in the order in which the audit gave its numbers. `serde_json` writes what JSON cannot hold (NaN, infinity)
/// as null.
struct EvidenceOut<'a>(&'a [(&'static str, Number)]);

impl Serialize for EvidenceOut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, number) in self.0 {
            map.serialize_entry(name, number)?;
        }
        map.end()
    }
}
