//! Charts of a watch over time.

use dyno_analyze::number::{figure, fixed};
use dyno_record::{RunRecord, SeriesPoint};

use crate::chart::{
    Chart, ChartAxis, ChartMark, ChartPoint, ChartSeries, MarkAt, Quantity, SeriesKind, spread_kept,
};

/// Points of one line: as many as the picture is wide.
const POINTS_MAX: usize = 360;
const MARKS_MAX: usize = 8;

/// A chart: name, title, unit of its axis, and lines, each a metric and a name.
type Drawn = (&'static str, &'static str, &'static str, Quantity, &'static [(&'static str, &'static str)]);

const CHARTS: [Drawn; 7] = [
    (
        "use-transactions",
        "Transactions over time",
        "transactions",
        Quantity::Plain("/s"),
        &[("commits_per_s", "commits"), ("rollbacks_per_s", "rollbacks")],
    ),
    (
        "use-statements",
        "Statements and rows over time",
        "statements, rows",
        Quantity::Plain("/s"),
        &[
            ("executions_per_s", "statements"),
            ("rows_read_per_s", "rows read"),
            ("rows_written_per_s", "rows written"),
        ],
    ),
    (
        "use-logical-reads",
        "Logical reads over time",
        "blocks",
        Quantity::Plain("/s"),
        &[("logical_reads_per_s", "logical reads")],
    ),
    (
        "use-physical-reads",
        "Reads and writes of storage over time",
        "blocks, requests",
        Quantity::Plain("/s"),
        &[
            ("physical_reads_per_s", "blocks read"),
            ("physical_read_requests_per_s", "read requests"),
            ("physical_writes_per_s", "blocks written"),
        ],
    ),
    (
        "use-bandwidth",
        "Bandwidth over time",
        "bandwidth",
        Quantity::Plain("MB/s"),
        &[
            ("physical_read_mb_per_s", "read"),
            ("physical_write_mb_per_s", "written"),
            ("redo_mb_per_s", "redo"),
        ],
    ),
    (
        "use-processor",
        "Processor and device over time",
        "busy",
        Quantity::Percent,
        &[
            ("cpu_busy_pct", "CPU"),
            ("cpu_iowait_pct", "waiting for I/O"),
            ("device_util_pct", "device of the data"),
        ],
    ),
    (
        "use-sessions",
        "Active sessions over time",
        "sessions",
        Quantity::Plain(""),
        &[("average_active_sessions", "active")],
    ),
];

/// All charts with known data.
pub(crate) fn of_watch(record: &RunRecord) -> Vec<Chart> {
    CHARTS.iter().filter_map(|drawn| chart(record, drawn)).collect()
}

fn chart(record: &RunRecord, (id, title, label, quantity, lines): &Drawn) -> Option<Chart> {
    let series = lines.iter().enumerate().filter_map(|(style, (metric, name))| {
        let point = |point: &SeriesPoint| {
            let value = *point.metrics.get(*metric)?;
            let at_s = point.at_s + point.seconds / 2.0;
            let hover = format!("{} s: {name} {}", fixed(at_s, 1), figure(value));
            Some(ChartPoint { hover, ..ChartPoint::at(at_s, value) })
        };
        let points: Vec<ChartPoint> = record.series.points.iter().filter_map(point).collect();
        let is_line = points.len() > 1 && points.iter().any(|point| point.y > 0.0);
        let points = spread_kept(&points, POINTS_MAX);
        is_line.then(|| ChartSeries { name: (*name).into(), kind: SeriesKind::Line, style, points })
    });
    let series: Vec<ChartSeries> = series.collect();
    if series.is_empty() {
        return None;
    }
    let watched = record.watched.as_ref()?;
    let gaps = watched.gaps.iter().take(MARKS_MAX);
    let about = match record.series.full {
        None => {
            "Each measured interval of the watch; a line across a gap joins the values before and after it."
        }
        Some(_) => {
            "Means of an overview of the watch; the measured intervals are shorter, and the table has their maximum."
        }
    };
    Some(Chart {
        id: (*id).into(),
        title: (*title).into(),
        about: about.into(),
        x: ChartAxis::linear("time since the watch began", Quantity::Seconds),
        y: ChartAxis::linear(label, *quantity),
        series,
        marks: gaps
            .map(|gap| ChartMark {
                name: format!("{} s: no data", fixed(gap.at_s, 0)),
                at: MarkAt::X(gap.at_s),
            })
            .collect(),
    })
}
