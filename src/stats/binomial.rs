//! The binomial distribution: probabilities, tails, the exact two-sided test and the Clopper-Pearson interval.
//!
//! Probabilities follow C. Loader, "Fast and accurate computation of binomial probabilities" (2000): deviance and
//! Stirling's remainder instead of differences of large logarithms. Tails add up probabilities from the edge outwards,
//! about a dozen standard deviations of terms, so they hold to about 13 digits for a million trials as for ten.

use std::f64::consts::TAU;

/// Outcomes as probable as the observed one up to this factor count as "no more probable", as in R and SciPy.
const TIES: f64 = 1.0 + 1e-7;

/// What is left of `ln n!` beyond Stirling's formula.
fn stirling_remainder(n: f64) -> f64 {
    if n < 16.0 {
        let factorial: f64 = (2..=n as u64).map(|k| k as f64).product();
        return if n == 0.0 { 0.0 } else { factorial.ln() - (n * n.ln() - n + 0.5 * (TAU * n).ln()) };
    }
    let square = n * n;
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / 1680.0 / square) / square) / square) / n
}

/// `x ln(x / mean) + mean - x`, without cancellation where `x` is near `mean`.
fn deviance(x: f64, mean: f64) -> f64 {
    if (x - mean).abs() >= 0.1 * (x + mean) {
        return if x == 0.0 { mean } else { x * (x / mean).ln() + mean - x };
    }
    let v = (x - mean) / (x + mean);
    let mut sum = (x - mean) * v;
    let mut term = 2.0 * x * v;
    for k in 1..1000 {
        term *= v * v;
        let next = sum + term / f64::from(2 * k + 1);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// Natural logarithm of the probability of `x` successes in `n` trials of probability `p`.
pub fn ln_pmf(x: u64, n: u64, p: f64) -> f64 {
    if x > n {
        return f64::NEG_INFINITY;
    }
    let (xf, nf, rest) = (x as f64, n as f64, (n - x) as f64);
    if p <= 0.0 || p >= 1.0 {
        let certain = if p <= 0.0 { 0 } else { n };
        return if x == certain { 0.0 } else { f64::NEG_INFINITY };
    }
    if x == 0 {
        return nf * (-p).ln_1p();
    }
    if x == n {
        return nf * p.ln();
    }
    stirling_remainder(nf)
        - stirling_remainder(xf)
        - stirling_remainder(rest)
        - deviance(xf, nf * p)
        - deviance(rest, nf * (1.0 - p))
        + 0.5 * (nf / (TAU * xf * rest)).ln()
}

/// `P(X <= x)` and `P(X >= x)` meet here: adds probabilities from `x` away from the mean.
fn tail(x: u64, n: u64, p: f64, upwards: bool) -> f64 {
    let odds = if upwards { p / (1.0 - p) } else { (1.0 - p) / p };
    let (mut sum, mut term, mut at) = (1.0, 1.0, x as f64);
    let n = n as f64;
    loop {
        let (numerator, denominator, end) = if upwards { (n - at, at + 1.0, n) } else { (at, n - at + 1.0, 0.0) };
        if at == end {
            break;
        }
        term *= numerator / denominator * odds;
        sum += term;
        if term < sum * 1e-18 {
            break;
        }
        at += if upwards { 1.0 } else { -1.0 };
    }
    (ln_pmf(x, n as u64, p) + f64::ln(sum)).exp()
}

/// `P(X <= x)` for `n` trials of probability `p`.
pub fn at_most(x: u64, n: u64, p: f64) -> f64 {
    if x >= n || p <= 0.0 {
        1.0
    } else if p >= 1.0 {
        0.0
    } else if (x as f64) < n as f64 * p {
        tail(x, n, p, false).min(1.0)
    } else {
        (1.0 - tail(x + 1, n, p, true)).max(0.0)
    }
}

/// `P(X >= x)` for `n` trials of probability `p`.
pub fn at_least(x: u64, n: u64, p: f64) -> f64 {
    if x == 0 {
        1.0
    } else if x > n || p <= 0.0 {
        0.0
    } else if p >= 1.0 {
        1.0
    } else if (x as f64) > n as f64 * p {
        tail(x, n, p, true).min(1.0)
    } else {
        (1.0 - tail(x - 1, n, p, false)).max(0.0)
    }
}

/// P-value of the exact two-sided test: the probability of all counts that are no more probable than `x`.
pub fn two_sided(x: u64, n: u64, p: f64) -> f64 {
    if p <= 0.0 || p >= 1.0 {
        let certain = if p <= 0.0 { 0 } else { n };
        return if x == certain { 1.0 } else { 0.0 };
    }
    let mean = n as f64 * p;
    let limit = ln_pmf(x, n, p) + TIES.ln();
    let probable = |i: u64| ln_pmf(i, n, p) > limit;
    let value = if (x as f64) < mean {
        // Probabilities fall from the mode on: the first count above it that is improbable enough.
        let first = first_false(mean.ceil() as u64, n + 1, probable);
        at_most(x, n, p) + if first > n { 0.0 } else { at_least(first, n, p) }
    } else if (x as f64) > mean {
        let mode = mean.floor() as u64;
        let below = mode.checked_sub(first_false(0, mode + 1, |distance| probable(mode - distance)));
        at_least(x, n, p) + below.map_or(0.0, |i| at_most(i, n, p))
    } else {
        1.0
    };
    value.min(1.0)
}

/// The first number in `low..high` for which a predicate that is true, then false, is false; `high` where there is none.
fn first_false(mut low: u64, mut high: u64, predicate: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if predicate(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// The Clopper-Pearson interval of a ratio `x / n` at a confidence such as 0.95; `(0, 1)` where `n` is 0.
pub fn clopper_pearson(x: u64, n: u64, confidence: f64) -> (f64, f64) {
    let tail = (1.0 - confidence) / 2.0;
    let low = if x == 0 { 0.0 } else { bisect(|p| at_least(x, n, p) < tail) };
    let high = if x >= n { 1.0 } else { bisect(|p| at_most(x, n, p) >= tail) };
    (low, high)
}

/// The point in 0..1 up to which a predicate holds.
fn bisect(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: f64, expected: f64) {
        assert!((value - expected).abs() <= 1e-9 * expected.abs(), "{value:e} is not {expected:e}");
    }

    #[test]
    fn probabilities_add_up_to_one() {
        for (n, p) in [(1, 0.5), (15, 0.1), (16, 0.3), (1000, 0.02)] {
            close((0..=n).map(|x| ln_pmf(x, n, p).exp()).sum(), 1.0);
        }
    }

    #[test]
    fn two_tails_are_a_whole_even_at_the_centre_of_a_million_trials() {
        for x in [499_000, 499_999, 500_000, 500_001, 501_000] {
            close(at_most(x, 1_000_000, 0.5) + at_least(x + 1, 1_000_000, 0.5), 1.0);
        }
    }

    #[test]
    fn certain_transforms_have_certain_tests() {
        assert_eq!(two_sided(5, 5, 1.0), 1.0);
        assert_eq!(two_sided(4, 5, 1.0), 0.0);
        assert_eq!(two_sided(0, 5, 0.0), 1.0);
        assert_eq!(two_sided(0, 0, 0.5), 1.0);
    }

    #[test]
    fn an_interval_of_nothing_is_everything() {
        assert_eq!(clopper_pearson(0, 0, 0.95), (0.0, 1.0));
    }
}
