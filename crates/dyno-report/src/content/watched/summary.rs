//! Table of each figure of a watch with its peak, 95th percentile and mean; also gaps and figures that could
//! not be read.

use dyno_analyze::after_watch;
use dyno_analyze::number::{count, figure, span_s};
use dyno_record::{AttributionScope, Gap, Metric, RunRecord, Unit, WatchSummary};

use crate::chart::bars::sparkline;
use crate::content::next_text::next_text;
use crate::content::table_activity;
use crate::content::top_statements;
use crate::content::watched::locks;
use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};
use crate::text::{clean, wrap};

const GAPS_MAX: usize = 12;
const SPARK_COLUMNS: usize = 40;

/// Figures with their own line in a terminal: metric and name.
const LINES: [(&str, &str); 6] = [
    ("commits_per_s", "commits/s"),
    ("logical_reads_per_s", "logical reads/s"),
    ("physical_reads_per_s", "physical reads/s"),
    ("redo_mb_per_s", "redo MB/s"),
    ("cpu_busy_pct", "CPU busy %"),
    ("average_active_sessions", "active sessions"),
];

/// Note on a server whose sessions publish their statistics themselves.
const LATE: &str = "On this server statistics arrive up to 1 s late, and those of a long statement when it \
                    ends. The maximum of a single interval may therefore include work of others; minutes \
                    even this out.";

/// One row for each figure: mean, median, 95 % of the time, busiest minute, and the highest interval with its
/// time.
pub(crate) fn grid(record: &RunRecord, watched: &WatchSummary) -> Grid {
    let interval_s = record.series.measured_interval_s();
    let most = format!("in {}", span_s(interval_s));
    let mut grid = Grid::new(vec![
        GridHead::tight("metric"),
        GridHead::tight("unit"),
        GridHead::figures("mean", ""),
        GridHead::figures("p50", "")
            .explained("not exceeded half of the time; accurate to 1 %")
            .only_on_pages(),
        GridHead::figures("p95", "").explained("not exceeded 95 % of the time; accurate to 1 %"),
        GridHead::figures("peak minute", "").explained("the busiest whole minute"),
        GridHead::figures(&most, "").explained("the maximum of one measured interval"),
        GridHead::tight("at").explained("time of that maximum, after the watch began"),
        GridHead::tight("scope").explained("scope of the figure"),
    ]);
    for (name, spread) in &watched.spreads {
        let unit = match record.metrics.get(name) {
            Some(Metric::Value { unit, .. }) => *unit,
            _ => Unit::Count,
        };
        let show = |value: Option<f64>| match unit {
            Unit::Percent => GridCell::percent(value),
            _ => GridCell::figure(value),
        };
        let name_of_unit = if unit == Unit::Microseconds { "µs" } else { unit.name() };
        let scope_label = record.whose.get(name).map_or("", |whose| scope(whose.scope));
        grid.row(vec![
            name.into(),
            name_of_unit.into(),
            show(Some(spread.mean)),
            show(Some(spread.p50)),
            show(Some(spread.p95)),
            show(spread.busiest_minute),
            show(Some(spread.peak)),
            span_s(spread.peak_at_s).into(),
            scope_label.into(),
        ]);
    }
    grid
}

fn scope(scope: AttributionScope) -> &'static str {
    match scope {
        AttributionScope::Run => "",
        AttributionScope::Database => "database",
        AttributionScope::Server => "server",
        AttributionScope::Host => "host",
    }
}

