//! Two runs that should be equal.

use pipeaudit::audit::{Options, compare};
use pipeaudit::finding::{Code, Number, Place};
use pipeaudit::trace::run::Pass;

use crate::pipeline::{Pipeline, hash};

fn first(finding: &pipeaudit::finding::Finding) -> &Number {
    &finding.evidence.iter().find(|(name, _)| *name == "differs_first").unwrap().1
}

fn text(word: &str) -> Number {
    Number::Text(word.to_owned())
}

#[test]
fn equal_runs_have_no_finding() {
    let pipeline = Pipeline::default();
    assert!(compare(&pipeline.run(), &pipeline.run(), &Options::default()).is_empty());
}

#[test]
fn another_start_is_named_with_its_source() {
    let a = Pipeline { workers: 2, ..Pipeline::default() };
    let b = Pipeline { seeding: |base, epoch, _, worker| hash(base + worker + epoch), ..a.clone() };
    let findings = compare(&a.run(), &b.run(), &Options::default());
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].code, Code::PA301);
    assert_eq!(findings[0].sources, ["generator"]);
    assert_eq!(first(&findings[0]), &text("initial state"));
    assert_eq!(findings[0].places, [Place { epoch: 0, rank: 0, worker: 0, seq: 0 }]);
    assert!(findings[0].message.starts_with("128 compared, 128 differ (100 %)"), "{}", findings[0].message);
}

#[test]
fn spawned_library_generators_start_from_entropy() {
    let a = Pipeline { source: "numpy", ..Pipeline::default() };
    let b = Pipeline { seeding: |base, _, _, worker| hash(base + worker), ..a.clone() };
    let (mut a, mut b) = (a.run(), b.run());
    for run in [&mut a, &mut b] {
        run.loaders[0].start_method = Some("spawn".to_owned());
    }
    let findings = compare(&a, &b, &Options::default());
    assert!(findings[0].cause.as_ref().unwrap().contains("operating-system entropy"));
    assert_eq!(findings[0].factors, Some(vec!["entropy".to_owned()]));
}

#[test]
fn a_source_that_touches_no_output_may_start_anywhere() {
    let a = Pipeline { effective: false, parameters: false, ..Pipeline::default() };
    let b = Pipeline { seeding: |base, _, _, worker| hash(base + worker), ..a.clone() };
    assert!(compare(&a.run(), &b.run(), &Options::default()).is_empty());
}

#[test]
fn without_pixels_what_was_drawn_decides() {
    let a = Pipeline { outputs: false, ..Pipeline::default() };
    let b = Pipeline { seeding: |base, _, _, worker| hash(base + worker), ..a.clone() };
    assert_eq!(compare(&a.run(), &b.run(), &Options::default())[0].code, Code::PA301);
    assert!(compare(&a.run(), &a.run(), &Options::default()).is_empty());
}

#[test]
fn equal_states_and_another_output_point_beyond_the_generators() {
    let a = Pipeline { parameters: false, ..Pipeline::default() };
    let b = Pipeline { effective: false, ..a.clone() };
    let findings = compare(&a.run(), &b.run(), &Options::default());
    assert_eq!(first(&findings[0]), &text("output"));
}

#[test]
fn no_seed_is_said_in_those_words() {
    let a = Pipeline { location: Some("train.py:9"), ..Pipeline::default() };
    let b = Pipeline { seed: 1, ..a.clone() };
    let findings = compare(&a.run(), &b.run(), &Options::default());
    assert_eq!(findings[0].cause.as_deref(), Some("no seed is set (torch, numpy, random)"));
    assert_eq!(findings[0].loader.as_deref(), Some("train.py:9"));
    assert_eq!(first(&findings[0]), &text("index"));
}

#[test]
fn batches_received_in_another_order_are_the_same_samples() {
    let a = Pipeline::default().run();
    let mut b = Pipeline::default().run();
    b.passes[0].delivered = Some(vec![1, 0, 2, 3, 4, 5, 6, 7]);
    let findings = compare(&a, &b, &Options::default());
    assert_eq!(findings.iter().map(|finding| finding.code).collect::<Vec<_>>(), [Code::PA303]);
}

#[test]
fn the_same_outputs_in_another_order_are_told_as_order() {
    let a = Pipeline { effective: false, parameters: false, states: false, ..Pipeline::default() };
    let b = Pipeline { seed: 3, ..a.clone() };
    let findings = compare(&a.run(), &b.run(), &Options::default());
    assert_eq!(findings[0].code, Code::PA303);
    assert!(findings[0].message.contains("the same outputs in another order"), "{}", findings[0].message);
}

#[test]
fn a_run_that_was_cut_short_is_compared_as_far_as_both_go() {
    let a = Pipeline::default().run();
    let mut b = Pipeline::default().run();
    b.passes[1] = Pass { loader: 0, epoch: 1, rank: 0, delivered: Some(vec![0, 1, 2]), whole: false };
    assert!(compare(&a, &b, &Options::default()).is_empty());
    b.passes[1].whole = true;
    let findings = compare(&a, &b, &Options::default());
    assert_eq!(first(&findings[0]), &text("count"));
}

#[test]
fn a_loader_of_one_run_only_is_a_difference() {
    let a = Pipeline::default().run();
    let mut b = Pipeline::default().run();
    b.loaders.push(b.loaders[0].clone());
    assert_eq!(compare(&a, &b, &Options::default()).len(), 1);
}
