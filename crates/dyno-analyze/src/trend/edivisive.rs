//! E-Divisive: finds where a series of runs changes, without assuming a distribution (Matteson and
//! James: A nonparametric approach for multiple change point analysis of multivariate data, JASA
//! 109, 2014; exponent α = 1).
//!
//! Each round takes the split with the largest distance between both sides. It keeps the split if
//! shuffled runs within the parts found so far rarely reach that distance.

use crate::random::ResamplingRandom;

/// A change point between two runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The first run after the change, counted from 0.
    pub at: usize,
    /// Distance of both sides: the energy distance, scaled by their sizes (the paper's Q̂).
    pub distance: f64,
    /// Probability of a split with at least this distance if the runs are in random order.
    pub p: f64,
}

/// Parameters of the search for changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePointOptions {
    /// Fewest runs on each side of a split.
    pub runs_min: usize,
    /// Largest probability that is still significant.
    pub significance: f64,
    /// Number of shuffles that assess one split.
    pub shuffles: usize,
    /// Seed of the shuffles: equal data gives equal results.
    pub seed: u64,
    /// Most changes; the search ends there.
    pub splits_max: usize,
}

impl Default for ChangePointOptions {
    fn default() -> Self {
        Self { runs_min: 2, significance: 0.02, shuffles: 999, seed: 0x0E_D151, splits_max: SPLITS_MAX }
    }
}

impl ChangePointOptions {
    /// The options for a history of this length: the steps grow with the square of the runs, so a long
    /// one is shuffled less often. Everything that shows a history uses them, and so finds one p.
    pub fn for_history(runs: usize) -> Self {
        Self { shuffles: if runs <= LONG_HISTORY { 999 } else { 199 }, ..Self::default() }
    }
}

/// Most runs of a history that is shuffled as often as the paper's authors suggest.
const LONG_HISTORY: usize = 300;

/// Most splits of a search: more would be noise.
const SPLITS_MAX: usize = 50;

/// Every significant change in `series`, in order.
pub fn changes(series: &[f64], search: &ChangePointOptions) -> Vec<ChangePoint> {
    let mut splits: Vec<ChangePoint> = Vec::new();
    let mut random = ResamplingRandom::new(search.seed);
    while splits.len() < search.splits_max {
        let edges = edges(&splits, series.len());
        let Some((at, distance)) = furthest(series, &edges, search.runs_min) else { break };
        let mut shuffled = series.to_vec();
        let mut as_far = 0;
        let as_far_max = search.significance * (search.shuffles + 1) as f64 - 1.0;
        for _ in 0..search.shuffles {
            // Once it cannot become significant any more, further shuffles have no effect.
            if as_far as f64 > as_far_max {
                return splits;
            }
            edges.windows(2).for_each(|edge| random.shuffle(&mut shuffled[edge[0]..edge[1]]));
            let other = furthest(&shuffled, &edges, search.runs_min);
            as_far += usize::from(other.is_some_and(|(_, other)| other >= distance));
        }
        // The observed order is one of the possible ones, so the probability is never 0 (Phipson
        // and Smyth 2010).
        let p = (as_far + 1) as f64 / (search.shuffles + 1) as f64;
        if p > search.significance {
            break;
        }
        splits.push(ChangePoint { at, distance, p });
        splits.sort_by_key(|split| split.at);
    }
    splits
}

/// Boundaries of the parts: `0, split, split, …, end`.
fn edges(splits: &[ChangePoint], end: usize) -> Vec<usize> {
    let mut edges = vec![0];
    edges.extend(splits.iter().map(|split| split.at));
    edges.push(end);
    edges
}

/// The split of any part with the largest distance between its sides.
fn furthest(series: &[f64], edges: &[usize], runs_min: usize) -> Option<(usize, f64)> {
    let of_part = |edge: &[usize]| {
        let (at, distance) = furthest_in(&series[edge[0]..edge[1]], runs_min)?;
        Some((edge[0] + at, distance))
    };
    edges.windows(2).filter_map(of_part).reduce(|best, other| if other.1 > best.1 { other } else { best })
}

