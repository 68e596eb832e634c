//! Why streams meet, and what to do about it.

use crate::audit::view::{View, is_global, is_held};
use crate::finding::{Fix, FixKind};
use crate::trace::index::is_local;

use super::relations::Relation;

/// How the workers of a loader are started, in words.
fn start<'a>(view: &'a View<'_>) -> &'a str {
    view.loader.start_method.as_deref().unwrap_or("the start of a worker")
}

fn init<'a>(view: &'a View<'_>) -> Option<&'a str> {
    view.loader.init.as_deref().filter(|init| *init != "none")
}

/// The last call in a worker that seeded one of the sources: `numpy.random.seed(0) at train.py:12`.
fn seeded_by(view: &View<'_>, sources: &[String], in_worker: bool) -> Option<String> {
    let matches = |seeded: &&crate::trace::run::Seeded| {
        let call = &seeded.call;
        (call.worker >= 0) == in_worker && call.source.as_ref().is_some_and(|source| sources.contains(source))
    };
    let call = &view.run.seedings.iter().rev().find(matches)?.call;
    let seed = call.seed.as_deref().unwrap_or_default();
    Some(format!("{}({seed}) at {}", call.call, call.location))
}

/// Why sources meet.
pub fn cause(view: &View<'_>, relation: Relation, sources: &[String]) -> Option<String> {
    let source = sources.first()?;
    if is_local(source) {
        return Some(local_cause(relation, source));
    }
    let seeded = seeded_by(view, sources, true);
    Some(match (relation, init(view), seeded) {
        (Relation::Sources, ..) => return None,
        (Relation::Workers, _, Some(call)) => format!("every worker was seeded alike by {call}"),
        (Relation::Epochs, _, Some(call)) => format!("each epoch was seeded alike by {call}"),
        (Relation::Workers | Relation::Epochs, None, _) if is_held(source) => format!(
            "`{source}` was made before the workers start: {} copies it into each of them, and nothing seeds it there",
            start(view)
        ),
        (Relation::Workers, Some(init), _) => format!("the init `{init}` gives every worker the same seed"),
        (Relation::Workers, None, _) => {
            format!("{} copies the main process's `{source}` into every worker, and no init seeds it", start(view))
        }
        (Relation::Ranks, ..) => match seeded_by(view, sources, false) {
            Some(call) => {
                format!("each rank is seeded alike by {call}, and the workers' seeds do not depend on the rank")
            }
            None => "the ranks' main processes are seeded alike, and the workers' seeds do not depend on the rank"
                .to_owned(),
        },
        (Relation::Epochs, Some(init), _) => format!("the init `{init}` gives a worker the same seed in every epoch"),
        (Relation::Epochs, None, _) if view.loader.num_workers == 0 => {
            format!("`{source}` is set back to one state before each epoch")
        }
        (Relation::Epochs, None, _) => {
            "the main process is in the same state whenever it starts the workers".to_owned()
        }
        (Relation::EpochsByIndex, ..) => "the seed of a sample depends on its index and not on the epoch".to_owned(),
        (Relation::Elsewhere, Some(init), _) if sources.len() > 1 => format!(
            "the init `{init}` seeds several generators one after another from one number: one worker's gets the seed of \
             its neighbour's next"
        ),
        (Relation::Elsewhere, Some(init), _) => {
            format!("the seeds of the init `{init}` collide: neighbouring workers and epochs get the same sum")
        }
        (Relation::Elsewhere, None, _) => "the seeds of workers and epochs collide".to_owned(),
    })
}

fn local_cause(relation: Relation, source: &str) -> String {
    let place = source.trim_start_matches("local:");
    let misses = match relation {
        Relation::Workers => "does not depend on the worker",
        Relation::Ranks => "does not depend on the rank",
        Relation::Epochs | Relation::EpochsByIndex => "does not depend on the epoch",
        Relation::Sources | Relation::Elsewhere => "is the same at different places",
    };
    format!("the generator made at {place} for each sample has a seed that {misses}")
}

/// Advice that was not tried.
pub fn fix(view: &View<'_>, relation: Relation, sources: &[String]) -> Option<Fix> {
    let source = sources.first()?;
    let text = if view.is_built_in() {
        match relation {
            Relation::Ranks => "`--init lightning` seeds each worker from base seed, worker and rank".to_owned(),
            _ => "`--init base+worker` gives each worker and epoch a seed of its own".to_owned(),
        }
    } else if is_local(source) {
        "derive the seed from (base seed, epoch, index), or use the worker's own generator".to_owned()
    } else if relation == Relation::Elsewhere && sources.len() > 1 {
        format!(
            "seed each of `{}` from a word of its own: `numpy.random.SeedSequence([info.seed, rank]).generate_state({})`",
            sources.join("`, `"),
            sources.len()
        )
    } else if relation == Relation::Sources {
        "seed each library from its own word of `numpy.random.SeedSequence([info.seed, rank]).generate_state(3)`"
            .to_owned()
    } else if relation == Relation::Ranks {
        "seed the main process with `seed + rank` before the loader is iterated".to_owned()
    } else if is_global(source) {
        format!(
            "seed `{source}` in the loader's `worker_init_fn` from `torch.initial_seed()`, which differs in every worker \
             and epoch, not from a constant"
        )
    } else {
        format!(
            "seed `{source}` in the loader's `worker_init_fn` from `torch.utils.data.get_worker_info().seed`, which \
             differs in every worker and epoch"
        )
    };
    Some(Fix { kind: FixKind::Advice, text })
}

/// Why parameters agree where no generator can be seen.
pub fn cause_unseen(relation: Relation) -> Option<String> {
    let cause = match relation {
        Relation::Workers => "a generator that cannot be seen is copied into every worker, or seeded alike there",
        Relation::Ranks => "a generator that cannot be seen is seeded alike in every rank",
        Relation::Epochs => "a generator that cannot be seen starts each epoch in the same state",
        Relation::EpochsByIndex => "what is drawn for a sample depends on its index and not on the epoch",
        Relation::Sources | Relation::Elsewhere => return None,
    };
    Some(cause.to_owned())
}
