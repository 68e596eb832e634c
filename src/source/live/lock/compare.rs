//! What changed since a fingerprint was made, as sentences that name the loader, the thing and, where a library's
//! version changed with it, the library.

use super::{Lock, LockedLoader, LockedSource, LockedTransform};

/// What changed from one fingerprint to another; empty where the data is the same. Versions alone are no change: a
/// library that was upgraded without an effect on the data is the good case.
pub fn compare(locked: &Lock, now: &Lock) -> Vec<String> {
    let mut changes = Vec::new();
    for number in 0..locked.loaders.len().max(now.loaders.len()) {
        match (locked.loaders.get(number), now.loaders.get(number)) {
            (Some(locked), Some(now)) => compare_loaders(locked, now, number, &mut changes),
            (Some(locked), None) => changes.push(format!("{}: this loader is gone", locked.name(number))),
            (None, Some(now)) => changes.push(format!("{}: this loader is new", now.name(number))),
            (None, None) => {}
        }
    }
    if !changes.is_empty() {
        changes.extend(upgrades(locked, now));
    }
    changes
}

/// `libraries: torchvision 0.6.1 -> 0.7.0`, where any version changed.
fn upgrades(locked: &Lock, now: &Lock) -> Option<String> {
    let mut upgrades = Vec::new();
    for (name, version) in &now.libraries {
        match locked.libraries.get(name) {
            Some(old) if old != version => upgrades.push(format!("{name} {old} -> {version}")),
            Some(_) => {}
            None => upgrades.push(format!("{name} {version} is new")),
        }
    }
    let gone = locked.libraries.keys().filter(|name| !now.libraries.contains_key(*name));
    upgrades.extend(gone.map(|name| format!("{name} is gone")));
    (!upgrades.is_empty()).then(|| format!("libraries: {}", upgrades.join(", ")))
}

fn compare_loaders(locked: &LockedLoader, now: &LockedLoader, number: usize, changes: &mut Vec<String>) {
    let name = now.name(number);
    let mut say = |change: String| changes.push(format!("{name}: {change}"));
    let mut counts = vec![("ranks", u64::from(locked.ranks), u64::from(now.ranks))];
    counts.push(("workers", u64::from(locked.workers), u64::from(now.workers)));
    counts.push(("samples in the first epoch", locked.samples, now.samples));
    let mut shaped_alike = true;
    for (what, old, new) in counts {
        if old != new {
            say(format!("{what} {old} -> {new}"));
            shaped_alike = false;
        }
    }
    if locked.dataset != now.dataset {
        let show = |dataset: &Option<String>| dataset.clone().unwrap_or_else(|| "unknown".to_owned());
        say(format!("dataset {} -> {}", show(&locked.dataset), show(&now.dataset)));
    }
    compare_sources(locked, now, shaped_alike, &mut say);
    compare_transforms(locked, now, &mut say);
    // Other counts change digests by themselves; they were said.
    if shaped_alike {
        for (what, old, new) in [("order", &locked.order, &now.order), ("outputs", &locked.outputs, &now.outputs)] {
            if let Some(change) = compare_digests(what, old.as_deref(), new.as_deref()) {
                say(change);
            }
        }
    }
}

fn compare_digests(what: &str, old: Option<&str>, new: Option<&str>) -> Option<String> {
    match (old, new) {
        (Some(old), Some(new)) if old != new => Some(format!("{what} changed")),
        (Some(_), None) => Some(format!("{what} now vary from run to run")),
        (None, _) | (Some(_), Some(_)) => None,
    }
}

fn compare_sources(locked: &LockedLoader, now: &LockedLoader, shaped_alike: bool, say: &mut impl FnMut(String)) {
    for (name, LockedSource { algorithm, streams }) in &locked.sources {
        match now.sources.get(name) {
            None => say(format!("nothing draws from {name} ({algorithm}) any more")),
            Some(new) if new.algorithm != *algorithm => {
                say(format!("algorithm of {name} {algorithm} -> {}", new.algorithm));
            }
            Some(new) if shaped_alike => {
                let what = format!("streams of {name}");
                if let Some(change) = compare_digests(&what, streams.as_deref(), new.streams.as_deref()) {
                    say(change);
                }
            }
            Some(_) => {}
        }
    }
    for (name, source) in now.sources.iter().filter(|(name, _)| !locked.sources.contains_key(*name)) {
        say(format!("samples draw from {name} ({}) now", source.algorithm));
    }
}

fn compare_transforms(locked: &LockedLoader, now: &LockedLoader, say: &mut impl FnMut(String)) {
    for (name, old) in &locked.transforms {
        let Some(new) = now.transforms.get(name) else {
            say(format!("{name} is gone"));
            continue;
        };
        let LockedTransform { p, parameters, sources } = old;
        if *p != new.p {
            let show = |p: Option<f64>| p.map_or_else(|| "unknown".to_owned(), |p| p.to_string());
            say(format!("{name}: p {} -> {}", show(*p), show(new.p)));
        }
        let lists = [("parameters", parameters, &new.parameters), ("source", sources, &new.sources)];
        for (what, old, new) in lists.into_iter().filter(|(_, old, new)| old != new) {
            let show = |list: &[String]| if list.is_empty() { "none".to_owned() } else { list.join(", ") };
            say(format!("{name}: {what} {} -> {}", show(old), show(new)));
        }
    }
    for name in now.transforms.keys().filter(|name| !locked.transforms.contains_key(*name)) {
        say(format!("{name} is new"));
    }
}
