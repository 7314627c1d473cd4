//! Selects the values that belong to a run: those whose periods overlap its window. Figures use only periods
//! that lie completely within it.

use dyno_record::{ImportedMetric, ImportedPoint, ImportedWithin};

use super::read::{FileMetrics, MetricKey, MetricValues};

/// Maximum values of one metric, and of all metrics, in a record.
const POINTS_MAX: usize = 50_000;
const ALL_MAX: usize = 200_000;
/// Tolerance for times of two programs that differ only by rounding, s.
const EDGE_S: f64 = 1e-3;

/// When a run was measured: start of its window in seconds since 1970, and its length, s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RunWindowSpan {
    pub(super) begin_s: f64,
    pub(super) seconds: f64,
}

/// The metrics of `file` for the time of a run; `period_s` is the user's period length.
///
/// # Errors
/// There are more values than a record can contain.
pub(super) fn align_to_window(
    all: &FileMetrics,
    file: &str,
    when: RunWindowSpan,
    period_s: Option<f64>,
) -> Result<Vec<ImportedMetric>, String> {
    let settled: Vec<ImportedMetric> =
        all.iter().map(|(key, values)| align_metric(key, values, file, when, period_s)).collect();
    let points = |metric: &ImportedMetric| metric.points.len();
    let (most, sum) =
        (settled.iter().map(points).max().unwrap_or(0), settled.iter().map(points).sum::<usize>());
    if most > POINTS_MAX || sum > ALL_MAX {
        return Err(format!(
            "it has {sum} values in the window, {most} of one metric; a record takes at most {ALL_MAX}, and \
                {POINTS_MAX} of one: export it with longer periods"
        ));
    }
    Ok(settled.into_iter().filter(|metric| !metric.points.is_empty()).collect())
}

fn align_metric(
    key: &MetricKey,
    values: &MetricValues,
    file: &str,
    when: RunWindowSpan,
    told_s: Option<f64>,
) -> ImportedMetric {
    let said_s = told_s.or(values.period_s);
    let found_s = if said_s.is_none() { nearest(&values.points) } else { None };
    let period_s = said_s.or(found_s);
    let length_s = period_s.unwrap_or(0.0);
    let mut metric = ImportedMetric {
        name: key.name.clone(),
        of: key.instance.clone(),
        statistic: key.statistic.clone(),
        unit: values.unit.clone(),
        file: file.to_owned(),
        period_s,
        is_period_found: found_s.is_some(),
        ..ImportedMetric::default()
    };
    let mut within: Vec<f64> = Vec::new();
    for (at_s, value) in &values.points {
        let at_s = at_s - when.begin_s;
        let end_s = at_s + length_s;
        if end_s <= EDGE_S && at_s < -EDGE_S {
            metric.outside.0 += 1;
        } else if at_s >= when.seconds - EDGE_S && end_s > when.seconds + EDGE_S {
            metric.outside.1 += 1;
        } else {
            metric.points.push(ImportedPoint { at_s, value: *value });
            if at_s >= -EDGE_S && end_s <= when.seconds + EDGE_S {
                within.push(*value);
            }
        }
    }
    metric.within = of(&within);
    metric
}

fn of(values: &[f64]) -> Option<ImportedWithin> {
    let least = values.iter().copied().reduce(f64::min)?;
    let most = values.iter().copied().reduce(f64::max)?;
    // Divided before the sum, so that large values do not overflow.
    let mean = values.iter().map(|value| value / values.len() as f64).sum::<f64>().clamp(least, most);
    Some(ImportedWithin { periods: values.len() as u64, mean, least, most })
}

/// The shortest time between two values: periods are consecutive, but some may be missing.
fn nearest(points: &[(f64, f64)]) -> Option<f64> {
    points
        .windows(2)
        .map(|two| two[1].0 - two[0].0)
        .reduce(f64::min)
        .map(|s| (s * 1e3).round() / 1e3)
        .filter(|s| *s > 0.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn settled(points: Vec<(f64, f64)>, told_s: Option<f64>) -> Option<ImportedMetric> {
        let key = MetricKey { name: "CPUUtilization".into(), ..MetricKey::default() };
        let all = [(key, MetricValues { points, ..MetricValues::default() })].into();
        align_to_window(&all, "rds.csv", RunWindowSpan { begin_s: 1_000.0, seconds: 150.0 }, told_s)
            .unwrap()
            .pop()
    }

    #[test]
    fn imported_metric_summary_uses_periods_fully_in_window() {
        // Periods from 940, 1000, 1060, 1120 and 1180 on: the second and third lie within it, and the first
        // only overlaps it.
        let metric = settled(
            vec![(940.0, 90.0), (1_000.0, 10.0), (1_060.0, 20.0), (1_120.0, 70.0), (1_180.0, 90.0)],
            None,
        )
        .unwrap();
        assert_eq!((metric.period_s, metric.is_period_found, metric.outside), (Some(60.0), true, (1, 1)));
        assert_eq!(metric.points.iter().map(|point| point.value).collect::<Vec<_>>(), [10.0, 20.0, 70.0]);
        let within = metric.within.unwrap();
        assert_eq!((within.periods, within.mean, within.least, within.most), (2, 15.0, 10.0, 20.0));
        // A period longer than its overlap with the window gives no figure.
        let long = settled(vec![(900.0, 3.0)], Some(300.0)).unwrap();
        assert_eq!((long.points.len(), long.within), (1, None));
        assert_eq!(settled(vec![(100.0, 3.0), (1_500.0, 3.0)], Some(60.0)), None);
        // Values without a period length are treated as moments.
        let moment = settled(vec![(1_150.0, 3.0)], None).unwrap();
        assert_eq!((moment.period_s, moment.within.unwrap().periods), (None, 1));
    }

    proptest! {
        #[test]
        fn imported_values_are_either_inside_or_outside_window(
            times in prop::collection::btree_set(0u32..2_000, 1..60),
            told_s in prop::option::of(1.0f64..400.0),
        ) {
            let points: Vec<(f64, f64)> = times.iter().map(|at| (f64::from(*at), f64::from(*at))).collect();
            let Some(metric) = settled(points.clone(), told_s) else { return Ok(()) };
            let (before, behind) = metric.outside;
            prop_assert_eq!(metric.points.len() as u64 + before + behind, points.len() as u64);
            let length_s = metric.period_s.unwrap_or(0.0);
            for point in &metric.points {
                prop_assert!(point.at_s + length_s >= 0.0 && point.at_s <= 150.0);
            }
            if let Some(within) = metric.within {
                prop_assert!(within.periods <= metric.points.len() as u64);
                prop_assert!(within.least <= within.mean && within.mean <= within.most);
            }
        }
    }
}
