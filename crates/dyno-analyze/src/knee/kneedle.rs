//! Kneedle: the knee is where a curve begins to gain less than its average.
//!
//! Satopaa, Albrecht, Irwin, Raghavan: Finding a "Kneedle" in a Haystack: Detecting Knee Points in
//! System Behavior, ICDCS Workshops 2011. Both axes are scaled to 0..1. The knee is a local maximum
//! of `y − x` after which that difference falls by more than the sensitivity times the mean step of
//! x. The paper smooths with a spline first. A ramp has too few points to smooth, so they are used
//! unchanged (as the package `kneed` does by default).

/// The sensitivity that the paper recommends for complete data.
pub const SENSITIVITY: f64 = 1.0;

/// Scales to 0..1; `None` if all values are the same.
fn scaled(values: &[f64]) -> Option<Vec<f64>> {
    let (low, high) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
    let extent = high - low;
    (extent.is_finite() && extent > 0.0).then(|| values.iter().map(|v| (v - low) / extent).collect())
}

/// The index of the first knee of a curve that rises ever more slowly, such as throughput over
/// sessions. `x` rises; `y` may fall after its peak. `None` without a knee, or with fewer than
/// three points.
pub fn kneedle(x: &[f64], y: &[f64], sensitivity: f64) -> Option<usize> {
    if x.len() != y.len() || x.len() < 3 {
        return None;
    }
    let (x, y) = (scaled(x)?, scaled(y)?);
    let mean_step = 1.0 / (x.len() - 1) as f64;
    let difference: Vec<f64> = x.iter().zip(&y).map(|(x, y)| y - x).collect();
    let mut candidate: Option<(usize, f64)> = None;
    for i in 1..difference.len() {
        let (before, here) = (difference[i - 1], difference[i]);
        let next = difference.get(i + 1).copied();
        if candidate.is_some_and(|(_, threshold)| here < threshold) {
            return candidate.map(|(at, _)| at);
        }
        let rises_before = here > before;
        let rises_after = next.is_some_and(|next| next > here);
        if rises_before && !rises_after && next.is_some() {
            candidate = Some((i, here - sensitivity * mean_step));
        } else if !rises_before && rises_after {
            // The paper: past a local minimum, wait for the next maximum unless the curve falls below the diagonal.
            candidate = candidate.map(|(at, _)| (at, 0.0));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kneedle_matches_figure_2_of_the_paper() {
        // y = −1/(x + 0.1) + 5 at ten places of 0..1; the paper and `kneed` say 0.22.
        let x: Vec<f64> = (0..10).map(|i| f64::from(i) / 9.0).collect();
        let y: Vec<f64> = x.iter().map(|x| -1.0 / (x + 0.1) + 5.0).collect();
        assert_eq!(kneedle(&x, &y, SENSITIVITY), Some(2));
    }

    #[test]
    fn kneedle_sensitivity_matches_kneed() {
        // `kneed` 0.9.0, DataGenerator.concave_increasing: 2 for S = 0, 1, 3, 5 and none for 10.
        let x: Vec<f64> = (0..10).map(f64::from).collect();
        let y = [0.0, 60.0, 80.0, 85.0, 90.0, 95.0, 96.0, 97.0, 98.0, 99.0];
        for sensitivity in [0.0, 1.0, 3.0, 5.0] {
            assert_eq!(kneedle(&x, &y, sensitivity), Some(2), "{sensitivity}");
        }
        assert_eq!(kneedle(&x, &y, 10.0), None);
    }

    #[test]
    fn kneedle_finds_same_knees_as_kneed() {
        // slob-scaling-oracle.csv, 11.2.0.3: six sessions on six cores. random-read-flash-oracle.csv: 32 jobs.
        let sessions = [1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0];
        let reads = [958_991.0, 1_785_514.0, 3_262_005.0, 4_644_773.0, 5_075_633.0, 5_585_903.0, 6_029_701.0];
        assert_eq!(kneedle(&sessions, &reads, SENSITIVITY), Some(3));
        let jobs: Vec<f64> = (0..8).map(|i| f64::from(1 << i)).collect();
        let iops = [32_731.0, 63_901.0, 121_679.0, 230_022.0, 387_952.0, 510_868.0, 533_028.0, 510_848.0];
        assert_eq!(kneedle(&jobs, &iops, SENSITIVITY), Some(5));
    }

    #[test]
    fn a_straight_line_has_no_knee() {
        let line: Vec<f64> = (1..=8).map(f64::from).collect();
        assert_eq!(kneedle(&line, &line, SENSITIVITY), None);
        assert_eq!(kneedle(&[1.0, 2.0], &[1.0, 2.0], SENSITIVITY), None);
        assert_eq!(kneedle(&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0], SENSITIVITY), None);
    }

    proptest! {
        #[test]
        fn knee_is_independent_of_units(
            y in prop::collection::vec(0.0..1e3f64, 3..20), factor in 1e-3..1e6f64, offset in -1e3..1e3f64,
        ) {
            // Whole numbers times powers of two stay exact, so ties remain ties.
            let (factor, offset) = (f64::exp2(f64::round(f64::log2(factor))), offset.round());
            let y: Vec<f64> = y.iter().map(|v| v.round()).collect();
            let x: Vec<f64> = (1..).map(f64::from).take(y.len()).collect();
            let other: Vec<f64> = y.iter().map(|v| (v + offset) * factor).collect();
            prop_assert_eq!(kneedle(&x, &y, SENSITIVITY), kneedle(&x, &other, SENSITIVITY));
        }
    }
}
