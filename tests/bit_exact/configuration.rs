//! A random configuration, for the simulator and for the script.

use pipeaudit::seeding::Policy;
use pipeaudit::source::simulate::{Dataset, Holder, Library, OutputDigest, Silent, Simulation, StartMethod};
use pipeaudit::trace::Lane;
use pipeaudit::trace::run::Index;
use pipeaudit::transform::{ColorJitter, Dialect, Image, Padding, Pipeline, RandomCrop};
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

const FACTORS: [&str; 4] = ["brightness", "contrast", "saturation", "hue"];
/// Positions in a jitter's values, whose parameters are sorted by name: brightness, contrast, hue, order, saturation.
const AT: [usize; 4] = [0, 1, 4, 2];

pub struct Configuration {
    simulation: Simulation,
    images: Vec<Image>,
}

/// Configurations from a seed.
pub fn draw(seed: u64, count: usize) -> Vec<Configuration> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| one(&mut rng)).collect()
}

fn one(rng: &mut ChaCha8Rng) -> Configuration {
    let workers = rng.random_range(0..4);
    let library = *[Library::Torch, Library::Numpy, Library::Python].choose(rng).expect("three");
    let held = library != Library::Torch && rng.random();
    let small = rng.random_range(0..4) == 0;
    let padding = if small { rng.random_range(1..6) } else { 0 };
    let (height, width) = (rng.random_range(1..40), rng.random_range(1..40));
    let jitter = [(); 3].map(|()| {
        let (low, more) = (rng.random::<f64>() * 1.2, rng.random::<f64>() * 2.0);
        (rng.random_range(0..5) > 0).then_some((low, low + more))
    });
    let hue = (rng.random_range(0..5) > 0).then(|| (-rng.random::<f64>() / 2.0, rng.random::<f64>() / 2.0));
    let sizes = |rng: &mut ChaCha8Rng| (height + rng.random_range(0..9), width + rng.random_range(0..9));
    let simulation = Simulation {
        workers,
        epochs: rng.random_range(1..4),
        batch_size: rng.random_range(1..7),
        seed: if rng.random() { rng.random_range(0..1000) } else { rng.next_u64() },
        start_method: StartMethod::Fork,
        persistent_workers: workers > 0 && rng.random(),
        policy: if workers == 0 { Policy::None } else { *Policy::ALL.choose(rng).expect("policies") },
        ranks: 1,
        set_epoch: true,
        library,
        holder: if held { Holder::Held } else { Holder::Global },
        pipeline: Pipeline {
            crop: RandomCrop {
                padding: (padding > 0).then(|| Padding::all(padding)),
                ..RandomCrop::new(height, width)
            },
            flip_p: *[0.0, 0.3, 0.5, 1.0, rng.random()].choose(rng).expect("five"),
            jitter: ColorJitter { brightness: jitter[0], contrast: jitter[1], saturation: jitter[2], hue },
            dialect: if library == Library::Torch { Dialect::Torchvision } else { Dialect::HandWritten },
        },
        pixels: true,
        digest: OutputDigest::Sha256,
    };
    let count = rng.random_range(1..20);
    let images = (0..count).map(|_| image(sizes(rng), rng)).collect();
    Configuration { simulation, images }
}

fn image((height, width): (u32, u32), rng: &mut ChaCha8Rng) -> Image {
    let channels = *[1, 3, 3, 3, 4].choose(rng).expect("five");
    let mut data = vec![0; (width * height) as usize * usize::from(channels)];
    rng.fill_bytes(&mut data);
    if rng.random() {
        // Half of the pictures are smooth: long runs of equal and nearly equal colours.
        for at in usize::from(channels)..data.len() {
            data[at] = data[at - usize::from(channels)].wrapping_add(data[at] & 1);
        }
    }
    Image { width, height, channels, data }
}

