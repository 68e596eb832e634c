//! workers.json: what the workers of a DataLoader get, and the order in which the main process draws.

use pipeaudit::rng::mt19937::Mt19937;
use pipeaudit::rng::numpy::Dtype;
use pipeaudit::rng::numpy_generator::NumpyGenerator;
use pipeaudit::rng::numpy_legacy::NumpyLegacy;
use pipeaudit::rng::python::Python;
use pipeaudit::rng::torch::Torch;
use pipeaudit::rng::{Int, Seed};
use pipeaudit::seeding::loader::{Batch, Loader, Order, Plan};
use pipeaudit::seeding::monai::{self, Compose};
use pipeaudit::seeding::{Globals, lightning, timm, torch};
use serde_json::{Map, Value, json};

use crate::rng::{fingerprint, torch_seed};
use crate::vectors::{Account, bits64, count, cut, list, load, parsed, sections, text};

/// Random members of the Compose in MONAI's records.
const MONAI_MEMBERS: usize = 3;

/// A worker after its init.
struct Worker {
    number: u32,
    base_seed: u64,
    globals: Globals,
    /// The dataset's Compose, in MONAI's records.
    compose: Option<Compose>,
}

impl Worker {
    fn seed(&self) -> u64 {
        torch::initial_seed(self.base_seed, self.number)
    }

    fn generators(compose: &Compose) -> impl Iterator<Item = &NumpyLegacy> {
        std::iter::once(&compose.own).chain(&compose.members)
    }

    /// What the worker stands at once its init has run.
    fn record(&self) -> Value {
        let Globals { torch, numpy, python } = &self.globals;
        let mut record = json!({
            "worker": self.number, "info_seed": self.seed().to_string(), "torch_initial_seed": torch.initial_seed().to_string(),
            "torch": fingerprint(torch.words()), "numpy": fingerprint(numpy.words()), "python": fingerprint(python.words()),
            "np_seed": pipeaudit::seeding::torch::generate_state(self.base_seed, self.number),
        });
        if let Some(compose) = &self.compose {
            record["monai"] = Self::generators(compose).map(|generator| fingerprint(generator.words())).collect();
        }
        record
    }
}

/// The draws for one sample: torch.randint(0, 2**24), random.getrandbits(32), np.random.randint over all of uint32.
fn global_draws(torch: &mut Torch, numpy: &mut NumpyLegacy, python: &mut Python) -> [Value; 3] {
    [
        json!(torch.randint(0, 1 << 24)),
        json!(python.next_u32()),
        json!(numpy.randint(Dtype::Bits32, 0, 1 << 32, 1)[0] as u64),
    ]
}

fn optional_seed(case: &Value, name: &str) -> Option<u64> {
    (!case[name].is_null()).then(|| torch_seed(case, name))
}

fn plan(case: &Value) -> Plan {
    Plan {
        batch_size: count(case, "batch_size"),
        drop_last: case["drop_last"].as_bool().unwrap_or(false),
        num_workers: count(case, "num_workers") as u32,
        persistent_workers: case["persistent"].as_bool().unwrap_or(false),
    }
}

fn order(case: &Value) -> Order {
    let n = count(case, "n");
    if case["shuffle"] == true { Order::Random(n) } else { Order::Sequential(n) }
}

/// The process that iterates over one configured loader.
struct Process<'a> {
    case: &'a Value,
    globals: Globals,
    loader: Loader<Torch>,
    workers: Vec<Worker>,
    init: &'a dyn Fn(&mut Worker),
}

