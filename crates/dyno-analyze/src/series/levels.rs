//! Finds the levels of a series: stretches in which a figure stays about the same.
//!
//! Changes are found with E-Divisive on ranks. A few figures that are many times their neighbors
//! then neither make a level nor hide one. A change that is significant but small makes no level: a
//! hundredth of the figure, a last digit, or less than the usual variation.

use super::rank::ranks;
use super::typical::usual;
use super::{SeriesSample, middle, step};
use crate::trend::{ChangePointOptions, changes};

/// Fewest figures of a level; fewer are outliers.
pub const LEVEL_MIN: usize = 4;

/// Smallest difference of two levels, as a share of the larger one.
const DIFFERENCE_MIN: f64 = 0.2;

/// Figures that are searched at once. In a long series of days and nights, no single change
/// outweighs chance; in a stretch of some days each does.
const STRETCH: usize = 60;

/// Figures that two stretches share, so every change has enough figures on both sides in one of
/// them.
const SHARED: usize = 36;

/// Shuffles that assess one change.
const SHUFFLES: usize = 199;

/// How far a boundary may be moved so that each figure is on the nearer side.
const REACH: usize = 2;

/// A stretch of the series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesLevel {
    /// Index of its first figure.
    pub from: usize,
    /// Index of the first figure after it.
    pub to: usize,
    /// The median of its figures.
    pub median: f64,
}

/// The levels of `samples`, in order and without gaps; empty without figures.
pub fn levels(samples: &[SeriesSample]) -> Vec<SeriesLevel> {
    if samples.is_empty() {
        return Vec::new();
    }
    let values: Vec<f64> = samples.iter().map(|sample| sample.value).collect();
    let mut splits = Vec::new();
    for first in (0..values.len()).step_by(STRETCH - SHARED) {
        let end = (first + STRETCH).min(values.len());
        search(&values[first..end], first, &mut splits);
        if end == values.len() {
            break;
        }
    }
    let mut edges = deduplicate(splits);
    edges.insert(0, 0);
    edges.push(samples.len());
    let mut levels: Vec<SeriesLevel> =
        edges.windows(2).map(|edge| level(samples, edge[0], edge[1])).collect();
    merge(samples, &mut levels);
    for i in 1..levels.len() {
        let at = sharpened(samples, levels[i - 1], levels[i]);
        levels[i - 1] = level(samples, levels[i - 1].from, at);
        levels[i] = level(samples, at, levels[i].to);
    }
    levels
}

fn level(samples: &[SeriesSample], from: usize, to: usize) -> SeriesLevel {
    SeriesLevel { from, to, median: middle(samples[from..to].iter().map(|sample| sample.value)) }
}

/// Splits `part`, then each of its halves, as long as a split is significant. `first` is the index
/// at which the part begins.
fn search(part: &[f64], first: usize, splits: &mut Vec<usize>) {
    let search_one = ChangePointOptions {
        runs_min: LEVEL_MIN,
        shuffles: SHUFFLES,
        splits_max: 1,
        ..ChangePointOptions::default()
    };
    let Some(split) = changes(&ranks(part), &search_one).first().map(|split| split.at) else { return };
    splits.push(first + split);
    search(&part[..split], first, splits);
    search(&part[split..], first + split, splits);
}

/// Overlapping stretches find a change twice at about the same index; this keeps the middle of
/// those.
fn deduplicate(mut splits: Vec<usize>) -> Vec<usize> {
    splits.sort_unstable();
    splits.chunk_by(|a, b| b - a < LEVEL_MIN).map(|near| near[near.len() / 2]).collect()
}

/// Removes the boundary of least weight until all remaining ones have enough.
fn merge(samples: &[SeriesSample], levels: &mut Vec<SeriesLevel>) {
    loop {
        let weights = (1..levels.len()).map(|i| (i, weight(samples, levels[i - 1], levels[i])));
        let Some((i, least)) = weights.min_by(|a, b| a.1.total_cmp(&b.1)) else { return };
        if least > 1.0 {
            return;
        }
        let merged = level(samples, levels[i - 1].from, levels[i].to);
        levels.splice(i - 1..=i, [merged]);
    }
}