impl Configuration {
    /// For the script.
    pub fn to_json(&self) -> Value {
        let s = &self.simulation;
        let jitter: serde_json::Map<_, _> = FACTORS
            .iter()
            .zip(s.pipeline.jitter.ranges())
            .map(|(name, range)| ((*name).to_owned(), json!(range)))
            .collect();
        let images: Vec<Value> = self
            .images
            .iter()
            .map(|image| {
                let mode = match image.channels {
                    1 => "L",
                    3 => "RGB",
                    _ => "RGBA",
                };
                let hex: String = image.data.iter().map(|byte| format!("{byte:02x}")).collect();
                json!({"width": image.width, "height": image.height, "mode": mode, "hex": hex})
            })
            .collect();
        json!({
            "seed": s.seed, "workers": s.workers, "epochs": s.epochs, "batch_size": s.batch_size,
            "persistent": s.persistent_workers, "init": s.policy.to_string(),
            "rng": match s.library { Library::Torch => "torch", Library::Numpy => "numpy", _ => "python" },
            "holder": if s.holder == Holder::Held { "held" } else { "global" },
            "crop": [s.pipeline.crop.size.0, s.pipeline.crop.size.1],
            "padding": s.pipeline.crop.padding.map_or(0, |padding| padding.left),
            "flip": s.pipeline.flip_p, "jitter": jitter, "images": images,
        })
    }

    /// For messages.
    pub fn describe(&self) -> String {
        let mut json = self.to_json();
        json["images"] = json!(self.images.iter().map(|i| (i.width, i.height, i.channels)).collect::<Vec<_>>());
        json.to_string()
    }

    /// The rows as the script prints them.
    pub fn simulate(&self) -> Vec<Value> {
        let images = self.images.iter().enumerate().map(|(k, image)| (format!("image {k}"), image.clone())).collect();
        let dataset = Dataset::decoded(images).expect("there are images");
        let run = self.simulation.run("a", &dataset, &mut Silent).expect("every image is large enough").run;
        let mut rows = Vec::new();
        for epoch in 0..self.simulation.epochs {
            let lanes: Vec<&Lane> = run.lanes.iter().filter(|lane| lane.epoch == epoch).collect();
            let mut batches: Vec<(u32, u32, Value)> = Vec::new();
            for lane in lanes {
                for sample in lane.samples() {
                    let events: Vec<_> = sample.events().collect();
                    let Index::Number(index) = sample.index else { panic!("indices are numbers") };
                    let factors: Vec<Option<f64>> =
                        AT.iter().map(|at| Some(events[2].values[*at]).filter(|value| !value.is_nan())).collect();
                    let row = json!([
                        epoch,
                        lane.worker.0,
                        index,
                        events[0].values[1] as u32,
                        events[0].values[0] as u32,
                        events[1].applied,
                        order(events[2].values[3] as usize),
                        factors,
                        format!("{:032x}", sample.output.expect("pixels are made").0),
                    ]);
                    batches.push((sample.batch.expect("batches are numbered"), sample.seq, row));
                }
            }
            batches.sort_by_key(|(batch, seq, _)| (*batch, *seq));
            rows.extend(batches.into_iter().map(|(_, _, row)| row));
        }
        rows
    }
}

/// The permutation of 0..4 that stands at this place in lexicographic order.
fn order(mut rank: usize) -> Vec<usize> {
    let mut left = vec![0, 1, 2, 3];
    let mut order = Vec::new();
    for size in [6, 2, 1, 1] {
        order.push(left.remove(rank / size));
        rank %= size;
    }
    order
}

/// What differs between a simulated row and a real one. A flip of a symmetric picture cannot be seen in the real one.
pub fn difference(got: &Value, wanted: &Value) -> Option<String> {
    let names = ["epoch", "worker", "index", "top", "left", "flipped", "order", "factors", "pixels"];
    for (at, name) in names.iter().enumerate() {
        let (got, wanted) = (&got[at], &wanted[at]);
        let equal = match *name {
            "flipped" => wanted.is_null() || got == wanted,
            "pixels" => wanted.as_str().is_some_and(|hex| Some(&hex[..32]) == got.as_str()),
            "factors" => same_numbers(got, wanted),
            _ => got == wanted,
        };
        if !equal {
            return Some(format!("{name} is {got}, and {wanted} in the real loader"));
        }
    }
    None
}

fn same_numbers(got: &Value, wanted: &Value) -> bool {
    let list = |value: &Value| -> Vec<Option<u64>> {
        value.as_array().expect("a list").iter().map(|v| v.as_f64().map(f64::to_bits)).collect()
    };
    list(got) == list(wanted)
}
