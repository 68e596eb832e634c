//! Images per CPU-second through RandomCrop 224 of 256, flip and ColorJitter(0.4, 0.4, 0.4, 0.1), on one thread:
//! pipeaudit's engines, and beside them the libraries of Python where they are at hand.
//!
//! All take turns in each round, so that the load of the machine meets all alike; the figures are medians over the
//! rounds, and a ratio is the median of the rounds' ratios.
//!
//! `PIPEAUDIT_PYTHON` names the Python with torch (else `python3`), `PIPEAUDIT_ROUNDS` the rounds (else 5).

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use pipeaudit::rng::chacha::ChaCha;
use pipeaudit::transform::{ColorJitter, Dialect, Engine, Image, Pipeline, RandomCrop, Scratch, Strength};

/// Images of a pass.
const IMAGES: usize = 256;
/// Their sides in pixels.
const SIDE: usize = 256;
/// Our own passes are repeated for so many CPU-seconds, for the clock counts no less than some milliseconds.
const LEAST_SECONDS: f64 = 1.0;
/// What the ratios are to.
const BASE: &str = "torchvision, PIL";

fn main() -> Result<(), Box<dyn Error>> {
    // Without `--bench` this is `cargo test --all-targets`: one look that it runs, and no measurement.
    let measuring = std::env::args().any(|argument| argument == "--bench");
    let images = images(if measuring { IMAGES } else { 2 });
    if !measuring {
        for engine in Engine::available() {
            Ours::new(engine)?.pass(&images)?;
        }
        return Ok(());
    }
    let rounds = std::env::var("PIPEAUDIT_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(5);
    let mut runners: Vec<Ours> = Engine::available().into_iter().map(Ours::new).collect::<Result<_, _>>()?;
    let folder = tempfile::tempdir()?;
    let raw = folder.path().join("images.bin");
    std::fs::write(&raw, images.iter().flat_map(|image| &image.data).copied().collect::<Vec<u8>>())?;
    let python = std::env::var("PIPEAUDIT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut peers = match Peers::start(&python, &raw) {
        Ok(peers) => Some(peers),
        Err(reason) => {
            println!("torch is not at hand, so there is nothing to compare with ({python}: {reason})");
            println!("name a Python that has torch and torchvision with PIPEAUDIT_PYTHON");
            None
        }
    };
    let mut table = Table::default();
    for round in 0..=rounds {
        // The first round warms caches and clocks, and is not counted.
        let counted = round > 0;
        if let Some(peers) = &mut peers {
            for name in peers.names.clone() {
                let speed = images.len() as f64 / peers.seconds(&name)?;
                table.add(&name, speed, counted);
            }
        }
        for runner in &mut runners {
            let speed = runner.speed(&images)?;
            table.add(&format!("pipeaudit, {:?}", runner.scratch.engine()), speed, counted);
        }
    }
    if let Some(peers) = &peers {
        peers.versions.iter().for_each(|version| println!("{version}"));
    }
    println!("{rounds} rounds of {} images, images per CPU-second on one thread:", images.len());
    table.print();
    two_threads(&images)
}

/// Two threads against one, by the clock on the wall: how far the engine scales where two cores are free.
fn two_threads(images: &[Image]) -> Result<(), Box<dyn Error>> {
    let timed = |threads: usize| -> Result<f64, Box<dyn Error>> {
        let runners = (0..threads).map(|_| Ours::new(Engine::fastest())).collect::<Result<Vec<_>, _>>()?;
        let start = Instant::now();
        std::thread::scope(|scope| {
            for mut runner in runners {
                scope.spawn(move || (0..20).for_each(|_| runner.pass(images).expect("images that fit")));
            }
        });
        Ok(threads as f64 / start.elapsed().as_secs_f64())
    };
    let mut ratios = (0..5).map(|_| Ok(timed(2)? / timed(1)?)).collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    println!("two threads do {:.2} times the work of one in the same time", median(&mut ratios));
    Ok(())
}

/// One engine with all that it needs.
struct Ours {
    pipeline: Pipeline,
    scratch: Scratch,
    generator: ChaCha,
}

impl Ours {
    fn new(engine: Engine) -> Result<Self, Box<dyn Error>> {
        let [colour, hue] = [0.4, 0.1].map(Strength::Around);
        let jitter = ColorJitter::new(colour, colour, colour, hue)?;
        let pipeline = Pipeline { crop: RandomCrop::new(224, 224), flip_p: 0.5, jitter, dialect: Dialect::Torchvision };
        Ok(Self { pipeline, scratch: Scratch::new(engine), generator: ChaCha::new(1) })
    }

    /// Every image once.
    fn pass(&mut self, images: &[Image]) -> pipeaudit::error::Result<()> {
        for image in images {
            let parameters = self.pipeline.draw(image.width, image.height, &mut self.generator)?;
            std::hint::black_box(self.pipeline.apply(image, &parameters, &mut self.scratch)?);
        }
        Ok(())
    }

    /// Images per CPU-second.
    fn speed(&mut self, images: &[Image]) -> Result<f64, Box<dyn Error>> {
        let start = cpu_seconds();
        let mut done = 0;
        loop {
            self.pass(images)?;
            done += images.len();
            let seconds = cpu_seconds() - start;
            if seconds >= LEAST_SECONDS {
                return Ok(done as f64 / seconds);
            }
        }
    }
}

/// CPU seconds of this thread where Linux tells them, else of the clock on the wall.
fn cpu_seconds() -> f64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = spent.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(
        || std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0.0, |time| time.as_secs_f64()),
        |nanoseconds| nanoseconds / 1e9,
    )
}

