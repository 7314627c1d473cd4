//! When a sequential test looks at its data, and how much of the error rate each look may use.

use super::boundary::Boundary;
use crate::compare::SIGNIFICANCE;

/// The error rate of a whole test: the largest share of tests of equal sides that report a
/// difference.
pub const ALPHA: f64 = SIGNIFICANCE;

/// Exponent of the spending function.
const EXPONENT: i32 = 2;

/// The first look; with fewer pairs no difference can be significant.
const FIRST_LOOK: u32 = 4;

/// Looks are at least this factor apart: more looks would decide little earlier.
const GROWTH: f64 = 1.25;

/// The looks of a test with a maximum number of pairs.
///
/// After the share `t` of its pairs, the test may have used `ALPHA · t²` of the error rate (the power
/// family of Kim and DeMets, Biometrika 74, 1987; Jennison and Turnbull, Group Sequential Methods,
/// 2000, 7.2). Looks come after even numbers of pairs, where a steady drift cancels in the order
/// A B B A.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequentialPlan {
    /// The most pairs of the test.
    pub pairs_max: u32,
}

impl SequentialPlan {
    /// The numbers of pairs after which the test looks; the last is the maximum.
    pub fn looks(self) -> Vec<u32> {
        let mut looks = Vec::new();
        let mut pairs = FIRST_LOOK;
        // A look shortly before the last one would use up what the last one needs.
        while f64::from(pairs) * GROWTH <= f64::from(self.pairs_max) {
            looks.push(pairs);
            let next = (f64::from(pairs) * GROWTH).ceil() as u32;
            pairs = next.next_multiple_of(2);
        }
        looks.push(self.pairs_max);
        // A look at which no result could decide uses no error rate, and is none.
        let mut spent = 0.0;
        looks.retain(|&pairs| {
            let boundary = self.boundary(pairs, (pairs as usize, pairs as usize), spent);
            spent += boundary.map_or(0.0, |boundary| boundary.level);
            boundary.is_some() || pairs == self.pairs_max
        });
        looks
    }

    /// The boundary after `pairs` pairs with this many valid runs of each side, when earlier looks
    /// have used `spent` of the error rate; absent where no result could cross it.
    pub fn boundary(self, pairs: u32, runs: (usize, usize), spent: f64) -> Option<Boundary> {
        let share = f64::from(pairs.min(self.pairs_max)) / f64::from(self.pairs_max.max(1));
        Boundary::new(runs, ALPHA * share.powi(EXPONENT) - spent)
    }
}
