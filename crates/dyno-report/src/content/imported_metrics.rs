//! Table and charts of metrics that other tools measured during a run, marked as not audited.

use dyno_analyze::number::{count, figure};
use dyno_record::{ImportedMetric, ImportedPoint, RunRecord};

use crate::chart::{Chart, ChartAxis, ChartPoint, ChartSeries, Quantity, SeriesKind, spread_kept};
use crate::model::table::{Grid, GridCell, GridHead};
use crate::number::fixed;
use crate::style::Style;
use crate::text::{clean, wrap};

pub(crate) const TITLE: &str = "metrics of other tools: imported, not audited";
/// How to read the table.
pub(crate) const EXPLAINED: &str = "Metrics that another tool measured: no figure, check or conclusion of \
     the run uses them. Figures are of periods that are wholly in the window. Times are of the source's \
     clock; its offset from the run's clock is unknown.";

/// Maximum number of rows, of charts, and of points per line.
const ROWS_MAX: usize = 60;
const CHARTS_MAX: usize = 24;
const POINTS_MAX: usize = 360;

/// A row for each metric; `None` if no metric was imported.
pub(crate) fn grid(record: &RunRecord) -> Option<Grid> {
    let all = &record.imported_metrics;
    if all.is_empty() {
        return None;
    }
    let mut grid = Grid::new(vec![
        GridHead::text("metric"),
        GridHead::text("statistic"),
        GridHead::figures("mean", "").explained("of periods that are wholly in the window"),
        GridHead::figures("least", ""),
        GridHead::figures("most", ""),
        GridHead::text("unit"),
        GridHead::figures("periods", "").explained("that are wholly in the window, of those that overlap it"),
        GridHead::figures("length", "s").explained("of each period"),
        GridHead::figures("outside", "").explained("rows of the file before and after the window, left out"),
        GridHead::text("file"),
    ]);
    for metric in all.iter().take(ROWS_MAX) {
        grid.row(cells(metric));
    }
    if let Some(hidden) = all.len().checked_sub(ROWS_MAX).filter(|hidden| *hidden > 0) {
        let mut last = vec![GridCell::text(&format!("and {hidden} more"))];
        last.resize(grid.heads.len(), GridCell::default());
        grid.row(last);
    }
    Some(grid)
}

fn cells(metric: &ImportedMetric) -> Vec<GridCell> {
    let figure_within =
        |part: fn(&dyno_record::ImportedWithin) -> f64| GridCell::figure(metric.within.as_ref().map(part));
    let within = metric.within.map_or(0, |within| within.periods);
    let period = match (metric.period_s, metric.is_period_found) {
        (None, _) => "moments".into(),
        (Some(s), true) => GridCell::shown(s, short_s).preceded_by("~"),
        (Some(s), false) => GridCell::shown(s, short_s),
    };
    vec![
        name(metric).into(),
        (&metric.statistic).into(),
        figure_within(|within| within.mean),
        figure_within(|within| within.least),
        figure_within(|within| within.most),
        (&metric.unit).into(),
        format!("{} of {}", count(within), count(metric.points.len() as u64)).into(),
        period,
        GridCell::count(metric.outside.0.saturating_add(metric.outside.1)),
        (&metric.file).into(),
    ]
}

fn short_s(seconds: f64) -> String {
    if seconds.fract() == 0.0 { format!("{seconds:.0}") } else { figure(seconds) }
}

fn name(metric: &ImportedMetric) -> String {
    match metric.of.is_empty() {
        true => metric.name.clone(),
        false => format!("{} of {}", metric.name, metric.of),
    }
}

/// Notes on individual metrics: those without a figure.
pub(crate) fn words(record: &RunRecord) -> Vec<String> {
    let lacks = record.imported_metrics.iter().filter(|metric| metric.within.is_none());
    let names: Vec<String> = lacks.map(name).collect();
    let mut words = vec![EXPLAINED.to_owned()];
    if !names.is_empty() {
        let first = names.iter().take(6).cloned().collect::<Vec<_>>().join(", ");
        words.push(format!(
            "Without a figure, because no period is wholly in the window: {first}{}.",
            if names.len() > 6 { " and others" } else { "" }
        ));
    }
    if record.imported_metrics.iter().any(|metric| metric.is_period_found) {
        words.push("~: the file does not state the length of periods; this is the shortest time between two of its values.".to_owned());
    }
    words
}

