//! Finds outliers within a level: far from the level's median, and far from the neighbors too.
//!
//! Both the level and a moving window must show the outlier. A level alone would flag the ends of a
//! slow drift, a window alone whatever follows a quiet hour.

use super::SeriesSample;
use super::levels::SeriesLevel;
use super::typical::usual;

/// Robust standard deviations from the median beyond which a figure is an outlier (Iglewicz and
/// Hoaglin, "How to Detect and Handle Outliers", 1993, recommend 3.5 for the modified z-score).
pub const SCORE_MAX: f64 = 3.5;

/// Fewest figures of a level that define what is usual in it.
pub const USUAL_MIN: usize = 4;

/// Number of neighbors in the moving window.
pub const WINDOW: usize = 12;

/// Figures at either end of a level that may belong to the transition to the next one.
const RAMP_MAX: usize = 2;

/// An outlier of the series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesOutlier {
    /// Its index in the series.
    pub at: usize,
    /// The usual value around it.
    pub usual: f64,
    /// Its distance from the usual value in robust standard deviations: in its level or in its
    /// window, whichever is less.
    pub score: f64,
}

/// The outliers of `samples`, whose levels are `levels`. `weight` is the smallest relevant
/// difference.
pub fn find_outliers(samples: &[SeriesSample], levels: &[SeriesLevel], weight: f64) -> Vec<SeriesOutlier> {
    let mut outliers = Vec::new();
    for (i, level) in levels.iter().enumerate() {
        let part = &samples[level.from..level.to];
        if part.len() < USUAL_MIN {
            continue;
        }
        let in_level = usual(part, weight);
        let neighbour = |other: Option<&SeriesLevel>| other.map(|other| other.median);
        let ramp = ramp(
            part,
            level.median,
            neighbour(i.checked_sub(1).map(|i| &levels[i])),
            neighbour(levels.get(i + 1)),
        );
        for at in ramp {
            let value = part[at].value;
            let in_window = usual(&window(part, at), weight.max(part[at].step));
            let scores = [in_level.score(value), in_window.score(value)];
            let least = if scores[0].abs() < scores[1].abs() { scores[0] } else { scores[1] };
            if scores[0] * scores[1] > 0.0 && least.abs() > SCORE_MAX {
                outliers.push(SeriesOutlier { at: level.from + at, usual: in_window.median, score: least });
            }
        }
    }
    outliers
}

/// The range of `part` without the transitions at its ends, from the level before or to the level
/// after.
fn ramp(
    part: &[SeriesSample],
    level_median: f64,
    before: Option<f64>,
    after: Option<f64>,
) -> std::ops::Range<usize> {
    let between = |sample: &SeriesSample, other: f64| {
        (sample.value > level_median.min(other) && sample.value < level_median.max(other))
            || sample.value == other
    };
    let count = |other: Option<f64>, samples: &mut dyn Iterator<Item = &SeriesSample>| {
        other.map_or(0, |other| samples.take(RAMP_MAX).take_while(|sample| between(sample, other)).count())
    };
    let first = count(before, &mut part.iter());
    let last = count(after, &mut part.iter().rev());
    first..part.len() - last.min(part.len() - first)
}

/// The nearest figures around `at`, excluding it.
fn window(part: &[SeriesSample], at: usize) -> Vec<SeriesSample> {
    let from = at.saturating_sub(WINDOW / 2).min(part.len().saturating_sub(WINDOW + 1));
    let to = (from + WINDOW + 1).min(part.len());
    (from..to).filter(|place| *place != at).map(|place| part[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::levels;
    use super::*;

    fn places(values: &[f64], step: f64) -> Vec<usize> {
        let samples: Vec<SeriesSample> = values.iter().map(|&value| SeriesSample { value, step }).collect();
        find_outliers(&samples, &levels(&samples), 0.0).iter().map(|odd| odd.at).collect()
    }

    #[test]
    fn outliers_at_low_level_are_found_despite_high_level() {
        let mut values = vec![1.1; 23];
        for (at, value) in [(2, 3.8), (9, 8.1), (11, 3.4), (18, 7.6)] {
            values[at] = value;
        }
        values.extend((0..21).map(|i| 18.0 + f64::from(i * 5 % 7)));
        assert_eq!(places(&values, 0.01), [2, 9, 11, 18]);
    }

    #[test]
    fn rounding_of_last_digit_is_no_outlier() {
        let mut values = vec![0.2; 30];
        values[11] = 0.3;
        values[17] = 0.5;
        assert!(
            places(&values, 0.1).is_empty(),
            "three last digits are within what rounding and chance leave open"
        );
        values[17] = 1.1;
        assert_eq!(places(&values, 0.1), [17]);
    }

    #[test]
    fn slow_drift_and_ramp_have_no_outliers() {
        let drift: Vec<f64> = (0..40).map(|i| 100.0 + 4.0 * f64::from(i)).collect();
        assert!(places(&drift, 0.1).is_empty());
        let mut ramp = vec![1.0; 12];
        ramp.extend([5.0, 14.0]);
        ramp.extend([20.0; 12]);
        assert!(places(&ramp, 0.1).is_empty(), "what is on the way from one level to the next is of neither");
    }
}
