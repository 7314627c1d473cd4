//! Charts of one run over time, by interval.

use dyno_analyze::number::{figure, fixed, time_coarse_us};
use dyno_record::{RunRecord, SeriesPoint};

use crate::chart::{
    Chart, ChartAxis, ChartMark, ChartPoint, ChartSeries, MarkAt, Quantity, SeriesKind, mean_of_chunks,
    spread_kept,
};
use crate::text::clean;

use super::cpu::LAYERS;

/// Points of one line or area: as many as the picture is wide.
const POINTS_MAX: usize = 360;

/// Maximum number of marked phase starts.
const MARKS_MAX: usize = 8;

/// Points of the requested rate, besides those at the ends of phases.
const ASKED_POINTS: u32 = 240;

/// Distance from the end of a phase at which its last rate is read, s.
const EDGE_S: f64 = 1e-6;

/// The middle of an interval, in seconds after the window began.
fn at(point: &SeriesPoint) -> f64 {
    point.at_s + point.seconds / 2.0
}

fn chart(id: &str, title: &str, about: &str, y: ChartAxis, series: Vec<ChartSeries>) -> Option<Chart> {
    // A single moment is not a course over time; the tables show it.
    let series: Vec<ChartSeries> = series.into_iter().filter(|series| series.points.len() > 1).collect();
    let x = ChartAxis::linear("time in the window", Quantity::Seconds);
    let (id, title, about) = (id.into(), title.into(), about.into());
    (!series.is_empty()).then_some(Chart { id, title, about, x, y, series, marks: vec![] })
}

/// Operations per second over the window.
pub(super) fn throughput(record: &RunRecord) -> Option<Chart> {
    let point = |p: &SeriesPoint| {
        let rate = if p.seconds > 0.0 { p.ops as f64 / p.seconds } else { 0.0 };
        let hover = format!("{} s: {} operations/s", fixed(at(p), 1), figure(rate));
        ChartPoint { hover, ..ChartPoint::at(at(p), rate) }
    };
    // Each stretch of an overview also shows its slowest interval, so that a stall of seconds does not vanish
    // in a mean of minutes.
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
    let interval_points = |p: &SeriesPoint| {
        let mut ordered: Vec<ChartPoint> = slowest(p).into_iter().chain([point(p)]).collect();
        ordered.sort_by(|a, b| a.x.total_cmp(&b.x));
        ordered
    };
    let points: Vec<ChartPoint> = record.series.points.iter().flat_map(interval_points).collect();
    let all = if record.beside.is_empty() { "operations" } else { "operations of all workloads" };
    let series = ChartSeries {
        name: all.into(),
        kind: SeriesKind::Line,
        style: 0,
        points: spread_kept(&points, POINTS_MAX),
    };
    let mut chart = chart(
        "throughput-over-time",
        "Throughput over time",
        match record.series.full {
            None if !record.phases.is_empty() => {
                "Operations per second of all sessions in each interval of the window, the scheduled rate, and the start of each phase."
            }
            None => "Operations per second in each interval of the window.",
            Some(_) => {
                "Operations per second in each part of an overview of the window, and in the slowest measured interval of that part."
            }
        },
        ChartAxis::linear("operations", Quantity::Plain("/s")),
        vec![series].into_iter().chain(scheduled_rate(record)).collect(),
    )?;
    // A few marks show where phases begin; many would hide the curve.
    if record.phases.len() <= MARKS_MAX {
        let later = record.phases.iter().skip(1);
        chart.marks.extend(later.map(|phase| ChartMark {
            name: format!("{} s: {}", fixed(phase.begin_s, 1), clean(&phase.name)),
            at: MarkAt::X(phase.begin_s),
        }));
    }
    Some(chart)
}

/// The rate requested by a schedule of phases, over the window.
fn scheduled_rate(record: &RunRecord) -> Option<ChartSeries> {
    let curve = record.plan.workload.curve(0.0)?;
    let first = record.phases.first()?;
    // If the window begins late, its phases begin earlier relative to it.
    let late_s = curve.stages().first()?.begin_s - first.begin_s;
    let end_s = record.phases.last()?.end_s;
    let mut at: Vec<f64> =
        (0..=ASKED_POINTS).map(|part| end_s * f64::from(part) / f64::from(ASKED_POINTS)).collect();
    // Both sides of a step.
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
        ChartPoint {
            hover: format!("{} s: {} operations/s requested", fixed(s, 1), figure(rate)),
            ..ChartPoint::at(s, rate)
        }
    };
    let workload = record.workload.as_ref().filter(|_| !record.beside.is_empty());
    Some(ChartSeries {
        name: workload.map_or_else(|| "requested".into(), |own| format!("requested of {}", clean(&own.name))),
        kind: SeriesKind::Fit,
        style: 1,
        points: at.into_iter().map(point).collect(),
    })
}

