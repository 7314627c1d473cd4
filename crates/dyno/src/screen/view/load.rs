//! A load: its phase, how far it is, and how fast.

use dyno_report::number::{bytes, compact, count, fixed, span_s};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::look::{Look, cut};
use crate::screen::state::Load;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, load: &Load, look: &Look, now_s: f64) {
    let block = look.frame(&format!("loading · {}", load.phase), area);
    let width = usize::from(block.inner(area).width);
    let seconds = (now_s - load.since_s).max(0.0);
    let mut lines = Vec::new();
    if load.of > 0 {
        let share = load.rows as f64 / load.of as f64;
        lines.push(Line::from(vec![
            Span::raw(" "),
            Span::styled(look.bar(share, width.saturating_sub(10)), look.good()),
            Span::raw(format!(" {:.0} %", 100.0 * share.min(1.0))),
        ]));
        lines.push(Line::raw(format!(" {} of {} rows", count(load.rows), count(load.of))));
    }
    let mut told = vec![format!("{} so far", span_s(seconds.floor()))];
    if load.rows > 0 && seconds >= 1.0 {
        told.push(format!("{} rows/s", compact(load.rows as f64 / seconds)));
        if load.bytes > 0 {
            told.push(format!(
                "{} of content, {} MB/s",
                bytes(load.bytes),
                fixed(load.bytes as f64 / 1e6 / seconds, 0)
            ));
        }
        if load.of > load.rows {
            let left_s = (load.of - load.rows) as f64 * seconds / load.rows as f64;
            told.push(format!("this phase ends in about {}", span_s(left_s.ceil())));
        }
    }
    lines.extend(told.iter().map(|words| Line::raw(format!(" {}", cut(words, width.saturating_sub(2))))));
    frame.render_widget(Paragraph::new(lines).block(block), area);
}
