//! The course of throughput and p99 over the window, as bars along its time.

use dyno_campaign::progress::HistoryPart;
use dyno_report::number::{compact, span_s, time_coarse_us};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::style::{ScreenStyle, pad_left, pad_right};
use crate::screen::figures::ShownFigures;
use crate::screen::state::ScreenState;

/// Fewest lines: one for throughput, one for p99.
pub(super) const LINES_MIN: usize = 2;
/// Columns of a label beside the bars.
const LABEL: usize = 9;
/// Most lines of one measure within another panel.
const COMPACT_LINES_MAX: usize = 6;
/// Lengths of the time axis where the length of the window is unknown, s; later, it doubles.
const AXIS_S: f64 = 60.0;

/// One of the two measures: its name, its value in a column, and the words of a value.
struct Measure {
    name: &'static str,
    of: fn(&HistoryColumn) -> f64,
    words: fn(f64) -> String,
}

const MEASURES: [Measure; 2] = [
    Measure { name: "ops/s", of: |column| column.ops_per_s, words: compact },
    Measure { name: "p99", of: |column| column.p99_us, words: time_coarse_us },
];

/// The part of the window in one column of the chart.
#[derive(Debug, Clone, Copy, PartialEq)]
struct HistoryColumn {
    ops_per_s: f64,
    /// The largest p99 of its intervals, µs.
    p99_us: f64,
}

/// A panel with both measures side by side, each with its scale and the time axis.
pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: &ScreenStyle) {
    let shown = state.figures();
    let title = match shown.and_then(|shown| shown.earlier_run) {
        Some(number) => format!("window of run {number}"),
        None => "window so far".to_owned(),
    };
    let block = look.frame(&title, area);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let Some(shown) = shown else { return };
    let halves = Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).split(inner);
    for (measure, half) in MEASURES.iter().zip(halves.iter()) {
        frame.render_widget(Paragraph::new(chart(measure, &shown, look, *half)), *half);
    }
}

/// A chart of one measure: its name and its maximum, bars, and the time axis.
fn chart(measure: &Measure, shown: &ShownFigures<'_>, look: &ScreenStyle, area: Rect) -> Vec<Line<'static>> {
    let (width, height) = (usize::from(area.width), usize::from(area.height).saturating_sub(1));
    let bars = width.saturating_sub(LABEL + 2);
    let (columns, axis_s) = columns(shown.history.parts(), shown.total_s, bars);
    let most = columns.iter().flatten().map(measure.of).fold(0.0, f64::max);
    let mut lines: Vec<Line<'static>> = (0..height)
        .rev()
        .map(|level| {
            let label = match level {
                _ if level + 1 == height => (measure.words)(most),
                0 => "0".to_owned(),
                _ if level + 2 == height => measure.name.to_owned(),
                _ => String::new(),
            };
            bar_line(&pad_left(&label, LABEL), measure, &columns, most, (level, height), look)
        })
        .collect();
    let end = span_s(axis_s);
    let axis = format!("{}0 s{}", " ".repeat(LABEL + 1), pad_left(&end, bars.saturating_sub(3)));
    lines.push(Line::styled(axis, look.dim()));
    lines
}

/// Both measures below each other, in `room` lines; empty if there is too little room.
pub(super) fn lines(
    shown: &ShownFigures<'_>,
    look: &ScreenStyle,
    width: usize,
    room: usize,
) -> Vec<Line<'static>> {
    if room < LINES_MIN {
        return Vec::new();
    }
    let (columns, _) = columns(shown.history.parts(), shown.total_s, width.saturating_sub(LABEL + 9));
    let height = (room / MEASURES.len()).clamp(1, COMPACT_LINES_MAX);
    let mut lines = Vec::new();
    for measure in &MEASURES {
        let most = columns.iter().flatten().map(measure.of).fold(0.0, f64::max);
        for level in (0..height).rev() {
            let is_top = level + 1 == height;
            let label = pad_right(if is_top { measure.name } else { "" }, LABEL - 1);
            let mut line = bar_line(&label, measure, &columns, most, (level, height), look);
            if is_top {
                line.spans.push(Span::styled(format!(" {}", (measure.words)(most)), look.dim()));
            }
            lines.push(line);
        }
    }
    lines
}

