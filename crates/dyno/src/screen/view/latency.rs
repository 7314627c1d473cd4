//! Panel of response times in the last complete interval, on an axis that holds those of the window.

use dyno_analyze::bands::{axis_rows, end_words};
use dyno_drive::CoarseLatencies;
use dyno_record::band_of_us;
use dyno_report::number::percent;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::style::{ScreenStyle, interval, pad_left};
use crate::screen::state::ScreenState;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: &ScreenStyle) {
    let block = look.frame(&format!("latency · {}", interval(state)), area);
    let inner = block.inner(area);
    let Some(complete) = state.progress.complete.as_deref() else {
        frame.render_widget(block, area);
        return;
    };
    let window = bands_of(&complete.so_far.latency);
    let rows = axis_rows(&complete.point.bands, &window, usize::from(inner.height));
    let all: u64 = rows.iter().map(|row| row.1).sum();
    if all == 0 {
        let words = Line::styled(" no operation with a time of its own", look.dim());
        frame.render_widget(Paragraph::new(words).block(block), area);
        return;
    }
    let sign = if look.ascii { "<=" } else { "≤" };
    let columns = usize::from(inner.width).saturating_sub(20);
    let line = |(end_us, count): &(f64, u64)| {
        let share = *count as f64 / all as f64;
        let share_words = match 100.0 * share {
            share if *count > 0 && share < 0.05 => "<0.1".to_owned(),
            share => percent(share),
        };
        Line::from(vec![
            Span::raw(format!(
                " {} {} % ",
                pad_left(&format!("{sign} {}", end_words(*end_us)), 9 + usize::from(look.ascii)),
                pad_left(&share_words, 5)
            )),
            Span::styled(look.bar(share, columns), look.accent()),
        ])
    };
    frame.render_widget(Paragraph::new(rows.iter().map(line).collect::<Vec<_>>()).block(block), area);
}

/// Counts by latency band of records.
fn bands_of(latency: &CoarseLatencies) -> Vec<(i16, u64)> {
    latency.buckets().map(|(ns, count)| (band_of_us(ns as f64 / 1_000.0), count)).collect()
}
