//! What is odd within a level: far from the level's middle, and far from the neighbours too.
//!
//! Both the level and a window that moves along must find it odd. A level alone would flag the ends of a slow drift, a
//! window alone whatever follows a quiet hour.

use super::Sample;
use super::levels::Level;
use super::usual::usual;

/// Robust standard deviations from the median beyond which a figure is odd (Iglewicz and Hoaglin, "How to Detect and
/// Handle Outliers", 1993, recommend 3.5 for the modified z-score).
pub const SCORE_MAX: f64 = 3.5;

/// Figures of a level that it takes to say what is usual in it.
pub const USUAL_MIN: usize = 4;

/// Neighbours in the window.
pub const WINDOW: usize = 12;

/// Figures at either end of a level that may be on the way to the next one.
const RAMP_MAX: usize = 2;

/// An odd figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Odd {
    /// Its place in the series.
    pub at: usize,
    /// What is usual around it.
    pub usual: f64,
    /// How far it is from what is usual, in robust standard deviations: in its level or in its window, whichever is less.
    pub score: f64,
}

/// The odd figures of `samples`, whose levels are `levels`. `weight` is the least difference of any weight.
pub fn odd(samples: &[Sample], levels: &[Level], weight: f64) -> Vec<Odd> {
    let mut found = Vec::new();
    for (i, level) in levels.iter().enumerate() {
        let part = &samples[level.from..level.to];
        if part.len() < USUAL_MIN {
            continue;
        }
        let in_level = usual(part, weight);
        let neighbour = |other: Option<&Level>| other.map(|other| other.median);
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
                found.push(Odd { at: level.from + at, usual: in_window.median, score: least });
            }
        }
    }
    found
}

/// The places of `part` without those at its ends that are on the way from the level before or to the level after.
fn ramp(part: &[Sample], own: f64, before: Option<f64>, after: Option<f64>) -> std::ops::Range<usize> {
    let between = |sample: &Sample, other: f64| {
        (sample.value > own.min(other) && sample.value < own.max(other)) || sample.value == other
    };
    let count = |other: Option<f64>, samples: &mut dyn Iterator<Item = &Sample>| {
        other.map_or(0, |other| samples.take(RAMP_MAX).take_while(|sample| between(sample, other)).count())
    };
    let first = count(before, &mut part.iter());
    let last = count(after, &mut part.iter().rev());
    first..part.len() - last.min(part.len() - first)
}

/// The nearest figures around `at`, without it.
fn window(part: &[Sample], at: usize) -> Vec<Sample> {
    let from = at.saturating_sub(WINDOW / 2).min(part.len().saturating_sub(WINDOW + 1));
    let to = (from + WINDOW + 1).min(part.len());
    (from..to).filter(|place| *place != at).map(|place| part[place]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::levels;
    use super::*;

    fn places(values: &[f64], step: f64) -> Vec<usize> {
        let samples: Vec<Sample> = values.iter().map(|&value| Sample { value, step }).collect();
        odd(&samples, &levels(&samples), 0.0).iter().map(|odd| odd.at).collect()
    }

    #[test]
    fn odd_figures_of_a_low_level_are_found_beside_a_high_one() {
        let mut values = vec![1.1; 23];
        for (at, value) in [(2, 3.8), (9, 8.1), (11, 3.4), (18, 7.6)] {
            values[at] = value;
        }
        values.extend((0..21).map(|i| 18.0 + f64::from(i * 5 % 7)));
        assert_eq!(places(&values, 0.01), [2, 9, 11, 18]);
    }

    #[test]
    fn a_last_digit_is_not_odd() {
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
    fn a_slow_drift_and_a_ramp_have_nothing_odd() {
        let drift: Vec<f64> = (0..40).map(|i| 100.0 + 4.0 * f64::from(i)).collect();
        assert!(places(&drift, 0.1).is_empty());
        let mut ramp = vec![1.0; 12];
        ramp.extend([5.0, 14.0]);
        ramp.extend([20.0; 12]);
        assert!(places(&ramp, 0.1).is_empty(), "what is on the way from one level to the next is of neither");
    }
}