/// The difference of two levels, relative to the required one.
fn weight(samples: &[SeriesSample], a: SeriesLevel, b: SeriesLevel) -> f64 {
    let sides = [&samples[a.from..a.to], &samples[b.from..b.to]];
    let share = DIFFERENCE_MIN * a.median.abs().max(b.median.abs());
    let digits = 2.0 * sides.map(step).into_iter().fold(0.0, f64::max);
    // Where one side varies little, leaving it is significant, however much the other one varies.
    let spread = sides.map(|side| usual(side, 0.0).spread).into_iter().fold(f64::INFINITY, f64::min);
    let needed = share.max(digits).max(spread);
    if needed > 0.0 { (a.median - b.median).abs() / needed } else { 0.0 }
}

/// The boundary of two levels that leaves each figure on the nearer side, within some places of the
/// one found.
fn sharpened(samples: &[SeriesSample], a: SeriesLevel, b: SeriesLevel) -> usize {
    let low = b.from.saturating_sub(REACH).max(a.from + 1);
    let high = (b.from + REACH).min(b.to - 1);
    let apart = |at: usize| {
        let left = samples[low..at].iter().map(|sample| (sample.value - a.median).abs()).sum::<f64>();
        let right = samples[at..high].iter().map(|sample| (sample.value - b.median).abs()).sum::<f64>();
        left + right
    };
    (low..=high).min_by(|&x, &y| apart(x).total_cmp(&apart(y))).unwrap_or(b.from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level_ranges(values: &[f64], step: f64) -> Vec<(usize, usize)> {
        let samples: Vec<SeriesSample> = values.iter().map(|&value| SeriesSample { value, step }).collect();
        levels(&samples).iter().map(|level| (level.from, level.to)).collect()
    }

    /// Figures that vary a little around `value`.
    fn about(value: f64, count: usize) -> Vec<f64> {
        (0..count).map(|i| value * (1.0 + 0.01 * ((i * 7 % 5) as f64 - 2.0))).collect()
    }

    #[test]
    fn step_makes_two_levels_and_outliers_make_none() {
        let mut values = about(1.1, 23);
        for (at, value) in [(2, 3.8), (9, 8.1), (11, 3.4), (18, 7.6)] {
            values[at] = value;
        }
        values.extend(about(20.0, 21));
        assert_eq!(level_ranges(&values, 0.0), [(0, 23), (23, 44)]);
        assert_eq!(level_ranges(&about(5.0, 40), 0.0), [(0, 40)]);
    }

    #[test]
    fn levels_far_below_others_are_found() {
        let values = [about(1.0, 12), about(2.0, 12), about(400.0, 12), about(200.0, 12)].concat();
        assert_eq!(level_ranges(&values, 0.0), [(0, 12), (12, 24), (24, 36), (36, 48)]);
    }

    #[test]
    fn rounding_of_last_digit_is_no_level_change() {
        let values = [vec![0.2; 20], vec![0.3; 20]].concat();
        assert_eq!(level_ranges(&values, 0.1), [(0, 40)]);
        assert_eq!(level_ranges(&values, 0.001), [(0, 20), (20, 40)]);
        assert!(level_ranges(&[], 0.0).is_empty());
    }

    #[test]
    fn level_boundaries_of_long_series_are_exact() {
        let values = [about(10.0, 1_003), about(30.0, 801), about(10.0, 500)].concat();
        assert_eq!(level_ranges(&values, 0.0), [(0, 1_003), (1_003, 1_804), (1_804, 2_304)]);
    }

    #[test]
    fn day_and_night_load_are_separate_levels() {
        let days = |i: usize| if (i / 24).is_multiple_of(2) { 2.0 } else { 20.0 } * (1.0 + 0.02 * (i * 7 % 5) as f64);
        let values: Vec<f64> = (0..24 * 14).map(days).collect();
        let expected: Vec<(usize, usize)> = (0..14).map(|day| (day * 24, day * 24 + 24)).collect();
        assert_eq!(level_ranges(&values, 0.0), expected);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

        #[test]
        fn levels_cover_series_without_gap_or_overlap(values in proptest::collection::vec(-5i32..5, 1..90)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let ranges = level_ranges(&values, 0.5);
            proptest::prop_assert_eq!((ranges[0].0, ranges[ranges.len() - 1].1), (0, values.len()));
            proptest::prop_assert!(ranges.windows(2).all(|pair| pair[0].1 == pair[1].0));
            proptest::prop_assert!(ranges.iter().all(|(from, to)| from < to));
        }
    }
}
