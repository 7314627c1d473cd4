//! Charts of the distribution of service times of one run.

use dyno_analyze::number::{percent, time_us};
use dyno_record::{Histogram, Latency, RunRecord, band_of_us, band_us};

use crate::chart::{
    Chart, ChartAxis, ChartMark, ChartPoint, ChartSeries, MarkAt, Quantity, SeriesKind, spread_kept,
};

/// The service times of the run: of all operations, or of slices if the loop ran in the database.
pub(crate) fn timed(record: &RunRecord) -> Option<(&'static str, &Latency)> {
    ["all", "slice"].into_iter().find_map(|class| {
        let latency = &record.ops.get(class)?.service_us;
        latency.histogram.is_some().then_some((class, latency))
    })
}

pub(super) fn histogram(record: &RunRecord) -> Option<Chart> {
    let (class, latency) = timed(record)?;
    let histogram = Histogram::decode(latency.histogram.as_deref()?).ok()?;
    let scans = record.ops.get(SCANS).map_or(0, |scans| scans.count);
    // A common distribution of scans and lookups describes neither.
    if scans > 0 && scans < record.ops.get(class)?.count {
        return None;
    }
    let subject = if class == "all" { "all operations" } else { "slices" };
    let marks = [("p50", latency.p50), ("p99", latency.p99)].into_iter().filter_map(|(name, time)| {
        let time = time?;
        Some(ChartMark { name: format!("{name} {}", time_us(time)), at: MarkAt::X(time) })
    });
    Some(Chart {
        id: "histogram".into(),
        title: "Distribution of service time".into(),
        about: format!("Share of {subject} by service time, in six bands per power of ten."),
        x: ChartAxis::log("service time", Quantity::Micros),
        y: ChartAxis::linear(subject, Quantity::Percent),
        series: vec![ChartSeries {
            name: subject.into(),
            kind: SeriesKind::Bar,
            style: 0,
            points: bars(&histogram),
        }],
        marks: marks.collect(),
    })
}

/// The class of operations that read whole tables.
const SCANS: &str = "scan";

/// The share of operations that ended within each time, by class. Scans have their own chart, because lookup
/// times cannot be read on the same axis.
pub(super) fn cumulative(record: &RunRecord) -> Vec<Chart> {
    let classes: Vec<(&str, Histogram)> = record
        .by_class()
        .filter_map(|(name, ops)| {
            let histogram = Histogram::decode(ops.service_us.histogram.as_deref()?).ok()?;
            (histogram.count() > 0).then_some((name, histogram))
        })
        .collect();
    let class_count = classes.iter().filter(|(name, _)| *name != "all").count();
    let shown = |scans: bool| -> Vec<&(&str, Histogram)> {
        // `all` equals the class if there is only one, and means nothing together with scans.
        let is_shown = |name: &str| (name != "all" || class_count == 0) && (name == SCANS) == scans;
        classes.iter().filter(|(name, _)| is_shown(name)).collect()
    };
    let chart = |id: &str, title: &str, classes: Vec<&(&str, Histogram)>| {
        let series = classes.iter().enumerate().map(|(style, (name, histogram))| ChartSeries {
            name: (*name).to_owned(),
            kind: SeriesKind::Line,
            style,
            points: steps(histogram),
        });
        (!classes.is_empty()).then(|| Chart {
            id: id.into(),
            title: title.into(),
            about: "Share of the operations of each class that ended within a service time: the steeper the line, the more uniform the times."
                .into(),
            x: ChartAxis::log("service time", Quantity::Micros),
            y: ChartAxis::linear("ended within this time", Quantity::Percent).reaching(100.0),
            series: series.collect(),
            marks: vec![],
        })
    };
    let lookups = chart("cdf", "Cumulative service time", shown(false));
    let scans = chart("cdf-scans", "Cumulative service time of scans", shown(true));
    lookups.into_iter().chain(scans).collect()
}

/// Points of a cumulative curve.
fn steps(histogram: &Histogram) -> Vec<ChartPoint> {
    let total = histogram.count().max(1) as f64;
    let mut counted = 0u64;
    let all: Vec<ChartPoint> = histogram
        .inner()
        .iter_recorded()
        .map(|value| {
            counted += value.count_since_last_iteration();
            let (us, pct) = (value.value_iterated_to() as f64 / 1_000.0, 100.0 * counted as f64 / total);
            ChartPoint {
                hover: format!("{} %: within {}", percent(pct), time_us(us)),
                ..ChartPoint::at(us, pct)
            }
        })
        .collect();
    spread_kept(&all, STEPS_MAX)
}

/// Maximum points of a drawn curve.
const STEPS_MAX: usize = 200;

/// A bar for each latency band of records with operations, in µs and percent.
fn bars(histogram: &Histogram) -> Vec<ChartPoint> {
    let total = histogram.count().max(1) as f64;
    let mut bars: Vec<(i16, u64)> = Vec::new();
    for value in histogram.inner().iter_recorded() {
        let band = band_of_us(value.value_iterated_to() as f64 / 1_000.0);
        match bars.last_mut() {
            Some((last, count)) if *last == band => *count += value.count_since_last_iteration(),
            _ => bars.push((band, value.count_since_last_iteration())),
        }
    }
    let point = |(band, count): (i16, u64)| {
        let ((low, high), share) = (band_us(band), count as f64 * 100.0 / total);
        let hover = format!("{} – {}: {} %", time_us(low), time_us(high), percent(share));
        ChartPoint { x_end: high, hover, ..ChartPoint::at(low, share) }
    };
    bars.into_iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distribution_bars_sum_to_all_operations() {
        let mut histogram = Histogram::new();
        for ns in [1, 900, 61_000, 61_100, 5_000_000, 80_000_000_000] {
            histogram.record_ns(ns);
        }
        let bars = bars(&histogram);
        assert!((bars.iter().map(|bar| bar.y).sum::<f64>() - 100.0).abs() < 1e-9);
        assert!(bars.iter().all(|bar| bar.x < bar.x_end));
    }
}
