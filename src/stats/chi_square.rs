//! Pearson's chi-square test of counts against equal expectations.
//!
//! Its tail is asymptotic. At one in a million it promises too much where cells are thinly filled: cells of equal
//! expectation below [`LEAST`] are not tested by it (the exact test of the largest deviation of one cell is used at any
//! filling), and the p-value is multiplied by [`SAFETY`].

use statrs::function::gamma::gamma_ur;

/// The least expectation of a cell.
pub const LEAST: f64 = 20.0;

/// How far the true tail may lie above the asymptotic one at [`LEAST`]: see `tests/audit/statistics.rs`.
pub const SAFETY: f64 = 10.0;

/// `P(X >= x)` of the chi-square distribution.
pub fn tail(x: f64, degrees: f64) -> f64 {
    if x <= 0.0 { 1.0 } else { gamma_ur(degrees / 2.0, x / 2.0) }
}

/// P-value of `counts` being drawn equally likely, an upper bound; `None` where cells are filled too thinly or there
/// is one cell only.
pub fn equal(counts: &[u64]) -> Option<f64> {
    let total: u64 = counts.iter().sum();
    let expected = total as f64 / counts.len().max(1) as f64;
    if counts.len() < 2 || expected < LEAST {
        return None;
    }
    let statistic: f64 = counts.iter().map(|count| (*count as f64 - expected).powi(2) / expected).sum();
    Some((SAFETY * tail(statistic, (counts.len() - 1) as f64)).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinly_filled_cells_are_not_tested() {
        assert_eq!(equal(&[19, 19, 19]), None);
        assert_eq!(equal(&[1000]), None);
        assert_eq!(equal(&[]), None);
        assert_eq!(equal(&[20, 20]), Some(1.0));
    }
}
