//! One run interval by interval.

use dyno_analyze::number::{figure, fixed, time_coarse_us};
use dyno_record::{RunRecord, SeriesPoint};

use crate::chart::{Axis, Chart, Kind, Mark, MarkAt, Point, Quantity, Series, mean_of_chunks, spread_kept};
use crate::text::clean;

use super::cpu::LAYERS;

/// Points of one line or area: as many as the picture is wide.
const POINTS_MAX: usize = 360;

/// Phases whose begins are marked, at most.
const MARKS_MAX: usize = 8;

/// Points of the rate that was asked for, beside those at the ends of phases.
const ASKED_POINTS: u32 = 240;

/// How near to a phase's end its last rate is looked at, s.
const EDGE_S: f64 = 1e-6;

/// The middle of an interval, s after the window began.
fn at(point: &SeriesPoint) -> f64 {
    point.at_s + point.seconds / 2.0
}

fn chart(id: &str, title: &str, about: &str, y: Axis, series: Vec<Series>) -> Option<Chart> {
    // One moment is no course of time; the tables say it.
    let series: Vec<Series> = series.into_iter().filter(|series| series.points.len() > 1).collect();
    let x = Axis::linear("time in the window", Quantity::Seconds);
    let (id, title, about) = (id.into(), title.into(), about.into());
    (!series.is_empty()).then_some(Chart { id, title, about, x, y, series, marks: vec![] })
}

/// Operations per second.
pub(super) fn throughput(record: &RunRecord) -> Option<Chart> {
    let point = |p: &SeriesPoint| {
        let rate = if p.seconds > 0.0 { p.ops as f64 / p.seconds } else { 0.0 };
        let hover = format!("{} s: {} operations/s", fixed(at(p), 1), figure(rate));
        Point { hover, ..Point::at(at(p), rate) }
    };
    // Of each stretch of an overview its slowest interval, too: a stall of seconds is not to vanish in a mean of minutes.
    let slowest = |p: &SeriesPoint| {
        let slowest = p.slowest.filter(|_| p.seconds > 0.0)?;
        let alone = SeriesPoint {
            at_s: slowest.at_s,
            seconds: slowest.seconds,
            ops: slowest.ops,
            ..SeriesPoint::default()
        };
        Some(point(&alone))
    };
    let both = |p: &SeriesPoint| {
        let mut both: Vec<Point> = slowest(p).into_iter().chain([point(p)]).collect();
        both.sort_by(|a, b| a.x.total_cmp(&b.x));
        both
    };
    let points: Vec<Point> = record.series.points.iter().flat_map(both).collect();
    let all = if record.beside.is_empty() { "operations" } else { "operations of all workloads" };
    let series =
        Series { name: all.into(), kind: Kind::Line, style: 0, points: spread_kept(&points, POINTS_MAX) };
    let mut chart = chart(
        "throughput-over-time",
        "Throughput over time",
        match record.series.full {
            None if !record.phases.is_empty() => {
                "Operations per second of all sessions in each interval of the window, the rate that the schedule asks for, and where its phases begin."
            }
            None => "Operations per second in each interval of the window.",
            Some(_) => {
                "Operations per second in each stretch of an overview of the window, and in the slowest measured interval of it."
            }
        },
        Axis::linear("operations", Quantity::Plain("/s")),
        vec![series].into_iter().chain(asked(record)).collect(),
    )?;
    // A few lines show where phases begin, and many would hide the curve.
    if record.phases.len() <= MARKS_MAX {
        let later = record.phases.iter().skip(1);
        chart.marks.extend(later.map(|phase| Mark {
            name: format!("{} s: {}", fixed(phase.begin_s, 1), clean(&phase.name)),
            at: MarkAt::X(phase.begin_s),
        }));
    }
    Some(chart)
}

/// The rate that a schedule of phases asks for, over the time of the window.
fn asked(record: &RunRecord) -> Option<Series> {
    let curve = record.plan.workload.curve(0.0)?;
    let first = record.phases.first()?;
    // A window that begins a moment late has its phases a moment earlier.
    let late_s = curve.stages().first()?.begin_s - first.begin_s;
    let end_s = record.phases.last()?.end_s;
    let mut at: Vec<f64> =
        (0..=ASKED_POINTS).map(|part| end_s * f64::from(part) / f64::from(ASKED_POINTS)).collect();
    // Both sides of a jump.
    for phase in &record.phases {
        at.extend(
            [phase.begin_s, phase.end_s, phase.end_s - EDGE_S]
                .into_iter()
                .filter(|s| *s >= 0.0 && *s <= end_s),
        );
    }
    at.sort_by(f64::total_cmp);
    at.dedup();
    let point = |s: f64| {
        let rate = curve.rate(if s >= end_s { s + late_s - EDGE_S } else { s + late_s });
        Point {
            hover: format!("{} s: {} operations/s asked for", fixed(s, 1), figure(rate)),
            ..Point::at(s, rate)
        }
    };
    let of = record.workload.as_ref().filter(|_| !record.beside.is_empty());
    Some(Series {
        name: of.map_or_else(|| "asked for".into(), |own| format!("asked of {}", clean(&own.name))),
        kind: Kind::Fit,
        style: 1,
        points: at.into_iter().map(point).collect(),
    })
}

