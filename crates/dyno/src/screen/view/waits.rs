//! Panel of the largest wait events since the window began.

use dyno_record::Waits;
use dyno_report::number::{count, figure, percent};
use dyno_report::text;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::style::{ScreenStyle, pad_left, pad_right};
use crate::screen::state::ScreenState;

/// Why samples show nothing while the client's sessions are busy.
const NONE_ACTIVE: &str = "No sample found a session active in the database. Busy sessions were with the client, on \
                           the network, or waiting for a processor.";

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: &ScreenStyle) {
    let waits = state.figures().map(|shown| &shown.complete.waits);
    let title = match waits {
        Some(Waits::Sampled { average_active_sessions, samples, .. }) => {
            format!("waits · {} active, {} samples", figure(*average_active_sessions), count(*samples))
        }
        _ => "waits".to_owned(),
    };
    let block = look.frame(&title, area);
    let inner = block.inner(area);
    let width = usize::from(inner.width);
    let dim_lines = |words: &str| {
        let lines = text::wrap(words, width.saturating_sub(2), usize::from(inner.height));
        lines.into_iter().map(|line| Line::styled(format!(" {line}"), look.dim())).collect()
    };
    let lines = match waits {
        None => Vec::new(),
        Some(Waits::Absent { absent }) => dim_lines(&text::clean(absent)),
        Some(Waits::Sampled { samples: 0, .. }) => Vec::new(),
        Some(Waits::Sampled { events, .. }) if events.is_empty() => dim_lines(NONE_ACTIVE),
        Some(Waits::Sampled { events, .. }) => {
            let name_width = (width * 3 / 5).max(12);
            let bar_width = width.saturating_sub(name_width + 10);
            let line = |wait: &dyno_record::WaitTime| {
                let is_cpu = wait.class.eq_ignore_ascii_case("cpu");
                let name = match wait.class == wait.event || is_cpu {
                    true => wait.event.clone(),
                    false => format!("{}: {}", wait.class, wait.event),
                };
                let style = if is_cpu { look.good() } else { look.warn() };
                Line::from(vec![
                    Span::raw(format!(" {}", pad_right(&name, name_width))),
                    Span::raw(format!("{} % ", pad_left(&percent(wait.share_pct), 5))),
                    Span::styled(look.bar(wait.share_pct / 100.0, bar_width), style),
                ])
            };
            events.iter().take(usize::from(inner.height)).map(line).collect()
        }
    };
    frame.render_widget(Paragraph::new(lines).block(block), area);
}
