//! Ratios and parameters that are not as declared.

use pipeaudit::audit::{Audited, Options, audit};
use pipeaudit::finding::{Code, Finding, Number};
use pipeaudit::trace::run::{Distribution, Index, ParameterKind, TransformKind, Worker};
use pipeaudit::trace::{Lane, Run};

use crate::pipeline::{Draws, Generator, Pipeline, codes};

fn audited(pipeline: &Pipeline) -> Audited {
    audit(&pipeline.run(), &Options::default())
}

fn large(draws: Draws) -> Pipeline {
    Pipeline { samples: 65_536, epochs: 1, workers: 2, outputs: false, draws, ..Pipeline::default() }
}

const SOUND: Draws = Draws { flip: 0.5, offsets: 9, hue: 0.1 };

fn only(audited: &Audited) -> &Finding {
    assert_eq!(audited.findings.len(), 1, "{:?}", codes(&audited.findings));
    &audited.findings[0]
}

fn number<'a>(finding: &'a Finding, name: &str) -> &'a Number {
    &finding.evidence.iter().find(|(known, _)| *known == name).unwrap().1
}

#[test]
fn sixty_five_thousand_sound_samples_have_no_finding() {
    assert!(audited(&large(SOUND)).findings.is_empty());
}

#[test]
fn a_flip_that_is_off_by_two_hundredths_is_seen() {
    for flip in [0.48, 0.52] {
        let audited = audited(&large(Draws { flip, ..SOUND }));
        let finding = only(&audited);
        assert_eq!(finding.code, Code::PA201);
        assert_eq!(finding.sources, ["RandomHorizontalFlip"]);
        assert!(finding.message.starts_with("65536 calls of `RandomHorizontalFlip`"), "{}", finding.message);
    }
}

#[test]
fn crops_that_never_reach_the_last_column_are_seen() {
    let audited = audited(&large(Draws { offsets: 8, ..SOUND }));
    let finding = only(&audited);
    assert_eq!((finding.code, finding.sources.as_slice()), (Code::PA203, &["RandomCrop.top".to_owned()][..]));
    assert!(finding.message.ends_with("8 was never drawn, 7282 expected"), "{}", finding.message);
    assert!(finding.cause.as_ref().unwrap().contains("upper end"));
}

#[test]
fn one_hue_outside_its_range_is_certain() {
    let audited = audited(&Pipeline { draws: Draws { hue: 0.11, ..SOUND }, ..Pipeline::default() });
    let finding = only(&audited);
    assert_eq!((finding.code, finding.sources.as_slice()), (Code::PA203, &["ColorJitter.hue".to_owned()][..]));
    assert_eq!(finding.places.len(), 1);
}

#[test]
fn a_hue_that_uses_half_of_its_range_is_seen_by_its_distribution() {
    let audited = audited(&large(Draws { hue: 0.05, ..SOUND }));
    let finding = only(&audited);
    assert_eq!(finding.code, Code::PA203);
    let Number::Real(distance) = number(finding, "distance") else { panic!("a distance") };
    assert!((distance - 0.25).abs() < 0.01, "uniform on the middle half is a quarter away: {distance}");
}

/// One transform, one worker function that says what it draws.
fn hand_made(
    kinds: Vec<TransformKind>,
    workers: i32,
    calls: u32,
    mut draw: impl FnMut(&mut Generator, i32, u32) -> (usize, Option<bool>, Vec<f64>),
) -> Run {
    let pipeline = Pipeline { workers: workers as u32, ..Pipeline::default() };
    let mut run = Run { world_size: 1, loaders: vec![pipeline.loader()], ..Run::default() };
    run.loaders[0].length = None;
    let kinds: Vec<_> = kinds.into_iter().map(|kind| run.names.kind(kind)).collect();
    for worker in 0..workers {
        let mut lane = Lane::new(0, 0, 0, Worker(worker));
        let mut generator = Generator::new(100 + worker as u64);
        for call in 0..calls {
            let (kind, applied, values) = draw(&mut generator, worker, call);
            lane.event(kinds[kind], applied, &values);
            lane.push(Some(call * workers as u32 + worker as u32), Index::Absent, None);
        }
        run.lanes.push(lane);
    }
    run
}

