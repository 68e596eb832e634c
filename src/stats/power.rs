//! What a test could have seen.

use super::binomial;

/// The least and the greatest ratio of `n` that the exact two-sided test against `p` passes at `alpha`.
pub fn passing_ratios(n: u64, p: f64, alpha: f64) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    let passes = |x: u64| binomial::two_sided(x, n, p) > alpha;
    let centre = (n as f64 * p).round() as u64;
    // P-values rise towards the centre on either side of it.
    let (mut low, mut high) = (0, centre);
    while low < high {
        let middle = low + (high - low) / 2;
        if passes(middle) { high = middle } else { low = middle + 1 }
    }
    let least = low;
    let (mut low, mut high) = (centre, n);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if passes(middle) { low = middle } else { high = middle - 1 }
    }
    (least as f64 / n as f64, low as f64 / n as f64)
}

/// The number of draws from which on one of `cells` equally likely values that is never drawn is noticed at `alpha`,
/// all cells being looked at, on both sides.
pub fn draws_to_miss_a_cell(cells: u64, alpha: f64) -> u64 {
    if cells < 2 {
        return 0;
    }
    let each = alpha / (2.0 * cells as f64);
    (each.ln() / (-1.0 / cells as f64).ln_1p()).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_passes_up_to_the_edge_and_no_further() {
        let (low, high) = passing_ratios(128, 0.5, 1e-6);
        let count = |ratio: f64| (ratio * 128.0).round() as u64;
        assert!(binomial::two_sided(count(low), 128, 0.5) > 1e-6);
        assert!(binomial::two_sided(count(low) - 1, 128, 0.5) <= 1e-6);
        assert!(binomial::two_sided(count(high), 128, 0.5) > 1e-6);
        assert!(binomial::two_sided(count(high) + 1, 128, 0.5) <= 1e-6);
    }

    #[test]
    fn few_samples_pass_with_any_ratio() {
        assert_eq!(passing_ratios(8, 0.5, 1e-6), (0.0, 1.0));
        assert_eq!(passing_ratios(0, 0.5, 1e-6), (0.0, 1.0));
    }

    #[test]
    fn a_cell_is_missed_when_its_absence_is_improbable_enough() {
        // (4/5)^n <= 1e-6 / 10: n = ln(1e-7) / ln(0.8) = 72.2.
        assert_eq!(draws_to_miss_a_cell(5, 1e-6), 73);
        assert_eq!(draws_to_miss_a_cell(1, 1e-6), 0);
    }
}
