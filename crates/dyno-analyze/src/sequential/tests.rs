//! Simulates whole tests, with fixed seeds: how often they report a difference, and when they stop.

use super::*;
use crate::random::ResamplingRandom;

/// Simulated tests of one kind.
const TESTS: u32 = 2_000;

/// How a simulated test ended: what it found, and after how many pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Differs,
    Equal,
    Open,
}

/// A plan with the boundary of each look, which is the same in every simulated test.
struct Design {
    plan: SequentialPlan,
    /// Pairs, boundary, and the error rate used up to and including the look.
    looks: Vec<(u32, Boundary, f64)>,
}

impl Design {
    fn new(pairs_max: u32) -> Self {
        let (plan, mut spent) = (SequentialPlan { pairs_max }, 0.0);
        let look = |pairs: u32| {
            let boundary = plan.boundary(pairs, (pairs as usize, pairs as usize), spent).unwrap();
            spent += boundary.level;
            (pairs, boundary, spent)
        };
        let looks: Vec<_> = plan.looks().into_iter().map(look).collect();
        assert!(spent <= ALPHA + 1e-12, "{spent}");
        Self { plan, looks }
    }

    fn look(&self, pairs: u32) -> Option<(Boundary, f64)> {
        let look = self.looks.iter().find(|look| look.0 == pairs)?;
        Some((look.1, look.2))
    }
}

/// A test of sides whose runs `draw` makes: side, number of the run.
fn simulate(design: &Design, margin_pct: f64, mut draw: impl FnMut(usize, u32) -> f64) -> (Ending, u32) {
    let pairs_max = design.plan.pairs_max;
    let mut sides = [Vec::new(), Vec::new()];
    for pairs in 1..=pairs_max {
        // A B, then B A.
        let first = usize::from(pairs % 2 == 0);
        for (place, side) in [(0, first), (1, 1 - first)] {
            sides[side].push(draw(side, 2 * (pairs - 1) + place));
        }
        let Some((boundary, spent)) = design.look(pairs) else { continue };
        let ratio = boundary.ratio(&sides[0], &sides[1]).unwrap();
        let [middle, low, high] = [ratio.ratio, ratio.low, ratio.high].map(|ratio| 100.0 * (ratio - 1.0));
        if low >= -margin_pct && high <= margin_pct {
            return (Ending::Equal, pairs);
        }
        if (low > 0.0 || high < 0.0) && middle.abs() > margin_pct {
            return (Ending::Differs, pairs);
        }
        let outlook = SequentialOutlook::new(design.plan, pairs, ratio, (boundary.level, spent), margin_pct);
        if margin_pct > 0.0 && outlook.is_futile() {
            return (Ending::Open, pairs);
        }
    }
    (Ending::Open, pairs_max)
}

/// The share of tests with this ending, and the mean number of pairs.
fn share_of(wanted: Ending, mut test: impl FnMut(&mut ResamplingRandom) -> (Ending, u32)) -> (f64, f64) {
    let mut random = ResamplingRandom::new(0xAB);
    let endings: Vec<(Ending, u32)> = (0..TESTS).map(|_| test(&mut random)).collect();
    let hits = endings.iter().filter(|(ending, _)| *ending == wanted).count();
    let pairs: u32 = endings.iter().map(|(_, pairs)| pairs).sum();
    (hits as f64 / f64::from(TESTS), f64::from(pairs) / f64::from(TESTS))
}

/// A nearly normal draw: the sum of twelve uniform ones (deviation 1).
fn normal(random: &mut ResamplingRandom) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

/// Three standard errors of a share of 5 % of all tests.
const TOLERANCE: f64 = 0.015;

#[test]
fn equal_sides_differ_at_most_as_often_as_stated() {
    for pairs_max in [5, 10, 20] {
        let design = Design::new(pairs_max);
        let (differs, _) = share_of(Ending::Differs, |random| {
            simulate(&design, 0.0, |_, _| 1_000.0 * (1.0 + 0.02 * normal(random)))
        });
        assert!(differs <= ALPHA + TOLERANCE, "{pairs_max} pairs: {differs}");
        assert!(differs > 0.01, "{pairs_max} pairs: a test that never rejects proves nothing: {differs}");
    }
}

#[test]
fn skewed_or_drifting_runs_do_not_raise_the_error_rate() {
    let design = Design::new(10);
    // Half of the runs lose up to a third: far from normal.
    let (skewed, _) = share_of(Ending::Differs, |random| {
        simulate(&design, 0.0, |_, _| {
            let stall = if random.unit() < 0.5 { random.unit() / 3.0 } else { 0.0 };
            1_000.0 * (1.0 - stall) + random.unit()
        })
    });
    assert!(skewed <= ALPHA + TOLERANCE, "{skewed}");
    // A steady decline over the test, as of a device that fills.
    let (drifting, _) = share_of(Ending::Differs, |random| {
        simulate(&design, 0.0, |_, run| 1_000.0 - 5.0 * f64::from(run) + 10.0 * normal(random))
    });
    assert!(drifting <= ALPHA + TOLERANCE, "{drifting}");
}

