//! Panel of throughput and response times: last complete interval, last seconds and minutes, and the window
//! so far.

use dyno_campaign::progress::RecentFigures;
use dyno_report::number::{ABSENT, compact, count, time_coarse_us};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::style::{ScreenStyle, interval, pad_left, pad_right};
use crate::screen::state::ScreenState;

/// Stretches that end with the last complete interval.
const STRETCHES: [(&str, f64); 3] = [("10 s", 10.0), ("1 min", 60.0), ("10 min", 600.0)];

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: &ScreenStyle) {
    let title = format!("throughput · {}", interval(state));
    let block = look.frame(&title, area);
    let inner = block.inner(area);
    let width = usize::from(inner.width);
    let mut lines = vec![row(["", "ops/s", "p50", "p99"], look.dim(), width)];
    let complete = state.progress.complete.as_deref();
    let last = complete.map(|complete| RecentFigures {
        ops_per_s: complete.point.rate_per_s(),
        p50_us: complete.point.p50_us,
        p99_us: complete.point.p99_us,
    });
    lines.push(figures("interval", last, look.bold(), width));
    for (name, seconds) in STRETCHES {
        lines.push(figures(name, state.progress.recent.over(seconds), ratatui::style::Style::new(), width));
    }
    let whole = complete.filter(|complete| complete.so_far.until_s > 0.0).map(|complete| {
        let [p50_us, p99_us] = complete.so_far.latency.quantiles_us([0.5, 0.99]);
        RecentFigures { ops_per_s: complete.so_far.ops as f64 / complete.so_far.until_s, p50_us, p99_us }
    });
    lines.push(figures("window", whole, ratatui::style::Style::new(), width));
    let room = usize::from(inner.height).saturating_sub(lines.len());
    lines.extend(history_lines(state, look, width, room));
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn figures(
    name: &str,
    figures: Option<RecentFigures>,
    style: ratatui::style::Style,
    width: usize,
) -> Line<'static> {
    let us = |us: Option<f64>| us.map_or_else(|| ABSENT.to_owned(), time_coarse_us);
    let rate = |rate: f64| if rate < 999_999.5 { count(rate.max(0.0).round() as u64) } else { compact(rate) };
    let cells = match figures {
        Some(of) => [rate(of.ops_per_s), us(of.p50_us), us(of.p99_us)],
        None => [ABSENT, ABSENT, ABSENT].map(str::to_owned),
    };
    row([name, &cells[0], &cells[1], &cells[2]], style, width)
}

fn row(cells: [&str; 4], style: ratatui::style::Style, width: usize) -> Line<'static> {
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

/// History of throughput and p99, as tall as there is room.
fn history_lines(state: &ScreenState, look: &ScreenStyle, width: usize, room: usize) -> Vec<Line<'static>> {
    let parts = state.progress.history.parts();
    if room < 2 || parts.len() < 2 {
        return Vec::new();
    }
    let columns = width.saturating_sub(18).max(8);
    let parts_per_column = parts.len().div_ceil(columns);
    let groups: Vec<(f64, f64)> = parts
        .chunks(parts_per_column)
        .map(|group| {
            let ops: u64 = group.iter().map(|part| part.ops).sum();
            let seconds: f64 = group.iter().map(|part| part.seconds).sum();
            (ops as f64 / seconds, group.iter().fold(0.0, |most: f64, part| most.max(part.p99_us)))
        })
        .collect();
    let most = |of: fn(&(f64, f64)) -> f64| groups.iter().map(of).fold(0.0, f64::max);
    let (rate, slow) = (most(|group| group.0), most(|group| group.1));
    let height = (room / 2).clamp(1, 6);
    let mut lines = Vec::new();
    for (name, of, all, words) in [
        ("ops/s", (|group| group.0) as fn(&(f64, f64)) -> f64, rate, compact(rate)),
        ("p99", |group| group.1, slow, time_coarse_us(slow)),
    ] {
        for level in (0..height).rev() {
            let bars: String =
                groups.iter().map(|group| block(look, of(group), all, level, height)).collect();
            let label = if level + 1 == height { pad_right(name, 6) } else { " ".repeat(6) };
            let side = if level + 1 == height { format!("≤ {words}") } else { String::new() };
            let side = if look.ascii { side.replace('≤', "<=") } else { side };
            lines.push(Line::from(vec![
                Span::styled(format!(" {label}"), look.dim()),
                Span::styled(bars, look.accent()),
                Span::styled(format!(" {side}"), look.dim()),
            ]));
        }
    }
    lines.truncate(room);
    lines
}

/// The part of a bar on one of `height` lines.
fn block(look: &ScreenStyle, value: f64, most: f64, level: usize, height: usize) -> char {
    let share = if most > 0.0 { value / most * height as f64 - level as f64 } else { 0.0 };
    match share {
        share if share <= 0.0 && level > 0 => ' ',
        share => look.column(share),
    }
}
