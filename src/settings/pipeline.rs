//! Reads `--pipeline crop=64,padding=4,flip=0.5,…` into the transforms.

use crate::error::{Error, Result};
use crate::source::simulate::Library;
use crate::transform::{ColorJitter, Dialect, Padding, Pipeline, RandomCrop, Strength};

const KEYS: [&str; 7] = ["crop", "padding", "flip", "brightness", "contrast", "saturation", "hue"];
const EXAMPLE: &str = "an example: --pipeline crop=224,padding=4,flip=0.5,brightness=0.4,hue=0.1";
/// Larger crops than this are a slip of the finger.
const MAX_SIDE: u32 = 65_536;

/// The transforms that the text names; what it leaves out keeps its default.
///
/// # Errors
/// Where a key is unknown, stands twice or has no value that makes sense.
pub fn parse(text: &str, library: Library) -> Result<Pipeline> {
    let mut crop = (64, 64);
    let mut padding = 0;
    let mut flip = 0.5;
    let mut jitter = [Strength::Around(0.4), Strength::Around(0.4), Strength::Around(0.4), Strength::Around(0.1)];
    let mut seen: Vec<&str> = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (key, value) = part
            .split_once('=')
            .map(|(key, value)| (key.trim(), value.trim()))
            .ok_or_else(|| Error::usage(format!("--pipeline: '{part}' is no key=value")).help(EXAMPLE))?;
        let key = known(key)?;
        if seen.contains(&key) {
            return Err(Error::usage(format!("--pipeline: {key} stands twice")).help("give each key once"));
        }
        seen.push(key);
        match key {
            "crop" => crop = size(value)?,
            "padding" => padding = whole(key, value, 0)?,
            "flip" => flip = probability(value)?,
            _ => {
                let at = KEYS.iter().position(|known| *known == key).expect("the key is known") - 3;
                jitter[at] = strength(key, value)?;
            }
        }
    }
    let [brightness, contrast, saturation, hue] = jitter;
    let (height, width) = crop;
    Ok(Pipeline {
        crop: RandomCrop { padding: (padding > 0).then(|| Padding::all(padding)), ..RandomCrop::new(height, width) },
        flip_p: flip,
        jitter: ColorJitter::new(brightness, contrast, saturation, hue)?,
        dialect: match library {
            Library::ChaCha | Library::Torch => Dialect::Torchvision,
            Library::Numpy | Library::Python => Dialect::HandWritten,
        },
    })
}

fn known(key: &str) -> Result<&'static str> {
    if let Some(known) = KEYS.iter().find(|known| **known == key) {
        return Ok(known);
    }
    let nearest = KEYS.iter().min_by_key(|known| strsim::levenshtein(known, key)).expect("there are keys");
    Err(Error::usage(format!("--pipeline: unknown key '{}'", key.escape_debug()))
        .help(format!("did you mean {nearest}? The keys are {}", KEYS.join(", "))))
}

fn whole(key: &str, value: &str, low: u32) -> Result<u32> {
    value.parse().ok().filter(|number| (low..=MAX_SIDE).contains(number)).ok_or_else(|| {
        Error::usage(format!("--pipeline: {key}={} is no whole number from {low} to {MAX_SIDE}", value.escape_debug()))
            .help(EXAMPLE)
    })
}

/// `224` or `HxW`.
fn size(value: &str) -> Result<(u32, u32)> {
    match value.split_once('x') {
        Some((height, width)) => Ok((whole("crop", height, 1)?, whole("crop", width, 1)?)),
        None => whole("crop", value, 1).map(|side| (side, side)),
    }
}

fn number(key: &str, value: &str) -> Result<f64> {
    value
        .parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .ok_or_else(|| Error::usage(format!("--pipeline: {key}={} is no number", value.escape_debug())).help(EXAMPLE))
}

fn probability(value: &str) -> Result<f64> {
    let p = number("flip", value)?;
    if (0.0..=1.0).contains(&p) {
        return Ok(p);
    }
    Err(Error::usage(format!("--pipeline: flip={value} is no probability: it must be from 0 to 1")).help(EXAMPLE))
}

fn strength(key: &str, value: &str) -> Result<Strength> {
    match value.split_once("..") {
        Some((low, high)) => Ok(Strength::Between(number(key, low)?, number(key, high)?)),
        None => number(key, value).map(Strength::Around),
    }
}