fn coin(p: f64) -> Vec<TransformKind> {
    vec![TransformKind { name: "Mirror".to_owned(), p: Some(p), parameters: vec![] }]
}

fn parameter(distribution: Distribution, low: f64, high: f64) -> TransformKind {
    let kind = ParameterKind { name: "x".to_owned(), distribution, low: Some(low), high: Some(high) };
    TransformKind { name: "T".to_owned(), p: None, parameters: vec![kind] }
}

fn findings(run: &Run) -> Vec<Finding> {
    audit(run, &Options::default()).findings
}

#[test]
fn an_inverted_comparison_is_named() {
    let run = hand_made(coin(0.2), 2, 600, |generator, _, _| (0, Some(generator.unit() >= 0.2), vec![]));
    let findings = findings(&run);
    assert_eq!(codes(&findings), [Code::PA201]);
    assert!(findings[0].cause.as_ref().unwrap().contains("1 - p"));
    assert!(findings[0].message.contains("declared is 20 %"), "{}", findings[0].message);
}

#[test]
fn a_transform_that_is_never_applied_is_named() {
    let run = hand_made(coin(0.5), 2, 256, |_, _, _| (0, Some(false), vec![]));
    assert_eq!(findings(&run)[0].cause.as_deref(), Some("it is never applied"));
    let run = hand_made(coin(1.0), 2, 10, |_, _, _| (0, Some(false), vec![]));
    assert_eq!(codes(&findings(&run)), [Code::PA201]);
    let run = hand_made(coin(1.0), 2, 10, |_, _, call| (0, Some(call > 3), vec![]));
    assert!(findings(&run).is_empty(), "a certain transform need not show on every image");
}

#[test]
fn a_worker_that_never_applies_is_seen_although_the_ratio_is_not_declared() {
    let kind = || vec![TransformKind { p: None, ..coin(0.5).remove(0) }];
    let run = hand_made(kind(), 4, 100, |generator, worker, _| (0, Some(worker > 0 && generator.unit() < 0.5), vec![]));
    let found = findings(&run);
    assert_eq!(codes(&found), [Code::PA202]);
    assert!(
        found[0].message.starts_with("0 of 100 calls of `Mirror` applied in worker 0 (0 %)"),
        "{}",
        found[0].message
    );
    let run = hand_made(kind(), 4, 100, |generator, _, _| (0, Some(generator.unit() < 0.5), vec![]));
    assert!(findings(&run).is_empty());
}

#[test]
fn parameters_that_are_fixed_once_per_worker_are_seen() {
    let kind = || vec![parameter(Distribution::Uniform, 0.0, 1.0)];
    let run = hand_made(kind(), 2, 64, |_, worker, _| (0, None, vec![0.3 + 0.4 * f64::from(worker)]));
    assert!(codes(&findings(&run)).contains(&Code::PA202));
}

#[test]
fn a_worker_with_another_whole_number_is_seen() {
    let kind = || vec![parameter(Distribution::Other("choice".to_owned()), 0.0, 1.0)];
    let run =
        hand_made(kind(), 3, 200, |g, worker, _| (0, None, vec![if worker == 2 { 1.0 } else { g.below(2) as f64 }]));
    assert_eq!(codes(&findings(&run)), [Code::PA202]);
}

