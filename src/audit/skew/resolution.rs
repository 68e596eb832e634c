//! What the tests of a loader could have seen, as sentences.

use crate::audit::view::View;
use crate::stats::{kolmogorov, power};
use crate::trace::run::Distribution;

use super::collect::{Collected, whole_numbers};

/// Draws at which a ratio is known to about a twentieth.
const ENOUGH: u64 = 4096;

/// The sentences, for the level at which a single test is rejected.
pub fn sentences(view: &View<'_>, collected: &Collected, alpha: f64) -> Vec<String> {
    let mut sentences = Vec::new();
    for applied in &collected.applied {
        let Some(p) = applied.p.filter(|p| *p > 0.0 && *p < 1.0) else { continue };
        let calls: u64 = applied.by_worker.iter().map(|count| count.1).sum();
        if calls == 0 {
            continue;
        }
        let (low, high) = power::passing_ratios(calls, p, alpha);
        let mut sentence = if low <= 0.0 && high >= 1.0 {
            format!("with {calls} samples any ratio of `{}` passes", applied.name)
        } else {
            format!("with {calls} samples a ratio of `{}` from {low:.2} to {high:.2} passes", applied.name)
        };
        if let Some((flag, more)) = more(view, calls) {
            let (low, high) = power::passing_ratios(more, p, alpha);
            sentence = format!("{sentence}; `{flag}` narrows that to {low:.2}-{high:.2}");
        }
        sentences.push(sentence);
    }
    sentences.extend(whole(collected, alpha));
    sentences.extend(continuous(collected, alpha));
    sentences
}

/// The flag that brings enough draws, and how many it brings.
fn more(view: &View<'_>, calls: u64) -> Option<(String, u64)> {
    if calls >= ENOUGH {
        return None;
    }
    let epochs = view.epochs().len().max(1) as u64;
    if view.is_built_in() {
        let samples = view.loader.length?.max(1);
        let wanted = ENOUGH.max(samples.checked_mul(16)?.checked_next_power_of_two()?);
        return Some((format!("--samples {wanted}"), calls.checked_mul(wanted)? / samples));
    }
    let wanted = (ENOUGH * epochs).div_ceil(calls);
    Some((format!("--epochs {wanted}"), calls.checked_mul(wanted)? / epochs))
}

/// Of whole numbers: the one that needs most draws.
fn whole(collected: &Collected, alpha: f64) -> Option<String> {
    let cells = |(low, high): (f64, f64)| whole_numbers(low, high).unwrap_or(0);
    let whole = collected.parameters.iter().filter(|p| p.distribution == Distribution::Integer && p.drawn > 0);
    let parameter = whole.filter(|p| p.range.is_some()).max_by_key(|p| p.range.map_or(0, cells))?;
    let (low, high) = parameter.range?;
    // Four looks at a parameter share the level: its rarest and commonest value, all values, and their distribution.
    let needed = power::draws_to_miss_a_cell(cells((low, high)), alpha / 4.0);
    (parameter.drawn < needed).then(|| {
        format!(
            "with {} samples a value of `{}` ({low} to {high}) that is never drawn passes; from {needed} on it is seen",
            parameter.drawn, parameter.name
        )
    })
}

/// Of continuous parameters: the one with the fewest draws.
fn continuous(collected: &Collected, alpha: f64) -> Option<String> {
    let continuous = collected.parameters.iter().filter(|p| p.distribution == Distribution::Uniform && p.drawn > 0);
    let parameter = continuous.min_by_key(|p| p.drawn)?;
    let distance = kolmogorov::critical_distance(alpha, parameter.drawn as usize);
    Some(format!(
        "with {} samples a distribution of `{}` that is off by up to {distance:.2} passes",
        parameter.drawn, parameter.name
    ))
}