#[test]
fn clear_difference_stops_test_early() {
    let design = Design::new(20);
    let (differs, pairs) = share_of(Ending::Differs, |random| {
        simulate(&design, 2.0, |side, _| {
            let mean = if side == 0 { 1_000.0 } else { 1_100.0 };
            mean * (1.0 + 0.02 * normal(random))
        })
    });
    assert!(differs > 0.99, "{differs} after {pairs} of 20 pairs");
    assert!(pairs < 10.0, "{differs} after {pairs} of 20 pairs");
}

#[test]
fn sides_beyond_margin_are_rarely_called_equal() {
    let design = Design::new(20);
    let (equal, _) = share_of(Ending::Equal, |random| {
        simulate(&design, 2.0, |side, _| {
            let mean = if side == 0 { 1_000.0 } else { 1_021.0 };
            mean * (1.0 + 0.01 * normal(random))
        })
    });
    assert!(equal <= ALPHA + TOLERANCE, "{equal}");
}

#[test]
fn equal_quiet_sides_are_called_equal_and_noisy_ones_stop() {
    let design = &Design::new(20);
    let test_with = |noise: f64| {
        move |random: &mut ResamplingRandom| {
            simulate(design, 2.0, |_, _| 1_000.0 * (1.0 + noise * normal(random)))
        }
    };
    let (equal, pairs) = share_of(Ending::Equal, test_with(0.005));
    assert!(equal > 0.9, "{equal} after {pairs}");
    assert!(pairs < 12.0, "{equal} after {pairs}");
    let (open, pairs) = share_of(Ending::Open, test_with(0.08));
    assert!(open > 0.8, "{open} after {pairs}");
    assert!(pairs < 16.0, "{open} after {pairs}");
}

#[test]
fn intervals_of_stopped_tests_contain_the_true_ratio() {
    let design = Design::new(10);
    let mut random = ResamplingRandom::new(7);
    let mut missed = 0;
    for _ in 0..TESTS {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for pairs in 1..=10 {
            a.push(1_000.0 * (1.0 + 0.02 * normal(&mut random)));
            b.push(1_030.0 * (1.0 + 0.02 * normal(&mut random)));
            let Some((boundary, _)) = design.look(pairs) else { continue };
            let ratio = boundary.ratio(&a, &b).unwrap();
            // The worst rule of stopping: as soon as the interval looks good, or at the end.
            if ratio.low > 1.0 || ratio.high < 1.0 || pairs == 10 {
                missed += u32::from(!(ratio.low..=ratio.high).contains(&1.03));
                break;
            }
        }
    }
    let missed = f64::from(missed) / f64::from(TESTS);
    assert!(missed <= ALPHA + TOLERANCE, "{missed}");
}

/// Exact levels of the rank test (SciPy's `mannwhitneyu`, as the tests of the rank test have them).
#[test]
fn boundaries_are_levels_that_ranks_can_have() {
    let level = |pairs: usize, level: f64| Boundary::new((pairs, pairs), level).map(|found| found.level);
    assert!(level(3, 0.05).is_none());
    assert!(level(4, 0.028).is_none());
    assert!((level(4, 0.05).unwrap() - 2.0 / 70.0).abs() < 1e-12);
    assert!((level(5, 0.01).unwrap() - 2.0 / 252.0).abs() < 1e-12);
    // U = 13 is the largest significant value for 8 and 8 runs at 5 % (Siegel and Castellan).
    let runs: Vec<f64> = (0..8).map(f64::from).collect();
    let eight = Boundary::new((8, 8), 0.05).unwrap();
    assert!(format!("{eight:?}").contains("critical: 13"), "{eight:?}");
    assert!(eight.ratio(&runs, &runs).is_none(), "a zero has no ratio");
    assert!(Boundary::new((30, 30), 0.01).is_some());
    assert!(Boundary::new((0, 4), 0.05).is_none());
}

#[test]
fn looks_end_at_the_maximum_and_start_where_ranks_decide() {
    let looks = |pairs_max| SequentialPlan { pairs_max }.looks();
    assert_eq!(looks(2), [2]);
    assert_eq!(looks(5), [4, 5]);
    assert_eq!(looks(10), [6, 8, 10]);
    assert_eq!(looks(20), [6, 8, 10, 14, 20]);
    assert!(looks(1_000).len() < 30);
}