/// Notes on the figures: coverage, gaps, figures that could not be read, and the load caused by the
/// observation.
pub(crate) fn sentences(record: &RunRecord, watched: &WatchSummary) -> Vec<String> {
    let seconds = record.window.as_ref().map_or(0.0, |window| window.seconds);
    let mut all = vec![format!(
        "Watched for {}, every {}, without load by Dyno; nothing was written.",
        span_s(seconds),
        span_s(record.series.measured_interval_s())
    )];
    if watched.gaps_all > 0 {
        let gaps = if watched.gaps_all == 1 {
            "gap".to_owned()
        } else {
            format!("{} gaps", count(watched.gaps_all))
        };
        all.push(format!("Counters cover {} of it; the remainder is {gaps}.", span_s(watched.known_s)));
    }
    let describe_gap = |gap: &Gap| {
        format!(
            "No data for {} after {}: {}.",
            span_s(gap.seconds),
            span_s(gap.at_s),
            gap.why.trim_end_matches('.')
        )
    };
    all.extend(locks::sentence(record));
    all.extend(watched.gaps.iter().take(GAPS_MAX).map(describe_gap));
    if watched.gaps_all > GAPS_MAX as u64 {
        all.push(format!("And {} more gaps.", count(watched.gaps_all - GAPS_MAX as u64)));
    }
    all.extend(watched.unread.iter().map(|why| format!("Not read: {}.", why.trim_end_matches('.'))));
    if record.targets.iter().any(|target| target.identity.counting.at_edges) {
        all.push(LATE.to_owned());
    }
    all.push(format!(
        "The watch took {} readings and samples and {} transactions, which are not in the commits; their \
         other costs (blocks of the server's own views, executions) are in the figures.",
        count(watched.looks),
        count(watched.own_commits)
    ));
    all
}

/// The whole watch as text; empty for a record of another kind.
pub fn watch_text(record: &RunRecord, style: &Style) -> String {
    let Some(watched) = &record.watched else { return String::new() };
    let mut out = String::new();
    for (metric, name) in LINES {
        let value = |point: &dyno_record::SeriesPoint| point.metrics.get(metric).copied();
        let values: Vec<f64> = record.series.points.iter().map(|point| value(point).unwrap_or(0.0)).collect();
        if record.series.points.iter().any(|point| value(point).is_some()) {
            let columns = SPARK_COLUMNS.min(style.columns().saturating_sub(40));
            let most = watched.spreads.get(metric).map_or_else(String::new, |spread| figure(spread.peak));
            out.push_str(&format!("{name:<17} {}  0 … {most}\n", sparkline(&values, columns)));
        }
    }
    let grid = grid(record, watched);
    if !grid.rows.is_empty() {
        out.push_str(&grid.render(style));
    }
    let lists = [
        (top_statements::TITLE, top_statements::text(record, style)),
        (table_activity::TITLE, table_activity::text(record, style)),
    ];
    for (title, text) in lists.iter().filter(|(_, text)| !text.is_empty()) {
        out.push_str(&format!("\n{}\n{}\n", style.paint(Paint::Head, title), text.trim_end()));
    }
    out.push_str(&locks::text(record, style));
    for sentence in sentences(record, watched) {
        for line in wrap(&clean(&sentence), style.columns(), 4) {
            out.push_str(&format!("{}\n", style.paint(Paint::Dim, &line)));
        }
    }
    out.push_str(&next_text(&after_watch(record), style));
    out
}

/// The answer in one sentence: maximum and mean activity; absent for a record that is no watch.
pub fn answer(record: &RunRecord) -> Option<String> {
    let watched = record.watched.as_ref()?;
    let seconds = record.window.as_ref()?.seconds;
    let describe = |metric: &str, label: &str| {
        let spread = watched.spreads.get(metric)?;
        let most = spread.busiest_minute.unwrap_or(spread.peak);
        Some(format!("{label} {} on average and {} at most", figure(spread.mean), figure(most)))
    };
    let figures = [
        describe("commits_per_s", "commits/s"),
        describe("logical_reads_per_s", "logical reads/s"),
        describe("physical_reads_per_s", "physical reads/s"),
        describe("cpu_busy_pct", "CPU %"),
    ];
    let figures: Vec<String> = figures.into_iter().flatten().collect();
    Some(format!("Watched for {}: {}.", span_s(seconds), figures.join("; ")))
}
