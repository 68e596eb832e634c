//! ColorJitter's ranges and draws as torchvision 0.29 (v1) makes them.

use crate::error::{Error, Result};
use crate::rng::Draw;

/// How much a factor may move, as ColorJitter takes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strength {
    /// `v`: from `max(0, 1 - v)` to `1 + v`; for hue from `-v` to `v`.
    Around(f64),
    /// From the first to the second.
    Between(f64, f64),
}

/// The ranges of the four factors: torchvision's `ColorJitter`. A factor without a range does nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ColorJitter {
    /// From the first to the second.
    pub brightness: Option<(f64, f64)>,
    /// From the first to the second.
    pub contrast: Option<(f64, f64)>,
    /// From the first to the second.
    pub saturation: Option<(f64, f64)>,
    /// From the first to the second, within -0.5 and 0.5.
    pub hue: Option<(f64, f64)>,
}

/// An order of application (0 brightness, 1 contrast, 2 saturation, 3 hue) and the four factors.
pub type Factors = ([u8; 4], [Option<f64>; 4]);

impl ColorJitter {
    /// The ranges of the given strengths.
    ///
    /// # Errors
    /// Wrong usage: a negative strength, or a range that torchvision refuses.
    pub fn new(brightness: Strength, contrast: Strength, saturation: Strength, hue: Strength) -> Result<Self> {
        Ok(Self {
            brightness: range("brightness", brightness, 1.0)?,
            contrast: range("contrast", contrast, 1.0)?,
            saturation: range("saturation", saturation, 1.0)?,
            hue: range("hue", hue, 0.0)?,
        })
    }

    /// The ranges in the order in which they are drawn.
    pub fn ranges(&self) -> [Option<(f64, f64)>; 4] {
        [self.brightness, self.contrast, self.saturation, self.hue]
    }

    /// As torchvision draws: the order, then a factor for each range that there is.
    pub fn draw(&self, generator: &mut dyn Draw) -> Factors {
        let order = generator.permutation4();
        (order, self.ranges().map(|range| range.map(|(low, high)| generator.uniform(low, high))))
    }

    /// As hand-written pipelines draw: the order, then all four factors, also those that can only do nothing.
    pub fn draw_all(&self, generator: &mut dyn Draw) -> Factors {
        let order = generator.permutation4();
        let mut still = [1.0, 1.0, 1.0, 0.0].into_iter();
        let factors = self.ranges().map(|range| {
            let still = still.next().unwrap_or(0.0);
            let (low, high) = range.unwrap_or((still, still));
            Some(generator.uniform(low, high))
        });
        (order, factors)
    }
}

/// The range of one factor; none where it can only do nothing.
fn range(name: &str, strength: Strength, still: f64) -> Result<Option<(f64, f64)>> {
    let hue = still == 0.0;
    let (low, high) = match strength {
        Strength::Around(value) if value < 0.0 => {
            return Err(Error::usage(format!("{name} is {value}, but a strength cannot be negative"))
                .help(format!("name a strength of 0 or more, or a range: --pipeline {name}=0.6..1.4")));
        }
        Strength::Around(value) if hue => (-value, value),
        Strength::Around(value) => ((still - value).max(0.0), still + value),
        Strength::Between(low, high) => (low, high),
    };
    let (least, most) = if hue { (-0.5, 0.5) } else { (0.0, f64::INFINITY) };
    // Written so that a NaN is refused.
    if !(least <= low && low <= high && high <= most) {
        return Err(Error::usage(format!(
            "{name} ranges from {low} to {high}, but must rise within {least} and {most}"
        ))
        .help(if hue {
            "hue is a share of the colour circle: 0.1 is ±36 degrees"
        } else {
            "1 leaves an image as it is"
        }));
    }
    Ok(if low == still && high == still { None } else { Some((low, high)) })
}
