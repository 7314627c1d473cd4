//! Errors, what snapshots have shown so far, and what the audit said of the run before.

use dyno_report::number::{compact, count};
use dyno_report::text;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::look::Look;
use crate::screen::state::State;

/// Lines that one finding takes at most.
const LINES_MAX: usize = 2;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &State, look: &Look) {
    let block = look.frame("errors and audit so far", area);
    let inner = block.inner(area);
    let (width, height) = (usize::from(inner.width).saturating_sub(2), usize::from(inner.height));
    let mut lines = Vec::new();
    let mut put = |words: &str, style: Style| {
        let each = text::wrap(&text::clean(words), width, LINES_MAX);
        lines.extend(each.into_iter().map(|line| Line::styled(format!(" {line}"), style)));
    };
    for (words, style) in of_run(state, look) {
        put(&words, style);
    }
    if state.is_several() {
        let [good, warned, bad] = state.grid.counts;
        let style = if bad > 0 {
            look.bad()
        } else if warned > 0 {
            look.warn()
        } else {
            look.good()
        };
        let of_them = if warned > 0 { format!(" ({warned} warned)") } else { String::new() };
        put(&format!("runs: {} valid{of_them}, {bad} not valid", good + warned), style);
    }
    if let Some(judged) = &state.judged {
        put(&format!("{}: checks passed: {}", judged.run, judged.passed), Style::new());
        for (fails, check, detail) in &judged.doubts {
            put(&format!("{check}: {detail}"), if *fails { look.bad() } else { look.warn() });
        }
    }
    for line in state.said.iter().rev().take(height).collect::<Vec<_>>().into_iter().rev() {
        put(line, look.dim());
    }
    lines.truncate(height);
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// What is known of the run under way.
fn of_run(state: &State, look: &Look) -> Vec<(String, Style)> {
    let Some(complete) = state.run.complete.as_deref() else { return Vec::new() };
    let errors = complete.so_far.errors;
    let style = if errors > 0 { look.bad() } else { Style::new() };
    let of = complete.so_far.ops + complete.so_far.errors;
    let share = if errors > 0 && of > 0 {
        format!(" ({} %)", compact(100.0 * complete.so_far.errors as f64 / of as f64))
    } else {
        String::new()
    };
    let mut found = vec![(format!("failed operations: {}{share}", count(errors)), style)];
    let looks = count(complete.looks);
    if complete.changes.is_empty() && complete.falls.is_empty() {
        found.push((format!("nothing changed in {looks} looks at the counters"), look.good()));
    }
    found.extend(complete.changes.iter().map(|change| (dyno_analyze::changed_words(change), look.bad())));
    let falls = complete.falls.iter();
    found.extend(falls.map(|fall| (format!("counter {} went backwards", fall.name), look.bad())));
    found
}