impl Process<'_> {
    /// The fingerprint of the generator that the loader uses.
    fn used(&self) -> Value {
        fingerprint(self.loader.generator().unwrap_or(&self.globals.torch).words())
    }

    fn default(&self) -> Value {
        fingerprint(self.globals.torch.words())
    }

    fn start_workers(&mut self, base_seed: u64) {
        let start = |number| {
            let mut worker =
                Worker { number, base_seed, globals: Globals::in_worker(base_seed, number), compose: None };
            (self.init)(&mut worker);
            worker
        };
        self.workers = (0..plan(self.case).num_workers).map(start).collect();
    }

    fn rows(&mut self, batch: &Batch) -> Vec<Value> {
        let row = |index: &u32| {
            let (number, draws) = match batch.worker {
                None => {
                    let Globals { torch, numpy, python } = &mut self.globals;
                    (-1, global_draws(torch, numpy, python).to_vec())
                }
                Some(number) => {
                    let worker = &mut self.workers[number as usize];
                    let Globals { torch, numpy, python } = &mut worker.globals;
                    let draws = match &mut worker.compose {
                        Some(Compose { own, members }) => std::iter::once(own)
                            .chain(members)
                            .map(|generator| json!(bits64(generator.random_sample())))
                            .collect(),
                        None => global_draws(torch, numpy, python).to_vec(),
                    };
                    (i64::from(number), draws)
                }
            };
            Value::from([vec![json!(batch.number), json!(index), json!(number)], draws].concat())
        };
        batch.indices.iter().map(row).collect()
    }

    /// One epoch, recorded as the vectors record it.
    fn epoch(&mut self) -> Map<String, Value> {
        let mut record = Map::new();
        let mut put = |name: &str, value| record.insert(name.to_owned(), value);
        put("before", self.used());
        put("default_before", self.default());
        let mut epoch = self.loader.start(&mut self.globals.torch, order(self.case));
        put("base_seed", json!(epoch.base_seed.to_string()));
        put("after_iter", self.used());
        if epoch.starts_workers {
            self.start_workers(epoch.base_seed);
            put("workers", self.workers.iter().map(Worker::record).collect());
        }
        let stop = self.case["break_after"].as_u64().unwrap_or(u64::MAX);
        let mut rows = Vec::new();
        let mut batches = 0;
        while batches < stop
            && let Some(batch) = self.loader.next_batch(&mut epoch, &mut self.globals.torch)
        {
            rows.extend(self.rows(&batch));
            batches += 1;
        }
        put("rows", rows.into());
        put("after_epoch", self.used());
        put("default_after", self.default());
        record
    }
}

/// Runs one configuration and compares all its epochs.
fn check_loader(account: &mut Account, case: &Value, init: impl Fn(&mut Worker)) {
    let plan = plan(case);
    let seed: i128 = parsed(case, "seed");
    // Each library takes a negative seed its own way.
    let globals = Globals { python: Python::new(seed.unsigned_abs()), ..Globals::seeded(seed as u64) };
    let loader = Loader::new(plan, optional_seed(case, "generator").map(Torch::new));
    let mut process = Process { case, globals, loader, workers: Vec::new(), init: &init };
    let mut named = case.clone();
    named["epochs"] = Value::Null;
    for (number, expected) in list(case, "epochs").iter().enumerate() {
        let mut got = process.epoch();
        for (name, expected) in expected.as_object().expect("an epoch is an object") {
            let case = || format!("{named} epoch {number}");
            account.compare(name, case, &got.remove(name).unwrap_or_default(), expected);
        }
        let case = || format!("{named} epoch {number}");
        account.compare("nothing more in the epoch", case, &got.keys().cloned().collect(), &json!([]));
    }
}

fn check_loaders(name: &'static str, section: &str, init: impl Fn(&Value, &mut Worker)) {
    let mut account = Account::new(name);
    for case in list(&load("workers.json"), section) {
        check_loader(&mut account, case, |worker| init(case, worker));
    }
    account.close();
}

#[test]
fn workers_and_main_process_draw_as_torchs_do() {
    check_loaders("workers.json loader", "loader", |_, _| {});
}

#[test]
fn lightnings_init_seeds_the_workers_of_a_loader() {
    check_loaders("workers.json lightning_loader", "lightning_loader", |case, worker| {
        lightning::init(&mut worker.globals, worker.number, count(case, "rank") as u32);
    });
}

#[test]
fn timms_init_seeds_the_workers_of_a_loader() {
    check_loaders("workers.json timm_loader", "timm_loader", |case, worker| {
        let seed = worker.seed();
        let seeding = match text(case, "mode") {
            "all" => timm::Seeding::All,
            "part" => timm::Seeding::Part,
            "callable" => timm::Seeding::Callable(seed ^ (u64::from(worker.number) + 1)),
            other => panic!("unknown mode {other} in {}", cut(case)),
        };
        timm::init(&mut worker.globals, seeding, seed);
    });
}

#[test]
fn a_constant_plus_the_worker_seeds_numpy_and_python_only() {
    check_loaders("workers.json manual_loader", "manual_loader", |case, worker| {
        let seed = count(case, "base") as u64 + u64::from(worker.number);
        worker.globals.python = Python::new(u128::from(seed));
        worker.globals.numpy = NumpyLegacy::new(seed as u32);
    });
}

#[test]
fn monais_init_seeds_what_the_dataset_holds() {
    let mut account = Account::new("workers.json monai_loader");
    for case in list(&load("workers.json"), "monai_loader") {
        if count(case, "num_workers") > 0 {
            check_loader(&mut account, case, |worker| {
                worker.compose = Some(Compose::seeded(monai::object_seed(worker.seed(), 0), MONAI_MEMBERS));
            });
            continue;
        }
        let mut default = Torch::new(torch_seed(case, "seed"));
        for _ in 0..count(case, "burn_f32") {
            default.rand();
        }
        let mut given = optional_seed(case, "generator").map(Torch::new);
        let seed = monai::seed_in_main_process(given.as_mut().unwrap_or(&mut default));
        let compose = Compose::seeded(monai::object_seed(seed, 0), MONAI_MEMBERS);
        let got = json!([
            Worker::generators(&compose).map(|generator| fingerprint(generator.words())).collect::<Value>(),
            fingerprint(given.as_ref().unwrap_or(&default).words()),
            fingerprint(default.words()),
        ]);
        let expected = json!([case["monai"], case["generator_after"], case["default_after"]]);
        account.compare("without workers", || cut(case), &got, &expected);
    }
    account.close();
}

