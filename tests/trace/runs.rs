//! Runs of any shape, for properties.

use std::collections::BTreeMap;

use pipeaudit::rng::{Key, State};
use pipeaudit::trace::run::{
    BatchRow, Digest, Distribution, Index, Lane, Moved, Names, ParameterKind, Pass, PassStart, Seeded, TransformKind,
    Worker,
};
use pipeaudit::trace::{Run, record};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;

const SOURCES: [(&str, &str); 4] = [
    ("python", "mt19937"),
    ("dataset.transform.rng", "pcg64"),
    ("a \"quoted\"\n\\name", "odd:one"),
    ("Größe 日本", "x"),
];

/// A source's number, key and position.
type States = BTreeMap<usize, (u128, u64)>;

#[derive(Clone, Debug)]
enum Value {
    Number(f64),
    Text(String),
    Absent,
}

#[derive(Clone, Debug)]
struct Kind {
    name: String,
    p: Option<f64>,
    parameters: BTreeMap<String, (Distribution, Option<f64>, Option<f64>)>,
}

#[derive(Clone, Debug)]
struct Sample {
    batch: Option<u32>,
    index: Option<Result<i64, String>>,
    output: Option<u128>,
    states: States,
    before: States,
    opaque: u32,
    joint: u32,
    events: Vec<(usize, Option<bool>, Vec<Value>)>,
}

#[derive(Clone, Debug)]
struct LaneOf {
    starts: States,
    samples: Vec<Sample>,
    batches: Vec<(u32, Option<u128>, States)>,
    ended: Option<u64>,
}

fn states() -> impl Strategy<Value = States> {
    btree_map(0..SOURCES.len(), (any::<u128>(), any::<u64>()), 0..3)
}

fn finite() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("finite", |x| x.is_finite())
}

fn distribution() -> impl Strategy<Value = (Distribution, Option<f64>, Option<f64>)> {
    prop_oneof![
        (0.0..1.0, 1.0..2.0).prop_map(|(a, b)| (Distribution::Uniform, Some(a), Some(b))),
        (-9..9_i32, 9..99_i32).prop_map(|(a, b)| (Distribution::Integer, Some(a.into()), Some(b.into()))),
        (finite(), 0.0..9.0).prop_map(|(a, b)| (Distribution::Normal, Some(a), Some(b))),
        option::of(finite()).prop_map(|a| (Distribution::Constant, a, None)),
        option::of(finite()).prop_map(|a| (Distribution::Other("choice".to_owned()), None, a)),
        Just((Distribution::Other(Distribution::TEXT.to_owned()), None, None)),
    ]
}

fn kind() -> impl Strategy<Value = Kind> {
    (".{1,8}", option::of(0.0..=1.0), btree_map(".{0,5}", distribution(), 0..4))
        .prop_map(|(name, p, parameters)| Kind { name, p, parameters })
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![4 => finite().prop_map(Value::Number), 1 => ".{0,6}".prop_map(Value::Text), 1 => Just(Value::Absent)]
}

fn sample() -> impl Strategy<Value = Sample> {
    let index = option::of(prop_oneof![any::<i64>().prop_map(Ok), ".{0,9}".prop_map(Err)]);
    let events = vec((0..3_usize, any::<Option<bool>>(), vec(value(), 4)), 0..3);
    let numbers = (option::of(0..9_u32), 0..3_u32, 1..4_u32);
    (numbers, index, any::<Option<u128>>(), states(), states(), events).prop_map(
        |((batch, opaque, joint), index, output, states, before, events)| Sample {
            batch,
            index,
            output,
            states,
            before,
            opaque,
            joint,
            events,
        },
    )
}

fn lane() -> impl Strategy<Value = LaneOf> {
    let batches = vec((0..9_u32, any::<Option<u128>>(), states()), 0..3);
    (states(), vec(sample(), 0..5), batches, option::of(0..9_u64)).prop_map(|(starts, samples, batches, ended)| {
        // Of a lane that has nothing at all and no end there is nothing to record.
        let nothing = starts.is_empty() && samples.is_empty() && batches.is_empty();
        LaneOf { starts, samples, batches, ended: ended.or(nothing.then_some(0)) }
    })
}

fn loader() -> impl Strategy<Value = record::Loader> {
    let texts = (option::of(".{0,9}"), option::of(".{0,9}"), option::of(".{0,9}"));
    let flags = any::<(bool, bool, bool, bool, bool, bool)>();
    (0..3_u32, texts, flags, any::<(Option<u64>, Option<u64>, u64)>()).prop_map(
        |(num_workers, (location, dataset, init), flags, (length, base_length, padding))| record::Loader {
            location,
            dataset,
            init,
            kind: if flags.0 { "map" } else { "iterable" }.to_owned(),
            num_workers,
            length,
            base_length,
            padding,
            shuffled: flags.0,
            replacement: flags.1,
            drop_last: flags.2,
            persistent_workers: flags.3,
            subset: flags.4,
            cut_short: flags.5,
            ..record::Loader::default()
        },
    )
}

/// Lanes of one pass, batches that the loop received, whether it was whole.
type PassOf = (Vec<LaneOf>, Option<Vec<u32>>, bool);

fn pass() -> impl Strategy<Value = PassOf> {
    (vec(lane(), 3), option::of(vec(any::<u32>(), 0..5)), any::<bool>())
}

