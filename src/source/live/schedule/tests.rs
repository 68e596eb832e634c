//! The order of runs, with a fake that makes them.

use std::ffi::OsStr;
use std::time::Duration;

use super::*;
use crate::error::Error;
use crate::trace::record::Loader;

/// Answers each run with the next outcome and notes what was asked for.
struct Fake {
    outcomes: Vec<Result<Recorded>>,
    asked: Vec<String>,
}

impl Runner for Fake {
    fn run(&mut self, arm: &Arm) -> Result<Recorded> {
        self.asked.push(format!("{} {}", arm.letter, arm.name()));
        self.outcomes.remove(0)
    }
}

fn recorded(exit: Exit) -> Recorded {
    let loader = |kind: &str| Loader { kind: kind.to_owned(), num_workers: 4, ..Loader::default() };
    let run = Run { loaders: vec![loader("map"), loader("iterable")], ..Run::default() };
    let unfinished = match exit {
        Exit::Success | Exit::Stopped => None,
        _ => Some(format!("the command {exit} after 0 of 2 epochs")),
    };
    Recorded { run, exit, unfinished, remarks: vec!["a remark".to_owned()], faults: Vec::new() }
}

#[expect(clippy::unnecessary_wraps, reason = "a runner returns results")]
fn good() -> Result<Recorded> {
    Ok(recorded(Exit::Stopped))
}

#[expect(clippy::unnecessary_wraps, reason = "a runner returns results")]
fn bad(exit: Exit) -> Result<Recorded> {
    Ok(recorded(exit))
}

fn nothing() -> Result<Recorded> {
    Err(Error::not_audited("`train` exited with status 1").help("never shown here"))
}

/// What was asked for, and the outcome.
fn conducted(outcomes: Vec<Result<Recorded>>, differ: bool) -> (Vec<String>, Result<LiveOutcome>) {
    let plan = Plan::new(None::<&OsStr>, false, String::new());
    let mut fake = Fake { outcomes, asked: Vec::new() };
    let outcome = conduct(&plan, &mut fake, &mut |_, _| differ);
    (fake.asked, outcome)
}

#[test]
fn two_runs_that_agree_are_followed_by_one_with_other_workers_for_the_iterable_dataset() {
    let (asked, outcome) = conducted(vec![good(), good(), good()], false);
    assert_eq!(asked, ["a as is", "b again", "c 2 workers"]);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.runs.len(), 3);
    assert!(outcome.run(Purpose::Again).is_some() && outcome.run(Purpose::ListingHeld).is_none());
    assert_eq!(outcome.remarks, ["a remark"]);
    assert!(outcome.unfinished.is_empty() && outcome.not_tested.is_empty());
}

#[test]
fn a_difference_is_looked_into_first() {
    let (asked, _) = conducted(vec![good(), good(), good(), good()], true);
    assert_eq!(asked, ["a as is", "b again", "c again, listing order held", "d 2 workers"]);
}

#[test]
fn nothing_else_is_run_where_the_first_run_shows_nothing() {
    let (asked, outcome) = conducted(vec![nothing()], false);
    assert_eq!(asked, ["a as is"]);
    assert_eq!(outcome.unwrap_err().message, "`train` exited with status 1");
}

#[test]
fn nothing_else_is_run_where_the_first_run_breaks_off() {
    for exit in [Exit::Failure { status: 1 }, Exit::Signal { number: 9 }, Exit::Interrupted] {
        let (asked, outcome) = conducted(vec![bad(exit)], false);
        assert_eq!(asked, ["a as is"]);
        let outcome = outcome.unwrap();
        assert_eq!(outcome.runs.len(), 1);
        let first = format!("the command {exit} after 0 of 2 epochs");
        assert_eq!(outcome.unfinished, [first.as_str(), "run B (again): not made after that"]);
    }
}

#[test]
fn a_program_that_fails_after_all_was_seen_is_audited_whole() {
    let late = || Ok(Recorded { unfinished: None, ..recorded(Exit::Failure { status: 1 }) });
    let (asked, outcome) = conducted(vec![late(), late(), late()], false);
    assert_eq!(asked.len(), 3);
    assert_eq!(outcome.unwrap().unfinished, [""; 0]);
}

#[test]
fn runs_that_their_time_limit_ends_are_compared_all_the_same() {
    let late = || bad(Exit::TimedOut { after: Duration::from_secs(60) });
    let (asked, outcome) = conducted(vec![late(), late(), good()], false);
    assert_eq!(asked.len(), 3);
    let outcome = outcome.unwrap();
    assert_eq!(
        outcome.unfinished,
        [
            "the command was ended after 60 s after 0 of 2 epochs",
            "run B (again): the command was ended after 60 s after 0 of 2 epochs"
        ]
    );
}

#[test]
fn a_second_run_that_fails_leaves_the_audit_unfinished_and_keeps_the_first() {
    let (asked, outcome) = conducted(vec![good(), nothing()], true);
    assert_eq!(asked, ["a as is", "b again"]);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.runs.len(), 1);
    assert_eq!(outcome.unfinished, ["run B (again): `train` exited with status 1"]);
    let (asked, outcome) = conducted(vec![good(), bad(Exit::Interrupted)], true);
    assert_eq!(asked, ["a as is", "b again"]);
    assert_eq!(outcome.unwrap().runs.len(), 2);
}

#[test]
fn a_run_on_suspicion_that_fails_is_evidence_less_and_no_failure() {
    let (asked, outcome) = conducted(vec![good(), good(), nothing(), bad(Exit::Failure { status: 2 })], true);
    assert_eq!(asked.len(), 4);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.runs.len(), 2);
    assert!(outcome.unfinished.is_empty());
    assert_eq!(
        outcome.not_tested,
        [
            "run C (again, listing order held): `train` exited with status 1",
            "run D (2 workers): the command exited with status 2 after 0 of 2 epochs"
        ]
    );
}

#[test]
fn the_user_can_stop_between_runs_on_suspicion() {
    let (asked, _) = conducted(vec![good(), good(), bad(Exit::Interrupted)], true);
    assert_eq!(asked, ["a as is", "b again", "c again, listing order held"]);
}
