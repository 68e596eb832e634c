//! Statistics: pure functions that know nothing of runs.
//!
//! Everything that decides a finding is exact or an upper bound of the true tail at any sample size, since tests run at
//! a family-wise error of one in a million, where asymptotic formulas promise too much. The one exception, chi-square,
//! is used on well-filled cells only (see [`chi_square`]).

pub mod binomial;
pub mod chi_square;
pub mod holm;
pub mod hypergeometric;
pub mod kolmogorov;
pub mod power;
