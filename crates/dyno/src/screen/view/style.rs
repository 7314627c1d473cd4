//! Style of the screen: optional colors, and characters that the terminal supports.

use dyno_report::number::span_s;
use dyno_report::text::clean;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;
use ratatui::text::Line;
use ratatui::widgets::Block;

use crate::screen::figures::ShownFigures;

#[derive(Debug, Clone, Copy)]
pub(crate) struct ScreenStyle {
    pub(crate) color: bool,
    pub(crate) ascii: bool,
}

const ASCII: border::Set<'static> = border::Set {
    top_left: "+",
    top_right: "+",
    bottom_left: "+",
    bottom_right: "+",
    vertical_left: "|",
    vertical_right: "|",
    horizontal_top: "-",
    horizontal_bottom: "-",
};

impl ScreenStyle {
    fn of(self, color: Color) -> Style {
        if self.color { Style::new().fg(color) } else { Style::new() }
    }

    pub(super) fn good(self) -> Style {
        self.of(Color::Green)
    }

    pub(super) fn warn(self) -> Style {
        self.of(Color::Yellow)
    }

    pub(super) fn bad(self) -> Style {
        self.of(Color::Red)
    }

    pub(super) fn accent(self) -> Style {
        self.of(Color::Cyan)
    }

    pub(super) fn dim(self) -> Style {
        if self.color { Style::new().add_modifier(Modifier::DIM) } else { Style::new() }
    }

    pub(super) fn bold(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// A frame with a title, shortened to fit.
    pub(super) fn frame(self, title: &str, area: Rect) -> Block<'static> {
        let room = usize::from(area.width.saturating_sub(4));
        let title = truncate_clean(title, room);
        let set = if self.ascii { ASCII } else { border::PLAIN };
        let title = Line::styled(format!(" {title} "), self.bold());
        Block::bordered().border_set(set).border_style(self.dim()).title(title)
    }

    /// A bar of `columns` columns filled to `share`.
    pub(super) fn bar(self, share: f64, columns: usize) -> String {
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        if self.ascii {
            return "#".repeat((share * columns as f64).round() as usize);
        }
        let eighths = (share * columns as f64 * 8.0).round() as usize;
        let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
        format!("{}{part}", "█".repeat(eighths / 8))
    }

    /// One character of height `share`.
    pub(super) fn column(self, share: f64) -> char {
        let (steps, share): (&[char], f64) = match self.ascii {
            true => (&['_', '.', '-', '=', '#'], share.clamp(0.0, 1.0)),
            false => (&['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'], share.clamp(0.0, 1.0)),
        };
        steps[(share * (steps.len() - 1) as f64).round() as usize]
    }
}

/// The interval of the figures: `interval 14–15 s`, or `run 3, interval 59–60 s` of the run before.
pub(super) fn interval(figures: Option<&ShownFigures<'_>>) -> String {
    let Some(figures) = figures else { return "no interval yet".to_owned() };
    let (from_s, length_s) = (figures.complete.point.at_s, figures.complete.point.seconds);
    let interval = match length_s >= 1.0 && from_s < 600.0 {
        true => format!("interval {:.0}–{:.0} s", from_s, from_s + length_s),
        false => format!("interval to {}", exact_s(from_s + length_s)),
    };
    match figures.earlier_run {
        Some(number) => format!("run {number}, {interval}"),
        None => interval,
    }
}

fn exact_s(seconds: f64) -> String {
    if seconds < 120.0 { format!("{seconds:.1} s") } else { span_s(seconds) }
}

/// Foreign text made safe, and cut to this number of columns.
pub(super) fn truncate_clean(text: &str, columns: usize) -> String {
    dyno_report::text::truncate(&clean(text), columns)
}

/// `text` padded with spaces on the right to this number of columns.
pub(super) fn pad_right(text: &str, columns: usize) -> String {
    let text = truncate_clean(text, columns);
    let lack = columns.saturating_sub(dyno_report::text::width(&text));
    format!("{text}{}", " ".repeat(lack))
}

/// `text` padded with spaces on the left.
pub(super) fn pad_left(text: &str, columns: usize) -> String {
    let text = truncate_clean(text, columns);
    let lack = columns.saturating_sub(dyno_report::text::width(&text));
    format!("{}{text}", " ".repeat(lack))
}
