//! How often transforms were applied, by worker: all workers side by side where they are few, the lowest and the
//! highest where they are many.

use std::collections::BTreeSet;

use super::super::model::{ArmReport, Report};
use super::super::text::{clean, count, plural, worker};
use super::{Context, frame};
use crate::finding::numbers::AppliedRatio;

/// Up to so many workers (over ranks) are shown one by one.
const FEW_WORKERS: usize = 8;
/// Up to so many arms stand side by side.
const FEW_ARMS: usize = 3;
/// Up to so many transforms are listed without `-v`.
const FEW_ROWS: usize = 12;

/// One transform of one loader in one arm.
struct Group<'a> {
    arm: &'a ArmReport,
    loader: &'a str,
    transform: &'a str,
    p: Option<f64>,
    workers: Vec<&'a AppliedRatio>,
    all: Option<&'a AppliedRatio>,
}

/// The table of ratios, empty where no transform has a declared p.
pub(super) fn table(report: &Report, context: &Context) -> Vec<String> {
    let groups = groups(report);
    let subjects: BTreeSet<(&str, &str)> = groups.iter().map(|group| (group.loader, group.transform)).collect();
    let workers = groups.iter().map(|group| group.workers.len()).max().unwrap_or(0);
    if groups.is_empty() {
        Vec::new()
    } else if subjects.len() == 1 && groups.len() <= FEW_ARMS && (workers <= FEW_WORKERS || context.verbose) {
        by_worker(&groups, context)
    } else {
        extremes(&groups, context)
    }
}

fn groups(report: &Report) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    for arm in &report.arms {
        for numbers in &arm.numbers {
            let first = groups.len();
            for ratio in &numbers.applied {
                let known = groups[first..].iter().position(|group| group.transform == ratio.transform);
                let at = known.map_or(groups.len(), |found| first + found);
                if known.is_none() {
                    let (loader, transform) = (numbers.loader.as_str(), ratio.transform.as_str());
                    groups.push(Group { arm, loader, transform, p: ratio.p, workers: Vec::new(), all: None });
                }
                match ratio.worker {
                    Some(_) => groups[at].workers.push(ratio),
                    None => groups[at].all = Some(ratio),
                }
            }
        }
    }
    groups
}

fn by_worker(groups: &[Group], context: &Context) -> Vec<String> {
    let several_ranks = several_ranks(groups);
    let places: BTreeSet<(u32, i32)> =
        groups.iter().flat_map(|group| &group.workers).filter_map(|ratio| Some((ratio.rank, ratio.worker?))).collect();
    let counts = groups.len() < FEW_ARMS;
    let mut header = vec![titled(&groups[0], "applied")];
    header.extend(groups.iter().map(|group| clean(&group.arm.name)));
    let mut rows = Vec::new();
    for (rank, number) in places {
        let mut row = vec![place(rank, number, several_ranks)];
        for group in groups {
            let found = group.workers.iter().find(|ratio| (ratio.rank, ratio.worker) == (rank, Some(number)));
            row.push(found.map_or_else(|| "–".to_owned(), |ratio| cell(ratio, counts)));
        }
        rows.push(row);
    }
    // With one worker the line for all would say the same again.
    if rows.len() != 1 {
        let mut row = vec!["all".to_owned()];
        row.extend(groups.iter().map(|group| group.all.map_or_else(|| "–".to_owned(), |ratio| cell(ratio, counts))));
        rows.push(row);
    }
    frame::painted(frame::lines(context.width, &header, &rows), context.paint)
}

