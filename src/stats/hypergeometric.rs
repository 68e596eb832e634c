//! The hypergeometric distribution: how many of one worker's draws are successes, given the successes of all.

use super::binomial;

/// Natural logarithm of the probability that `drawn` of `total` things hold `x` of the `marked` ones.
pub fn ln_pmf(x: u64, total: u64, marked: u64, drawn: u64) -> f64 {
    if x > marked || x > drawn || drawn - x > total - marked {
        return f64::NEG_INFINITY;
    }
    if drawn == 0 || drawn == total {
        return 0.0;
    }
    // Any p serves; this one keeps all three binomial probabilities near their modes.
    let p = drawn as f64 / total as f64;
    binomial::ln_pmf(x, marked, p) + binomial::ln_pmf(drawn - x, total - marked, p) - binomial::ln_pmf(drawn, total, p)
}

fn tail(x: u64, total: u64, marked: u64, drawn: u64, upwards: bool) -> f64 {
    let start = ln_pmf(x, total, marked, drawn);
    let (total, marked, drawn, mut at) = (total as f64, marked as f64, drawn as f64, x as f64);
    let (mut sum, mut term) = (1.0, 1.0);
    loop {
        let ratio = if upwards {
            (marked - at) * (drawn - at) / ((at + 1.0) * (total - marked - drawn + at + 1.0))
        } else {
            at * (total - marked - drawn + at) / ((marked - at + 1.0) * (drawn - at + 1.0))
        };
        if ratio <= 0.0 {
            break;
        }
        term *= ratio;
        sum += term;
        if term < sum * 1e-18 {
            break;
        }
        at += if upwards { 1.0 } else { -1.0 };
    }
    (start + f64::ln(sum)).exp().min(1.0)
}

/// P-value of the exact two-sided test (twice the smaller tail) that `x` of the `marked` things fell among `drawn` of
/// `total` by chance.
pub fn two_sided(x: u64, total: u64, marked: u64, drawn: u64) -> f64 {
    let mean = marked as f64 * drawn as f64 / total.max(1) as f64;
    if x as f64 == mean {
        return 1.0;
    }
    (2.0 * tail(x, total, marked, drawn, x as f64 > mean)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lady_tasting_tea_guesses_right_once_in_seventy() {
        // R. A. Fisher, The Design of Experiments (1935): all 4 of 4 cups of 8 have probability 1/70.
        assert!((ln_pmf(4, 8, 4, 4).exp() - 1.0 / 70.0).abs() < 1e-12);
        assert!((two_sided(4, 8, 4, 4) - 2.0 / 70.0).abs() < 1e-12);
    }

    #[test]
    fn probabilities_add_up_to_one() {
        let sum: f64 = (0..=30).map(|x| ln_pmf(x, 100, 30, 45).exp()).sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }

    #[test]
    fn drawing_all_or_nothing_decides_nothing() {
        assert_eq!(two_sided(30, 100, 30, 100), 1.0);
        assert_eq!(two_sided(0, 100, 30, 0), 1.0);
    }
}
