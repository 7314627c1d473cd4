//! A test of two sides that stops early, with a stated error rate.
//!
//! The test is group-sequential: it looks at the data only after planned numbers of pairs, and each
//! look may use a part of the error rate ([`SequentialPlan`]). At each look the exact rank test
//! decides, as in every comparison ([`Boundary`]). The levels of all looks add up to
//! [`ALPHA`] at most. So by Boole's inequality the whole test reports a difference between equal
//! sides in at most that share of all tests, however its looks depend on each other. The intervals
//! are the inverted tests of the looks ("repeated confidence intervals", Jennison and Turnbull,
//! Journal of the Royal Statistical Society B 51, 1989). All of them together contain the true
//! difference with a probability of 1 − [`ALPHA`], and so does the interval of the look that stops.
//!
//! Stopping because a decision has become unlikely ([`SequentialOutlook`]) takes no look away from
//! equal sides that could report a difference, so it does not raise the error rate.

mod boundary;
mod normal;
mod outlook;
mod plan;

#[cfg(test)]
mod tests;

pub use boundary::Boundary;
pub use outlook::SequentialOutlook;
pub use plan::{ALPHA, SequentialPlan};
