//! Statistical values against SciPy 1.17.1 (NumPy 2.1), printed with `repr`; the call stands beside each table.

#![expect(clippy::unreadable_literal, reason = "values stand as SciPy prints them")]

use pipeaudit::stats::{binomial, chi_square, hypergeometric, kolmogorov};

fn close(value: f64, expected: f64, what: &str) {
    assert!((value - expected).abs() <= 1e-9 * expected.abs(), "{what}: {value:e} is not {expected:e}");
}

/// `scipy.stats.binomtest(x, n, p).pvalue`
#[test]
fn the_exact_two_sided_test_is_scipys() {
    let table = [
        (64, 128, 0.5, 1.0),
        (37, 128, 0.5, 2.0061299450300415e-06),
        (90, 128, 0.5, 4.9228475594375145e-06),
        (0, 512, 0.5, 1.4916681462400413e-154),
        (33_000, 65_536, 0.5, 0.07051332819746338),
        (34_078, 65_536, 0.5, 1.4281278927804595e-24),
        (7, 20, 0.3, 0.6294979666766769),
        (1, 1000, 0.02, 8.857883609545209e-08),
        (500_000, 1_000_000, 0.5, 1.0),
        (495_000, 1_000_000, 0.5, 1.538155504390233e-23),
        (9, 10, 0.9, 1.0),
        (2, 3, 0.1, 0.028000000000000008),
    ];
    for (x, n, p, expected) in table {
        close(binomial::two_sided(x, n, p), expected, &format!("{x} of {n} at {p}"));
    }
}

/// `scipy.stats.binom.cdf(x, n, p)` and `binom.sf(x - 1, n, p)`
#[test]
fn tails_are_scipys() {
    let table = [
        (1900, 4096, 0.5, 2.001011952119507e-06, 0.999998279469299),
        (495_000, 1_000_000, 0.5, 7.690777521951164e-24, 1.0),
        (3, 10, 0.25, 0.7758750915527344, 0.4744071960449219),
        (0, 50, 0.1, 0.0051537752073201135, 1.0),
    ];
    for (x, n, p, below, above) in table {
        close(binomial::at_most(x, n, p), below, "at most");
        close(binomial::at_least(x, n, p), above, "at least");
    }
}

/// `scipy.stats.binomtest(x, n).proportion_ci(.95, 'exact')`
#[test]
fn clopper_pearson_intervals_are_scipys() {
    let table = [
        (0, 10, 0.0, 0.30849710781876294),
        (10, 10, 0.6915028921812371, 1.0),
        (5, 10, 0.1870860284474045, 0.8129139715525955),
        (33, 128, 0.18458273536398212, 0.34258641777210774),
        (1, 1000, 2.5317487491674634e-05, 0.0055589242798499),
        (32_768, 65_536, 0.4961643869834216, 0.5038356130165784),
    ];
    for (x, n, low, high) in table {
        let interval = binomial::clopper_pearson(x, n, 0.95);
        close(interval.0, low, "low");
        close(interval.1, high, "high");
    }
}

/// `scipy.stats.chi2.sf(x, degrees)`
#[test]
fn the_chi_square_tail_is_scipys() {
    let table = [
        (3.841458820694124, 1.0, 0.04999999999999989),
        (50.0, 8.0, 4.0867589479967445e-08),
        (80.0, 32.0, 5.463980711299846e-06),
        (1.0, 10.0, 0.9998278843700441),
        (200.0, 100.0, 1.1784500720979781e-08),
    ];
    for (x, degrees, expected) in table {
        close(chi_square::tail(x, degrees), expected, "tail");
    }
}

/// `2 * min(hypergeom.cdf(x, total, marked, drawn), hypergeom.sf(x - 1, …))` and `hypergeom.logpmf`
#[test]
fn the_hypergeometric_test_is_scipys() {
    let table = [
        (10, 100, 30, 20, 0.0613928587086734, -3.8059699250852885),
        (2, 100, 50, 30, 7.635212304878543e-09, -19.414557055221266),
        (0, 480, 240, 96, 1.575117833620803e-34, -78.52671025788118),
        (5, 576, 255, 96, 5.153957060011331e-20, -45.15559134461273),
    ];
    for (x, total, marked, drawn, p, ln) in table {
        close(hypergeometric::two_sided(x, total, marked, drawn), p, "two-sided");
        close(hypergeometric::ln_pmf(x, total, marked, drawn), ln, "probability");
    }
}

/// `scipy.stats.ks_1samp(a, uniform.cdf).statistic`, `ks_2samp(a, b).statistic`
#[test]
fn kolmogorov_distances_are_scipys() {
    let mut a = [0.02, 0.11, 0.19, 0.45, 0.46, 0.47, 0.81, 0.93];
    let b = [0.2, 0.31, 0.33, 0.48, 0.6, 0.7, 0.72, 0.9, 0.99, 1.0];
    close(kolmogorov::distance(&a, &b), 0.45, "two samples");
    close(kolmogorov::distance_from_uniform(&mut a), 0.28, "one sample");
}

/// `scipy.stats.kstwo.sf(d, n)` is exact; the bound must lie above it, and not far.
#[test]
fn the_kolmogorov_bound_lies_just_above_the_exact_tail() {
    let table = [
        (0.2, 50, 0.03143877776953241),
        (0.1, 128, 0.14438509944144817),
        (0.25, 128, 1.553142566968138e-07),
        (0.02, 65_536, 3.340049976979612e-23),
    ];
    for (distance, n, exact) in table {
        let bound = kolmogorov::one_sample(distance, n);
        assert!(bound >= exact && bound < 3.0 * exact, "{bound:e} for {exact:e}");
    }
}

/// Every count of a small experiment, by adding up its probabilities with factorials alone.
#[test]
fn two_sided_tests_of_small_experiments_add_up_by_hand() {
    let choose = |n: u64, k: u64| (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64);
    for (n, p) in [(1_u64, 0.5), (4, 0.3), (9, 0.1), (13, 0.75)] {
        let pmf: Vec<f64> =
            (0..=n).map(|k| choose(n, k) * f64::powi(p, k as i32) * f64::powi(1.0 - p, (n - k) as i32)).collect();
        for x in 0..=n {
            let no_more_probable = pmf.iter().filter(|q| **q <= pmf[x as usize] * (1.0 + 1e-7));
            close(binomial::two_sided(x, n, p), no_more_probable.sum(), &format!("{x} of {n} at {p}"));
        }
    }
}

/// Simulated 4 million times with NumPy (`default_rng(3).multinomial`) at 20 expected a cell, 2 to 100 cells: the true
/// tail lies at most 1.15 times above the asymptotic one at 1e-5, and 2 times at 1e-6 (5 with 100 cells, of 3 events).
#[test]
fn the_chi_square_test_pays_for_being_asymptotic() {
    let counts = [40, 40, 0, 0, 20];
    let statistic = (20.0_f64.powi(2) * 4.0) / 20.0;
    close(chi_square::equal(&counts).unwrap(), 10.0 * chi_square::tail(statistic, 4.0), "p-value");
}