#[test]
fn crops_in_images_of_many_sizes_are_tested_together() {
    let sizes = || (10..60).map(|room| parameter(Distribution::Integer, 0.0, f64::from(room))).collect::<Vec<_>>();
    let draw = |short: u64| {
        move |generator: &mut Generator, _: i32, _: u32| {
            let size = generator.below(50) as usize;
            let room = size as u64 + 10;
            (size, None, vec![generator.below(room + 1 - short) as f64])
        }
    };
    assert!(findings(&hand_made(sizes(), 2, 1000, draw(0))).is_empty());
    let found = findings(&hand_made(sizes(), 2, 1000, draw(1)));
    assert_eq!(codes(&found), [Code::PA203]);
    assert!(found[0].message.contains("last position was never drawn"), "{}", found[0].message);
}

#[test]
fn the_last_of_five_offsets_is_missed_in_three_small_epochs() {
    let kind = vec![parameter(Distribution::Integer, 0.0, 4.0)];
    let run = hand_made(kind, 2, 768, |generator, _, _| (0, None, vec![generator.below(4) as f64]));
    let found = findings(&run);
    assert_eq!(codes(&found), [Code::PA203]);
    assert!(
        found[0].message.starts_with("1536 draws of `T.x` (declared 0 to 4): 4 was never drawn"),
        "{}",
        found[0].message
    );
}

#[test]
fn normal_values_are_compared_with_the_normal_distribution() {
    let normal = |generator: &mut Generator| {
        let radius = (-2.0 * (1.0 - generator.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * generator.unit()).cos()
    };
    let kind = || vec![parameter(Distribution::Normal, 1.0, 2.0)];
    let run = hand_made(kind(), 2, 2000, |generator, _, _| (0, None, vec![1.0 + 2.0 * normal(generator)]));
    assert!(findings(&run).is_empty());
    let run = hand_made(kind(), 2, 2000, |generator, _, _| (0, None, vec![1.0 + 1.5 * normal(generator)]));
    assert_eq!(codes(&findings(&run)), [Code::PA203]);
}

#[test]
fn float32_ends_are_not_outside() {
    let kind = vec![parameter(Distribution::Uniform, -0.1, 0.1)];
    let run = hand_made(kind, 2, 200, |generator, _, call| {
        let ends = [f64::from(-0.1_f32), f64::from(0.1_f32)];
        (0, None, vec![if call < 2 { ends[call as usize] } else { generator.uniform(-0.1, 0.1) }])
    });
    assert!(findings(&run).is_empty());
}

#[test]
fn weak_and_strong_batches_may_go_to_different_workers() {
    let kinds = vec![
        TransformKind { name: "Erase".to_owned(), p: Some(0.9), parameters: vec![] },
        TransformKind { name: "Erase#2".to_owned(), p: Some(0.1), parameters: vec![] },
    ];
    let run = hand_made(kinds, 2, 500, |generator, worker, _| {
        (worker as usize, Some(generator.unit() < [0.9, 0.1][worker as usize]), vec![])
    });
    assert!(findings(&run).is_empty());
}

/// A seed whose first 128 samples hold 50 flips or fewer: nothing to speak of once, but not four times over.
const RARE: u64 = 206;

#[test]
fn copies_count_once() {
    let mut generator = Generator::new(RARE);
    let flips = (0..128).filter(|_| {
        let draws: Vec<f64> = (0..5).map(|_| generator.unit()).collect();
        draws[2] < 0.5
    });
    assert!(flips.count() <= 50);
    let pipeline = Pipeline { samples: 512, epochs: 1, ..Pipeline::default() };
    let options = Options { alpha: 0.01, ..Options::default() };
    let alike = audit(&Pipeline { seeding: |_, _, _, _| RARE, ..pipeline }.run(), &options);
    assert_eq!(codes(&alike.findings), [Code::PA101]);
}

#[test]
fn what_could_have_been_seen_is_said() {
    let audited = audited(&Pipeline::default());
    let resolution = &audited.numbers[0].resolution;
    assert!(resolution[0].starts_with("with 128 samples a ratio of `RandomHorizontalFlip` from 0.2"), "{resolution:?}");
    assert!(resolution[0].contains("`--samples 4096` narrows that to 0.4"), "{resolution:?}");
}