/// Runs of up to two loaders, two epochs, three ranks and two workers, with every kind of content.
pub fn run() -> impl Strategy<Value = Run> {
    let shape = (vec(loader(), 1..3), 1..3_u32, 1..4_u32);
    let rest = (".{0,9}", any::<bool>(), option::of(0.5..64.0), btree_map("[a-z]{1,5}", ".{0,5}", 0..3));
    (shape, vec(kind(), 3), vec(pass(), 12), rest, states()).prop_map(
        |((loaders, epochs, ranks), kinds, passes, (name, starts, cores, libraries), main)| {
            let mut built = Run { name, world_size: ranks, cores, libraries, ..Run::default() };
            let mut passes = passes.iter().cycle();
            for (loader, number) in loaders.iter().zip(0..) {
                built.loaders.push(record::Loader { loader: number, ..loader.clone() });
                for epoch in 0..epochs {
                    for rank in 0..ranks {
                        let pass = passes.next().expect("an endless cycle");
                        add_pass(&mut built, &kinds, (number, epoch, rank, loader.num_workers), pass);
                        if starts {
                            let main = moved(&mut built.names, &main);
                            let base_seed = Some(u64::from(epoch) << 40);
                            built.starts.push(PassStart { loader: number, epoch, rank, base_seed, main });
                        }
                    }
                }
            }
            add_rest(&mut built);
            built
        },
    )
}

fn add_rest(run: &mut Run) {
    let location = "train.py:3".to_owned();
    let call =
        record::Seeding { location, call: "random.seed".to_owned(), source: None, worker: -1, seed: None, via: None };
    for rank in 0..run.world_size {
        run.seedings.push(Seeded { rank, call: call.clone() });
        let counts = BTreeMap::from([("cv2".to_owned(), rank)]);
        run.threads.push((rank, record::Threads { loader: 0, epoch: 0, worker: 0, counts, busy: 0.1 }));
    }
    run.faults.push(record::Fault { location: "sample".to_owned(), message: "\u{1b}[31m".to_owned(), count: 2 });
}

fn moved(names: &mut Names, states: &States) -> Vec<Moved> {
    let of = |(source, (key, position)): (&usize, &(u128, u64))| {
        let (name, algorithm) = SOURCES[*source];
        Moved { source: names.source(name, algorithm), state: State { key: Key(*key), position: *position } }
    };
    states.iter().map(of).collect()
}

fn add_pass(run: &mut Run, kinds: &[Kind], place: (u32, u32, u32, u32), pass: &PassOf) {
    let (loader, epoch, rank, workers) = place;
    let (lanes, delivered, whole) = pass;
    let numbers: Vec<Worker> =
        if workers == 0 { vec![Worker::MAIN] } else { (0..workers as i32).map(Worker).collect() };
    let mut ended = true;
    for (worker, lane) in numbers.into_iter().zip(lanes) {
        ended &= lane.ended.is_some();
        let built = build(&mut run.names, kinds, lane, Lane::new(loader, epoch, rank, worker));
        run.lanes.push(built);
    }
    // Without workers the lane's end is the pass's: without it nobody knows that there was nothing to deliver.
    let unknown = workers == 0 && !ended;
    let delivered = delivered.clone().filter(|batches| !unknown || !batches.is_empty());
    run.passes.push(Pass { loader, epoch, rank, delivered, whole: *whole && !unknown });
}

fn build(names: &mut Names, kinds: &[Kind], lane: &LaneOf, mut built: Lane) -> Lane {
    built.starts = moved(names, &lane.starts);
    built.ended = lane.ended;
    for (batch, output, states) in &lane.batches {
        built.batches.push(BatchRow { batch: *batch, output: output.map(Digest), states: moved(names, states) });
    }
    for sample in &lane.samples {
        for (kind, applied, values) in &sample.events {
            add_event(names, &mut built, &kinds[*kind], *applied, values);
        }
        for moved in moved(names, &sample.states) {
            built.moved(moved.source, moved.state);
        }
        for moved in moved(names, &sample.before) {
            built.stood(moved.source, moved.state);
        }
        if sample.opaque > 0 {
            built.opaque(sample.opaque);
        }
        if sample.joint > 1 {
            built.joint(sample.joint);
        }
        let index = match &sample.index {
            None => Index::Absent,
            Some(Ok(n)) => Index::Number(*n),
            Some(Err(text)) => Index::Text(names.text(text)),
        };
        built.push(sample.batch, index, sample.output.map(Digest));
    }
    built
}

fn add_event(names: &mut Names, lane: &mut Lane, kind: &Kind, applied: Option<bool>, values: &[Value]) {
    let mut parameters = Vec::new();
    let mut numbers = Vec::new();
    for ((name, (distribution, low, high)), value) in kind.parameters.iter().zip(values) {
        let text = *distribution == Distribution::Other(Distribution::TEXT.to_owned());
        numbers.push(match value {
            Value::Number(x) if !text => *x,
            Value::Text(value) if text => f64::from(names.text(value)),
            _ => f64::NAN,
        });
        parameters.push(ParameterKind {
            name: name.clone(),
            distribution: distribution.clone(),
            low: *low,
            high: *high,
        });
    }
    let id = names.kind(TransformKind { name: kind.name.clone(), p: kind.p, parameters });
    lane.event(id, applied, &numbers);
}
