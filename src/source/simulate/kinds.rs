//! The transforms as a run declares them: one crop a size of image, the flip, the jitter.

use std::collections::BTreeMap;

use super::Dataset;
use crate::error::{Error, Result};
use crate::trace::Lane;
use crate::trace::run::{Distribution, KindId, Names, ParameterKind, TransformKind};
use crate::transform::{Parameters, Pipeline};

const FACTORS: [&str; 4] = ["brightness", "contrast", "saturation", "hue"];

/// Numbers of the transforms in a run's names.
#[derive(Clone, Debug)]
pub struct Kinds {
    crops: BTreeMap<(u32, u32), KindId>,
    flip: KindId,
    jitter: KindId,
}

impl Kinds {
    /// Declares them.
    ///
    /// # Errors
    /// Where an image is smaller than the crop.
    pub fn new(pipeline: &Pipeline, dataset: &Dataset, names: &mut Names) -> Result<Self> {
        let mut crops = BTreeMap::new();
        for at in 0..dataset.images() as u64 {
            let (width, height) = dataset.size(at);
            if crops.contains_key(&(width, height)) {
                continue;
            }
            let room = pipeline.crop.room(width, height).map_err(|error| Error {
                message: format!("image {}: {}", dataset.name(at), error.message),
                ..error
            })?;
            let (rows, columns) = room;
            let parameters = vec![integer("left", f64::from(columns - 1)), integer("top", f64::from(rows - 1))];
            let kind = TransformKind { name: "RandomCrop".to_owned(), p: None, parameters };
            crops.insert((width, height), names.kind(kind));
        }
        let flip =
            TransformKind { name: "RandomHorizontalFlip".to_owned(), p: Some(pipeline.flip_p), parameters: Vec::new() };
        let mut parameters: Vec<_> = FACTORS
            .iter()
            .zip(pipeline.jitter.ranges())
            .map(|(name, range)| ParameterKind {
                name: (*name).to_owned(),
                distribution: if range.is_some() { Distribution::Uniform } else { Distribution::Constant },
                low: range.map(|r| r.0),
                high: range.map(|r| r.1),
            })
            .collect();
        parameters.push(integer("order", 23.0));
        parameters.sort_by(|a, b| a.name.cmp(&b.name));
        let jitter = TransformKind { name: "ColorJitter".to_owned(), p: None, parameters };
        Ok(Self { crops, flip: names.kind(flip), jitter: names.kind(jitter) })
    }

    /// Adds a sample's transforms to a lane.
    pub fn record(&self, lane: &mut Lane, size: (u32, u32), parameters: &Parameters) {
        lane.event(self.crops[&size], None, &[f64::from(parameters.left), f64::from(parameters.top)]);
        lane.event(self.flip, Some(parameters.flipped), &[]);
        let [brightness, contrast, saturation, hue] = parameters.factors.map(|factor| factor.unwrap_or(f64::NAN));
        lane.event(self.jitter, None, &[brightness, contrast, hue, f64::from(rank_of(parameters.order)), saturation]);
    }
}

fn integer(name: &str, high: f64) -> ParameterKind {
    ParameterKind { name: name.to_owned(), distribution: Distribution::Integer, low: Some(0.0), high: Some(high) }
}

/// The position of a permutation of 0..4 among all 24 in lexicographic order.
fn rank_of(order: [u8; 4]) -> u8 {
    let smaller_after = |at: usize| order[at + 1..].iter().filter(|other| **other < order[at]).count() as u8;
    smaller_after(0) * 6 + smaller_after(1) * 2 + smaller_after(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_numbered_in_lexicographic_order() {
        assert_eq!(rank_of([0, 1, 2, 3]), 0);
        assert_eq!(rank_of([0, 1, 3, 2]), 1);
        assert_eq!(rank_of([1, 0, 2, 3]), 6);
        assert_eq!(rank_of([3, 2, 1, 0]), 23);
    }
}
