//! One measure of a point: its value and the spread of the repeats.

use dyno_record::Unit;

/// One measure of a point.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    pub unit: Unit,
    /// The point's value. For percentiles and the maximum of latencies it comes from the merged histograms of all
    /// repeats; for everything else it is the median of the repeats.
    pub value: f64,
    /// Each repeat's own value, in the order in which they ran.
    pub runs: Vec<f64>,
}

impl Estimate {
    /// The median of `runs` as the value; `None` without runs.
    pub(crate) fn of_median(unit: Unit, runs: Vec<f64>) -> Option<Self> {
        let value = median(&runs)?;
        Some(Self { unit, value, runs })
    }

    /// Number of repeats of the point.
    pub fn n(&self) -> usize {
        self.runs.len()
    }

    /// The smallest value of the repeats.
    pub fn min(&self) -> f64 {
        self.runs.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The median value of the repeats.
    pub fn median(&self) -> f64 {
        median(&self.runs).unwrap_or(self.value)
    }

    /// The largest value of the repeats.
    pub fn max(&self) -> f64 {
        self.runs.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Spread of the repeats: (largest − smallest) ÷ median, %. `None` with fewer than two.
    pub fn spread_pct(&self) -> Option<f64> {
        let median = self.median();
        (self.n() > 1 && median != 0.0).then(|| 100.0 * (self.max() - self.min()) / median.abs())
    }
}

/// The median; for an even number, the mean of the two middle values. `None` for an empty slice.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n.is_multiple_of(2) => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
        _ => Some(sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_is_relative_to_the_median() {
        let estimate = Estimate::of_median(Unit::PerSecond, vec![110.0, 90.0, 100.0, 104.0]).unwrap();
        assert_eq!((estimate.min(), estimate.median(), estimate.max()), (90.0, 102.0, 110.0));
        assert!((estimate.spread_pct().unwrap() - 100.0 * 20.0 / 102.0).abs() < 1e-12);
        let single_run = Estimate::of_median(Unit::PerSecond, vec![5.0]).unwrap();
        assert_eq!((single_run.value, single_run.spread_pct()), (5.0, None));
        assert_eq!(Estimate::of_median(Unit::PerSecond, vec![]), None);
    }
}