/// The split of `part` with the largest distance between the runs before it and those up to some
/// later end.
///
/// Sums of distances are updated incrementally, so all splits and ends of `n` runs take n² steps.
fn furthest_in(part: &[f64], runs_min: usize) -> Option<(usize, f64)> {
    let runs_min = runs_min.max(1);
    if part.len() < 2 * runs_min {
        return None;
    }
    // before[j][t]: sum of the distances of run j from the runs before t.
    let stride = part.len() + 1;
    let mut before = vec![0.0; part.len() * stride];
    for (j, &run) in part.iter().enumerate() {
        let row = &mut before[j * stride..(j + 1) * stride];
        let mut sum = 0.0;
        for (t, &other) in part.iter().enumerate() {
            sum += (run - other).abs();
            row[t + 1] = sum;
        }
    }
    let mut best: Option<(usize, f64)> = None;
    let mut left = 0.0;
    for split in 1..part.len() {
        left += before[(split - 1) * stride + split - 1];
        if split < runs_min {
            continue;
        }
        let (mut across, mut right) = (0.0, 0.0);
        for end in split + 1..=part.len() {
            let row = &before[(end - 1) * stride..end * stride];
            across += row[split];
            right += row[end - 1] - row[split];
            let (n, m) = (split as f64, (end - split) as f64);
            if end - split < runs_min {
                continue;
            }
            let within =
                |sum: f64, size: f64, other: f64| if size > 1.0 { other * sum / (size - 1.0) } else { 0.0 };
            let distance = 2.0 / (n + m) * (across - within(left, n, m) - within(right, m, n));
            if best.is_none_or(|(_, furthest)| distance > furthest) {
                best = Some((split, distance));
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: [f64; 30] = [
        100.35, 100.82, 100.33, 98.7, 100.91, 100.45, 99.46, 100.58, 100.36, 100.29, 100.03, 100.55, 99.26,
        99.84, 99.52, 90.6, 90.04, 89.71, 89.22, 89.74, 90.01, 89.72, 91.29, 91.01, 87.29, 88.11, 89.83,
        89.58, 90.21, 90.22,
    ];
    const NONE: [f64; 30] = [
        104.24, 97.78, 99.24, 104.09, 101.29, 101.33, 98.97, 96.7, 100.33, 100.22, 97.55, 98.63, 99.86,
        98.11, 99.8, 100.19, 100.07, 98.99, 101.19, 101.78, 100.64, 98.36, 101.46, 99.0, 101.76, 97.86,
        101.83, 99.96, 97.5, 99.37,
    ];
    const TWO: [f64; 36] = [
        100.05, 100.27, 99.02, 98.89, 100.2, 99.53, 100.24, 100.76, 98.35, 100.25, 101.22, 99.7, 109.19,
        110.75, 110.25, 110.9, 109.65, 108.52, 109.89, 109.55, 110.78, 110.19, 95.37, 95.8, 97.88, 97.68,
        96.36, 97.0, 97.45, 97.47, 97.88, 97.26, 96.91, 96.74, 98.06, 94.75,
    ];
    const SHORT: [f64; 10] = [5000.0, 5010.0, 4990.0, 5005.0, 4995.0, 4200.0, 4210.0, 4190.0, 4205.0, 4195.0];
    const SPIKE: [f64; 15] = [
        100.0, 101.0, 99.0, 100.0, 102.0, 100.0, 130.0, 99.0, 101.0, 100.0, 100.0, 99.0, 101.0, 100.0, 102.0,
    ];
    const LATE: [f64; 35] = [
        49.93, 50.02, 49.29, 50.17, 49.67, 50.43, 49.94, 50.33, 50.61, 50.19, 49.56, 49.24, 50.88, 49.94,
        49.66, 50.07, 49.9, 50.43, 50.02, 50.01, 49.64, 50.23, 49.48, 50.33, 50.76, 49.24, 48.77, 50.31,
        51.27, 49.5, 51.37, 52.29, 51.58, 51.75, 51.83,
    ];
    const SMALL: [f64; 50] = [
        201.06, 199.19, 200.56, 199.65, 198.31, 199.36, 198.1, 200.01, 197.75, 197.81, 202.91, 199.89,
        199.89, 201.02, 199.16, 199.54, 200.85, 200.56, 197.68, 201.67, 198.82, 197.89, 198.2, 199.22,
        203.25, 200.65, 203.32, 198.72, 203.0, 204.8, 202.53, 201.74, 203.46, 204.4, 204.33, 206.94, 203.42,
        201.82, 202.75, 202.86, 203.22, 202.94, 203.35, 199.66, 204.66, 201.85, 200.65, 204.28, 205.63,
        203.99,
    ];

    /// The candidate and its Q̂ as given by `PairDistanceCalculator` of apache-otava 0.8.0 (which
    /// has no least size of a part).
    #[test]
    fn furthest_split_matches_otava() {
        for (series, at, distance) in [
            (&STEP[..], 15, 141.388_571_428_571_42),
            (&NONE, 1, 6.956_944_444_444_437),
            (&TWO, 12, 100.018_512_396_694_22),
            (&SHORT, 5, 3_950.0),
            (&SPIKE, 6, 49.828_571_428_571_42),
            (&LATE, 30, 10.759_310_344_827_577),
            (&SMALL, 24, 45.744_658_086_956_59),
        ] {
            let (found, far) = furthest_in(series, 1).unwrap();
            assert_eq!(found, at);
            assert!((far / distance - 1.0).abs() < 1e-9, "{far} instead of {distance}");
        }
    }

    /// The change points of otava's `PermutationsSignificanceTester` (999 permutations, p ≤ 0.02) on the same series.
    #[test]
    fn change_points_match_otava() {
        for (series, expected) in [
            (&STEP[..], &[15][..]),
            (&NONE, &[]),
            (&TWO, &[12, 22]),
            (&SHORT, &[5]),
            (&SPIKE, &[]),
            (&LATE, &[30]),
            (&SMALL, &[24]),
        ] {
            let positions: Vec<usize> =
                changes(series, &ChangePointOptions::default()).iter().map(|split| split.at).collect();
            assert_eq!(positions, expected, "{series:?}");
        }
    }

    #[test]
    fn short_or_constant_series_has_no_change_points() {
        assert!(changes(&[], &ChangePointOptions::default()).is_empty());
        assert!(changes(&[1.0, 9.0, 9.0], &ChangePointOptions::default()).is_empty());
        assert!(changes(&[5.0; 20], &ChangePointOptions::default()).is_empty());
    }

    /// Runs of one distribution have a change about as often as the significance says.
    #[test]
    fn noise_alone_rarely_gives_change_points() {
        let mut random = ResamplingRandom::new(11);
        let search = ChangePointOptions { shuffles: 99, significance: 0.05, ..ChangePointOptions::default() };
        let noisy = |_| {
            let series: Vec<f64> = (0..20).map(|_| random.unit()).collect();
            usize::from(!changes(&series, &search).is_empty())
        };
        let wrong: usize = (0..100).map(noisy).sum();
        assert!(wrong <= 12, "{wrong} of 100");
    }
}
