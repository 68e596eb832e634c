//! rng.json: streams of torch, NumPy and Python, seed sequences, and fingerprints of states.

use pipeaudit::rng::mt19937::Mt19937;
use pipeaudit::rng::numpy::{BitGenerator, Dtype};
use pipeaudit::rng::numpy_generator::NumpyGenerator;
use pipeaudit::rng::numpy_legacy::NumpyLegacy;
use pipeaudit::rng::pcg64::Pcg64;
use pipeaudit::rng::philox::Philox;
use pipeaudit::rng::python::Python;
use pipeaudit::rng::torch::{self, Torch};
use pipeaudit::rng::{Int, SeedSequence};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::vectors::{
    Account, bits32, bits64, count, cut, float_argument, float64, hex, list, load, parsed, sections, text,
};

/// The fingerprint of a state as the vectors have it.
pub fn fingerprint(words: &Mt19937) -> Value {
    json!({"pos": words.position(), "sha256": words.fingerprint()})
}

/// A seed of torch: a negative one stands for its two's complement.
pub fn torch_seed(row: &Value, name: &str) -> u64 {
    let seed: i128 = parsed(row, name);
    seed as u64
}

/// Texts of what `draw` gives `n` times.
fn times<T>(n: usize, mut draw: impl FnMut() -> T, shown: impl Fn(T) -> String) -> Value {
    (0..n).map(|_| shown(draw())).collect()
}

fn shown<T: ToString>(values: &[T]) -> Value {
    values.iter().map(T::to_string).collect()
}

fn coins(n: usize, mut toss: impl FnMut() -> bool) -> Value {
    Value::String((0..n).map(|_| if toss() { '1' } else { '0' }).collect())
}

/// A long permutation stands as its head and a digest.
fn permutation(order: &[u32]) -> Value {
    if order.len() <= 100 {
        return json!(order);
    }
    let mut digest = Sha256::new();
    for index in order {
        digest.update(i64::from(*index).to_le_bytes());
    }
    json!({"head": &order[..8], "sha256_i64le": hex(&digest.finalize())})
}

/// Runs a program's steps on one generator; false where a step is not covered and the rest is lost with it.
fn run(account: &mut Account, library: &str, row: &Value, mut step: impl FnMut(&str, &Value) -> Option<Value>) -> bool {
    for asked in list(row, "steps") {
        let op = text(asked, "op");
        let Some(got) = step(op, asked) else {
            account.not_covered(format!("{library} {op} {} and what follows it", asked["dtype"]));
            return false;
        };
        let case = || {
            format!("seed {} entropy {} program {} step {}", row["seed"], row["entropy"], row["program"], cut(asked))
        };
        account.compare(&format!("{library} {op}"), case, &got, &asked["out"]);
    }
    true
}

/// Compares the state after a program.
fn after(account: &mut Account, library: &str, row: &Value, got: &Value) {
    let case = || format!("seed {} entropy {} program {}", row["seed"], row["entropy"], row["program"]);
    account.compare(&format!("{library} state after"), case, got, &row["after"]);
}

fn torch_dtype(name: &str) -> Option<torch::Dtype> {
    Some(match name {
        "i64" => torch::Dtype::I64,
        "i32" => torch::Dtype::I32,
        "i16" => torch::Dtype::I16,
        "i8" => torch::Dtype::I8,
        "u8" => torch::Dtype::U8,
        "bool" => torch::Dtype::Bool,
        "f32" => torch::Dtype::F32,
        "f64" => torch::Dtype::F64,
        _ => return None,
    })
}

