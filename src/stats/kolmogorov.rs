//! Kolmogorov-Smirnov tests with bounds that hold at any sample size.
//!
//! One sample: P. Massart, "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality" (1990):
//! `P(D >= d) <= 2 exp(-2 n d²)`. Two samples: F. Wei and R. Dudley, "Two-sample Dvoretzky-Kiefer-Wolfowitz
//! inequalities" (2012), who prove the constant e for equal sizes and find no case of unequal ones that needs more.
//! Ties only make the tests more cautious.

/// Largest distance between the distribution of values in 0..1 and the uniform one. Sorts the values.
pub fn distance_from_uniform(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len() as f64;
    let mut largest = 0.0_f64;
    for (i, value) in values.iter().enumerate() {
        let value = value.clamp(0.0, 1.0);
        largest = largest.max((i + 1) as f64 / n - value).max(value - i as f64 / n);
    }
    largest
}

/// Upper bound of the probability of a distance or a larger one, for `n` values drawn as declared.
pub fn one_sample(distance: f64, n: usize) -> f64 {
    (2.0 * (-2.0 * n as f64 * distance * distance).exp()).min(1.0)
}

/// The distance that [`one_sample`] gives the probability `alpha`.
pub fn critical_distance(alpha: f64, n: usize) -> f64 {
    ((2.0 / alpha).ln() / (2.0 * n.max(1) as f64)).sqrt().min(1.0)
}

/// Largest distance between two distributions. Both must be sorted.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    let (mut i, mut j, mut largest) = (0, 0, 0.0_f64);
    while i < a.len() && j < b.len() {
        let value = a[i].min(b[j]);
        while i < a.len() && a[i] <= value {
            i += 1;
        }
        while j < b.len() && b[j] <= value {
            j += 1;
        }
        largest = largest.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    largest
}

/// Upper bound of the probability of a distance or a larger one between samples of one distribution.
pub fn two_samples(distance: f64, n: usize, m: usize) -> f64 {
    let size = n as f64 * m as f64 / (n + m).max(1) as f64;
    (1.0 - 2.0 * size * distance * distance).exp().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_step_functions() {
        assert_eq!(distance_from_uniform(&mut [0.5]), 0.5);
        assert_eq!(distance_from_uniform(&mut [0.9, 0.1]), 0.4);
        assert_eq!(distance(&[0.0, 0.0], &[1.0]), 1.0);
        assert_eq!(distance(&[0.0, 1.0], &[0.0, 1.0]), 0.0);
        assert_eq!(distance(&[], &[1.0]), 0.0);
    }

    #[test]
    fn a_critical_distance_has_the_probability_that_it_was_asked_for() {
        let distance = critical_distance(1e-6, 128);
        assert!((one_sample(distance, 128) / 1e-6 - 1.0).abs() < 1e-9);
    }
}
