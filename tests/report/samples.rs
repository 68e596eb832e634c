//! Reports made by hand, one for each kind of outcome. Intervals are SciPy's (`binomtest(k, n).proportion_ci(0.95,
//! "exact")`, SciPy 1.17).

use pipeaudit::finding::numbers::{AppliedRatio, Distinct, EpochNumbers, LoaderNumbers};
use pipeaudit::finding::{Code, Finding, Fix, FixKind, Number, Place, Severity};
use pipeaudit::report::{ArmReport, Origin, Report};

/// A sample's name and how to make it.
type Sample = (&'static str, fn() -> Report);

pub const SAMPLES: &[Sample] = &[
    ("two_arms_clean", two_arms_clean),
    ("missing_init", missing_init),
    ("overlap", overlap),
    ("live_findings", live_findings),
    ("live_clean", live_clean),
    ("many_ranks", many_ranks),
    ("one_process", one_process),
    ("runs_differ", runs_differ),
    ("inconclusive", inconclusive),
    ("hostile", hostile),
    ("nothing", nothing),
];

pub fn distinct(distinct: u64, of: u64) -> Distinct {
    Distinct { distinct, of }
}

pub fn place(epoch: u32, rank: u32, worker: i32, seq: u32) -> Place {
    Place { epoch, rank, worker, seq }
}

fn ratio(
    transform: &str,
    rank: u32,
    worker: Option<i32>,
    applied: u64,
    called: u64,
    interval: (f64, f64),
) -> AppliedRatio {
    AppliedRatio { transform: transform.to_owned(), rank, worker, p: Some(0.5), applied, called, interval }
}

/// Flip ratios of four workers and of all, by applied counts out of 32 calls each.
fn flips(applied: [u64; 4]) -> Vec<AppliedRatio> {
    let interval = |k| match k {
        13 => (0.236_984, 0.593_551),
        15 => (0.290_940, 0.652_563),
        16 => (0.318_875, 0.681_125),
        17 => (0.347_437, 0.709_060),
        18 => (0.376_626, 0.736_362),
        63 => (0.402_759, 0.581_986),
        64 => (0.410_376, 0.589_624),
        _ => unreachable!("no interval at hand"),
    };
    let mut ratios: Vec<_> =
        applied.iter().zip(0..).map(|(k, worker)| ratio("flip", 0, Some(worker), *k, 32, interval(*k))).collect();
    let all = applied.iter().sum();
    ratios.push(ratio("flip", 0, None, all, 128, interval(all)));
    ratios
}

pub fn built_in(streams: [u64; 2], augmentations: [u64; 2], applied: [u64; 4]) -> LoaderNumbers {
    let epoch =
        |epoch| EpochNumbers { epoch, streams: distinct(streams[0], 4), augmentations: distinct(augmentations[0], 64) };
    LoaderNumbers {
        loader: "built-in".to_owned(),
        ranks: 1,
        workers: 4,
        delivered: 128,
        dataset: Some(64),
        ever_delivered: 64,
        epochs: vec![epoch(0), epoch(1)],
        augmentations: distinct(augmentations[1], 128),
        streams: distinct(streams[1], 8),
        generators: 1,
        applied: flips(applied),
        reproduces: Some(true),
        resolution: vec![
            "with 128 samples a flip ratio from 0.29 to 0.71 passes; `--samples 4096` narrows that to 0.46-0.54"
                .to_owned(),
        ],
    }
}

pub fn arm(name: &str, decides: bool, numbers: Vec<LoaderNumbers>, findings: Vec<Finding>) -> ArmReport {
    ArmReport { name: name.to_owned(), detail: String::new(), decides, numbers, findings, inconclusive: Vec::new() }
}

pub fn report(origin: Origin, arms: Vec<ArmReport>) -> Report {
    Report { origin, arms, not_tested: Vec::new(), remarks: Vec::new(), faults: Vec::new(), fail_on: Severity::Error }
}

pub fn finding(code: Code, arm: &str, message: &str) -> Finding {
    Finding {
        code,
        severity: code.severity(),
        arm: arm.to_owned(),
        loader: Some("built-in".to_owned()),
        location: None,
        sources: vec!["dataset.transform.rng".to_owned()],
        message: message.to_owned(),
        cause: None,
        evidence: Vec::new(),
        places: Vec::new(),
        fix: None,
        factors: None,
    }
}

fn copies(arm: &str) -> Vec<Finding> {
    let mut workers = finding(
        Code::PA101,
        arm,
        "64 delivered, 16 distinct augmentations (25 %) in each epoch: workers 0, 1, 2 and 3 draw the same random numbers",
    );
    workers.cause = Some(
        "the generator was made before the workers start; fork copies it, and no init seeds it afterwards".to_owned(),
    );
    workers.evidence = vec![
        ("delivered", Number::Count(64)),
        ("distinct", Number::Count(16)),
        ("share", Number::Real(0.25)),
        ("algorithm", Number::Text("chacha12".to_owned())),
    ];
    workers.places = vec![place(0, 0, 0, 0), place(0, 0, 1, 0), place(0, 0, 2, 0)];
    workers.fix = Some(Fix { kind: FixKind::Verified, text: "--init base+worker".to_owned() });
    let mut epochs = finding(
        Code::PA103,
        arm,
        "128 delivered, 16 distinct augmentations (13 %): epoch 1 repeats epoch 0 in 4 of 4 workers",
    );
    epochs.cause = Some("each epoch starts new workers from the same state of the main process".to_owned());
    epochs.places = vec![place(0, 0, 0, 0), place(1, 0, 0, 0)];
    epochs.fix = Some(Fix { kind: FixKind::Verified, text: "--init base+worker".to_owned() });
    vec![workers, epochs]
}

/// `check --workers 4`: without init for comparison, with init for the verdict.
pub fn two_arms_clean() -> Report {
    let mut without = arm("without init", false, vec![built_in([1, 1], [16, 16], [16; 4])], copies("without init"));
    "--init none".clone_into(&mut without.detail);
    let mut with = arm("with init", true, vec![built_in([4, 8], [64, 128], [13, 17, 15, 18])], Vec::new());
    "--init base+worker".clone_into(&mut with.detail);
    report(Origin::Simulate, vec![without, with])
}

/// `check --workers 4 --init none`.
pub fn missing_init() -> Report {
    report(
        Origin::Simulate,
        vec![arm("without init", true, vec![built_in([1, 1], [16, 16], [16; 4])], copies("without init"))],
    )
}

/// `check --workers 4 --init seed+epoch+worker`.
pub fn overlap() -> Report {
    let mut meets = finding(
        Code::PA104,
        "with init",
        "128 delivered, 80 distinct augmentations (63 %): 3 of 4 workers of epoch 1 draw what another worker drew in epoch 0",
    );
    meets.cause = Some("seed + epoch + worker is equal wherever epoch + worker is: 8 places have 5 seeds".to_owned());
    meets.places = vec![place(0, 0, 1, 0), place(1, 0, 0, 0)];
    meets.fix = Some(Fix {
        kind: FixKind::Advice,
        text: "--init base+worker: torch draws another base seed for each epoch".to_owned(),
    });
    let without = arm("without init", false, vec![built_in([1, 1], [16, 16], [16; 4])], copies("without init"));
    let with = arm("with init", true, vec![built_in([4, 5], [64, 80], [13, 17, 15, 18])], vec![meets]);
    report(Origin::Simulate, vec![without, with])
}

fn live_loader(loader: &str, workers: u32, streams: [u64; 2], augmentations: [u64; 2]) -> LoaderNumbers {
    let each = augmentations[1].max(augmentations[0]);
    let epoch = |epoch| EpochNumbers {
        epoch,
        streams: distinct(streams[0], workers.max(1).into()),
        augmentations: distinct(augmentations[0], each / 2),
    };
    LoaderNumbers {
        loader: loader.to_owned(),
        ranks: 1,
        workers,
        delivered: each,
        dataset: Some(50_000),
        ever_delivered: each / 2,
        epochs: vec![epoch(0), epoch(1)],
        augmentations: distinct(augmentations[0], each),
        streams: distinct(streams[1], u64::from(workers.max(1)) * 2),
        generators: 3,
        applied: Vec::new(),
        reproduces: Some(true),
        resolution: Vec::new(),
    }
}

/// A live program with two loaders: albumentations held by the dataset, and a warning.
pub fn live_findings() -> Report {
    let mut train = live_loader("train.py:61", 4, [1, 1], [100, 800]);
    train.applied = vec![
        ratio("HorizontalFlip", 0, Some(0), 101, 256, (0.334_241, 0.457_294)),
        ratio("HorizontalFlip", 0, Some(1), 155, 256, (0.542_706, 0.665_759)),
        ratio("HorizontalFlip", 0, None, 256, 512, (0.455_8, 0.544_2)),
        ratio("RandomBrightnessContrast", 0, Some(0), 40, 400, (0.072_406, 0.133_678)),
        ratio("RandomBrightnessContrast", 0, None, 40, 400, (0.072_406, 0.133_678)),
    ];
    train.applied[3].p = Some(0.1);
    train.applied[4].p = Some(0.1);
    let val = live_loader("train.py:74", 0, [1, 1], [0, 400]);
    let source = "dataset.augmentations.random_generator";
    let mut workers = copies("as is").remove(0);
    workers.message =
        String::from("800 delivered, 100 distinct augmentations (13 %): a copy of one generator in 4 of 4 workers");
    workers.loader = Some("train.py:61".to_owned());
    workers.location = Some("train.py:61".to_owned());
    workers.sources = vec![source.to_owned(), "dataset.augmentations.py_random".to_owned()];
    workers.cause = Some(
        "albumentations 2.0.8 makes its generators in Compose(), before the workers start (data/transforms.py:18); torch seeds \
         only torch, random and numpy.random in a worker"
            .to_owned(),
    );
    workers.fix = Some(Fix {
        kind: FixKind::Verified,
        text: "def worker_init_fn(worker):\n    info = torch.utils.data.get_worker_info()\n    info.dataset.augmentations.set_random_seed(info.seed % 2**32)\n\nDataLoader(..., worker_init_fn=worker_init_fn)".to_owned(),
    });
    let mut threads = finding(Code::PA501, "as is", "8 busy OpenCV threads in 4 workers on 2 cores");
    threads.loader = Some("train.py:61".to_owned());
    threads.sources = Vec::new();
    threads.fix = Some(Fix { kind: FixKind::Advice, text: "cv2.setNumThreads(0) in the worker_init_fn".to_owned() });
    let mut padding = finding(Code::PA402, "as is", "401 delivered for 400 samples: index 0 twice (padding)");
    padding.severity = Severity::Note;
    padding.loader = Some("train.py:74".to_owned());
    padding.sources = Vec::new();
    padding.places = vec![place(0, 0, -1, 0), place(0, 0, -1, 400)];
    let mut report = report(Origin::Live, vec![arm("as is", true, vec![train, val], vec![padding, workers, threads])]);
    report.not_tested = vec!["loader train.py:90 was made but never iterated".to_owned()];
    report.remarks = vec!["each epoch was cut short after 25 batches (`--batches`)".to_owned()];
    report
}

/// A live program with nothing to find, and a warning that does not fail.
pub fn live_clean() -> Report {
    let mut shared = finding(Code::PA106, "as is", "4 of 4 workers start with numpy.random and torch in one state");
    shared.loader = Some("train.py:61".to_owned());
    shared.sources = vec!["numpy".to_owned(), "torch".to_owned()];
    shared.cause = Some("both are seeded with torch.initial_seed() % 2**32 in seed_worker (train.py:12)".to_owned());
    shared.places = vec![place(0, 0, 0, 0)];
    let mut train = live_loader("train.py:61", 4, [4, 8], [1024, 2048]);
    train.augmentations = distinct(2048, 2048);
    report(Origin::Live, vec![arm("as is", true, vec![train], vec![shared])])
}

/// 8 ranks of 64 workers, seeded alike.
pub fn many_ranks() -> Report {
    let mut numbers = built_in([64, 128], [8192, 16_384], [16; 4]);
    numbers.ranks = 8;
    numbers.workers = 64;
    numbers.delivered = 131_072;
    numbers.dataset = Some(65_536);
    numbers.ever_delivered = 65_536;
    for (epoch, number) in numbers.epochs.iter_mut().zip(0..) {
        *epoch = EpochNumbers { epoch: number, streams: distinct(64, 512), augmentations: distinct(8192, 65_536) };
    }
    numbers.augmentations = distinct(16_384, 131_072);
    numbers.streams = distinct(128, 1024);
    numbers.applied = Vec::new();
    for rank in 0..8 {
        for worker in 0..64 {
            let (applied, interval) = match (rank, worker) {
                (3, 12) => (101, (0.334_241, 0.457_294)),
                (0, 63) => (155, (0.542_706, 0.665_759)),
                _ => (128, (0.437_109, 0.562_891)),
            };
            numbers.applied.push(ratio("flip", rank, Some(worker), applied, 256, interval));
        }
    }
    numbers.applied.push(ratio("flip", 0, None, 65_536, 131_072, (0.497_29, 0.502_71)));
    let mut ranks = finding(
        Code::PA102,
        "with init",
        "131 072 delivered, 16 384 distinct augmentations (13 %): 8 ranks draw the same random numbers, worker by worker",
    );
    ranks.cause = Some("all ranks are seeded with 0, and the init does not know the rank".to_owned());
    ranks.places = vec![place(0, 0, 0, 0), place(0, 1, 0, 0), place(0, 2, 0, 0), place(0, 3, 0, 0)];
    ranks.fix = Some(Fix { kind: FixKind::Verified, text: "--init lightning".to_owned() });
    let mut without = numbers.clone();
    without.epochs.iter_mut().for_each(|epoch| epoch.streams = distinct(1, 512));
    without.streams = distinct(1, 1024);
    let without = arm("without init", false, vec![without], copies("without init"));
    report(Origin::Simulate, vec![without, arm("with init", true, vec![numbers], vec![ranks])])
}

/// `check --workers 0 --epochs 1`.
pub fn one_process() -> Report {
    let mut numbers = built_in([1, 1], [64, 64], [16; 4]);
    numbers.workers = 0;
    numbers.delivered = 64;
    numbers.epochs.truncate(1);
    numbers.epochs[0].streams = distinct(1, 1);
    numbers.streams = distinct(1, 1);
    numbers.augmentations = distinct(64, 64);
    let whole = |worker| ratio("flip", 0, worker, 32, 64, (0.372_29, 0.627_71));
    numbers.applied = vec![whole(Some(-1)), whole(None)];
    let mut report = report(Origin::Simulate, vec![arm("with init", true, vec![numbers], Vec::new())]);
    report.remarks = vec!["without workers there is no init to run".to_owned()];
    report
}

/// Two runs that differ, by factors that were found.
pub fn runs_differ() -> Report {
    let mut numbers = live_loader("data.py:7", 2, [2, 4], [400, 800]);
    numbers.augmentations = distinct(800, 800);
    numbers.reproduces = Some(false);
    let mut differ = finding(Code::PA301, "as is", "798 of 800 samples differ between two runs with one seed");
    differ.loader = Some("data.py:7".to_owned());
    differ.location = Some("data.py:7".to_owned());
    differ.sources = Vec::new();
    differ.cause =
        Some("the outputs differ although every draw is equal: the dataset iterates a set of texts".to_owned());
    differ.places = vec![place(0, 0, 0, 0)];
    differ.factors = Some(vec!["hash-seed".to_owned(), "clock".to_owned()]);
    differ.fix = Some(Fix { kind: FixKind::Advice, text: "for name in sorted(names):".to_owned() });
    let mut overhead = arm("seed 1", false, vec![numbers.clone()], Vec::new());
    overhead.numbers[0].reproduces = None;
    report(Origin::Live, vec![arm("as is", true, vec![numbers], vec![differ]), overhead])
}

/// Too little was seen, and the recorder met what it could not do.
pub fn inconclusive() -> Report {
    let mut numbers = live_loader("train.py:61", 4, [4, 4], [8, 16]);
    numbers.epochs.truncate(1);
    numbers.augmentations = distinct(16, 16);
    numbers.streams = distinct(4, 4);
    numbers.generators = 0;
    let mut as_is = arm("as is", true, vec![numbers], Vec::new());
    as_is.inconclusive =
        vec!["4 samples a worker are too few to tell copies by their outputs: at least 4 draws and 3 distinct values are needed".to_owned()];
    let mut report = report(Origin::Live, vec![as_is]);
    report.faults = vec!["worker 3 of loader train.py:61 ended without a word in epoch 0".to_owned()];
    report.not_tested = vec!["epochs against each other: one epoch was seen".to_owned()];
    report
}

/// Every text carries what a terminal would act on.
pub fn hostile() -> Report {
    let evil = "a\u{1b}[2J\u{1b}]0;owned\u{7}b\u{202e}c\r\n\u{9b}31md\u{0}".to_owned();
    let mut numbers = built_in([1, 1], [16, 16], [16; 4]);
    numbers.loader.clone_from(&evil);
    numbers.applied.iter_mut().for_each(|ratio| ratio.transform.clone_from(&evil));
    numbers.resolution = vec![evil.clone()];
    let mut found = finding(Code::PA301, &evil, &evil);
    found.loader = Some(evil.clone());
    found.location = Some(evil.clone());
    found.sources = vec![evil.clone()];
    found.cause = Some(evil.clone());
    found.evidence = vec![("state", Number::Text(evil.clone())), ("chance", Number::Real(f64::INFINITY))];
    found.places = vec![place(0, 0, 0, 0)];
    found.factors = Some(vec!["clock".to_owned()]);
    found.fix = Some(Fix { kind: FixKind::Advice, text: format!("{evil}\n{evil}") });
    let mut second = arm(&evil, false, vec![numbers.clone()], vec![found.clone()]);
    second.detail.clone_from(&evil);
    let mut first = arm(&evil, true, vec![numbers], vec![found]);
    first.inconclusive = vec![evil.clone()];
    let mut report = report(Origin::Files, vec![first, second]);
    report.not_tested = vec![evil.clone()];
    report.remarks = vec![evil.clone()];
    report.faults = vec![evil];
    report
}

/// No arm at all.
pub fn nothing() -> Report {
    report(Origin::Files, Vec::new())
}