/// The table and its notes for a terminal; empty if no metric was imported.
pub fn imported_metrics_text(record: &RunRecord, style: &Style) -> String {
    let Some(grid) = grid(record) else { return String::new() };
    let mut out = grid.render(style);
    for line in words(record).iter().flat_map(|words| wrap(words, style.columns(), usize::MAX)) {
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// A chart over the window for each metric whose values over time are known.
pub(crate) fn charts(record: &RunRecord) -> Vec<Chart> {
    let Some(window) = &record.window else { return Vec::new() };
    let mut charts: Vec<Chart> = Vec::new();
    let mut keys: Vec<(String, String)> = Vec::new();
    for metric in record.imported_metrics.iter().filter(|metric| metric.points.len() > 1) {
        let key = (name(metric), metric.unit.clone());
        let series = |style| series(metric, window.seconds, style);
        if let Some(at) = keys.iter().position(|known| *known == key) {
            let style = charts[at].series.len();
            charts[at].series.push(series(style));
        } else if charts.len() < CHARTS_MAX {
            charts.push(chart(metric, charts.len(), series(0)));
            keys.push(key);
        }
    }
    charts
}

fn chart(metric: &ImportedMetric, at: usize, series: ChartSeries) -> Chart {
    let unit = if metric.unit.is_empty() { String::new() } else { format!(" ({})", clean(&metric.unit)) };
    let metric_name = clean(&name(metric));
    Chart {
        id: format!("imported-{}", at + 1),
        title: format!("{metric_name}: imported, not audited"),
        about: format!(
            "{metric_name} as reported by {}, one point in the middle of each period. It is not a figure of this run.",
            clean(&metric.file)
        ),
        x: ChartAxis::linear("time in the window", Quantity::Seconds),
        y: ChartAxis::linear(&format!("{}{unit}", clean(&metric.name)), Quantity::Plain("")),
        series: vec![series],
        marks: vec![],
    }
}

fn series(metric: &ImportedMetric, window_s: f64, style: usize) -> ChartSeries {
    let period_s = metric.period_s.unwrap_or(0.0);
    let shown = if metric.statistic.is_empty() { metric.name.as_str() } else { metric.statistic.as_str() };
    let shown = clean(shown);
    let point = |point: &ImportedPoint| {
        let (from, until) = (point.at_s.max(0.0), (point.at_s + period_s).min(window_s));
        let is_whole = point.at_s >= 0.0 && point.at_s + period_s <= window_s;
        let part = if is_whole { "" } else { ", of a period that is not wholly in the window" };
        let hover =
            format!("{} to {} s: {shown} {}{part}", fixed(from, 0), fixed(until, 0), figure(point.value));
        ChartPoint { hover, ..ChartPoint::at(((from + until) / 2.0).clamp(0.0, window_s), point.value) }
    };
    let points: Vec<ChartPoint> = metric.points.iter().map(point).collect();
    ChartSeries { name: shown, kind: SeriesKind::Line, style, points: spread_kept(&points, POINTS_MAX) }
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;
    use dyno_record::ImportedWithin;

    use super::*;

    #[test]
    fn imported_metrics_have_a_table_and_a_chart_marked_as_imported() {
        let mut record = fixture::sqlite();
        assert!(grid(&record).is_none());
        assert!(charts(&record).is_empty());
        assert!(imported_metrics_text(&record, &Style::default()).is_empty());
        let point = |at_s, value| ImportedPoint { at_s, value };
        let mean = ImportedMetric {
            name: "CPU<script>".into(),
            statistic: "Average".into(),
            unit: "Percent".into(),
            file: "rds.csv".into(),
            period_s: Some(60.0),
            points: vec![point(-30.0, 1.0), point(30.0, 2.0)],
            outside: (3, 4),
            ..ImportedMetric::default()
        };
        let within = Some(ImportedWithin { periods: 1, mean: 42.5, least: 42.5, most: 42.5 });
        let most = ImportedMetric { statistic: "Maximum".into(), within, ..mean.clone() };
        record.imported_metrics = vec![mean, most];
        let text = imported_metrics_text(&record, &Style::default());
        for part in [
            "Average",
            "Maximum",
            "42.5",
            "0 of 2",
            "1 of 2",
            " 7",
            "Without a figure",
            "no figure, check or conclusion",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let charts = charts(&record);
        assert_eq!((charts.len(), charts[0].series.len()), (1, 2), "statistics of one metric share a chart");
        assert!(charts[0].title.contains("imported, not audited"));
        assert!(charts[0].series[0].points.iter().all(|point| point.x >= 0.0));
    }
}
