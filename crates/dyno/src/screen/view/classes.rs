//! Panel of the classes of operations with the most operations since the window began.

use dyno_report::number::{compact, count, percent};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::style::{ScreenStyle, pad_left, pad_right};
use crate::screen::state::ScreenState;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: &ScreenStyle) {
    let shown = state.figures();
    let totals = shown.map(|shown| &shown.complete.so_far);
    let mut classes: Vec<(&str, u64)> =
        totals.iter().flat_map(|totals| &totals.classes).map(|(name, ops)| (name.as_str(), *ops)).collect();
    classes.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let block = look.frame("operations of the window by class", area);
    let inner = block.inner(area);
    let (width, height) = (usize::from(inner.width), usize::from(inner.height));
    let all = classes.iter().map(|(_, ops)| ops).sum::<u64>().max(1) as f64;
    let until_s = totals.map_or(0.0, |totals| totals.until_s);
    let rate = |ops: u64| match until_s > 0.0 {
        true if (ops as f64) < 999_999.5 * until_s => count((ops as f64 / until_s).round() as u64),
        true => compact(ops as f64 / until_s),
        false => String::new(),
    };
    let names = (width / 3).clamp(8, 24);
    let bars = width.saturating_sub(names + 23);
    let line = |(name, ops): &(&str, u64)| {
        let share = *ops as f64 / all;
        Line::from(vec![
            Span::raw(format!(
                " {}{}/s {} % ",
                pad_right(name, names),
                pad_left(&rate(*ops), 9),
                pad_left(&percent(100.0 * share), 5)
            )),
            Span::styled(look.bar(share, bars), look.accent()),
        ])
    };
    let lines: Vec<Line<'_>> = classes.iter().take(height).map(line).collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}
