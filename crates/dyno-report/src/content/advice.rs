//! Findings of the preflight check, each with its remedy.

use dyno_record::{Advice, Severity};

use crate::style::{Paint, Style};
use crate::text::{clean, pad, wrap};

/// Maximum lines of one sentence.
const LINES_MAX: usize = 5;

/// Columns before a sentence: indent, mark, word.
const INDENT: usize = 9;

fn mark(severity: Severity) -> (&'static str, Paint) {
    match severity {
        Severity::Ok => ("✓ ok", Paint::Good),
        Severity::Note => ("· note", Paint::Dim),
        Severity::Warn => ("! warn", Paint::Warn),
        Severity::Fail => ("✗ fail", Paint::Bad),
    }
}

/// The findings, most severe first, each with its remedy below.
pub fn advice_table(advice: &[Advice], style: &Style) -> String {
    let mut out = String::new();
    for severity in [Severity::Fail, Severity::Warn, Severity::Note, Severity::Ok] {
        for item in advice.iter().filter(|item| item.severity == severity) {
            let (word, paint) = mark(severity);
            let room = style.columns() - INDENT;
            let finding = format!("{}: {}", clean(&item.check), clean(&item.found));
            let lines = wrap(&finding, room, LINES_MAX);
            out.push_str(&format!("  {}{}\n", style.paint(paint, &format!("{word:<7}")), lines[0]));
            for line in &lines[1..] {
                out.push_str(&format!("{}{line}\n", pad(INDENT)));
            }
            if !item.way_out.is_empty() {
                for (i, line) in
                    wrap(&clean(&item.way_out), room.saturating_sub(2), LINES_MAX).iter().enumerate()
                {
                    let arrow = if i == 0 { "→ " } else { "  " };
                    out.push_str(&format!("{}{arrow}{line}\n", pad(INDENT)));
                }
            }
        }
    }
    out
}
