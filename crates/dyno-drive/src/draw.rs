//! Which operation comes next: an independent seeded draw for each one.
//!
//! Every operation draws its class and its keys anew, so shares hold over any stretch of a run and any percentage can
//! be had; the same seed and session give the same operations, on either drive.

use dyno_plan::{DataSpec, Workload};
use dyno_target::Op;
use dyno_target::data::mix;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// 2^32, the scale of [`Draw`]'s thresholds.
const WHOLE: u64 = 1 << 32;

/// Draws one session's operations.
#[derive(Debug, Clone)]
pub struct Draw {
    rng: Xoshiro256PlusPlus,
    update_below: u64,
    scan_below: u64,
    lookup_below: u64,
    starts: u64,
    rows: u64,
    updates: u64,
}

impl Draw {
    /// The draws of session `number` (from 0 over all schemas).
    pub fn new(workload: &Workload, spec: &DataSpec, number: u32) -> Self {
        let share = |pct: u32| u64::from(pct) * WHOLE / 100;
        // Shares of scans and lookups are of the reads, hence of what updates leave.
        let of_reads = |pct: u32| (WHOLE - share(workload.update_pct)) * u64::from(pct) / 100;
        let update_below = share(workload.update_pct);
        let scan_below = update_below + of_reads(workload.scan_pct);
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(mix(mix(workload.seed) ^ u64::from(number))),
            update_below,
            scan_below,
            lookup_below: scan_below + of_reads(workload.lookup_pct),
            starts: spec.rows - u64::from(workload.work_unit).min(spec.rows) + 1,
            rows: spec.rows,
            updates: 0,
        }
    }

    /// The next operation.
    #[inline]
    pub fn next_op(&mut self) -> Op {
        // Two draws in one: the upper half decides the class, and a second number the key.
        let class = self.rng.next_u64() >> 32;
        if class >= self.lookup_below {
            Op::Select { first: self.key(self.starts) }
        } else if class >= self.scan_below {
            Op::Lookup { key: self.key(self.rows) }
        } else if class >= self.update_below {
            Op::Scan
        } else {
            self.updates += 1;
            Op::Update { first: self.key(self.starts), number: self.updates }
        }
    }

    /// A uniform key in `1..=n`, by multiplication instead of a modulo (Lemire, Fast Random Integer Generation in an
    /// Interval, 2019; without its rejection step the bias is below n ÷ 2^64).
    #[inline]
    fn key(&mut self, n: u64) -> u64 {
        ((u128::from(self.rng.next_u64()) * u128::from(n)) >> 64) as u64 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_and_ranges_hold(update in 0u32..=100, scan in 0u32..=50, lookup in 0u32..=50, work_unit in 1u32..64, seed: u64) {
            let mut plan = testing::plan();
            plan.workload.update_pct = update;
            plan.workload.scan_pct = scan;
            plan.workload.lookup_pct = lookup;
            plan.workload.work_unit = work_unit;
            plan.workload.seed = seed;
            let spec = testing::spec(100);
            let mut draw = Draw::new(&plan.workload, &spec, 3);
            let mut counts = [0u32; 4];
            for _ in 0..4_000 {
                match draw.next_op() {
                    Op::Select { first } => {
                        counts[0] += 1;
                        prop_assert!(first >= 1 && first + u64::from(work_unit) <= 101);
                    }
                    Op::Lookup { key } => {
                        counts[1] += 1;
                        prop_assert!((1..=100).contains(&key));
                    }
                    Op::Scan => counts[2] += 1,
                    Op::Update { first, .. } => {
                        counts[3] += 1;
                        prop_assert!(first >= 1 && first + u64::from(work_unit) <= 101);
                    }
                }
            }
            let reads = f64::from(100 - update) / 100.0;
            let expected = [
                reads * f64::from(100 - scan - lookup) / 100.0,
                reads * f64::from(lookup) / 100.0,
                reads * f64::from(scan) / 100.0,
                f64::from(update) / 100.0,
            ];
            for (count, share) in counts.iter().zip(expected) {
                // Five standard deviations of a binomial of 4,000; a share of 0 or 100 % is exact.
                let tolerance = 5.0 * (4_000.0 * share * (1.0 - share)).sqrt();
                prop_assert!((f64::from(*count) - 4_000.0 * share).abs() <= tolerance + 1e-6, "{counts:?} {expected:?}");
            }
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_and_sessions_differ() {
        let (plan, spec) = (testing::plan(), testing::spec(1_000_000));
        let ops = |session| {
            let mut draw = Draw::new(&plan.workload, &spec, session);
            (0..100).map(|_| draw.next_op()).collect::<Vec<_>>()
        };
        assert_eq!(ops(0), ops(0));
        assert_ne!(ops(0), ops(1));
    }
}
