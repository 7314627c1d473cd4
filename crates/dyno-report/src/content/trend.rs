//! A history of runs: a small chart with marked changes, sentences, and each run's figure.

use dyno_analyze::number::{figure, fixed};
use dyno_analyze::points::Measure;
use dyno_analyze::trend::{Trend, TrendChange};

use crate::content::compare::{runs, signed_percent};
use crate::content::result_table::LEGEND_LINES_MAX;
use crate::content::run_list::moment;
use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};
use crate::text::{clean, pad, width, wrap};

const LINES: usize = 8;

/// Maximum number of latest runs in the table.
const RUNS_SHOWN: usize = 20;

pub fn trend_text(trend: &Trend, style: &Style) -> String {
    let unit = &trend.unit_words();
    let mut out = format!("{} in {unit}, {}\n", clean(&trend.measure), runs(trend.points.len()));
    if trend.points.len() > 1 {
        out.push('\n');
        out.push_str(&chart(trend, style));
    }
    out.push('\n');
    for words in trend.words() {
        out.push_str(&clean(&words));
        out.push('\n');
    }
    out.push('\n');
    out.push_str(&latest(trend).render(style));
    let remarks = trend.others.iter().chain(&trend.notes);
    for line in remarks.flat_map(|words| wrap(&clean(words), style.columns(), LEGEND_LINES_MAX)) {
        out.push_str(&format!("{line}\n"));
    }
    for (run, reason) in &trend.left_out {
        out.push_str(&style.paint(Paint::Warn, &clean(&format!("left out: {run}, {reason}"))));
        out.push('\n');
    }
    out
}

/// One column for each run (the latest if there are too many), and a mark under the first run after a change.
fn chart(trend: &Trend, style: &Style) -> String {
    let values: Vec<f64> = trend.points.iter().map(|point| point.value).collect();
    let (low, high) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &v| (l.min(v), h.max(v)));
    let labels = [figure(high), figure(low)];
    let margin = labels.iter().map(|label| width(label)).max().unwrap_or(0);
    let room = style.columns().saturating_sub(margin + 2).max(1);
    let first = values.len().saturating_sub(room);
    let line_of = |value: f64| match high > low {
        true => (((high - value) / (high - low)) * (LINES - 1) as f64).round() as usize,
        false => LINES / 2,
    };
    let mut out = String::new();
    for line in 0..LINES {
        let label = match line {
            0 => labels[0].as_str(),
            last if last == LINES - 1 => labels[1].as_str(),
            _ => "",
        };
        let dots: String =
            values[first..].iter().map(|&value| if line_of(value) == line { '●' } else { ' ' }).collect();
        out.push_str(&format!("{}{label} ┤{}", pad(margin - width(label)), dots.trim_end()));
        out.push('\n');
    }
    if trend.changes.iter().any(|change| change.at >= first) {
        let mark = |i: usize| if trend.changes.iter().any(|change| change.at == i) { '▲' } else { ' ' };
        let marks: String = (first..values.len()).map(mark).collect();
        out.push_str(&format!("{}  ", pad(margin)));
        out.push_str(&style.paint(Paint::Warn, &format!("{} changed here", marks.trim_end())));
        out.push('\n');
    }
    out
}

/// Each run with its figure and the size of a change that it begins.
pub fn trend_grid(trend: &Trend) -> Grid {
    let label = Measure::find(&trend.measure).map_or(trend.measure.as_str(), |measure| measure.label);
    let unit = &trend.unit_words();
    let mut grid = Grid::new(vec![
        GridHead::figures("#", "").only_on_pages(),
        GridHead::tight("run"),
        GridHead::tight("started (UTC)").spare(1),
        GridHead::figures(label, unit).short("", &trend.measure),
        GridHead::figures("before", unit).explained("median of the runs before the change").only_on_pages(),
        GridHead::figures("after", unit).explained("median of the runs after the change").only_on_pages(),
        GridHead::text("change"),
    ]);
    for (at, point) in trend.points.iter().enumerate() {
        let change = trend.changes.iter().find(|change| change.at == at);
        let side = |value: fn(&TrendChange) -> f64| GridCell::figure(change.map(value)).or_empty();
        grid.row([
            GridCell::count(at as u64 + 1),
            (&point.run).into(),
            moment(&point.started_at).into(),
            GridCell::figure(point.value).marked(point.marked),
            side(|change| change.before),
            side(|change| change.after),
            change.map_or_else(GridCell::default, change_cell),
        ]);
    }
    // Without a change there is nothing before and after it.
    grid.filled()
}