/// One line of the bars: the line `place.0` of `place.1`, from the bottom.
fn bar_line(
    label: &str,
    measure: &Measure,
    columns: &[Option<HistoryColumn>],
    most: f64,
    place: (usize, usize),
    look: &ScreenStyle,
) -> Line<'static> {
    let (level, height) = place;
    let bar = |column: &Option<HistoryColumn>| {
        let Some(column) = column else { return ' ' };
        let share = if most > 0.0 { (measure.of)(column) / most * height as f64 - level as f64 } else { 0.0 };
        if share <= 0.0 && level > 0 { ' ' } else { look.column(share) }
    };
    let bars: String = columns.iter().map(bar).collect();
    Line::from(vec![Span::styled(format!(" {label}"), look.dim()), Span::styled(bars, look.accent())])
}

/// The window in `count` columns of equal time, and the time of all of them, s. Columns without a measured
/// interval are absent.
fn columns(parts: &[HistoryPart], total_s: Option<f64>, count: usize) -> (Vec<Option<HistoryColumn>>, f64) {
    let measured_s: f64 = parts.iter().map(|part| part.seconds).sum();
    let mut axis_s = total_s.unwrap_or(AXIS_S);
    while total_s.is_none() && axis_s < measured_s {
        axis_s *= 2.0;
    }
    let axis_s = axis_s.max(measured_s);
    let mut ends = 0.0;
    let spans: Vec<(f64, f64, &HistoryPart)> = parts
        .iter()
        .map(|part| {
            let from = ends;
            ends += part.seconds;
            (from, ends, part)
        })
        .collect();
    let column = |at: usize| {
        let bound = |at: usize| axis_s * at as f64 / count as f64;
        let (from, to) = (bound(at), bound(at + 1).min(measured_s));
        let inside = spans.iter().filter(|(begin, end, _)| *begin < to && *end > from);
        let (mut ops, mut seconds, mut p99_us) = (0.0, 0.0, 0.0f64);
        for (begin, end, part) in inside {
            let overlap_s = end.min(to) - begin.max(from);
            ops += part.ops as f64 / part.seconds * overlap_s;
            seconds += overlap_s;
            p99_us = p99_us.max(part.p99_us);
        }
        (seconds > 0.0).then(|| HistoryColumn { ops_per_s: ops / seconds, p99_us })
    };
    ((0..count).map(column).collect(), axis_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(all: &[(u64, f64)]) -> Vec<HistoryPart> {
        all.iter().map(|(ops, p99_us)| HistoryPart { ops: *ops, seconds: 1.0, p99_us: *p99_us }).collect()
    }

    #[test]
    fn history_column_has_mean_rate_and_largest_p99_of_its_time() {
        let (columns, axis_s) = columns(&parts(&[(100, 5.0), (300, 9.0), (50, 2.0)]), Some(8.0), 4);
        let first = HistoryColumn { ops_per_s: 200.0, p99_us: 9.0 };
        let second = HistoryColumn { ops_per_s: 50.0, p99_us: 2.0 };
        assert_eq!((columns, axis_s), (vec![Some(first), Some(second), None, None], 8.0));
    }

    #[test]
    fn history_axis_is_the_window_or_doubles() {
        let long = parts(&vec![(1, 1.0); 61]);
        assert_eq!(columns(&long, None, 10).1, 120.0);
        assert_eq!(columns(&long[..60], None, 10).1, 60.0);
        assert_eq!(columns(&long, Some(300.0), 10).1, 300.0);
        let (narrow, _) = columns(&long[..2], Some(2.0), 8);
        assert!(narrow.iter().all(|column| column.is_some_and(|column| column.ops_per_s == 1.0)));
        assert!(columns(&[], Some(2.0), 3).0.iter().all(Option::is_none));
    }
}