fn torch_step(torch: &mut Torch, op: &str, step: &Value) -> Option<Value> {
    let n = count(step, "n");
    let dtype = step["dtype"].as_str().unwrap_or_default();
    let bound = |name| float_argument(step, name);
    Some(match (op, dtype) {
        ("u64", _) => times(n, || torch.next_u64(), |word| word.to_string()),
        ("random_", _) => {
            let dtype = torch_dtype(dtype)?;
            times(n, || torch.random(dtype), |value| value.to_string())
        }
        ("rand", "f32") => times(n, || torch.rand(), bits32),
        ("rand", "f64") => times(n, || torch.rand_f64(), bits64),
        ("uniform", "f32") => times(n, || torch.uniform_f32(bound("a"), bound("b")), bits32),
        ("uniform", "f64") => times(n, || torch.uniform_f64(bound("a"), bound("b")), bits64),
        ("normal", "f32") => torch.normal_f32(n, bound("a"), bound("b")).into_iter().map(bits32).collect(),
        ("normal", "f64") => torch.normal_f64(n, bound("a"), bound("b")).into_iter().map(bits64).collect(),
        ("randint", _) => {
            let (low, high) = (parsed(step, "lo"), parsed(step, "hi"));
            times(n, || torch.randint(low, high), |value| value.to_string())
        }
        ("randperm", _) => permutation(&torch.randperm(n)),
        ("coin", _) => coins(n, || torch.coin(bound("a"))),
        _ => return None,
    })
}

fn numpy_dtype(step: &Value) -> Option<Dtype> {
    Some(match text(step, "dtype") {
        "bool" => Dtype::Bool,
        "int8" | "uint8" => Dtype::Bits8,
        "int16" | "uint16" => Dtype::Bits16,
        "int32" | "uint32" => Dtype::Bits32,
        "int64" | "uint64" => Dtype::Bits64,
        _ => return None,
    })
}

fn legacy_step(state: &mut NumpyLegacy, op: &str, step: &Value) -> Option<Value> {
    let n = count(step, "n");
    let bound = |name| float_argument(step, name);
    Some(match op {
        "u32" => times(n, || state.next_u32(), |word| word.to_string()),
        "random_sample" => times(n, || state.random_sample(), bits64),
        "uniform" => times(n, || state.uniform(bound("a"), bound("b")), bits64),
        "randint" => shown(&state.randint(numpy_dtype(step)?, parsed(step, "lo"), parsed(step, "hi"), n)),
        "permutation" => permutation(&state.permutation(n)),
        "shuffle" => {
            let mut values: Vec<usize> = (0..n).collect();
            state.shuffle(&mut values);
            json!(values)
        }
        "coin" => coins(n, || state.random_sample() < bound("a")),
        "choice" => match (step["p_f64"].as_array(), step["replace"].as_bool()) {
            (Some(p), Some(true)) => {
                let p: Vec<f64> = p.iter().map(|bits| float64(bits.as_str().expect("bits are a text"))).collect();
                json!(state.choice_weighted(&p, n))
            }
            (None, Some(true)) => json!(state.choice(count(step, "pop") as u64, n)),
            (None, Some(false)) => json!(state.choice_without_replacement(count(step, "pop"), n)),
            _ => return None,
        },
        _ => return None,
    })
}

fn generator_step<B: BitGenerator>(generator: &mut NumpyGenerator<B>, op: &str, step: &Value) -> Option<Value> {
    let n = count(step, "n");
    let bound = |name| float_argument(step, name);
    Some(match (op, step["dtype"].as_str().unwrap_or_default()) {
        ("u64", _) => times(n, || generator.next_u64(), |word| word.to_string()),
        ("random", "f32") => times(n, || generator.random_f32(), bits32),
        ("random", "f64") => times(n, || generator.random(), bits64),
        ("uniform", _) => times(n, || generator.uniform(bound("a"), bound("b")), bits64),
        ("integers", _) => shown(&generator.integers(numpy_dtype(step)?, parsed(step, "lo"), parsed(step, "hi"), n)),
        ("permutation", _) => permutation(&generator.permutation(n)),
        _ => return None,
    })
}

fn randrange(python: &mut Python, step: &Value) -> Option<Int> {
    let arguments: Vec<Int> = list(step, "args")
        .iter()
        .map(|argument| argument.as_str().expect("an argument is a text").parse().expect("a whole number"))
        .collect();
    Some(match &arguments[..] {
        [stop] => python.below_int(stop),
        [start, stop] => python.randrange(start, stop, &Int::from(1)),
        [start, stop, step] => python.randrange(start, stop, step),
        _ => return None,
    })
}

