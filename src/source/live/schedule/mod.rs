//! Conducts the plan: which run is made after which, and what a run that failed means for the rest.
//!
//! Knows nothing of processes: a [`Runner`] makes the runs, so that this is tested without any.

use super::command::Exit;
use super::plan::{Arm, Plan, Purpose};
use crate::error::Result;
use crate::trace::Run;

/// What one run showed.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its records.
    pub run: Run,
    /// How the command ended.
    pub exit: Exit,
    /// Why less was seen than was asked for, if so.
    pub unfinished: Option<String>,
    /// What else is worth saying.
    pub remarks: Vec<String>,
    /// What the recorder could not do.
    pub faults: Vec<String>,
}

impl Recorded {
    /// Whether nothing should be run after it: the user asked for no more, or the command failed before its time.
    /// (One that ran into its time limit may be compared with another that does.)
    fn is_broken(&self) -> bool {
        match self.exit {
            Exit::Interrupted => true,
            Exit::Failure { .. } | Exit::Signal { .. } => self.unfinished.is_some(),
            Exit::Success | Exit::Stopped | Exit::TimedOut { .. } => false,
        }
    }
}

/// Makes runs.
pub trait Runner {
    /// Makes the run of an arm.
    ///
    /// # Errors
    /// Where nothing was seen, and why.
    fn run(&mut self, arm: &Arm) -> Result<Recorded>;
}

/// What the runs of a check showed.
#[derive(Clone, Debug, Default)]
pub struct LiveOutcome {
    /// The runs in the order in which they were made, the one as is first.
    pub runs: Vec<(Arm, Run)>,
    /// How the command ended in each.
    pub exits: Vec<(Arm, Exit)>,
    /// What was asked for and could not be audited, with the reason: exit status 3, unless findings decide.
    pub unfinished: Vec<String>,
    /// What was not tested, with the reason; does not change the verdict.
    pub not_tested: Vec<String>,
    /// What else is worth saying.
    pub remarks: Vec<String>,
    /// What the recorder could not do: exit status 3, unless findings decide.
    pub faults: Vec<String>,
}

impl LiveOutcome {
    /// The run of a purpose, if it was made.
    pub fn run(&self, purpose: Purpose) -> Option<&Run> {
        self.runs.iter().find(|(arm, _)| arm.purpose == purpose).map(|(_, run)| run)
    }

    fn add(&mut self, arm: Arm, recorded: Recorded) {
        self.exits.push((arm.clone(), recorded.exit));
        // Runs of one program have the same remarks and faults: each is said once.
        for (all, new) in [(&mut self.remarks, recorded.remarks), (&mut self.faults, recorded.faults)] {
            for text in new {
                if !all.contains(&text) {
                    all.push(text);
                }
            }
        }
        self.runs.push((arm, recorded.run));
    }
}

/// Makes the runs of a plan. `differ` says whether two runs deliver different data.
///
/// # Errors
/// Where the first run showed nothing: without it nothing else is worth a run.
pub fn conduct(
    plan: &Plan,
    runner: &mut dyn Runner,
    differ: &mut dyn FnMut(&Run, &Run) -> bool,
) -> Result<LiveOutcome> {
    let mut outcome = LiveOutcome::default();
    for (made, arm) in plan.always.iter().enumerate() {
        let recorded = match runner.run(arm) {
            Ok(recorded) => recorded,
            Err(error) if made == 0 => return Err(error),
            Err(error) => {
                outcome.unfinished.push(in_run(arm, &error.message));
                return Ok(outcome);
            }
        };
        let broken = recorded.is_broken();
        let why = recorded.unfinished.as_ref();
        outcome.unfinished.extend(why.map(|why| if made == 0 { why.clone() } else { in_run(arm, why) }));
        outcome.add(arm.clone(), recorded);
        if broken {
            let others = &plan.always[made + 1..];
            outcome.unfinished.extend(others.iter().map(|arm| in_run(arm, "not made after that")));
            return Ok(outcome);
        }
    }
    suspect(plan, runner, differ, &mut outcome);
    Ok(outcome)
}

/// Makes the runs that the first two suggest. One that fails is evidence less, no failure of the audit.
fn suspect(
    plan: &Plan,
    runner: &mut dyn Runner,
    differ: &mut dyn FnMut(&Run, &Run) -> bool,
    outcome: &mut LiveOutcome,
) {
    let [(_, first), (_, second)] = &outcome.runs[..] else { return };
    let suspicions = plan.suspicions(first, differ(first, second));
    for (letter, suspicion) in ('c'..='z').zip(suspicions) {
        let arm = plan.answer(suspicion, letter);
        match runner.run(&arm) {
            Ok(recorded) if recorded.is_broken() => {
                let interrupted = recorded.exit == Exit::Interrupted;
                let why = recorded.unfinished.unwrap_or_else(|| format!("the command {}", recorded.exit));
                outcome.not_tested.push(in_run(&arm, &why));
                if interrupted {
                    return;
                }
            }
            Ok(recorded) => outcome.add(arm, recorded),
            Err(error) => outcome.not_tested.push(in_run(&arm, &error.message)),
        }
    }
}

fn in_run(arm: &Arm, why: &str) -> String {
    format!("run {} ({}): {why}", arm.letter.to_ascii_uppercase(), arm.name())
}

#[cfg(test)]
mod tests;
