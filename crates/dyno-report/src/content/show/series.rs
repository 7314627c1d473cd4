//! The window by interval, as sparklines and a table.

use dyno_record::{RecordKind, RunRecord, SeriesPoint};

use super::lists::more;
use crate::chart::bars::sparkline;
use crate::model::table::{Grid, GridCell, GridHead};
use crate::number::{compact, count, span_s, time_coarse_us};
use crate::style::Style;

const POINTS_MAX: usize = 20;

const SPARK_COLUMNS: usize = 60;

/// Operations per second of one interval.
fn rate(point: &SeriesPoint) -> f64 {
    if point.seconds > 0.0 { point.ops as f64 / point.seconds } else { 0.0 }
}

/// Throughput and tail latency as sparklines, then the first intervals as a table.
pub(super) fn series(record: &RunRecord, style: &Style) -> String {
    let points = &record.series.points;
    let least = |point: &SeriesPoint| point.slowest.map_or(rate(point), |slowest| slowest.rate_per_s());
    // The figures of a watch are shown elsewhere.
    if points.is_empty() || record.kind == RecordKind::Watch {
        return String::new();
    }
    let rates: Vec<f64> = points.iter().map(rate).collect();
    let p99: Vec<f64> = points.iter().map(|point| point.p99_us.unwrap_or(0.0)).collect();
    let least_rates: Vec<f64> = points.iter().map(least).collect();
    let range = |values: &[f64], show: fn(f64) -> String, least: &[f64]| {
        let least = least.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        format!("{} … {}", show(least), show(most))
    };
    let columns = SPARK_COLUMNS.min(style.columns().saturating_sub(40));
    let mut out =
        format!("ops/s  {}  {}\n", sparkline(&rates, columns), range(&rates, compact, &least_rates));
    out.push_str(&format!("p99    {}  {}\n", sparkline(&p99, columns), range(&p99, time_coarse_us, &p99)));
    let mut table = Grid::new(vec![
        GridHead::figures("at", "s"),
        GridHead::figures("ops", "/s"),
        GridHead::figures("errors", ""),
        GridHead::figures("p50", ""),
        GridHead::figures("p99", ""),
        GridHead::figures("max", ""),
    ]);
    let time = |us: Option<f64>| GridCell::shown(us, time_coarse_us).with_own_unit("µs");
    for point in points.iter().take(POINTS_MAX) {
        table.row([
            GridCell::fixed(point.at_s, 1),
            GridCell::within(rate(point), 12),
            GridCell::count(point.errors),
            time(point.p50_us),
            time(point.p99_us),
            time(point.max_us),
        ]);
    }
    out.push_str(&table.render(style));
    out.push_str(&more(points.len(), POINTS_MAX, style));
    if let Some(words) = overview_words(record) {
        out.push_str(&format!("{words}; `dyno export {}` writes every interval\n", record.id));
    }
    out
}

/// Describes the points of a series that is an overview.
pub(crate) fn overview_words(record: &RunRecord) -> Option<String> {
    let full = record.series.full.as_ref()?;
    let lacks =
        full.lacks.as_ref().map_or_else(String::new, |why| format!(", not all of which are stored ({why})"));
    Some(format!(
        "an overview, each point of {}: {} intervals of {} were measured{lacks}",
        span_s(record.series.interval_s),
        count(full.points),
        span_s(full.interval_s)
    ))
}
