//! Detects a lasting step (the write cliff of flash is one) or a drift in a long run.

use crate::number::{percent, span_s};
use crate::points::phrase;

use super::line;

/// Fewest rounds on each side of a step; a drift needs twice as many.
const SIDE_MIN: usize = 5;

/// Steps below this share of the level before are not reported, %.
const STEP_LEAST_PCT: f64 = 10.0;

/// A sudden decrease of at least this much is called a cliff, %.
pub const CLIFF_PCT: f64 = 20.0;

/// Standard errors by which the levels of a step must differ. The position is chosen to maximize
/// the difference, so this is far more than the usual two. With random rounds it exceeds four once
/// in some thousand series.
const STEP_ERRORS: f64 = 5.0;

/// Drifts below this over the whole series are not reported, %.
const DRIFT_LEAST_PCT: f64 = 5.0;

/// Mann–Kendall's Z beyond which a trend is not due to chance: 1 % two-sided.
const TREND_Z: f64 = 2.576;

/// The change in a series of rounds.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SteadyChange {
    /// There are too few rounds to decide.
    Unknown,
    /// Neither a step nor a drift.
    None,
    /// A step from one level to another that lasts.
    Step {
        /// Index of the first round of the new level.
        at: usize,
        /// Mean of the rounds before the step.
        before: f64,
        /// Mean of the rounds after the step.
        after: f64,
    },
    /// A steady rise or fall from the first to the last round.
    Drift {
        /// Value of the straight line at the first round.
        from: f64,
        /// Value of the straight line at the last round.
        to: f64,
    },
}

/// The best position for a step, and the sum of squares with two levels.
fn best_step(rounds: &[f64]) -> (usize, f64) {
    let total: f64 = rounds.iter().sum();
    let squares: f64 = rounds.iter().map(|round| round * round).sum();
    let n = rounds.len() as f64;
    let (mut left, mut best) = (0.0, (SIDE_MIN, f64::INFINITY));
    for (i, round) in rounds.iter().enumerate().take(rounds.len() - SIDE_MIN) {
        left += round;
        let count = (i + 1) as f64;
        let rest = squares - left * left / count - (total - left).powi(2) / (n - count);
        if i + 1 >= SIDE_MIN && rest < best.1 {
            best = (i + 1, rest);
        }
    }
    (best.0, best.1.max(0.0))
}

/// Z of Mann's test for a trend (Mann, Econometrica 13, 1945; Kendall, Rank Correlation Methods,
/// 1975), corrected for ties.
fn mann_kendall(rounds: &[f64]) -> f64 {
    let mut s = 0i64;
    for (i, a) in rounds.iter().enumerate() {
        s += rounds[i + 1..].iter().map(|b| i64::from(b > a) - i64::from(b < a)).sum::<i64>();
    }
    let part = |t: f64| t * (t - 1.0) * (2.0 * t + 5.0) / 18.0;
    let mut sorted = rounds.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|tied| part(tied.len() as f64)).sum();
    let variance = part(rounds.len() as f64) - ties;
    if variance <= 0.0 { 0.0 } else { (s - s.signum()) as f64 / variance.sqrt() }
}

/// The change in `rounds`, in any unit.
pub fn change(rounds: &[f64]) -> SteadyChange {
    if rounds.len() < 2 * SIDE_MIN {
        return SteadyChange::Unknown;
    }
    let n = rounds.len() as f64;
    let (mean, slope) = line(rounds);
    let rise = slope * (n - 1.0);
    let (from, to) = (mean - rise / 2.0, mean + rise / 2.0);
    let off_line: f64 =
        rounds.iter().enumerate().map(|(i, round)| (round - from - slope * i as f64).powi(2)).sum();
    let (at, off_levels) = best_step(rounds);
    let (left, right) = rounds.split_at(at);
    let level = |side: &[f64]| side.iter().sum::<f64>() / side.len() as f64;
    let (before, after) = (level(left), level(right));
    let error = (off_levels / (n - 2.0) * (1.0 / left.len() as f64 + 1.0 / right.len() as f64)).sqrt();
    let apart = (after - before).abs();
    if off_levels < off_line && apart >= STEP_ERRORS * error && apart >= STEP_LEAST_PCT / 100.0 * before.abs()
    {
        return SteadyChange::Step { at, before, after };
    }
    if rise.abs() >= DRIFT_LEAST_PCT / 100.0 * from.abs() && mann_kendall(rounds).abs() >= TREND_Z {
        return SteadyChange::Drift { from, to };
    }
    SteadyChange::None
}

impl SteadyChange {
    /// The change from the old to the new level, %; negative is a decrease. `None` without a
    /// change.
    pub fn percent(&self) -> Option<f64> {
        match *self {
            Self::Step { before: from, after: to, .. } | Self::Drift { from, to } => {
                Some(100.0 * (to - from) / from)
            }
            Self::Unknown | Self::None => None,
        }
    }

