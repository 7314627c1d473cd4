//! Help on keys: all of them on a page, the main ones on the last line.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::look::{ScreenStyle, truncate_clean};
use crate::screen::state::ScreenState;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: &ScreenStyle) {
    let mut keys = vec![("q, Ctrl-C", "stop, and keep what was measured; Ctrl-C again ends at once")];
    if state.is_several() {
        keys.push(("p", "let no run begin after this one; again: go on"));
    }
    if state.skips() {
        keys.push(("s", "break off this run and leave its point out; --resume does it later"));
    }
    keys.extend([
        ("z", "look at one panel alone; again: at the next"),
        ("Esc", "back to all panels"),
        ("?, h", "this page"),
    ]);
    let mut lines: Vec<Line<'_>> = keys
        .iter()
        .map(|(key, what)| {
            Line::from(vec![Span::styled(format!(" {key:<10}"), look.bold()), Span::raw(*what)])
        })
        .collect();
    lines.push(Line::raw(""));
    let marks = if state.is_several() {
        "In the grid, ? marks a run with a warning, ! one that is not valid."
    } else {
        ""
    };
    for words in [
        "An interval is the last complete one, with the figures of the record.",
        "10 s, 1 min and 10 min end with it, once so much was measured.",
        "The window is all from its begin to the end of that interval.",
        marks,
        "`--plain` shows lines instead.",
    ] {
        if !words.is_empty() {
            lines.push(Line::styled(format!(" {words}"), look.dim()));
        }
    }
    frame.render_widget(Paragraph::new(lines).block(look.frame("help", area)), area);
}

pub(super) fn foot(state: &ScreenState, look: &ScreenStyle, width: u16) -> Line<'static> {
    let width = usize::from(width);
    if state.key_requests.stop {
        return Line::styled(
            truncate_clean(" stopping: what was measured is kept; Ctrl-C again ends at once", width),
            look.warn(),
        );
    }
    if state.key_requests.skip {
        return Line::styled(truncate_clean(" leaving this point out", width), look.warn());
    }
    let mut keys = vec!["q stop and keep"];
    if state.is_several() {
        keys.push(if state.key_requests.pause { "p go on" } else { "p pause after this run" });
    }
    if state.skips() {
        keys.push("s skip this point");
    }
    keys.extend(["z zoom", "? help"]);
    let style = if state.key_requests.pause { look.warn() } else { look.dim() };
    Line::styled(truncate_clean(&format!(" {}", keys.join("   ")), width), style)
}
