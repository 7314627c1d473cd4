//! How things look: colours where they are wanted, characters that the terminal has.

use dyno_report::number::span_s;
use dyno_report::text::clean;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::border;
use ratatui::text::Line;
use ratatui::widgets::Block;

use crate::screen::state::State;

/// Colours and characters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
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

impl Look {
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

    /// A frame with a title, as long as it fits.
    pub(super) fn frame(self, title: &str, area: Rect) -> Block<'static> {
        let room = usize::from(area.width.saturating_sub(4));
        let title = cut(title, room);
        let set = if self.ascii { ASCII } else { border::PLAIN };
        let title = Line::styled(format!(" {title} "), self.bold());
        Block::bordered().border_set(set).border_style(self.dim()).title(title)
    }

    /// A bar that fills `share` of so many columns.
    pub(super) fn bar(self, share: f64, columns: usize) -> String {
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        if self.ascii {
            return "#".repeat((share * columns as f64).round() as usize);
        }
        let eighths = (share * columns as f64 * 8.0).round() as usize;
        let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8];
        format!("{}{part}", "█".repeat(eighths / 8))
    }

    /// One character as high as `share`.
    pub(super) fn column(self, share: f64) -> char {
        let (steps, share): (&[char], f64) = match self.ascii {
            true => (&['_', '.', '-', '=', '#'], share.clamp(0.0, 1.0)),
            false => (&['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'], share.clamp(0.0, 1.0)),
        };
        steps[(share * (steps.len() - 1) as f64).round() as usize]
    }
}

/// Which interval the figures are of: `interval 14–15 s`.
pub(super) fn interval(state: &State) -> String {
    match &state.run.complete {
        Some(complete) => {
            let (from_s, length_s) = (complete.point.at_s, complete.point.seconds);
            match length_s >= 1.0 && from_s < 600.0 {
                true => format!("interval {:.0}–{:.0} s", from_s, from_s + length_s),
                false => format!("interval to {}", exact_s(from_s + length_s)),
            }
        }
        None => "no interval yet".to_owned(),
    }
}

fn exact_s(seconds: f64) -> String {
    if seconds < 120.0 { format!("{seconds:.1} s") } else { span_s(seconds) }
}

/// Text of others, cut to so many columns.
pub(super) fn cut(text: &str, columns: usize) -> String {
    dyno_report::text::truncate(&clean(text), columns)
}

/// `text` with spaces up to so many columns behind it.
pub(super) fn left(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let lack = columns.saturating_sub(dyno_report::text::width(&text));
    format!("{text}{}", " ".repeat(lack))
}

/// The same with spaces before it.
pub(super) fn right(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let lack = columns.saturating_sub(dyno_report::text::width(&text));
    format!("{}{text}", " ".repeat(lack))
}
