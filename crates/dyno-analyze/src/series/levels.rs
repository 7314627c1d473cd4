//! The levels of a series: stretches in which a figure stays about where it is.
//!
//! Changes are those of E-Divisive, looked for in ranks: a few figures that are many times their neighbours neither make
//! a level nor hide one. Changes that are significant and of no weight (a hundredth of the figure, a last digit, less than
//! the figure moves anyway) are no levels.

use super::rank::ranks;
use super::usual::usual;
use super::{Sample, middle, step};
use crate::trend::{Search, changes};

/// Fewest figures of a level; fewer that stand apart are odd ones.
pub const LEVEL_MIN: usize = 4;

/// Least difference of two levels, as a share of the larger one.
const DIFFERENCE_MIN: f64 = 0.2;

/// Figures that are searched at once. Days and nights that follow each other have no one change that outweighs chance over
/// all of them; in a stretch of some days each has.
const STRETCH: usize = 60;

/// Figures that two stretches share, so that every change has enough figures on both sides in one of them.
const SHARED: usize = 36;

/// Shuffles that judge one change.
const SHUFFLES: usize = 199;

/// How far an edge may be moved to where it leaves each figure on the side that it is nearer to.
const REACH: usize = 2;

/// A stretch of the series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Its first figure.
    pub from: usize,
    /// The first figure after it.
    pub to: usize,
    /// The middle of its figures.
    pub median: f64,
}

/// The levels of `samples`, in order and without gap; none where there are no figures.
pub fn levels(samples: &[Sample]) -> Vec<Level> {
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
    let mut edges = one_of_each(splits);
    edges.insert(0, 0);
    edges.push(samples.len());
    let mut levels: Vec<Level> = edges.windows(2).map(|edge| level(samples, edge[0], edge[1])).collect();
    merge(samples, &mut levels);
    for i in 1..levels.len() {
        let at = sharpened(samples, levels[i - 1], levels[i]);
        levels[i - 1] = level(samples, levels[i - 1].from, at);
        levels[i] = level(samples, at, levels[i].to);
    }
    levels
}

fn level(samples: &[Sample], from: usize, to: usize) -> Level {
    Level { from, to, median: middle(samples[from..to].iter().map(|sample| sample.value)) }
}

/// Splits `part`, then each of its halves, as long as a split is significant. `first` is where the part begins.
fn search(part: &[f64], first: usize, splits: &mut Vec<usize>) {
    let search_one = Search { runs_min: LEVEL_MIN, shuffles: SHUFFLES, splits_max: 1, ..Search::default() };
    let Some(split) = changes(&ranks(part), &search_one).first().map(|split| split.at) else { return };
    splits.push(first + split);
    search(&part[..split], first, splits);
    search(&part[split..], first + split, splits);
}

/// Stretches that share figures find the same change at about the same place: the middle of those places.
fn one_of_each(mut splits: Vec<usize>) -> Vec<usize> {
    splits.sort_unstable();
    splits.chunk_by(|a, b| b - a < LEVEL_MIN).map(|near| near[near.len() / 2]).collect()
}

/// Takes away the edge of least weight until all that are left have some.
fn merge(samples: &[Sample], levels: &mut Vec<Level>) {
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

/// How far two levels differ, in units of what it takes.
fn weight(samples: &[Sample], a: Level, b: Level) -> f64 {
    let sides = [&samples[a.from..a.to], &samples[b.from..b.to]];
    let share = DIFFERENCE_MIN * a.median.abs().max(b.median.abs());
    let digits = 2.0 * sides.map(step).into_iter().fold(0.0, f64::max);
    // Where one side is quiet, leaving it says something, however far the other one spreads.
    let spread = sides.map(|side| usual(side, 0.0).spread).into_iter().fold(f64::INFINITY, f64::min);
    let needed = share.max(digits).max(spread);
    if needed > 0.0 { (a.median - b.median).abs() / needed } else { 0.0 }
}

/// The edge of two levels that leaves each figure on the side it is nearer to, within some places of where it was found.
fn sharpened(samples: &[Sample], a: Level, b: Level) -> usize {
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

    fn found(values: &[f64], step: f64) -> Vec<(usize, usize)> {
        let samples: Vec<Sample> = values.iter().map(|&value| Sample { value, step }).collect();
        levels(&samples).iter().map(|level| (level.from, level.to)).collect()
    }

    /// About `value`, a little up and down.
    fn about(value: f64, count: usize) -> Vec<f64> {
        (0..count).map(|i| value * (1.0 + 0.01 * ((i * 7 % 5) as f64 - 2.0))).collect()
    }

    #[test]
    fn a_step_makes_two_levels_and_odd_figures_none() {
        let mut values = about(1.1, 23);
        for (at, value) in [(2, 3.8), (9, 8.1), (11, 3.4), (18, 7.6)] {
            values[at] = value;
        }
        values.extend(about(20.0, 21));
        assert_eq!(found(&values, 0.0), [(0, 23), (23, 44)]);
        assert_eq!(found(&about(5.0, 40), 0.0), [(0, 40)]);
    }

    #[test]
    fn levels_far_below_others_are_found_too() {
        let values = [about(1.0, 12), about(2.0, 12), about(400.0, 12), about(200.0, 12)].concat();
        assert_eq!(found(&values, 0.0), [(0, 12), (12, 24), (24, 36), (36, 48)]);
    }

    #[test]
    fn a_last_digit_is_no_level() {
        let values = [vec![0.2; 20], vec![0.3; 20]].concat();
        assert_eq!(found(&values, 0.1), [(0, 40)]);
        assert_eq!(found(&values, 0.001), [(0, 20), (20, 40)]);
        assert!(found(&[], 0.0).is_empty());
    }

    #[test]
    fn levels_of_long_series_begin_where_they_begin() {
        let values = [about(10.0, 1_003), about(30.0, 801), about(10.0, 500)].concat();
        assert_eq!(found(&values, 0.0), [(0, 1_003), (1_003, 1_804), (1_804, 2_304)]);
    }

    #[test]
    fn days_and_nights_are_levels() {
        let days = |i: usize| if (i / 24).is_multiple_of(2) { 2.0 } else { 20.0 } * (1.0 + 0.02 * (i * 7 % 5) as f64);
        let values: Vec<f64> = (0..24 * 14).map(days).collect();
        let expected: Vec<(usize, usize)> = (0..14).map(|day| (day * 24, day * 24 + 24)).collect();
        assert_eq!(found(&values, 0.0), expected);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

        #[test]
        fn levels_have_neither_gap_nor_overlap(values in proptest::collection::vec(-5i32..5, 1..90)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let found = found(&values, 0.5);
            proptest::prop_assert_eq!((found[0].0, found[found.len() - 1].1), (0, values.len()));
            proptest::prop_assert!(found.windows(2).all(|pair| pair[0].1 == pair[1].0));
            proptest::prop_assert!(found.iter().all(|(from, to)| from < to));
        }
    }
}
