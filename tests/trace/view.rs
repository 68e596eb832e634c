//! A run as texts, with names in the place of numbers: what two runs must have in common to be equal, whatever order
//! their names were met in.

use pipeaudit::trace::Run;
use pipeaudit::trace::run::{Distribution, Index, Lane, Moved};

/// Everything in a run but the numbering of its names.
pub fn view(run: &Run) -> Vec<String> {
    let mut lines = vec![format!(
        "{:?} of {}, {:?}, cores {:?}, faults {:?}",
        run.name, run.world_size, run.libraries, run.cores, run.faults
    )];
    lines.extend(run.loaders.iter().map(|loader| format!("{loader:?}")));
    lines.extend(run.passes.iter().map(|pass| format!("{pass:?}")));
    for start in &run.starts {
        let at = (start.loader, start.epoch, start.rank);
        lines.push(format!("start {at:?} {:?} {:?}", start.base_seed, moved(run, start.main.iter().copied())));
    }
    lines.extend(run.seedings.iter().map(|seeded| format!("{seeded:?}")));
    lines.extend(run.threads.iter().map(|threads| format!("{threads:?}")));
    run.lanes.iter().for_each(|lane| lane_view(run, lane, &mut lines));
    lines
}

fn moved(run: &Run, states: impl Iterator<Item = Moved>) -> Vec<String> {
    let mut named: Vec<String> = states
        .map(|moved| {
            let (name, algorithm) = &run.names.sources[usize::from(moved.source.0)];
            format!("{name:?} {algorithm} {} {}", moved.state.key, moved.state.position)
        })
        .collect();
    named.sort();
    named
}

fn lane_view(run: &Run, lane: &Lane, lines: &mut Vec<String>) {
    let at = (lane.loader, lane.epoch, lane.rank, lane.worker);
    lines.push(format!("lane {at:?} ended {:?} from {:?}", lane.ended, moved(run, lane.starts.iter().copied())));
    for row in &lane.batches {
        lines.push(format!("batch {} {:?} {:?}", row.batch, row.output, moved(run, row.states.iter().copied())));
    }
    for sample in lane.samples() {
        let index = match sample.index {
            Index::Absent => "none".to_owned(),
            Index::Number(n) => n.to_string(),
            Index::Text(text) => format!("{:?}", run.names.texts[text as usize]),
        };
        lines.push(format!(
            "sample {} batch {:?} index {index} output {:?} opaque {} joint {}",
            sample.seq,
            sample.batch,
            sample.output,
            sample.opaque(),
            sample.joint()
        ));
        lines.push(format!(
            "  {:?} after {:?}",
            moved(run, sample.states.iter().copied()),
            moved(run, sample.before())
        ));
        for event in sample.events() {
            let kind = run.names.transform(event.kind);
            let values: Vec<String> = event
                .values
                .iter()
                .zip(&kind.parameters)
                .map(|(value, parameter)| match &parameter.distribution {
                    Distribution::Other(word) if word == Distribution::TEXT && value.is_finite() => {
                        format!("{:?}", run.names.texts[*value as usize])
                    }
                    _ if value.is_nan() => "none".to_owned(),
                    _ => format!("{:016x}", value.to_bits()),
                })
                .collect();
            lines.push(format!("  {kind:?} {:?} {values:?}", event.applied));
        }
    }
}
