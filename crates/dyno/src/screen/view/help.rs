//! Help on keys: all of them on a page, the main ones on the last line.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::style::{ScreenStyle, truncate_clean};
use crate::screen::state::ScreenState;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: &ScreenStyle) {
    let mut keys = vec![("q, Ctrl-C", "stop and store what was measured; Ctrl-C again ends at once")];
    if state.is_several() {
        keys.push(("p", "pause after this run; again: continue"));
    }
    if state.progress.skips {
        keys.push(("s", "end this run and skip its point; --resume runs it later"));
    }
    keys.extend([
        ("z", "show one panel; again: the next one"),
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
        "10 s, 1 min and 10 min end with it, once enough was measured.",
        "The window lasts from its beginning to the end of that interval.",
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
            truncate_clean(" stopping: what was measured is stored; Ctrl-C again ends at once", width),
            look.warn(),
        );
    }
    if state.key_requests.skip {
        return Line::styled(truncate_clean(" skipping this point", width), look.warn());
    }
    let mut keys = vec!["q stop and keep"];
    if state.is_several() {
        keys.push(if state.key_requests.pause { "p continue" } else { "p pause after this run" });
    }
    if state.progress.skips {
        keys.push("s skip this point");
    }
    keys.extend(["z zoom", "? help"]);
    let style = if state.key_requests.pause { look.warn() } else { look.dim() };
    Line::styled(truncate_clean(&format!(" {}", keys.join("   ")), width), style)
}
