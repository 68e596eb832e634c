//! What a run is given: its command and its environment.

use super::*;
use crate::source::live::plan::Plan;
use crate::source::live::settings::Target;

fn settings(argv: &[&str]) -> Settings {
    Settings::new(Target::Command(argv.iter().map(OsString::from).collect()))
}

/// The environment of the first two runs.
fn environments(settings: &Settings) -> Vec<BTreeMap<OsString, Option<OsString>>> {
    let interrupt = Interrupt::default();
    let program = Program::new(settings, &interrupt, None).unwrap();
    let plan = Plan::new(None, false, String::new());
    plan.always.iter().map(|arm| program.environment(arm, Path::new("/traces/x"))).collect()
}

#[test]
fn nothing_is_left_of_another_audits_variables() {
    let first = &environments(&settings(&["train"]))[0];
    for name in RECORDER {
        assert!(first.contains_key(OsStr::new(name)), "{name}");
    }
    assert_eq!(first[OsStr::new("PIPEAUDIT_LISTING_SEED")], None);
    assert_eq!(first[OsStr::new("PIPEAUDIT_WORKERS")], None);
    assert_eq!(first[OsStr::new("PIPEAUDIT_EPOCHS")], Some("2".into()));
    assert!(!first.contains_key(OsStr::new("PYTHONHASHSEED")));
}

#[test]
fn the_second_run_differs_in_what_must_not_matter_alone() {
    let [first, second] = &environments(&settings(&["train"]))[..] else { panic!() };
    let differ = |name: &&OsString| first.get(*name) != second.get(*name);
    let differences: Vec<&OsString> = second.keys().filter(differ).collect();
    assert_eq!(differences, ["PIPEAUDIT_LISTING_SEED", "PIPEAUDIT_RUN", "PYTHONHASHSEED"]);
    assert!(first.keys().all(|name| second.contains_key(name)));
}

#[test]
fn a_program_that_is_never_stopped_keeps_its_own_temporary_folder() {
    let mut settings = settings(&["train"]);
    settings.whole = true;
    let environment = &environments(&settings)[0];
    assert!(!environment.contains_key(OsStr::new("TMPDIR")));
    assert_eq!(environment[OsStr::new("PIPEAUDIT_WHOLE")], Some("1".into()));
}