/// Median, 99th percentile and longest response time.
pub(super) fn latency(record: &RunRecord) -> Option<Chart> {
    type Time = fn(&SeriesPoint) -> Option<f64>;
    let figures: [(&str, Time); 3] =
        [("p50", |p| p.p50_us), ("p99", |p| p.p99_us), ("longest", |p| p.max_us)];
    let series = figures.iter().enumerate().map(|(style, (name, time))| {
        let point = |p: &SeriesPoint| {
            let time = time(p)?;
            let hover = format!("{} s: {name} {}", fixed(at(p), 1), time_coarse_us(time));
            Some(Point { hover, ..Point::at(at(p), time) })
        };
        let points: Vec<Point> = record.series.points.iter().filter_map(point).collect();
        Series { name: (*name).into(), kind: Kind::Line, style, points: spread_kept(&points, POINTS_MAX) }
    });
    chart(
        "latency-over-time",
        "Response time over time",
        "Median, 99th percentile and longest response time in each interval of the window.",
        Axis::log("response time", Quantity::Micros),
        series.collect(),
    )
}

/// Processor time of the host.
pub(super) fn cpu(record: &RunRecord) -> Option<Chart> {
    let series = LAYERS.iter().enumerate().map(|(style, (metric, name))| {
        let point = |p: &SeriesPoint| Some(Point::at(at(p), *p.metrics.get(*metric)?));
        let points: Vec<Point> = record.series.points.iter().filter_map(point).collect();
        Series { name: (*name).into(), kind: Kind::Area, style, points: mean_of_chunks(&points, POINTS_MAX) }
    });
    let series = series.filter(|series| series.points.len() > 1 && series.points.iter().any(|p| p.y > 0.0));
    let mut about =
        "Share of all CPUs of the host by kind in each interval; what is left to 100 % is idle.".to_owned();
    if let Some(words) = super::others_of(record, &super::cpu::MARKED) {
        about.push_str(&format!(" {words}."));
    }
    chart(
        "cpu-over-time",
        "Processor time over time",
        &about,
        Axis::linear("CPU", Quantity::Percent).reaching(100.0),
        series.collect(),
    )
}

/// Requests of the device against how long they took, beside those of the database.
pub(super) fn requests(record: &RunRecord) -> Option<Chart> {
    const FIGURES: [(&str, &str, &str); 4] = [
        ("device reads", "device_reads_per_s", "device_read_latency_us"),
        ("device writes", "device_writes_per_s", "device_write_latency_us"),
        ("reads, as the database times them", "physical_read_requests_per_s", "physical_read_latency_us"),
        ("redo syncs, as the database times them", "redo_syncs_per_s", "redo_sync_latency_us"),
    ];
    let series = FIGURES.iter().enumerate().map(|(style, (name, rate, latency))| {
        let point = |p: &SeriesPoint| {
            let (rate, us) = (*p.metrics.get(*rate)?, *p.metrics.get(*latency)?);
            let hover = format!("{} s: {name} {}/s, {}", fixed(at(p), 1), figure(rate), time_coarse_us(us));
            (rate > 0.0 && us > 0.0).then(|| Point { hover, ..Point::at(rate, us) })
        };
        let mut points: Vec<Point> = record.series.points.iter().filter_map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series { name: (*name).into(), kind: Kind::Dots, style, points: spread_kept(&points, POINTS_MAX) }
    });
    let series: Vec<Series> = series.filter(|series| series.points.len() > 1).collect();
    let marked: Vec<&str> = FIGURES.iter().flat_map(|(_, rate, latency)| [*rate, *latency]).collect();
    let mut about =
        "Mean latency of requests against how many there were, one dot for each interval.".to_owned();
    if let Some(words) = super::others_of(record, &marked) {
        about.push_str(&format!(" {words}."));
    }
    (!series.is_empty()).then(|| Chart {
        id: "requests".into(),
        title: "Latency of the device by requests".into(),
        about,
        x: Axis::linear("requests", Quantity::Plain("/s")),
        y: Axis::log("mean latency", Quantity::Micros),
        series,
        marks: vec![],
    })
}
