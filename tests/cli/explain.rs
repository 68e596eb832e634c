//! `pipeaudit explain`.

use crate::harness::pipeaudit;

#[test]
fn the_list_has_every_code_once() {
    let outcome = pipeaudit("explain");
    assert_eq!(outcome.status, 0);
    for code in ["PA101", "PA106", "PA203", "PA303", "PA404", "PA501"] {
        assert_eq!(outcome.stdout.matches(code).count(), 1, "{code}");
    }
}

#[test]
fn a_code_is_found_in_any_case_and_by_name() {
    let page = pipeaudit("explain PA101").stdout;
    assert!(page.contains("worker"));
    assert_eq!(pipeaudit("explain pa101").stdout, page);
    assert_eq!(pipeaudit("explain worker-streams-identical").stdout, page);
}
