//! PA103 by contents: samples that are augmented once and kept.
//!
//! In a later epoch nothing is drawn for them, and they come out as they did before. Where no transform shows that what
//! was drawn varies, that may as well be a cache of plain samples, and is a note.

use crate::audit::Options;
use crate::audit::view::{View, percent};
use crate::finding::{Code, Finding, Fix, FixKind, Number, Severity};
use crate::trace::run::{Digest, Index, SampleView};

/// Fewest samples that are evidence.
const FEWEST: u64 = 8;

fn drew(sample: &SampleView<'_>) -> bool {
    !sample.states.is_empty() || sample.events().next().is_some()
}

/// Looks for samples that were drawn in one epoch and came again, without a draw, in a later one.
pub fn kept(view: &View<'_>, options: &Options) -> Option<Finding> {
    let first = *view.epochs().first()?;
    let is_first = |lane: usize| view.run.lanes[lane].epoch == first;
    let undrawn = view.delivered().filter(|(lane, sample)| !is_first(*lane) && !drew(sample)).count() as u64;
    let drawn = view.delivered().any(|(lane, sample)| is_first(lane) && drew(&sample));
    if undrawn < FEWEST || !drawn {
        return None;
    }
    let mut rows: Vec<(Index, u32, bool, Digest, u32, u32)> = Vec::new();
    let mut augmentations = Vec::new();
    for (lane, sample) in view.delivered() {
        augmentations.extend(view.augmentation(&sample));
        if let (true, Some(output)) = (sample.index != Index::Absent, sample.output) {
            rows.push((sample.index, view.run.lanes[lane].epoch, drew(&sample), output, lane as u32, sample.seq));
        }
    }
    rows.sort_unstable();
    // A sample that was drawn, and the same one without a draw in a later epoch.
    let again = |pair: &&[(Index, u32, bool, Digest, u32, u32)]| {
        pair[0].0 == pair[1].0 && pair[0].1 < pair[1].1 && pair[0].3 == pair[1].3 && !pair[1].2
    };
    let kept = rows.windows(2).filter(again).count() as u64;
    let first = rows.windows(2).filter(again).find(|pair| pair[0].2)?;
    if kept < FEWEST {
        return None;
    }
    let varied = augmentations.windows(2).any(|pair| pair[0] != pair[1]);
    let mut finding = view.finding(Code::PA103, options);
    let delivered = rows.len() as u64;
    finding.message = format!(
        "{delivered} delivered, {kept} of them as in an earlier epoch without drawing again ({})",
        percent(kept, delivered)
    );
    if !varied {
        finding.severity = Severity::Note;
    }
    finding.cause =
        Some("samples are kept after they were augmented: every epoch gets the first one's augmentation".to_owned());
    let text = "keep the samples before they are augmented, and augment what comes out of the cache".to_owned();
    finding.fix = Some(Fix { kind: FixKind::Advice, text });
    finding.evidence = vec![("delivered", Number::Count(delivered)), ("kept", Number::Count(kept))];
    finding.places = first.iter().map(|row| view.place(row.4 as usize, row.5)).collect();
    Some(finding)
}
