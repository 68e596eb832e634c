//! The built-in pipeline against the real libraries: random configurations, every sample's parameters and pixels.
//!
//! `PIPEAUDIT_BIT_EXACT_SEED` draws other configurations than those of the fixed seed.

mod configuration;
#[path = "../support/python.rs"]
mod python;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

use configuration::Configuration;

const SEED: u64 = 20_261_201;
const CONFIGURATIONS: usize = 100;

fn main() {
    let arguments = Arguments::from_args();
    let python = python::with_torch();
    let name = "a_hundred_random_configurations_equal_the_real_loader_sample_by_sample";
    let trial = match python {
        Ok(python) => Trial::test(name, move || compare(&python)),
        Err(reason) if python::required() => Trial::test(name, move || Err(Failed::from(reason))),
        Err(reason) => {
            eprintln!("ignored: {reason}");
            Trial::test(name, || Ok(())).with_ignored_flag(true).with_kind(reason)
        }
    };
    libtest_mimic::run(&arguments, vec![trial]).exit();
}

fn compare(python: &Path) -> Result<(), Failed> {
    let seed = std::env::var("PIPEAUDIT_BIT_EXACT_SEED").map_or(Ok(SEED), |text| text.parse())?;
    println!("configurations drawn with PIPEAUDIT_BIT_EXACT_SEED={seed}");
    let configurations = configuration::draw(seed, CONFIGURATIONS);
    let wanted = real(python, &configurations)?;
    let mut samples = 0;
    for (configuration, wanted) in configurations.iter().zip(&wanted) {
        let got = configuration.simulate();
        let wanted = wanted.as_array().ok_or("the script prints lists")?;
        if got.len() != wanted.len() {
            return Err(format!("{} rows, not {}: {}", got.len(), wanted.len(), configuration.describe()).into());
        }
        for (row, (got, wanted)) in got.iter().zip(wanted).enumerate() {
            if let Some(difference) = configuration::difference(got, wanted) {
                return Err(format!("row {row}: {difference}\n{}", configuration.describe()).into());
            }
        }
        samples += got.len();
    }
    println!("{samples} samples of {CONFIGURATIONS} configurations are equal");
    Ok(())
}

/// Runs the real loaders, all in one process.
fn real(python: &Path, configurations: &[Configuration]) -> Result<Vec<Value>, Failed> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bit_exact/real_loader.py");
    let mut child =
        Command::new(python).args(["-W", "ignore", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let described: Vec<Value> = configurations.iter().map(Configuration::to_json).collect();
    child.stdin.take().ok_or("a pipe was asked for")?.write_all(serde_json::to_string(&described)?.as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("the script ended with {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}