fn python_step(python: &mut Python, op: &str, step: &Value) -> Option<Value> {
    if op == "getrandbits" {
        let widths = list(step, "bits").iter().map(|width| width.as_u64().expect("a width is a count"));
        return Some(widths.map(|width| python.getrandbits(width).to_string()).collect());
    }
    let n = count(step, "n");
    let bound = |name| float_argument(step, name);
    Some(match op {
        "random" => times(n, || python.random(), bits64),
        "uniform" => times(n, || python.uniform(bound("a"), bound("b")), bits64),
        "randint" => {
            let (low, high): (Int, Int) = (parsed(step, "lo"), parsed(step, "hi"));
            times(n, || python.randint(&low, &high), |value| value.to_string())
        }
        "randrange" => {
            let values: Option<Vec<Int>> = (0..n).map(|_| randrange(python, step)).collect();
            shown(&values?)
        }
        "choice" => {
            let population = count(step, "pop") as u64;
            (0..n).map(|_| python.below(population)).collect()
        }
        "shuffle" => {
            let mut values: Vec<usize> = (0..n).collect();
            python.shuffle(&mut values);
            json!(values)
        }
        "sample" => json!(python.sample(count(step, "pop") as u64, n)),
        _ => return None,
    })
}

#[test]
fn torchs_streams_are_reproduced() {
    let document = load("rng.json");
    let mut account = Account::new("rng.json torch");
    for row in list(&document, "torch") {
        let mut torch = Torch::new(torch_seed(row, "seed"));
        if run(&mut account, "torch", row, |op, step| torch_step(&mut torch, op, step)) {
            after(&mut account, "torch", row, &fingerprint(torch.words()));
        }
    }
    for row in list(&document, "torch_initial_seed") {
        let torch = Torch::new(torch_seed(row, "seed"));
        let got = json!({"seed": row["seed"], "initial_seed": torch.initial_seed().to_string(), "fp": fingerprint(torch.words())});
        account.compare("torch initial_seed", || cut(row), &got, row);
    }
    account.close();
}

#[test]
fn numpys_legacy_streams_are_reproduced() {
    let mut account = Account::new("rng.json np_legacy");
    for row in list(&load("rng.json"), "np_legacy") {
        let seed = &row["seed"];
        let mut state = if seed["int"].is_string() {
            NumpyLegacy::new(parsed(seed, "int"))
        } else {
            let words: Vec<u32> =
                list(seed, "ints").iter().map(|word| word.as_str().unwrap().parse().unwrap()).collect();
            NumpyLegacy::from_array(&words)
        };
        if run(&mut account, "np_legacy", row, |op, step| legacy_step(&mut state, op, step)) {
            after(&mut account, "np_legacy", row, &fingerprint(state.words()));
        }
    }
    account.close();
}

/// Entropy is one whole number or a list of them.
fn sequence(row: &Value) -> SeedSequence {
    let int = |value: &Value| -> Int { value.as_str().expect("a number is a text").parse().expect("a whole number") };
    let entropy: Vec<u32> = match row["entropy"].as_array() {
        Some(values) => values.iter().flat_map(|value| int(value).seed_words()).collect(),
        None => int(&row["entropy"]).seed_words(),
    };
    SeedSequence::with_spawn_key(&entropy, list(row, "spawn_key").iter().map(int).collect())
}

#[test]
fn seed_sequences_and_their_children_are_reproduced() {
    let mut account = Account::new("rng.json seed_sequence");
    for row in list(&load("rng.json"), "seed_sequence") {
        let mut sequence = sequence(row);
        let mut children = sequence.spawn(2);
        children.extend(sequence.spawn(1));
        let children: Vec<Value> = children
            .iter()
            .map(|child| json!({"spawn_key": shown(child.spawn_key()), "u32": child.words(4)}))
            .collect();
        let got = json!({
            "entropy": row["entropy"], "spawn_key": row["spawn_key"], "pool": sequence.pool(), "spawn": children,
            "u32": sequence.words(9), "u64": shown(&sequence.words64(5)),
        });
        account.compare("seed_sequence", || cut(row), &got, row);
    }
    account.close();
}