fn extremes(groups: &[Group], context: &Context) -> Vec<String> {
    let several_ranks = several_ranks(groups);
    let differ = |part: fn(&Group) -> String| groups.iter().map(part).collect::<BTreeSet<_>>().len() > 1;
    let (arms, loaders) = (differ(|group| group.arm.name.clone()), differ(|group| group.loader.to_owned()));
    let transforms = differ(|group| format!("{} {:?}", group.transform, group.p));
    let mut header = Vec::new();
    if arms {
        header.push("arm".to_owned());
    }
    if loaders {
        header.push("loader".to_owned());
    }
    if transforms {
        header.push("transform".to_owned());
    }
    let all = "all workers";
    header.push(if transforms { all.to_owned() } else { format!("{}\n{all}", titled(&groups[0], "applied")) });
    header.extend(["lowest", "highest"].map(str::to_owned));
    let shown = if context.verbose { groups.len() } else { groups.len().min(FEW_ROWS) };
    let mut rows = Vec::new();
    let mut before: Option<&Group> = None;
    for group in &groups[..shown] {
        let same_arm = before.is_some_and(|b| b.arm.name == group.arm.name);
        let same_loader = same_arm && before.is_some_and(|b| b.loader == group.loader);
        let mut row = Vec::new();
        if arms {
            row.push(if same_arm { String::new() } else { clean(&group.arm.name) });
        }
        if loaders {
            row.push(if same_loader { String::new() } else { clean(group.loader) });
        }
        if transforms {
            row.push(titled(group, ""));
        }
        row.push(group.all.map_or_else(|| "–".to_owned(), |ratio| cell(ratio, false)));
        let (lowest, highest) = ends(&group.workers);
        for end in [lowest, highest] {
            row.push(end.map_or_else(|| "–".to_owned(), |ratio| located(ratio, several_ranks)));
        }
        rows.push(row);
        before = Some(group);
    }
    let mut lines = frame::painted(frame::lines(context.width, &header, &rows), context.paint);
    if shown < groups.len() {
        lines.push(format!(" and {} (-v shows all)", plural((groups.len() - shown) as u64, "more transform")));
    }
    lines
}

fn several_ranks(groups: &[Group]) -> bool {
    groups.iter().flat_map(|group| &group.workers).any(|ratio| ratio.rank > 0)
}

/// The transform, a word, and on a second line the declared probability.
fn titled(group: &Group, word: &str) -> String {
    let declared = group.p.map_or_else(String::new, |p| format!("\n(p = {p})"));
    format!("{}{declared}", format!("{} {word}", clean(group.transform)).trim_end())
}

fn place(rank: u32, number: i32, several_ranks: bool) -> String {
    if several_ranks { format!("rank {rank} {}", worker(number)) } else { worker(number) }
}

fn located(ratio: &AppliedRatio, several_ranks: bool) -> String {
    format!("{}\n{}", cell(ratio, false), place(ratio.rank, ratio.worker.unwrap_or(-1), several_ranks))
}

/// The workers with the lowest and the highest ratio; the first of equal ones. Workers that never called are left out.
fn ends<'a>(workers: &[&'a AppliedRatio]) -> (Option<&'a AppliedRatio>, Option<&'a AppliedRatio>) {
    let mut ends: (Option<&AppliedRatio>, Option<&AppliedRatio>) = (None, None);
    for ratio in workers.iter().copied().filter(|ratio| ratio.called > 0) {
        let value = share(ratio);
        if ends.0.is_none_or(|lowest| value < share(lowest)) {
            ends.0 = Some(ratio);
        }
        if ends.1.is_none_or(|highest| value > share(highest)) {
            ends.1 = Some(ratio);
        }
    }
    ends
}

fn share(ratio: &AppliedRatio) -> f64 {
    ratio.applied as f64 / ratio.called as f64
}

/// `0.50 (0.32–0.68)`, with the counts before it where there is room.
fn cell(ratio: &AppliedRatio, counts: bool) -> String {
    if ratio.called == 0 {
        return "never called".to_owned();
    }
    let digits = match ratio.called {
        0..2_000 => 2,
        2_000..200_000 => 3,
        _ => 4,
    };
    let (low, high) = ratio.interval;
    let numbers = format!("{:.digits$} ({low:.digits$}–{high:.digits$})", share(ratio));
    if counts { format!("{} of {}: {numbers}", count(ratio.applied), count(ratio.called)) } else { numbers }
}
