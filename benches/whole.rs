//! The whole process: `check` against a script written by hand and against `import torch`, two workers against one, and
//! memory as the number of samples grows. Ratios of CPU time, measured in turns in one run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

const ROUNDS: usize = 5;
const BINARY: &str = env!("CARGO_BIN_EXE_pipeaudit");

struct Cost {
    cpu: Duration,
    wall: Duration,
}

fn children() -> (Duration, i64) {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the kernel counts");
    let time = |t: nix::sys::time::TimeVal| Duration::new(t.tv_sec() as u64, t.tv_usec() as u32 * 1000);
    (time(usage.user_time()) + time(usage.system_time()), usage.max_rss() / 1024)
}

fn cost(program: &Path, arguments: &[&str]) -> Cost {
    let (before, begun) = (children().0, Instant::now());
    let status = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .status()
        .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    assert!(status.success(), "{} {arguments:?}: {status}", program.display());
    Cost { cpu: children().0.saturating_sub(before), wall: begun.elapsed() }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// 256 images of 256 x 256: smooth colour, edges and mild noise.
fn images(folder: &Path) {
    for k in 0..256u32 {
        let mut noise = k.wrapping_mul(2_654_435_761) | 1;
        let picture = image::RgbImage::from_fn(256, 256, |x, y| {
            noise ^= noise << 13;
            noise ^= noise >> 17;
            noise ^= noise << 5;
            let edge = if (x / 37 + y / 29 + k) % 3 == 0 { 60 } else { 0 };
            let channel = |a: u32, b: u32| ((x * a + y * b) / 3 + edge + noise % 7).min(255) as u8;
            image::Rgb([channel(2, 1), channel(1, 1 + k % 3), channel(k % 4, 2)])
        });
        picture.save(folder.join(format!("{k:03}.png"))).expect("the folder can be written");
    }
}

fn python() -> Option<PathBuf> {
    let named = std::env::var_os("PIPEAUDIT_PYTHON").map(PathBuf::from);
    let candidate = named.unwrap_or_else(|| PathBuf::from("python3"));
    let has_torch = Command::new(&candidate)
        .args(["-c", "import torch, torchvision"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    has_torch.then_some(candidate)
}

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    images(folder.path());
    let folder = folder.path().to_str().expect("UTF-8");
    let binary = Path::new(BINARY);
    let check = ["check", "--workers", "4", "--images", folder, "--batch-size", "16", "--pipeline", "crop=224"];

    let default: Vec<Cost> = (0..ROUNDS).map(|_| cost(binary, &["check", "--workers", "4"])).collect();
    let of =
        |costs: &[Cost], what: fn(&Cost) -> Duration| median(costs.iter().map(|c| what(c).as_secs_f64()).collect());
    println!(
        "check --workers 4, embedded images: {:.3} s wall, {:.3} CPU-s",
        of(&default, |c| c.wall),
        of(&default, |c| c.cpu)
    );

    memory(binary);
    scaling(binary, folder);

    let by_hand = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/by_hand.py");
    let Some(python) = python() else {
        println!(
            "check on 256 images: {:.3} CPU-s; no Python with torch here (PIPEAUDIT_PYTHON): no ratio",
            cost(binary, &check).cpu.as_secs_f64()
        );
        return;
    };
    let (mut ours, mut script, mut import) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..3 {
        ours.push(cost(binary, &check));
        script.push(cost(&python, &[by_hand, folder, "4"]));
        import.push(cost(&python, &["-c", "import torch"]));
    }
    let ours = of(&ours, |c| c.cpu);
    println!(
        "check on 256 images of 256x256, crop 224, 2 epochs: {ours:.3} CPU-s = 1/{:.1} of the script by hand, 1/{:.1} of import torch",
        of(&script, |c| c.cpu) / ours,
        of(&import, |c| c.cpu) / ours
    );
}

fn memory(binary: &Path) {
    let mut peaks = Vec::new();
    for samples in ["64", "4096", "65536"] {
        cost(binary, &["check", "--workers", "4", "--samples", samples]);
        peaks.push(format!("{samples} samples {} MiB", children().1));
    }
    println!("peak memory: {}", peaks.join(", "));
}

fn scaling(binary: &Path, folder: &str) {
    let run = |workers: &str| {
        let arguments = ["check", "--workers", workers, "--images", folder, "--epochs", "4", "--pipeline", "crop=224"];
        cost(binary, &arguments).wall.as_secs_f64()
    };
    let ratios = (0..ROUNDS).map(|_| run("1") / run("2")).collect();
    println!("2 workers against 1: {:.2} times as fast", median(ratios));
}