fn pcg64_state(bits: &Pcg64) -> Value {
    json!({
        "state": format!("{:032x}", bits.raw_state()), "inc": format!("{:032x}", bits.increment()),
        "has_uint32": u32::from(bits.halves().pending().is_some()), "uinteger": bits.halves().last(),
    })
}

fn philox_state(bits: &Philox) -> Value {
    json!({
        "counter": shown(&bits.counter()), "key": shown(&bits.key()), "buffer": shown(&bits.block()),
        "buffer_pos": bits.position(),
        "has_uint32": u32::from(bits.halves().pending().is_some()), "uinteger": bits.halves().last(),
    })
}

fn check_generator<B: BitGenerator>(account: &mut Account, row: &Value, bits: B, state: impl Fn(&B) -> Value) {
    let library = text(row, "bitgen");
    let mut generator = NumpyGenerator::new(bits);
    account.compare(
        &format!("{library} state before"),
        || cut(&row["entropy"]),
        &state(generator.bits()),
        &row["before"],
    );
    if run(account, library, row, |op, step| generator_step(&mut generator, op, step)) {
        after(account, library, row, &state(generator.bits()));
    }
}

#[test]
fn streams_of_numpys_generators_are_reproduced() {
    let mut account = Account::new("rng.json np_generator");
    for row in list(&load("rng.json"), "np_generator") {
        let sequence = sequence(row);
        match text(row, "bitgen") {
            "np_pcg64" => check_generator(&mut account, row, Pcg64::new(&sequence), pcg64_state),
            "np_philox" => check_generator(&mut account, row, Philox::new(&sequence), philox_state),
            "np_mt19937" => check_generator(&mut account, row, Mt19937::from_sequence(&sequence), fingerprint),
            other => account.not_covered(format!("bit generator {other}")),
        }
    }
    account.close();
}

fn python_seeded(seed: &Value) -> Python {
    if seed["int"].is_string() {
        return Python::from_int(&parsed(seed, "int"));
    }
    if let Some(text) = seed["str"].as_str() {
        return Python::from_bytes(text.as_bytes());
    }
    let digits = text(seed, "bytes_hex").as_bytes();
    let bytes = digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap());
    Python::from_bytes(&bytes.collect::<Vec<_>>())
}

#[test]
fn pythons_streams_are_reproduced() {
    let mut account = Account::new("rng.json python");
    for row in list(&load("rng.json"), "python") {
        let mut python = python_seeded(&row["seed"]);
        if run(&mut account, "python", row, |op, step| python_step(&mut python, op, step)) {
            after(&mut account, "python", row, &fingerprint(python.words()));
        }
    }
    account.close();
}

#[test]
fn a_state_has_one_fingerprint_whichever_library_holds_it() {
    let mut account = Account::new("rng.json fingerprints");
    for row in list(&load("rng.json"), "fingerprints") {
        let seed: i128 = parsed(row, "seed");
        let library = text(row, "lib");
        let mut words = match library {
            "torch" => Torch::new(seed as u64).words().clone(),
            "np_legacy" => NumpyLegacy::new(seed as u32).words().clone(),
            "python" => Python::new(seed.unsigned_abs()).words().clone(),
            other => {
                account.not_covered(format!("library {other}"));
                continue;
            }
        };
        let mut drawn = 0;
        for expected in list(row, "after_words") {
            while drawn < count(expected, "k") {
                words.next_u32();
                drawn += 1;
            }
            let got = json!({"k": drawn, "pos": words.position(), "sha256": words.fingerprint()});
            account.compare(
                &format!("{library} fingerprint"),
                || format!("seed {seed} after {drawn} words"),
                &got,
                expected,
            );
        }
    }
    account.close();
}

#[test]
fn every_section_of_the_file_is_read_or_listed() {
    let known = ["torch", "torch_initial_seed", "np_legacy", "np_generator", "seed_sequence", "python", "fingerprints"];
    sections(&load("rng.json"), "rng.json sections", &known);
}
