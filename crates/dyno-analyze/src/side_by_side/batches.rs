//! Batch means: intervals of one run, combined until they no longer depend on each other.
//!
//! Neighboring intervals are alike: caches fill, checkpoints last for several of them. A rank test of
//! single intervals would take them for independent and find differences in noise. Means of batches
//! are nearly independent (Schmeiser: Batch Size Effects in the Analysis of Simulation Output, 1982,
//! which recommends 10 to 30 batches).

/// Numbers of batches that are tried, the larger first.
const BATCHES: [usize; 2] = [20, 10];

/// Largest correlation of neighboring batches.
const CORRELATION_MAX: f64 = 0.25;

/// The means of batches of `values`, which are in the order of time. Absent if there are too few
/// values, or if even large batches depend on each other, as in a run that drifts.
pub(super) fn batch_means(values: &[f64]) -> Option<Vec<f64>> {
    let of = |batches: usize| {
        let size = values.len() / batches;
        // The first intervals are left out where the batches do not fill all.
        let used = values.get(values.len() - size * batches..).filter(|_| size > 0)?;
        let means: Vec<f64> =
            used.chunks(size).map(|batch| batch.iter().sum::<f64>() / size as f64).collect();
        (neighbor_correlation(&means) <= CORRELATION_MAX).then_some(means)
    };
    BATCHES.into_iter().find_map(of)
}

/// Correlation of each value with the next one; 0 for equal values.
fn neighbor_correlation(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let variance: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let covariance: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if variance > 0.0 { covariance / variance } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::rank::mann_whitney;
    use crate::random::ResamplingRandom;

    #[test]
    fn drifting_intervals_have_no_batches() {
        let rising: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(batch_means(&rising), None);
        assert_eq!(batch_means(&[1.0; 9]), None, "too few");
        assert_eq!(batch_means(&[2.0; 45]), Some(vec![2.0; 20]));
    }

    /// Intervals that depend on each other (each is half of the one before plus noise) differ
    /// by chance in at most 3 of 100 comparisons at the level of 1 %.
    #[test]
    fn dependent_intervals_of_equal_runs_rarely_differ() {
        let mut random = ResamplingRandom::new(7);
        let mut run = || -> Vec<f64> {
            let mut level = 0.0;
            let mut next = || {
                level = 0.5 * level + random.unit() - 0.5;
                100.0 + level
            };
            (0..60).map(|_| next()).collect()
        };
        let mut found = 0;
        for _ in 0..400 {
            let (a, b) = (batch_means(&run()), batch_means(&run()));
            let p = a.zip(b).and_then(|(a, b)| mann_whitney(&a, &b)).map(|test| test.p);
            found += i32::from(p.is_some_and(|p| p <= 0.01));
        }
        assert!(found <= 12, "{found} of 400");
    }
}
