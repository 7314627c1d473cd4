//! Computes the ratio of two medians, with an interval by bootstrap.

use crate::random::ResamplingRandom;

/// Resamples of the bootstrap: with this many, the ends of the interval vary by less than a tenth
/// of its width.
const RESAMPLES: usize = 1_000;

/// Share of the resamples outside the interval, both sides together.
const OUTSIDE: f64 = 0.05;

/// Most runs of one side for which the median's distribution is computed; beyond it, resamples are
/// drawn one by one.
const KNOWN_RUNS_MAX: usize = 60;

/// Seed of the resamples: equal runs always give an equal interval.
const SEED: u64 = 0x0D79_0A11;

/// The ratio of two medians.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MedianRatio {
    /// Median of the second side ÷ median of the first.
    pub ratio: f64,
    /// Lower end of the 95 % interval: percentiles of the bootstrap (Efron and Tibshirani: An
    /// Introduction to the Bootstrap, 13). With three runs or fewer it spans the runs.
    pub low: f64,
    /// Upper end of the same interval.
    pub high: f64,
}

/// The median; the values are sorted in place. NaN for an empty slice.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[middle],
        _ => values[middle - 1].midpoint(values[middle]),
    }
}

/// The bootstrap of one pair of sides: its ratio, and the logarithms of the resampled ratios.
#[derive(Debug, Clone)]
pub struct RatioDraws {
    ratio: f64,
    logs: Vec<f64>,
}

/// Bootstraps the ratio of the second side `b` to the first side `a`. Absent where a side is empty,
/// or where a value is not above zero and a ratio says nothing.
pub fn draw_ratio(a: &[f64], b: &[f64]) -> Option<RatioDraws> {
    if a.is_empty() || b.is_empty() || !a.iter().chain(b).all(|v| v.is_finite() && *v > 0.0) {
        return None;
    }
    let ratio = median(&mut b.to_vec()) / median(&mut a.to_vec());
    let mut random = ResamplingRandom::new(SEED);
    let (a, b) = (ResampledMedian::of(a), ResampledMedian::of(b));
    // Each side's draws are spread evenly over its distribution, and paired at random.
    let (a, mut b) = (a.logs(&mut random), b.logs(&mut random));
    random.shuffle(&mut b);
    let logs = a.iter().zip(&b).map(|(a, b)| b - a).collect();
    Some(RatioDraws { ratio, logs })
}

impl RatioDraws {
    /// The ratio with its interval.
    pub fn ratio(&self) -> MedianRatio {
        let mut logs = self.logs.clone();
        let (low, high) = interval(&mut logs);
        // Logarithm and exponential do not restore the last digit.
        MedianRatio { ratio: self.ratio, low: low.exp().min(self.ratio), high: high.exp().max(self.ratio) }
    }
}

/// The geometric mean of several points' ratios, with each point's runs resampled within it. Absent
/// without a point.
pub fn mean_ratio(points: &[RatioDraws]) -> Option<MedianRatio> {
    if points.is_empty() {
        return None;
    }
    let count = points.len() as f64;
    let ratio = (points.iter().map(|point| point.ratio.ln()).sum::<f64>() / count).exp();
    let mut random = ResamplingRandom::new(SEED);
    let mut logs = vec![0.0; RESAMPLES];
    for point in points {
        for log in &mut logs {
            *log += point.logs[random.below(RESAMPLES)] / count;
        }
    }
    Some(RatioDraws { ratio, logs }.ratio())
}

/// The median of a resample of `n` runs with replacement, as a random variable.
///
/// Its distribution is known. For sorted runs x₁ … xₙ, the k-th of a resample is at most xᵢ when at
/// least k of n draws are. That is binomial (Efron: Bootstrap methods, 1979, 3). One draw from it
/// replaces n draws and a sort.
enum ResampledMedian {
    /// The logarithms of its values, and their cumulated probabilities.
    Known { logs: Vec<f64>, cumulated: Vec<f64> },
    /// The runs to draw from, where there are too many to enumerate.
    Drawn { runs: Vec<f64> },
}

impl ResampledMedian {
    fn of(runs: &[f64]) -> Self {
        let mut sorted = runs.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let n = sorted.len();
        if n > KNOWN_RUNS_MAX {
            return Self::Drawn { runs: sorted };
        }
        let middle = n.div_ceil(2);
        let at_most: Vec<f64> = (0..=n).map(|i| binomial_tail(n, i as f64 / n as f64, middle)).collect();
        let mut atoms = Vec::new();
        for i in 1..=n {
            let mut left = at_most[i] - at_most[i - 1];
            if n.is_multiple_of(2) {
                // The middle one is xᵢ and the next xⱼ: half of the draws up to xᵢ, the other half from xⱼ on.
                let share = |k: usize| (k as f64 / n as f64).powi(middle as i32);
                let lower = share(i) - share(i - 1);
                for j in i + 1..=n {
                    let pair_probability = choose(n, middle) * lower * (share(n - j + 1) - share(n - j));
                    atoms.push((sorted[i - 1].midpoint(sorted[j - 1]), pair_probability));
                    left -= pair_probability;
                }
            }
            atoms.push((sorted[i - 1], left.max(0.0)));
        }
        let mut sum = 0.0;
        let cumulated = atoms.iter().map(|atom| {
            sum += atom.1;
            sum
        });
        let cumulated = cumulated.collect();
        Self::Known { logs: atoms.into_iter().map(|atom| atom.0.ln()).collect(), cumulated }
    }