#[test]
fn lightnings_seeds_are_reproduced() {
    let mut account = Account::new("workers.json lightning");
    for row in list(&load("workers.json"), "lightning") {
        let (base_seed, worker, rank) =
            (parsed(row, "base_seed"), count(row, "worker") as u32, count(row, "rank") as u32);
        let mut globals = Globals::in_worker(base_seed, worker);
        lightning::init(&mut globals, worker, rank);
        let seeds = lightning::seeds(base_seed, worker, rank);
        let got = json!({
            "base_seed": row["base_seed"], "worker": worker, "rank": rank, "torch_seed": seeds.torch.to_string(),
            "py_seed": Int::from(seeds.python).to_string(), "np_seed": seeds.numpy,
            "torch": fingerprint(globals.torch.words()), "python": fingerprint(globals.python.words()),
            "numpy": fingerprint(globals.numpy.words()),
        });
        account.compare("lightning", || cut(row), &got, row);
    }
    account.close();
}

#[test]
fn numpys_seed_lists_are_torchs() {
    let mut account = Account::new("workers.json generate_state");
    for row in list(&load("workers.json"), "generate_state") {
        let got = torch::generate_state(parsed(row, "base_seed"), count(row, "worker") as u32);
        account.compare("generate_state", || cut(row), &json!(got), &row["np_seed"]);
    }
    account.close();
}

#[test]
fn seed_everything_seeds_all_three() {
    let mut account = Account::new("workers.json seed_everything");
    for row in list(&load("workers.json"), "seed_everything") {
        let Globals { torch, numpy, python } = Globals::seeded(parsed(row, "seed"));
        let print = |words: &Mt19937| fingerprint(words);
        let got = json!({
            "seed": row["seed"], "torch": print(torch.words()), "numpy": print(numpy.words()), "python": print(python.words()),
        });
        account.compare("seed_everything", || cut(row), &got, row);
    }
    account.close();
}

/// The generators that a dataset holds.
#[derive(Clone)]
struct Held {
    generator: NumpyGenerator,
    state: NumpyLegacy,
    python: Python,
    torch: Torch,
}

#[test]
fn generators_that_a_dataset_holds_are_copied_into_every_worker() {
    let mut account = Account::new("workers.json inherited");
    for case in list(&load("workers.json"), "inherited") {
        let seed: u64 = parsed(case, "seed");
        let fresh = Held {
            generator: NumpyGenerator::default_rng(&Seed::from(seed)),
            state: NumpyLegacy::new(seed as u32),
            python: Python::new(u128::from(seed)),
            torch: Torch::new(seed),
        };
        let mut main = fresh.clone();
        let mut default = Torch::new(seed);
        let mut loader = Loader::new(plan(case), None);
        let mut workers = Vec::new();
        let mut rows = Vec::new();
        for number in 0..count(case, "epochs") {
            let mut epoch = loader.start(&mut default, order(case));
            if epoch.starts_workers {
                workers = vec![main.clone(); count(case, "num_workers")];
            }
            while let Some(batch) = loader.next_batch(&mut epoch, &mut default) {
                let held = batch.worker.map_or(&mut main, |worker| &mut workers[worker as usize]);
                for index in batch.indices {
                    let draws = (
                        held.generator.integers(Dtype::Bits64, 0, 1000, 1)[0] as u64,
                        held.state.randint(Dtype::Bits64, 0, 1000, 1)[0] as u64,
                        held.python.below(1000),
                        held.torch.randint(0, 1000),
                    );
                    let worker = batch.worker.map_or(-1, i64::from);
                    rows.push(json!([number, batch.number, index, worker, draws.0, draws.1, draws.2, draws.3]));
                }
            }
        }
        let mut named = case.clone();
        named["rows"] = Value::Null;
        account.compare("inherited", || named.to_string(), &rows.into(), &case["rows"]);
    }
    account.close();
}

#[test]
fn every_section_of_the_file_is_read_or_listed() {
    let known = [
        "loader",
        "generate_state",
        "inherited",
        "lightning",
        "lightning_loader",
        "timm_loader",
        "monai_loader",
        "manual_loader",
        "seed_everything",
    ];
    sections(&load("workers.json"), "workers.json sections", &known);
}