/// The Python process with the other libraries.
struct Peers {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    names: Vec<String>,
    versions: Vec<String>,
}

impl Peers {
    fn start(python: &str, raw: &std::path::Path) -> Result<Self, Box<dyn Error>> {
        let mut command = Command::new(python);
        command.args(["-c", include_str!("augment.py")]).arg(raw);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err("no pipes".into());
        };
        let mut output = BufReader::new(output);
        let (mut names, mut versions) = (Vec::new(), Vec::new());
        loop {
            let mut line = String::new();
            if output.read_line(&mut line)? == 0 {
                let ended = process.wait_with_output()?;
                let said = String::from_utf8_lossy(&ended.stderr);
                return Err(said.lines().last().unwrap_or("ended without a word").to_owned().into());
            }
            match line.trim_end().split_once('\t') {
                Some((name, version)) => {
                    names.push(name.to_owned());
                    versions.push(version.to_owned());
                }
                None => return Ok(Self { process, input, output, names, versions }),
            }
        }
    }

    /// CPU seconds of one pass.
    fn seconds(&mut self, name: &str) -> Result<f64, Box<dyn Error>> {
        writeln!(self.input, "{name}")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim_end().parse()?)
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        // It waits for a name; an error means that it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Speeds by name, one a round.
#[derive(Default)]
struct Table(Vec<(String, Vec<f64>)>);

impl Table {
    fn add(&mut self, name: &str, speed: f64, counted: bool) {
        if !counted {
            return;
        }
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, speeds)) => speeds.push(speed),
            None => self.0.push((name.to_owned(), vec![speed])),
        }
    }

    fn print(&self) {
        for (name, speeds) in &self.0 {
            let (low, high) =
                speeds.iter().fold((f64::MAX, 0_f64), |(low, high), speed| (low.min(*speed), high.max(*speed)));
            print!("{name:24} {:8.0}  ({low:.0} to {high:.0})", median(&mut speeds.clone()));
            for base in [BASE, "albumentations"] {
                let Some((_, others)) = self.0.iter().find(|(known, _)| known == base && known != name) else {
                    continue;
                };
                let mut ratios: Vec<f64> = speeds.iter().zip(others).map(|(speed, other)| speed / other).collect();
                print!("  {:6.2} x {base}", median(&mut ratios));
            }
            println!();
        }
    }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Images like photographs in what matters here: smooth colours, edges, mild noise. The same in every run.
fn images(number: usize) -> Vec<Image> {
    let mut state = 7_u64;
    let mut random = |most: f64| {
        // Knuth's MMIX generator; its upper bits are good enough for pictures.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31) * most
    };
    let mut images = Vec::new();
    for _ in 0..number {
        // Each channel is a constant and two waves; a few discs cover them.
        let waves: [[f64; 5]; 3] =
            std::array::from_fn(|_| std::array::from_fn(|at| random(if at < 3 { 0.06 } else { 6.3 })));
        let discs: [[f64; 6]; 6] =
            std::array::from_fn(|_| std::array::from_fn(|at| random(if at == 2 { 60.0 } else { 256.0 })));
        let mut data = Vec::with_capacity(3 * SIDE * SIDE);
        for (y, x) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (y as f64, x as f64))) {
            let disc = discs.iter().find(|disc| (x - disc[0]).hypot(y - disc[1]) < disc[2]);
            for (channel, [across, down, skew, first, second]) in waves.iter().enumerate() {
                let wave = 128.0 + 70.0 * (across * x + first).sin() + 55.0 * (down * y + skew * x + second).cos();
                let value = disc.map_or(wave, |disc| disc[3 + channel] * 0.8 + wave * 0.2);
                data.push((value + random(20.0) - 10.0) as u8);
            }
        }
        images.push(Image { width: SIDE as u32, height: SIDE as u32, channels: 3, data });
    }
    images
}
