//! Panel of errors, snapshot findings so far, and the audit of the previous run.

use dyno_record::CheckStatus;
use dyno_report::number::{compact, count};
use dyno_report::text;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use super::style::ScreenStyle;
use crate::screen::grid;
use crate::screen::state::ScreenState;

/// Maximum lines of one finding.
const LINES_MAX: usize = 2;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, state: &ScreenState, look: &ScreenStyle) {
    let block = look.frame("errors and audit so far", area);
    let inner = block.inner(area);
    let (width, height) = (usize::from(inner.width).saturating_sub(2), usize::from(inner.height));
    let mut lines = Vec::new();
    let mut put = |words: &str, style: Style| {
        let wrapped = text::wrap(&text::clean(words), width, LINES_MAX);
        lines.extend(wrapped.into_iter().map(|line| Line::styled(format!(" {line}"), style)));
    };
    for (words, style) in of_run(state, look) {
        put(&words, style);
    }
    if state.is_several() {
        let [good, warned, bad] = grid::audit_counts(&state.progress.ended);
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
    if let Some(judged) = state.progress.stored.last() {
        put(&format!("{}: checks passed: {}", judged.id, judged.passed), Style::new());
        // Worst first.
        for (status, style) in [(CheckStatus::Fail, look.bad()), (CheckStatus::Warn, look.warn())] {
            for doubt in judged.doubts.iter().filter(|doubt| doubt.status == status) {
                put(&format!("{}: {}", dyno_analyze::check_label(&doubt.check), doubt.detail), style);
            }
        }
    }
    for line in state.messages.iter().rev().take(height).collect::<Vec<_>>().into_iter().rev() {
        put(line, look.dim());
    }
    lines.truncate(height);
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// Known findings of the current run.
fn of_run(state: &ScreenState, look: &ScreenStyle) -> Vec<(String, Style)> {
    let Some(complete) = state.progress.complete.as_deref() else { return Vec::new() };
    let errors = complete.so_far.errors;
    let style = if errors > 0 { look.bad() } else { Style::new() };
    let attempts = complete.so_far.ops + complete.so_far.errors;
    let share = if errors > 0 && attempts > 0 {
        format!(" ({} %)", compact(100.0 * complete.so_far.errors as f64 / attempts as f64))
    } else {
        String::new()
    };
    let mut lines = vec![(format!("failed operations: {}{share}", count(errors)), style)];
    let looks = count(complete.snapshot_count);
    if complete.changes.is_empty() && complete.resets.is_empty() {
        lines.push((format!("no change in {looks} snapshots"), look.good()));
    }
    lines.extend(complete.changes.iter().map(|change| (dyno_analyze::changed_words(change), look.bad())));
    let falls = complete.resets.iter();
    lines.extend(falls.map(|fall| (format!("counter {} went backwards", fall.name), look.bad())));
    lines
}
