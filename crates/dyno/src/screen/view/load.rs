//! Panel of a load: phase, progress, and speed.

use dyno_campaign::RunProgress;
use dyno_report::number::{bytes, compact, count, fixed, span_s};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::style::{ScreenStyle, truncate_clean};

pub(super) fn draw(
    frame: &mut Frame<'_>,
    area: Rect,
    progress: &RunProgress,
    look: &ScreenStyle,
    now_s: f64,
) {
    let block = look.frame(&format!("loading · {}", progress.load_phase().unwrap_or_default()), area);
    let width = usize::from(block.inner(area).width);
    let seconds = (now_s - progress.since_s).max(0.0);
    let (rows, total_rows) = (progress.rows.unwrap_or(0), progress.rows_of.unwrap_or(0));
    let mut lines = Vec::new();
    if total_rows > 0 {
        let share = rows as f64 / total_rows as f64;
        lines.push(Line::from(vec![
            Span::raw(" "),
            Span::styled(look.bar(share, width.saturating_sub(10)), look.good()),
            Span::raw(format!(" {:.0} %", 100.0 * share.min(1.0))),
        ]));
        lines.push(Line::raw(format!(" {} of {} rows", count(rows), count(total_rows))));
    }
    let mut texts = vec![format!("{} so far", span_s(seconds.floor()))];
    if rows > 0 && seconds >= 1.0 {
        texts.push(format!("{} rows/s", compact(rows as f64 / seconds)));
        if progress.bytes > 0 {
            texts.push(format!(
                "{} of content, {} MB/s",
                bytes(progress.bytes),
                fixed(progress.bytes as f64 / 1e6 / seconds, 0)
            ));
        }
        if total_rows > rows {
            let left_s = (total_rows - rows) as f64 * seconds / rows as f64;
            texts.push(format!("this phase ends in about {}", span_s(left_s.ceil())));
        }
    }
    lines.extend(
        texts.iter().map(|words| Line::raw(format!(" {}", truncate_clean(words, width.saturating_sub(2))))),
    );
    frame.render_widget(Paragraph::new(lines).block(block), area);
}
