//! Holm's step-down procedure: many tests, one family-wise error, whatever their dependence.

/// Which of the p-values are rejected at a family-wise error of `alpha`, in their order.
pub fn rejected(p_values: &[f64], alpha: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut rejected = vec![false; p_values.len()];
    for (done, test) in order.into_iter().enumerate() {
        if p_values[test].is_nan() || p_values[test] > alpha / (p_values.len() - done) as f64 {
            break;
        }
        rejected[test] = true;
    }
    rejected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rejection_makes_the_next_one_easier() {
        // At 0.05 the thresholds are 0.0125, 0.0167, 0.025, 0.05.
        assert_eq!(rejected(&[0.01, 0.04, 0.03, 0.005], 0.05), [true, false, false, true]);
        assert_eq!(rejected(&[0.01, 0.016, 0.06, 0.005], 0.05), [true, true, false, true]);
        assert_eq!(rejected(&[0.01, 0.016, 0.024, 0.005], 0.05), [true, true, true, true]);
    }

    #[test]
    fn nothing_is_rejected_of_nothing() {
        assert!(rejected(&[], 0.05).is_empty());
        assert_eq!(rejected(&[f64::NAN, 0.0], 0.05), [false, true]);
    }
}
