//! `runs.json`: RandomCrop, RandomHorizontalFlip and ColorJitter in real DataLoaders, sample by sample.

use pipeaudit::rng::numpy_generator::NumpyGenerator;
use pipeaudit::rng::numpy_legacy::NumpyLegacy;
use pipeaudit::rng::pcg64::Pcg64;
use pipeaudit::rng::python::Python;
use pipeaudit::rng::{Draw, Generator, Kind, Seed, SeedSequence};
use pipeaudit::seeding::Globals;
use pipeaudit::seeding::loader::{Batch, Loader, Order, Plan};
use pipeaudit::transform::{ColorJitter, Dialect, Image, Padding, Pipeline, RandomCrop, Scratch, Strength};
use serde_json::{Value, json};

use crate::pictures::{FACTORS, first_pixel, images, scratches, sha256, tell};
use crate::rng::{fingerprint, torch_seed};
use crate::vectors::{Account, bits32, bits64, count, cut, list, load, parsed, sections, text};

/// What a process draws from.
#[derive(Clone)]
struct Generators {
    globals: Globals,
    /// What the dataset holds, in runs where it does.
    held: Option<Generator>,
}

impl Generators {
    /// The one that the pipeline of `source` asks.
    fn source(&mut self, source: &str) -> &mut dyn Draw {
        match source {
            "torch" => &mut self.globals.torch,
            "np_global" => &mut self.globals.numpy,
            "python_global" => &mut self.globals.python,
            _ => self.held.as_mut().expect("a held generator"),
        }
    }
}

/// The generator that the dataset is made with.
fn held(run: &Value) -> Option<Generator> {
    let kind = match text(run, "source") {
        "np_generator" => Kind::NumpyGenerator,
        "np_randomstate" => Kind::NumpyLegacy,
        "python_held" => Kind::Python,
        _ => return None,
    };
    Some(Generator::new(kind, &Seed::from(parsed::<u64>(run, "held_seed"))))
}

/// Worker `number` once its init has run. What the dataset holds is the same in all of them.
fn worker(run: &Value, base_seed: u64, number: u32) -> Generators {
    let mut worker = Generators { globals: Globals::in_worker(base_seed, number), held: held(run) };
    let base = || parsed::<u64>(run, "init_base");
    let globals = &mut worker.globals;
    match run["init"].as_str() {
        None => {}
        Some("random_base_plus_worker") => globals.python = Python::new(u128::from(base()) + u128::from(number)),
        Some("numpy_base_plus_worker") => globals.numpy = NumpyLegacy::new((base() + u64::from(number)) as u32),
        Some("numpy_from_torch") => globals.numpy = NumpyLegacy::new(globals.torch.initial_seed() as u32),
        Some("reseed_held") => {
            let sequence = SeedSequence::from_ints(&[base(), number.into()]);
            worker.held = Some(Generator::NumpyGenerator(NumpyGenerator::new(Pcg64::new(&sequence))));
        }
        Some(other) => panic!("an init without a test: {other}"),
    }
    worker
}

fn pipeline(run: &Value) -> Pipeline {
    let arguments = &run["pipeline"];
    let pixels = |value: &Value| value.as_u64().and_then(|value| u32::try_from(value).ok()).expect("pixels");
    let sides = |value: &Value| match value {
        Value::Array(sides) => sides.iter().map(pixels).collect(),
        all => vec![pixels(all)],
    };
    let size = sides(&arguments["size"]);
    let padding = (!arguments["padding"].is_null()).then(|| match sides(&arguments["padding"])[..] {
        [all] => Padding::all(all),
        [x, y] => Padding { left: x, top: y, right: x, bottom: y },
        [left, top, right, bottom] => Padding { left, top, right, bottom },
        _ => panic!("not a padding: {arguments}"),
    });
    let [brightness, contrast, saturation, hue] =
        FACTORS.map(|name| Strength::Around(arguments["jitter"][name].as_f64().expect("a strength")));
    let dialect = if text(run, "source") == "torch" { Dialect::Torchvision } else { Dialect::HandWritten };
    Pipeline {
        crop: RandomCrop { padding, ..RandomCrop::new(size[0], size[size.len() - 1]) },
        flip_p: arguments["p"].as_f64().expect("a probability"),
        jitter: ColorJitter::new(brightness, contrast, saturation, hue).expect("ranges that torchvision took"),
        dialect,
    }
}

/// One run and the process that makes it.
struct Process<'a> {
    run: &'a Value,
    images: &'a [Image],
    pipeline: Pipeline,
    main: Generators,
    workers: Vec<Generators>,
    scratches: Vec<Scratch>,
}