    /// Whether it is a write cliff: a sudden, lasting decrease of [`CLIFF_PCT`] or more.
    pub fn is_cliff(&self) -> bool {
        matches!(self, Self::Step { .. }) && self.percent().is_some_and(|percent| percent <= -CLIFF_PCT)
    }

    /// The change in one sentence, for rounds of `round_s` seconds; `measure` is the name of the
    /// measure.
    pub fn sentence(&self, round_s: f64, measure: &str) -> String {
        let amount = self.percent().map_or_else(String::new, |by| percent(by.abs()));
        let way = |from: f64, to: f64| if to < from { "falls" } else { "rises" };
        match *self {
            Self::Unknown => format!("too few rounds to tell a drift: it takes {}", 2 * SIDE_MIN),
            Self::None => "no drift and no lasting step".into(),
            Self::Step { at, before, after } => format!(
                "{}: throughput {} by {amount} % after {}, from {} to {}, and stays there",
                if self.is_cliff() { "cliff" } else { "step" },
                way(before, after),
                span_s(at as f64 * round_s),
                phrase(measure, before),
                phrase(measure, after)
            ),
            Self::Drift { from, to } => format!(
                "drift: throughput {} steadily by {amount} %, from {} to {}",
                way(from, to),
                phrase(measure, from),
                phrase(measure, to)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::ResamplingRandom;

    /// Noise of up to ± `share` around `level`.
    fn noisy(random: &mut ResamplingRandom, level: f64, share: f64) -> f64 {
        level * (1.0 + share * (random.below(2_001) as f64 / 1_000.0 - 1.0))
    }

    #[test]
    fn write_cliff_is_detected_at_its_position() {
        let mut random = ResamplingRandom::new(1);
        let rounds: Vec<f64> =
            (0..60).map(|i| noisy(&mut random, if i < 23 { 1_000.0 } else { 550.0 }, 0.05)).collect();
        let change = change(&rounds);
        assert!(matches!(change, SteadyChange::Step { at: 23, .. }), "{change:?}");
        assert!(change.is_cliff());
        let sentence = change.sentence(60.0, "ops_per_s");
        assert!(sentence.starts_with("cliff: throughput falls by 45"), "{sentence}");
        assert!(sentence.contains(" % after 23 min 00 s, from "), "{sentence}");
    }

    #[test]
    fn slow_decline_is_a_drift_and_not_a_step() {
        let mut random = ResamplingRandom::new(2);
        let rounds: Vec<f64> =
            (0..60).map(|i| noisy(&mut random, 1_000.0 - 5.0 * f64::from(i), 0.03)).collect();
        let change = change(&rounds);
        assert!(matches!(change, SteadyChange::Drift { .. }), "{change:?}");
        assert!((change.percent().unwrap() + 29.5).abs() < 4.0, "{change:?}");
        assert!(change.sentence(60.0, "ops_per_s").starts_with("drift: throughput falls steadily by "));
    }

    #[test]
    fn temporary_dip_is_neither_step_nor_drift() {
        let mut rounds = vec![1_000.0; 40];
        rounds[20..23].fill(300.0);
        assert_eq!(change(&rounds), SteadyChange::None);
        assert_eq!(change(&rounds[..9]), SteadyChange::Unknown);
        assert_eq!(change(&[0.0; 12]), SteadyChange::None);
    }

    #[test]
    fn noise_alone_is_rarely_a_change() {
        let mut random = ResamplingRandom::new(3);
        let false_positives = (0..1_000)
            .filter(|_| {
                let rounds: Vec<f64> = (0..30).map(|_| noisy(&mut random, 1_000.0, 0.25)).collect();
                change(&rounds) != SteadyChange::None
            })
            .count();
        assert!(false_positives <= 25, "{false_positives} of 1,000");
    }

    #[test]
    fn trend_test_matches_manual_calculation() {
        // Ten rising values: S = 45, Var S = 10 × 9 × 25 ÷ 18 = 125, Z = 44 ÷ √125.
        let rising: Vec<f64> = (0..10).map(f64::from).collect();
        assert!((mann_kendall(&rising) - 44.0 / 125f64.sqrt()).abs() < 1e-12);
        // Two ties of two: Var S = 28.333 − 2 × 1 = (5 × 4 × 15 − 2 × 2 × 1 × 9) ÷ 18 = 14.667; S = 8, Z = 7 ÷ √14.667.
        assert!((mann_kendall(&[1.0, 1.0, 2.0, 2.0, 3.0]) - 7.0 / (264.0f64 / 18.0).sqrt()).abs() < 1e-12);
        assert_eq!(mann_kendall(&[4.0; 6]), 0.0);
    }

    proptest! {
        #[test]
        fn steady_change_handles_any_series(rounds in prop::collection::vec(0.0..1e9f64, 0..80)) {
            let change = change(&rounds);
            prop_assert!(!change.sentence(60.0, "ops_per_s").is_empty());
            if let SteadyChange::Step { at, .. } = change {
                prop_assert!(at >= SIDE_MIN && at + SIDE_MIN <= rounds.len());
            }
        }
    }
}