    /// The logarithms of [`RESAMPLES`] draws. Where the distribution is known, they are its
    /// quantiles at equal distances.
    fn logs(&self, random: &mut ResamplingRandom) -> Vec<f64> {
        match self {
            Self::Known { logs, cumulated } => {
                let all = cumulated.last().copied().unwrap_or(1.0);
                let mut atom = 0;
                let quantile = |i: usize| {
                    let at = all * (i as f64 + 0.5) / RESAMPLES as f64;
                    while atom + 1 < logs.len() && cumulated[atom] <= at {
                        atom += 1;
                    }
                    logs[atom]
                };
                (0..RESAMPLES).map(quantile).collect()
            }
            Self::Drawn { runs } => {
                let mut resample = vec![0.0; runs.len()];
                let mut draw = |_| {
                    resample.iter_mut().for_each(|place| *place = runs[random.below(runs.len())]);
                    median(&mut resample).ln()
                };
                (0..RESAMPLES).map(&mut draw).collect()
            }
        }
    }
}

/// Probability of at least `least` successes in `n` draws of probability `p`.
fn binomial_tail(n: usize, p: f64, least: usize) -> f64 {
    let term = |k: usize| choose(n, k) * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32);
    (least..=n).map(term).sum()
}

/// The binomial coefficient n over k.
fn choose(n: usize, k: usize) -> f64 {
    (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
}

fn interval(values: &mut [f64]) -> (f64, f64) {
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
    (at(OUTSIDE / 2.0), at(1.0 - OUTSIDE / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio_of_medians(a: &[f64], b: &[f64]) -> Option<MedianRatio> {
        draw_ratio(a, b).map(|draws| draws.ratio())
    }

    /// Compares the known distribution with a count of all resamples.
    #[test]
    fn resampled_median_matches_all_resamples() {
        for n in 1..=6usize {
            let runs: Vec<f64> = (0..n).map(|i| (i * i) as f64 + 1.0).collect();
            let all = n.pow(n as u32);
            let mut counted = std::collections::BTreeMap::new();
            for code in 0..all {
                let mut resample: Vec<f64> =
                    (0..n).map(|place| runs[code / n.pow(place as u32) % n]).collect();
                *counted.entry(median(&mut resample).ln().to_bits()).or_insert(0u32) += 1;
            }
            let ResampledMedian::Known { logs, cumulated } = ResampledMedian::of(&runs) else {
                panic!("{n}")
            };
            let mut before = 0.0;
            let mut summed = std::collections::BTreeMap::new();
            for (log, cumulated) in logs.iter().zip(&cumulated) {
                *summed.entry(log.to_bits()).or_insert(0.0) += cumulated - before;
                before = *cumulated;
            }
            for (value, count) in counted {
                let share = f64::from(count) / all as f64;
                assert!((summed[&value] - share).abs() < 1e-12, "n {n} value {}", f64::from_bits(value));
            }
        }
    }

    #[test]
    fn median_of_odd_even_and_empty_values() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&mut []).is_nan());
    }

    #[test]
    fn interval_contains_ratio_and_spans_all_of_few_runs() {
        let ratio = ratio_of_medians(&[90.0, 100.0, 110.0], &[80.0, 90.0, 100.0]).unwrap();
        assert_eq!(ratio.ratio, 0.9);
        assert!((ratio.low - 80.0 / 110.0).abs() < 1e-12);
        assert!((ratio.high - 100.0 / 90.0).abs() < 1e-12);
        let single_run = ratio_of_medians(&[100.0], &[97.0]).unwrap();
        assert!((single_run.low - 0.97).abs() < 1e-12);
        assert!((single_run.high - 0.97).abs() < 1e-12);
        assert_eq!(
            ratio_of_medians(&[1.0, 2.0, 3.0], &[2.0, 4.0]),
            ratio_of_medians(&[1.0, 2.0, 3.0], &[2.0, 4.0])
        );
    }

    /// The interval of normal runs covers the true ratio about as often as stated. Few runs make it
    /// too narrow; the rank test beside it compensates for that.
    #[test]
    fn interval_covers_true_ratio_as_often_as_stated() {
        let mut random = ResamplingRandom::new(5);
        // The sum of twelve uniform draws is nearly normal.
        let mut draw = |mean: f64| {
            let sum: f64 = (0..12).map(|_| random.below(1_000_000) as f64 / 1e6).sum();
            mean * (1.0 + 0.02 * (sum - 6.0))
        };
        let mut covered = 0;
        for _ in 0..200 {
            let a: Vec<f64> = (0..9).map(|_| draw(1_000.0)).collect();
            let b: Vec<f64> = (0..9).map(|_| draw(900.0)).collect();
            let ratio = ratio_of_medians(&a, &b).unwrap();
            covered += i32::from(ratio.low <= 0.9 && 0.9 <= ratio.high);
        }
        assert!((184..=200).contains(&covered), "{covered} of 200");
    }

    #[test]
    fn ratio_is_absent_for_zero_or_no_runs() {
        assert!(ratio_of_medians(&[0.0], &[1.0]).is_none());
        assert!(ratio_of_medians(&[], &[1.0]).is_none());
        assert!(mean_ratio(&[]).is_none());
    }

    #[test]
    fn the_mean_over_points_is_geometric() {
        let points = [draw_ratio(&[1.0], &[2.0]).unwrap(), draw_ratio(&[1.0], &[0.5]).unwrap()];
        let mean = mean_ratio(&points).unwrap();
        assert!((mean.ratio - 1.0).abs() < 1e-12);
        assert!(mean.low <= mean.ratio);
        assert!(mean.ratio <= mean.high);
    }
}
