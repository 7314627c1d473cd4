//! Panel of throughput and response times: last complete interval, last seconds and minutes, and the window
//! so far; below them the course of both.

use dyno_campaign::progress::RecentFigures;
use dyno_report::number::{ABSENT, compact, count, time_coarse_us};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::history;
use super::style::{ScreenStyle, interval, pad_left, pad_right};
use crate::screen::figures::ShownFigures;
use crate::screen::state::ScreenState;

/// Stretches that end with the last complete interval.
const STRETCHES: [(&str, f64); 3] = [("10 s", 10.0), ("1 min", 60.0), ("10 min", 600.0)];
/// Lines without stretches: heads, interval and window.
const FIXED: usize = 3;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: &ScreenStyle) {
    let shown = state.figures();
    let block = look.frame(&format!("throughput · {}", interval(shown.as_ref())), area);
    let inner = block.inner(area);
    let (width, height) = (usize::from(inner.width), usize::from(inner.height));
    let complete = shown.map(|shown| shown.complete);
    let last = complete.map(|complete| RecentFigures {
        ops_per_s: complete.point.rate_per_s(),
        p50_us: complete.point.p50_us,
        p99_us: complete.point.p99_us,
    });
    let whole = complete.filter(|complete| complete.so_far.until_s > 0.0).map(|complete| {
        let [p50_us, p99_us] = complete.so_far.latency.quantiles_us([0.5, 0.99]);
        RecentFigures { ops_per_s: complete.so_far.ops as f64 / complete.so_far.until_s, p50_us, p99_us }
    });
    let mut lines = vec![row(["", "ops/s", "p50", "p99"], look.dim(), width)];
    lines.push(figures("interval", last, look.bold(), width));
    for (name, seconds) in stretches(shown.as_ref(), height) {
        let stretch = shown.and_then(|shown| shown.recent.over(*seconds));
        lines.push(figures(name, stretch, Style::new(), width));
    }
    lines.push(figures("window", whole, Style::new(), width));
    let room = height.saturating_sub(lines.len());
    lines.extend(shown.iter().flat_map(|shown| history::lines(shown, look, width, room)));
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// The stretches shorter than the window. The shortest give way to the course of the window, which needs two
/// lines.
fn stretches(shown: Option<&ShownFigures<'_>>, height: usize) -> &'static [(&'static str, f64)] {
    let total_s = shown.and_then(|shown| shown.total_s).unwrap_or(f64::INFINITY);
    let shorter = STRETCHES.iter().filter(|(_, seconds)| *seconds < total_s).count();
    let room = height.saturating_sub(FIXED + history::LINES_MIN);
    &STRETCHES[shorter.saturating_sub(room)..shorter]
}

fn figures(name: &str, figures: Option<RecentFigures>, style: Style, width: usize) -> Line<'static> {
    let us = |us: Option<f64>| us.map_or_else(|| ABSENT.to_owned(), time_coarse_us);
    let rate = |rate: f64| if rate < 999_999.5 { count(rate.max(0.0).round() as u64) } else { compact(rate) };
    let cells = match figures {
        Some(of) => [rate(of.ops_per_s), us(of.p50_us), us(of.p99_us)],
        None => [ABSENT, ABSENT, ABSENT].map(str::to_owned),
    };
    row([name, &cells[0], &cells[1], &cells[2]], style, width)
}

fn row(cells: [&str; 4], style: Style, width: usize) -> Line<'static> {
    let column = (width.saturating_sub(9) / 3).min(12);
    let [name, ops, p50, p99] = cells;
    Line::styled(
        format!(
            " {}{}{}{}",
            pad_right(name, 8),
            pad_left(ops, column),
            pad_left(p50, column),
            pad_left(p99, column)
        ),
        style,
    )
}
