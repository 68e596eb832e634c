//! PA404: a loader that evaluates draws random numbers.
//!
//! That a loader does not shuffle is no proof: time series are trained on in order. Another loader of the same run that
//! shuffles is the evidence that this one does not train.

use std::collections::BTreeSet;

use crate::audit::Options;
use crate::audit::duplicates::{Duplicates, Effect};
use crate::audit::view::{View, percent};
use crate::finding::{Code, Finding, Fix, FixKind, Number};
use crate::trace::run::{Digest, Index};

/// Looks for draws that change what an evaluating loader delivers.
pub fn random(view: &View<'_>, duplicates: &Duplicates, options: &Options) -> Option<Finding> {
    if view.loader.shuffled || !view.beside_training || view.epochs().len() < 2 || view.order_varies() {
        return None;
    }
    let streams = duplicates.index.streams.iter().map(|stream| stream.source);
    let matters = |source: &crate::trace::run::SourceId| duplicates.effects[usize::from(source.0)] != Effect::No;
    let sources: BTreeSet<_> = streams.filter(matters).collect();
    let draws = !sources.is_empty() || view.delivered().any(|(_, sample)| sample.events().next().is_some());
    if !draws {
        return None;
    }
    let mut rows: Vec<(Index, Digest, u32, u32)> = Vec::new();
    for (lane, sample) in view.delivered() {
        if let (true, Some(output)) = (sample.index != Index::Absent, sample.output) {
            rows.push((sample.index, output, lane as u32, sample.seq));
        }
    }
    rows.sort_unstable();
    let groups = || rows.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1);
    let varied = |same: &&[(Index, Digest, u32, u32)]| same[0].1 != same[same.len() - 1].1;
    let (all, differ) = (groups().count() as u64, groups().filter(varied).count() as u64);
    let first = groups().find(varied)?;
    let mut finding = view.finding(Code::PA404, options);
    finding.sources = sources.iter().map(|source| view.run.names.source_name(*source).to_owned()).collect();
    finding.message = format!(
        "{all} indices delivered more than once, {differ} came out differently ({}): the loader does not shuffle, beside one \
         that does, but draws random numbers",
        percent(differ, all)
    );
    finding.cause =
        Some("the evaluated samples are augmented at random, so a metric moves from epoch to epoch by luck".to_owned());
    finding.fix = Some(Fix {
        kind: FixKind::Advice,
        text: "give the evaluation dataset transforms without randomness".to_owned(),
    });
    finding.evidence = vec![("indices", Number::Count(all)), ("differ", Number::Count(differ))];
    finding.places = first.iter().take(3).map(|(_, _, lane, seq)| view.place(*lane as usize, *seq)).collect();
    finding.places.sort_unstable();
    Some(finding)
}
