//! Petals: latency over throughput, in order of load.

use dyno_analyze::petal::{PetalMeasures, PetalSource, iops, megabytes, page_cache_words};
use dyno_analyze::points::{Measure, MeasuredPoint as Measured, Points};
use dyno_record::Unit;

use crate::chart::{Chart, ChartAxis, ChartPoint, ChartSeries, Quantity, SeriesKind};
use crate::text::capital;

use super::curve::{axis_along, hover, knee_marks, name};
use super::{OPS, anchor, foreign_share_legend, place_of, range, typical};

/// Mean service time over operations per second: the mean is what sessions and throughput determine, and p99
/// has its own chart.
pub(super) fn operations(points: &Points) -> Option<Chart> {
    let has = |measure: &str| points.points.iter().any(|point| point.get(measure).is_some());
    // A few imported figures have percentiles only.
    let (time, label) = match has("service_mean_us") || !has("service_p99_us") {
        true => ("service_mean_us", "service time, mean"),
        false => ("service_p99_us", "service time, p99"),
    };
    let operations = ChartAxis::linear("operations", Quantity::Plain("/s"));
    petal(points, "petal", "Service time by throughput", OPS, operations, time, label)
}

/// Read latency over reads and over bytes, if storage is involved.
pub(super) fn reads(points: &Points) -> Vec<Option<Chart>> {
    let iops = Some(iops(points)).filter(|measures| measures.source != PetalSource::Client);
    let build_petal = |measures: Option<PetalMeasures>, id: &str, title: &str| {
        let measures = measures?;
        let unit = match Measure::find(measures.throughput)?.unit {
            Unit::MegabytesPerSecond => "MB/s",
            _ => "/s",
        };
        let cached = page_cache_words(points, measures.source);
        let source_label =
            if measures.source == PetalSource::Device { "of the device" } else { "of the database" };
        let cache = if cached.is_some() { ", with page cache" } else { "" };
        let (right, up) = measures.axes();
        let x = ChartAxis::linear(&right, Quantity::Plain(unit));
        let title = format!("{title} {source_label}{cache}");
        let mut chart = petal(points, id, &title, measures.throughput, x, measures.latency, &up)?;
        let foreign_activity = foreign_share_legend(points, &[measures.throughput, measures.latency]);
        for words in cached.into_iter().chain(foreign_activity) {
            chart.about.push_str(&format!(" {}.", capital(&words)));
        }
        Some(chart)
    };
    vec![
        build_petal(iops, "petal-iops", "Read latency by IOPS"),
        build_petal(megabytes(points), "petal-mb", "Read latency by MB/s"),
    ]
}

fn petal(
    points: &Points,
    id: &str,
    title: &str,
    rate: &str,
    x: ChartAxis,
    time: &str,
    time_label: &str,
) -> Option<Chart> {
    let (path, _) = axis_along(points)?;
    let curves = points.curves(&path);
    let series = curves.iter().enumerate().map(|(style, curve)| {
        let point = |p: &&Measured| {
            let latency = p.estimates.get(time)?;
            let label = place_of(points, p, &path).map_or_else(String::new, |load| format!("{load}"));
            let at = ChartPoint::at(p.get(rate)?, latency.value);
            Some(ChartPoint {
                range: range(latency),
                label,
                hover: hover(p, curve),
                link: anchor(&typical(p).id),
                ..at
            })
        };
        ChartSeries {
            name: name(curve),
            kind: SeriesKind::Line,
            style,
            points: curve.points.iter().filter_map(point).collect(),
        }
    });
    let series: Vec<ChartSeries> = series.filter(|series| !series.points.is_empty()).collect();
    let y = ChartAxis::linear(time_label, Quantity::Micros).log_if_wide(&series);
    let marks = match rate {
        OPS => knee_marks(points, &path, |point| Some((point.get(rate)?, point.get(time)?))),
        _ => Vec::new(),
    };
    (!series.is_empty()).then(|| Chart {
        id: id.into(),
        title: title.into(),
        about: "Throughput grows to the right, latency upward; the numbers are the load in order. Beyond the knee, more load adds latency instead of throughput.".into(),
        x,
        y,
        series,
        marks,
    })
}
