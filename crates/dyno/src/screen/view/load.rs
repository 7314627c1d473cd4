//! Panel of a load: phase, progress, and speed.

use dyno_report::number::{bytes, compact, count, fixed, span_s};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::style::{ScreenStyle, truncate_clean};
use crate::screen::state::LiveLoad;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, load: &LiveLoad, look: &ScreenStyle, now_s: f64) {
    let block = look.frame(&format!("loading · {}", load.phase), area);
    let width = usize::from(block.inner(area).width);
    let seconds = (now_s - load.since_s).max(0.0);
    let mut lines = Vec::new();
    if load.total_rows > 0 {
        let share = load.rows as f64 / load.total_rows as f64;
        lines.push(Line::from(vec![
            Span::raw(" "),
            Span::styled(look.bar(share, width.saturating_sub(10)), look.good()),
            Span::raw(format!(" {:.0} %", 100.0 * share.min(1.0))),
        ]));
        lines.push(Line::raw(format!(" {} of {} rows", count(load.rows), count(load.total_rows))));
    }
    let mut texts = vec![format!("{} so far", span_s(seconds.floor()))];
    if load.rows > 0 && seconds >= 1.0 {
        texts.push(format!("{} rows/s", compact(load.rows as f64 / seconds)));
        if load.bytes > 0 {
            texts.push(format!(
                "{} of content, {} MB/s",
                bytes(load.bytes),
                fixed(load.bytes as f64 / 1e6 / seconds, 0)
            ));
        }
        if load.total_rows > load.rows {
            let left_s = (load.total_rows - load.rows) as f64 * seconds / load.rows as f64;
            texts.push(format!("this phase ends in about {}", span_s(left_s.ceil())));
        }
    }
    lines.extend(
        texts.iter().map(|words| Line::raw(format!(" {}", truncate_clean(words, width.saturating_sub(2))))),
    );
    frame.render_widget(Paragraph::new(lines).block(block), area);
}
