//! Shows a timeline in the terminal.

use dyno_awr::timeline::{Flag, MEASURES, Timeline};
use dyno_report::Style;
use dyno_report::chart::bars::sparkline;
use dyno_report::chart::terminal::text_chart;
use dyno_report::model::Grid;
use dyno_report::number::figure;
use dyno_report::style::Paint;
use dyno_report::text::{clean, wrap};

use super::columns::UNACCOUNTED_MEANS;
use super::measures::UNACCOUNTED;
use super::{charts, columns, words};
use crate::console::Console;

/// Widths in characters: the longest sparkline of a measure, and the text next to it.
const SPARK_MAX: usize = 60;
const SPARK_BESIDE: usize = 46;

/// Maximum lines of one flag.
const LINES_MAX: usize = 4;

/// Maximum items of each kind that correlate with DB time.
const CLOSEST: usize = 5;

/// The full text of a timeline.
pub(super) fn text(timeline: &Timeline, talk: &Console) -> String {
    let style = talk.style();
    let mut text = format!("{}\n", style.paint(Paint::Head, &clean(&words::title(timeline))));
    text.push_str(&format!("{}\n\n", words::summary(timeline)));
    text.push_str(&sparklines(timeline, &style));
    // The first measure is also drawn as a chart, because sparklines have no time axis.
    if let Some(chart) = charts::charts(timeline).first() {
        text.push_str(&format!("\n{}\n", text_chart(chart, talk.glyphs(), &style)));
    }
    text.push_str(&reports(timeline, &style));
    if let Some(grid) = columns::correlated(timeline, CLOSEST, true) {
        text.push_str(&format!("\n{}", grid.render(&style)));
    }
    text
}

fn sparklines(timeline: &Timeline, style: &Style) -> String {
    let mut text = String::new();
    let room = style.columns().saturating_sub(SPARK_BESIDE).min(SPARK_MAX);
    for (i, measure) in MEASURES.iter().enumerate() {
        let values: Vec<f64> = timeline.points.iter().filter_map(|(point, _)| point.value(i)).collect();
        if values.len() > 1 {
            let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
            let spark = sparkline(&values, room);
            text.push_str(&format!("{:>21}  {spark}  {} – {}\n", measure.name, figure(low), figure(high)));
        }
    }
    text
}

fn reports(timeline: &Timeline, style: &Style) -> String {
    let mut table = columns::reports(timeline);
    let rows = std::mem::take(&mut table.rows);
    for ((at, (point, flags)), row) in timeline.points.iter().enumerate().zip(rows) {
        table.rows.push(row);
        for flag in flags {
            let tone = match flag {
                Flag::Anomaly(_) => "bad",
                Flag::Level(_) => "foreign",
                _ => "warn",
            };
            note(&mut table, &words::words(flag), "", tone, style);
            if let (Flag::Level(_), Some(causes)) = (flag, timeline.causes.get(&at)) {
                for (what, causes) in words::causes(causes, true) {
                    note(&mut table, &format!("{what}: {causes}"), "  ", "dim", style);
                }
            }
            if let Flag::Anomaly(anomaly) = flag {
                for (what, moved) in words::describe_moved(anomaly, point, true) {
                    note(&mut table, &format!("{what}: {moved}"), "  ", "dim", style);
                }
            }
        }
    }
    let mut text = table.render(style);
    if timeline.points.iter().any(|(point, _)| point.value(UNACCOUNTED).is_some()) {
        let legend = format!("unacc.: {UNACCOUNTED_MEANS}");
        text.extend(
            wrap(&legend, style.columns(), LINES_MAX)
                .iter()
                .map(|line| format!("{}\n", style.paint(Paint::Dim, line))),
        );
    }
    text
}

/// A sentence below the last row, on as many lines as it needs.
fn note(table: &mut Grid, sentence: &str, indent: &str, tone: &'static str, style: &Style) {
    // Notes are indented by two columns, and their continuation lines by two more.
    let room = style.columns().saturating_sub(4 + indent.len());
    for (i, line) in wrap(&clean(sentence), room, LINES_MAX).iter().enumerate() {
        let hang = if i > 0 { "  " } else { "" };
        table.note(&format!("{indent}{hang}{}", words::plain(line)), tone);
    }
}
