//! Petals: latency against throughput, in order of load. A curve that turns back has met a limit.

use dyno_analyze::petal::{Measures, Source, iops, megabytes, page_cache_words};
use dyno_analyze::points::{Measure, Point as Measured, Points};
use dyno_record::Unit;

use crate::chart::{Axis, Chart, Kind, Point, Quantity, Series};
use crate::text::capital;

use super::curve::{axis_along, hover, name};
use super::{anchor, others, place_of, range, typical};

/// Of service time against operations.
pub(super) fn operations(points: &Points) -> Option<Chart> {
    // What others measured often has a mean and no percentiles.
    let (time, label) = match points.points.iter().any(|point| point.get("service_p99_us").is_some()) {
        true => ("service_p99_us", "service time, p99"),
        false => ("service_mean_us", "service time, mean"),
    };
    let operations = Axis::linear("operations", Quantity::Plain("/s"));
    petal(points, "petal", "Service time by throughput", "ops_per_s", operations, time, label)
}

/// Of read latency against reads and against bytes, where storage takes part.
pub(super) fn reads(points: &Points) -> Vec<Option<Chart>> {
    let iops = Some(iops(points)).filter(|measures| measures.source != Source::Client);
    let of = |measures: Option<Measures>, id: &str, title: &str| {
        let measures = measures?;
        let unit = match Measure::find(measures.throughput)?.unit {
            Unit::MegabytesPerSecond => "MB/s",
            _ => "/s",
        };
        let cached = page_cache_words(points, measures.source);
        let whose = if measures.source == Source::Device { "of the device" } else { "of the database" };
        let cache = if cached.is_some() { ", with page cache" } else { "" };
        let (right, up) = measures.axes();
        let x = Axis::linear(&right, Quantity::Plain(unit));
        let title = format!("{title} {whose}{cache}");
        let mut chart = petal(points, id, &title, measures.throughput, x, measures.latency, &up)?;
        let others = others(points, &[measures.throughput, measures.latency]);
        for words in cached.into_iter().chain(others) {
            chart.about.push_str(&format!(" {}.", capital(&words)));
        }
        Some(chart)
    };
    vec![
        of(iops, "petal-iops", "Read latency by IOPS"),
        of(megabytes(points), "petal-mb", "Read latency by MB/s"),
    ]
}

fn petal(
    points: &Points,
    id: &str,
    title: &str,
    rate: &str,
    x: Axis,
    time: &str,
    time_label: &str,
) -> Option<Chart> {
    let (path, _) = axis_along(points)?;
    let curves = points.curves(&path);
    let series = curves.iter().enumerate().map(|(style, curve)| {
        let point = |p: &&Measured| {
            let latency = p.estimates.get(time)?;
            let label = place_of(points, p, &path).map_or_else(String::new, |load| format!("{load}"));
            let at = Point::at(p.get(rate)?, latency.value);
            Some(Point {
                range: range(latency),
                label,
                hover: hover(p, curve),
                link: anchor(&typical(p).id),
                ..at
            })
        };
        Series {
            name: name(curve),
            kind: Kind::Line,
            style,
            points: curve.points.iter().filter_map(point).collect(),
        }
    });
    let series: Vec<Series> = series.filter(|series| !series.points.is_empty()).collect();
    let times = series.iter().flat_map(|s| &s.points).map(|p| p.y).filter(|&y| y > 0.0);
    let (least, most) = times.fold((f64::INFINITY, 0.0f64), |(least, most), y| (least.min(y), most.max(y)));
    // Over more than a factor of thirty the lower curves would lie on the axis.
    let wide = least > 0.0 && most / least > 30.0;
    let y = if wide {
        Axis::log(time_label, Quantity::Micros)
    } else {
        Axis::linear(time_label, Quantity::Micros)
    };
    (!series.is_empty()).then(|| Chart {
        id: id.into(),
        title: title.into(),
        about: "Right is more throughput, up is slower; the numbers are the load in order. A curve that rises steeply or turns back has met a limit.".into(),
        x,
        y,
        series,
        marks: vec![],
    })
}