fn change_cell(change: &TrendChange) -> GridCell {
    let difference =
        change.difference_pct.map_or_else(|| "changed".to_owned(), |by| format!("{} %", signed_percent(by)));
    let tone = match change.improved {
        Some(true) => "good",
        Some(false) => "bad",
        None => "warn",
    };
    GridCell::from(format!("{difference} (p {})", fixed(change.p, 3))).toned(tone)
}

/// The latest runs, with the number of earlier ones that the table leaves out.
fn latest(trend: &Trend) -> Grid {
    let mut grid = trend_grid(trend);
    let earlier = grid.rows.len().saturating_sub(RUNS_SHOWN);
    if earlier > 0 {
        grid.rows.drain(..earlier);
        grid.note(&format!("{earlier} earlier runs are in the chart and in --json"), "dim");
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_analyze::fixture;
    use dyno_analyze::trend::{ChangePointOptions, trend};
    use dyno_record::{Metric, RunRecord, Unit};

    fn history(values: &[f64]) -> Vec<RunRecord> {
        let run = |(i, &value): (usize, &f64)| {
            let mut record = fixture::postgres();
            record.id = format!("run-{i:03}");
            record.started_at = format!("2026-03-21T14:{i:02}:00Z");
            record.metrics.insert("ops_per_s".into(), Metric::Value { value, unit: Unit::PerSecond });
            record
        };
        values.iter().enumerate().map(run).collect()
    }

    #[test]
    fn trend_changes_are_marked_in_chart_and_table() {
        let mut values = vec![5000.0, 5010.0, 4990.0, 5005.0, 4995.0, 5002.0];
        values.extend([4200.0, 4210.0, 4190.0, 4205.0, 4195.0, 4198.0]);
        let records = history(&values);
        let text = trend_text(
            &trend(&records.iter().collect::<Vec<_>>(), "ops_per_s", &ChangePointOptions::default()),
            &Style::default(),
        );
        assert!(text.contains("5,010 ┤"), "{text}");
        assert!(text.contains("4,190 ┤"), "{text}");
        let mark = text.lines().find(|line| line.contains('▲')).unwrap();
        let column = mark.chars().position(|c| c == '▲').unwrap();
        assert_eq!(column, "5,010 ┤".chars().count() + 6, "{text}");
        assert!(text.lines().any(|line| line.starts_with("run-006") && line.contains("-16.04 %")), "{text}");
    }

    #[test]
    fn trend_without_change_has_no_empty_columns_and_names_its_limit() {
        let records = history(&[700.0, 1300.0, 900.0, 1200.0, 800.0, 1100.0, 1000.0, 950.0, 1050.0, 1250.0]);
        let records: Vec<&RunRecord> = records.iter().collect();
        let trend = trend(&records, "ops_per_s", &ChangePointOptions::default());
        let labels: Vec<String> = trend_grid(&trend).heads.iter().map(|head| head.label.clone()).collect();
        assert_eq!(labels, ["#", "run", "started (UTC)", "operations"]);
        let text = trend_text(&trend, &Style::default());
        assert!(text.contains("a smaller change than that may be missed"), "{text}");
    }

    #[test]
    fn trend_text_handles_one_run_and_no_run() {
        let records = history(&[5.0]);
        let text = trend_text(
            &trend(&records.iter().collect::<Vec<_>>(), "ops_per_s", &ChangePointOptions::default()),
            &Style::default(),
        );
        assert!(text.contains("too few"), "{text}");
        let empty_text = trend_text(&trend(&[], "tpcc", &ChangePointOptions::default()), &Style::default());
        assert!(empty_text.contains("no run has tpcc"), "{empty_text}");
    }
}
