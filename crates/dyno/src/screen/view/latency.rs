//! Panel of response times in the last complete interval, on the axis of the campaign.

use dyno_analyze::bands::{LatencyAxisRow, end_words};
use dyno_report::number::{percent, time_coarse_us};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::style::{ScreenStyle, interval, pad_left};
use crate::screen::state::ScreenState;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: &ScreenStyle) {
    let figures = state.figures();
    let block = look.frame(&format!("latency · {}", interval(figures.as_ref())), area);
    let inner = block.inner(area);
    let Some(figures) = figures else {
        frame.render_widget(block, area);
        return;
    };
    let point = &figures.complete.point;
    let rows = state.axis.rows(&point.bands, usize::from(inner.height));
    if rows.is_empty() {
        let words = Line::styled(" no operation with a time of its own", look.dim());
        frame.render_widget(Paragraph::new(words).block(block), area);
        return;
    }
    let all = rows.iter().map(|row| row.count).sum::<u64>().max(1) as f64;
    let columns = usize::from(inner.width).saturating_sub(20);
    let line = |row: &LatencyAxisRow| {
        let share = row.count as f64 / all;
        let share_words = match 100.0 * share {
            share if row.count > 0 && share < 0.05 => "<0.1".to_owned(),
            share => percent(share),
        };
        let sign = match (row.is_open, look.ascii) {
            (true, _) => ">",
            (false, true) => "<=",
            (false, false) => "≤",
        };
        // The last row has no upper end; the slowest operation gives it one.
        let slowest = point.max_us.filter(|_| row.is_open && row.count > 0);
        Line::from(vec![
            Span::raw(format!(
                " {} {} % ",
                pad_left(&format!("{sign} {}", end_words(row.bound_us)), 9 + usize::from(look.ascii)),
                pad_left(&share_words, 5)
            )),
            Span::styled(look.bar(share, columns), look.accent()),
            Span::styled(
                slowest.map_or_else(String::new, |us| format!(" max {}", time_coarse_us(us))),
                look.dim(),
            ),
        ])
    };
    frame.render_widget(Paragraph::new(rows.iter().map(line).collect::<Vec<_>>()).block(block), area);
}