impl Process<'_> {
    /// The rows of one batch, and what engines made otherwise than the plain one.
    fn rows(&mut self, epoch: usize, batch: &Batch) -> Vec<(Value, Option<String>)> {
        let source = text(self.run, "source");
        let mut rows = Vec::new();
        for index in &batch.indices {
            let image = &self.images[*index as usize];
            let generators = batch.worker.map_or(&mut self.main, |worker| &mut self.workers[worker as usize]);
            let drawn = self.pipeline.draw(image.width, image.height, generators.source(source));
            let parameters = drawn.expect("a crop that fits");
            let mut outputs = self.scratches.iter_mut().map(|scratch| {
                let engine = scratch.engine();
                (engine, self.pipeline.apply(image, &parameters, scratch).expect("pixels"))
            });
            let (_, plain) = outputs.next().expect("the plain engine");
            let mut others = outputs.filter(|(_, output)| output.data != plain.data);
            let differs =
                others.next().map(|(engine, output)| format!("{engine:?}: {}", first_pixel(output, &plain.data)));
            let order: String = parameters.order.iter().map(u8::to_string).collect();
            let bits = |factor: f64| if source == "torch" { bits32(factor as f32) } else { bits64(factor) };
            let factors = parameters.factors.map(|factor| factor.map_or_else(String::new, bits));
            let worker = batch.worker.map_or(-1, i64::from);
            let (top, left, flip) = (parameters.top, parameters.left, u8::from(parameters.flipped));
            let digest = sha256(&plain.data);
            let row = json!([epoch, batch.number, worker, index, top, left, flip, order, factors, digest]);
            rows.push((row, differs));
        }
        rows
    }
}

/// Runs one configuration; the pixels are compared where they are of PIL images.
fn check(account: &mut Account, run: &Value, images: &[Image], pixels: bool) {
    let plan = Plan {
        batch_size: count(run, "batch_size"),
        drop_last: false,
        num_workers: count(run, "num_workers") as u32,
        persistent_workers: run["persistent"].as_bool().unwrap_or(false),
    };
    let n = images.len();
    let order = if run["shuffle"] == true { Order::Random(n) } else { Order::Sequential(n) };
    let seed: i128 = parsed(run, "seed");
    let globals = Globals { python: Python::new(seed.unsigned_abs()), ..Globals::seeded(torch_seed(run, "seed")) };
    let main = Generators { globals, held: held(run) };
    let mut process =
        Process { run, images, pipeline: pipeline(run), main, workers: Vec::new(), scratches: scratches() };
    let mut loader = Loader::new(plan, None);
    let (mut rows, mut bases, mut after) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..count(run, "epochs") {
        let mut epoch = loader.start(&mut process.main.globals.torch, order.clone());
        bases.push(epoch.base_seed.to_string());
        if epoch.starts_workers {
            process.workers = (0..plan.num_workers).map(|number| worker(run, epoch.base_seed, number)).collect();
        }
        while let Some(batch) = loader.next_batch(&mut epoch, &mut process.main.globals.torch) {
            rows.extend(process.rows(number, &batch));
        }
        after.push(fingerprint(process.main.globals.torch.words()));
    }
    let id = || text(run, "id").to_owned();
    account.compare("base seeds", id, &json!(bases), &run["base_seeds"]);
    account.compare("main generator after each epoch", id, &json!(after), &run["main_after_epoch"]);
    let wanted = list(run, "rows");
    account.compare("samples", id, &json!(rows.len()), &json!(wanted.len()));
    for ((row, differs), wanted) in rows.iter().zip(wanted) {
        let [found, wanted] = [row, wanted].map(|row| row.as_array().expect("a row").split_last().expect("a digest"));
        let case = || format!("{} {}", id(), cut(&json!(wanted.1)));
        account.compare("parameters", case, &json!(found.1), &json!(wanted.1));
        if pixels {
            account.compare("pixels", case, found.0, wanted.0);
            tell(account, "pixels by every engine", &case(), differs.as_deref());
        }
    }
    if pixels {
        let mut digests: Vec<_> = rows.iter().map(|(row, _)| row[9].to_string()).collect();
        digests.sort_unstable();
        digests.dedup();
        account.compare("distinct outputs", id, &json!(digests.len()), &run["distinct_outputs"]);
    }
}

#[test]
fn whole_runs_are_those_of_a_real_loader() {
    let document = load("runs.json");
    let (images, _) = images(&document);
    let mut account = Account::new("runs.json");
    for run in list(&document, "runs") {
        match text(run, "backend") {
            "pil" => check(&mut account, run, &images, true),
            // v1 draws for tensors what it draws for PIL images.
            "tensor_v1" => {
                check(&mut account, run, &images, false);
                account.not_covered("pixels of tensor_v1");
            }
            other => account.not_covered(format!("runs of {other}")),
        }
    }
    account.close();
}

#[test]
fn every_section_of_the_file_is_read_or_listed() {
    sections(&load("runs.json"), "runs.json sections", &["images", "columns", "runs"]);
}
