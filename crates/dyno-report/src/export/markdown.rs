//! Answer and tables in Markdown, as GitHub and most others read it.

use std::fmt::Write as _;

use super::{ExportError, Exporter, Request};
use crate::audit::{audit_summary, spoken};
use crate::conclusion::{self, title};
use crate::facts::differences;
use crate::grid::Grid;
use crate::report::Report;
use crate::reported::overviews;
use crate::targets::targets_grid;
use crate::text::clean;

#[derive(Debug)]
pub(super) struct Markdown;

impl Exporter for Markdown {
    fn name(&self) -> &'static str {
        "md"
    }

    fn export(&self, report: &Report<'_>, _request: &Request) -> Result<Vec<u8>, ExportError> {
        let answer = report.answer();
        let mut out = format!("# Dyno report\n\n**{}**\n\n", text(&answer.line));
        for line in &answer.more {
            let _ = writeln!(out, "{}\n", text(line));
        }
        for of in overviews(report.records) {
            let name = if of.name.is_empty() { String::new() } else { format!(": {}", text(&of.name)) };
            let _ = write!(out, "## Load profile and top timed events{name}\n\n{}\n\n", text(&of.about));
            let _ = write!(out, "{}\n{}\n", table(&of.load), table(&of.events));
        }
        for conclusion in &report.conclusions {
            let _ = writeln!(out, "## What the {} came to\n", text(&title(conclusion)));
            for sentence in conclusion.sentences() {
                let _ = writeln!(out, "- {}", text(&sentence));
            }
            out.push('\n');
            if let Some(grid) = conclusion::grid(conclusion) {
                let _ = writeln!(out, "{}", table(&grid));
            }
        }
        if !report.points.points.is_empty() {
            let _ = write!(out, "## Results\n\n{}\n", table(&report.grid()));
            if let Some(legend) = report.legend() {
                let _ = writeln!(out, "{}\n", text(&legend));
            }
        }
        if let Some(grid) = report.close.and_then(targets_grid) {
            let _ = write!(out, "## Targets\n\n{}\n", table(&grid));
        }
        for curve in &report.curves {
            let _ = writeln!(
                out,
                "### Knee and scalability{}\n",
                if curve.name.is_empty() { String::new() } else { format!(": {}", text(&curve.name)) }
            );
            for sentence in &curve.sentences {
                let _ = writeln!(out, "- {}", text(sentence));
            }
            out.push('\n');
        }
        if let Some(record) = report.close {
            let _ = write!(out, "## Audit of {}\n\n{}.\n\n", text(&record.id), audit_summary(&record.audit));
            for check in &record.audit {
                let _ = writeln!(
                    out,
                    "- {} **{}**: {}",
                    check_word(check.status),
                    text(&spoken(&check.check)),
                    text(&check.detail)
                );
            }
            out.push('\n');
        }
        let differences = differences(report.records, &report.points);
        if !differences.is_empty() {
            out.push_str("## What differed\n\n");
            for difference in &differences {
                let values: Vec<String> = difference
                    .values
                    .iter()
                    .take(6)
                    .map(|(value, runs)| format!("{} ({runs})", text(value)))
                    .collect();
                let _ = writeln!(out, "- {}: {}", text(&difference.name), values.join(", "));
            }
            out.push('\n');
        }
        let _ = write!(out, "## Runs\n\n{}", table(&report.runs_grid()));
        Ok(out.into_bytes())
    }
}

fn check_word(status: dyno_record::CheckStatus) -> &'static str {
    use dyno_record::CheckStatus::{Fail, Pass, Skipped, Warn};
    match status {
        Pass => "pass",
        Warn => "warn",
        Fail => "**fail**",
        Skipped => "skipped",
    }
}

/// Text that Markdown takes as text: every character that could mean something is escaped.
fn text(text: &str) -> String {
    let mut out = String::new();
    for c in clean(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '>' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn table(grid: &Grid) -> String {
    let head = |label: &str, unit: &str| {
        if unit.is_empty() { text(label) } else { format!("{}, {}", text(label), text(unit)) }
    };
    let heads: Vec<String> = grid.heads.iter().map(|h| head(&h.label, &h.unit)).collect();
    let rule: Vec<&str> = grid.heads.iter().map(|h| if h.figures { "---:" } else { "---" }).collect();
    let mut out = format!("| {} |\n| {} |\n", heads.join(" | "), rule.join(" | "));
    for (_, cells) in &grid.rows {
        let cells: Vec<String> = cells.iter().map(|cell| text(&cell.text)).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(text("<b>|*x*|"), "&lt;b\\>\\|\\*x\\*\\|");
    }
}