/// Median, 99th percentile and maximum response time.
pub(super) fn latency(record: &RunRecord) -> Option<Chart> {
    type Time = fn(&SeriesPoint) -> Option<f64>;
    let figures: [(&str, Time); 3] =
        [("p50", |p| p.p50_us), ("p99", |p| p.p99_us), ("longest", |p| p.max_us)];
    let series = figures.iter().enumerate().map(|(style, (name, time))| {
        let point = |p: &SeriesPoint| {
            let time = time(p)?;
            let hover = format!("{} s: {name} {}", fixed(at(p), 1), time_coarse_us(time));
            Some(ChartPoint { hover, ..ChartPoint::at(at(p), time) })
        };
        let points: Vec<ChartPoint> = record.series.points.iter().filter_map(point).collect();
        ChartSeries {
            name: (*name).into(),
            kind: SeriesKind::Line,
            style,
            points: spread_kept(&points, POINTS_MAX),
        }
    });
    chart(
        "latency-over-time",
        "Response time over time",
        "Median, 99th percentile and longest response time in each interval of the window.",
        ChartAxis::log("response time", Quantity::Micros),
        series.collect(),
    )
}

/// Processor time of the host.
pub(super) fn cpu(record: &RunRecord) -> Option<Chart> {
    let series = LAYERS.iter().enumerate().map(|(style, (metric, name))| {
        let point = |p: &SeriesPoint| Some(ChartPoint::at(at(p), *p.metrics.get(*metric)?));
        let points: Vec<ChartPoint> = record.series.points.iter().filter_map(point).collect();
        ChartSeries {
            name: (*name).into(),
            kind: SeriesKind::Area,
            style,
            points: mean_of_chunks(&points, POINTS_MAX),
        }
    });
    let series = series.filter(|series| series.points.len() > 1 && series.points.iter().any(|p| p.y > 0.0));
    let mut about =
        "Share of all CPUs of the host by kind in each interval; the remainder up to 100 % is idle."
            .to_owned();
    if let Some(words) = super::run_foreign_share_legend(record, &super::cpu::MARKED) {
        about.push_str(&format!(" {words}."));
    }
    chart(
        "cpu-over-time",
        "Processor time over time",
        &about,
        ChartAxis::linear("CPU", Quantity::Percent).reaching(100.0),
        series.collect(),
    )
}

/// Requests of the device and their latency, together with those of the database.
pub(super) fn requests(record: &RunRecord) -> Option<Chart> {
    const FIGURES: [(&str, &str, &str); 4] = [
        ("device reads", "device_reads_per_s", "device_read_latency_us"),
        ("device writes", "device_writes_per_s", "device_write_latency_us"),
        ("reads, as timed by the database", "physical_read_requests_per_s", "physical_read_latency_us"),
        ("redo syncs, as timed by the database", "redo_syncs_per_s", "redo_sync_latency_us"),
    ];
    let series = FIGURES.iter().enumerate().map(|(style, (name, rate, latency))| {
        let point = |p: &SeriesPoint| {
            let (rate, us) = (*p.metrics.get(*rate)?, *p.metrics.get(*latency)?);
            let hover = format!("{} s: {name} {}/s, {}", fixed(at(p), 1), figure(rate), time_coarse_us(us));
            (rate > 0.0 && us > 0.0).then(|| ChartPoint { hover, ..ChartPoint::at(rate, us) })
        };
        let mut points: Vec<ChartPoint> = record.series.points.iter().filter_map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        ChartSeries {
            name: (*name).into(),
            kind: SeriesKind::Dots,
            style,
            points: spread_kept(&points, POINTS_MAX),
        }
    });
    let series: Vec<ChartSeries> = series.filter(|series| series.points.len() > 1).collect();
    let marked: Vec<&str> = FIGURES.iter().flat_map(|(_, rate, latency)| [*rate, *latency]).collect();
    let mut about = "Mean latency of requests against their rate, one dot for each interval.".to_owned();
    if let Some(words) = super::run_foreign_share_legend(record, &marked) {
        about.push_str(&format!(" {words}."));
    }
    (!series.is_empty()).then(|| Chart {
        id: "requests".into(),
        title: "Latency of the device by requests".into(),
        about,
        x: ChartAxis::linear("requests", Quantity::Plain("/s")),
        y: ChartAxis::log("mean latency", Quantity::Micros),
        series,
        marks: vec![],
    })
}
