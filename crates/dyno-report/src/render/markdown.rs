//! Writes the answer and the tables in Markdown for GitHub and similar renderers.

use std::fmt::Write as _;
use std::io::Write;

use dyno_record::{AuditCheck, CheckStatus};

use super::ExportError;
use crate::content::ab_test::ab_grid;
use crate::content::answer::{self, answer_grid};
use crate::content::audit::{ORDER, audit_summary, check_label};
use crate::content::by_instance::instances_grid;
use crate::content::by_target::targets_grid;
use crate::content::conclusion::{self, title};
use crate::content::driver_hosts::driver_hosts_grid;
use crate::content::imported_metrics;
use crate::content::load_profile;
use crate::content::ramps;
use crate::content::report::Report;
use crate::content::run_facts::LISTED_MAX;
use crate::content::run_rows;
use crate::content::server_activity;
use crate::content::table_activity;
use crate::content::timed_events;
use crate::content::top_statements;
use crate::content::watched::locks;
use crate::model::request::ReportRequest;
use crate::model::table::{Grid, GridCell, GridHead};
use crate::text::{capital, clean};

pub(super) fn export(report: &Report<'_>, _: &ReportRequest, out: &mut dyn Write) -> Result<(), ExportError> {
    let answer = report.answer();
    let mut top = format!("# Dyno report\n\n**{}**\n\n", prose(&answer.line));
    for line in &answer.more {
        let _ = writeln!(top, "{}\n", prose(line));
    }
    if let Some(grid) = report.ab_test().and_then(ab_grid) {
        let _ = writeln!(top, "{}", table(&grid));
    }
    if report.has_answers() {
        let _ = writeln!(top, "{}", table(&answer_grid(&report.answers)));
        for line in answer::evidence_lines(&report.answers, report.answers.curves.len() <= 1) {
            let _ = writeln!(top, "{}\n", prose(&line));
        }
    }
    for line in report.next_lines() {
        let _ = writeln!(top, "{}\n", prose(&line));
    }
    for of in report.seen.reported.all() {
        let name = if of.name.is_empty() { String::new() } else { format!(": {}", text(&of.name)) };
        let _ = write!(top, "## Load profile and top timed events{name}\n\n{}\n\n", text(&of.about));
        let _ = write!(top, "{}\n{}\n", table(&of.load), table(&of.events));
    }
    for conclusion in &report.conclusions {
        let _ = writeln!(top, "## Result of the {}\n", text(&title(conclusion)));
        for sentence in report.further_sentences(conclusion) {
            let _ = writeln!(top, "- {}", text(&sentence));
        }
        top.push('\n');
        if let Some(grid) = conclusion::grid(conclusion) {
            let _ = writeln!(top, "{}", table(&grid));
        }
    }
    if !report.points.points.is_empty() && report.suite().is_none() {
        let _ = write!(top, "## Results\n\n{}\n", table(&report.grid()));
        let tables = ramps::TABLES.iter().filter(|_| ramps::has_tables(&report.points));
        for ramp in tables {
            let grid = table(&ramp.grid(&report.points));
            let _ = write!(top, "### {}\n\n{grid}\n", text(&capital(ramp.title)));
            for reason in ramp.reasons(&report.points) {
                let _ = writeln!(top, "{}.\n", text(&reason));
            }
        }
        if let Some(legend) = report.legend() {
            let _ = writeln!(top, "{}\n", text(&legend));
        }
        for words in report.seen.machines.iter().take(LISTED_MAX) {
            let _ = writeln!(top, "{}.\n", text(words));
        }
    }
    if let Some((rates, limits)) = &report.matrix {
        let _ = write!(top, "## At a glance\n\n{}\n{}\n", table(rates), table(limits));
    }
    if let Some(record) = &report.close {
        if let Some(grid) = load_profile::load(record) {
            let _ = writeln!(top, "{}", table(&grid));
            for words in load_profile::notes(record) {
                let _ = writeln!(top, "{}.\n", text(&capital(&words)));
            }
        }
        let waits = timed_events::wait_distributions(record, usize::MAX);
        for grid in timed_events::events(record).map(|(grid, _)| grid).into_iter().chain(waits) {
            let _ = writeln!(top, "{}", table(&grid));
        }
        if let Some(grid) = server_activity::grid(record) {
            let _ =
                write!(top, "## Server activity\n\n{}\n{}.\n\n", table(&grid), server_activity::note(record));
        }
        for (title, grid) in locks::tables(record) {
            let _ = write!(top, "## {title}\n\n{}\n", table(&grid));
        }
        if let Some(grid) = top_statements::grid(record) {
            let _ = write!(top, "## Top statements\n\n{}\n", table(&grid));
            for words in top_statements::notes(record) {
                let _ = writeln!(top, "{}.\n", text(&capital(&words)));
            }
        }
        for (title, grid) in table_activity::grids(record) {
            let _ = write!(top, "## {title}\n\n{}\n", table(&grid));
        }
        for words in table_activity::notes(record) {
            let _ = writeln!(top, "{}.\n", text(&capital(&words)));
        }
    }
    if let Some(grid) = report.close.as_ref().and_then(targets_grid) {
        let _ = write!(top, "## Targets\n\n{}\n", table(&grid));
    }
    if let Some(grid) = report.close.as_ref().and_then(instances_grid) {
        let _ = write!(top, "## Load per instance\n\n{}\n", table(&grid));
    }
    if let Some(grid) = report.close.as_ref().and_then(driver_hosts_grid) {
        let _ = write!(top, "## Driver hosts\n\n{}\n", table(&grid));
    }
    if let Some(grid) = report.shown().and_then(imported_metrics::grid) {
        let _ =
            write!(top, "## Imported, not audited\n\n{}\n\n{}\n", imported_metrics::EXPLAINED, table(&grid));
    }
    for curve in report.unconcluded_curves() {
        let _ = writeln!(
            top,
            "### Knee and scalability{}\n",
            if curve.name.is_empty() { String::new() } else { format!(": {}", text(&curve.name)) }
        );
        for sentence in &curve.sentences {
            let _ = writeln!(top, "- {}", text(sentence));
        }
        top.push('\n');
    }
    if let Some(record) = &report.close {
        let _ = write!(top, "## Audit of {}\n\n{}.\n\n", text(&record.id), audit_summary(&record.audit));
        top.push_str(&findings(&record.audit));
    }
    let differences = report.seen.facts.differences(&report.points.axes);
    if !differences.is_empty() {
        top.push_str("## Differences\n\n");
        for difference in &differences {
            let values: Vec<String> = difference
                .values
                .iter()
                .take(6)
                .map(|(value, runs)| format!("{} ({runs})", text(value)))
                .collect();
            let _ = writeln!(top, "- {}: {}", text(&difference.name), values.join(", "));
        }
        top.push('\n');
    }
    let _ = write!(top, "## Runs\n\n{}", head(&run_rows::heads()));
    out.write_all(top.as_bytes())?;
    report.each(|record| Ok(out.write_all(row(&run_rows::row(record).1).as_bytes())?))?;
    Ok(())
}

/// Failed checks and warnings; the others are folded, which GitHub and similar renderers show as a line.
fn findings(audit: &[AuditCheck]) -> String {
    let lines = |of: &[CheckStatus]| -> String {
        let checks = of.iter().flat_map(|status| audit.iter().filter(move |check| check.status == *status));
        let line = |check: &AuditCheck| {
            let (label, detail) = (text(&check_label(&check.check)), text(&check.detail));
            format!("- {} **{label}**: {detail}\n", check_word(check.status))
        };
        checks.map(line).collect()
    };
    let (grave, others) = ORDER.split_at(2);
    let (grave, others) = (lines(grave), lines(others));
    let separator = if grave.is_empty() { "" } else { "\n" };
    let folded = match others.is_empty() {
        true => String::new(),
        false => format!("<details><summary>Passed and skipped checks</summary>\n\n{others}\n</details>\n\n"),
    };
    format!("{grave}{separator}{folded}")
}

fn check_word(status: CheckStatus) -> &'static str {
    use CheckStatus::{Fail, Pass, Skipped, Warn};
    match status {
        Pass => "pass",
        Warn => "warn",
        Fail => "**fail**",
        Skipped => "skipped",
    }
}

/// Escapes every character that Markdown could interpret.
pub(crate) fn text(text: &str) -> String {
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

/// A line with its commands as code; everything else is [`text`].
pub(crate) fn prose(line: &str) -> String {
    let line = clean(line);
    let parts: Vec<&str> = line.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return text(&line);
    }
    let part = |(at, part): (usize, &&str)| if at % 2 == 1 { format!("`{part}`") } else { text(part) };
    parts.iter().enumerate().map(part).collect()
}

pub(crate) fn table(grid: &Grid) -> String {
    let grid = grid.on_pages();
    grid.rows.iter().fold(head(&grid.heads), |table, (_, cells)| table + &row(cells))
}

fn head(heads: &[GridHead]) -> String {
    let name = |head: &GridHead| match head.unit.as_str() {
        "" => text(&head.label),
        unit => format!("{}, {}", text(&head.label), text(unit)),
    };
    let names: Vec<String> = heads.iter().map(name).collect();
    let rule: Vec<&str> = heads.iter().map(|head| if head.figures { "---:" } else { "---" }).collect();
    format!("| {} |\n| {} |\n", names.join(" | "), rule.join(" | "))
}

fn row(cells: &[GridCell]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| text(&cell.text)).collect();
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_code_and_other_text_is_escaped() {
        assert_eq!(prose("a_b: `dyno run --set a_b=1`"), "a\\_b: `dyno run --set a_b=1`");
        assert_eq!(prose("one ` only"), "one \\` only");
    }

    #[test]
    fn markdown_special_characters_are_escaped() {
        assert_eq!(text("<b>|*x*|"), "&lt;b\\>\\|\\*x\\*\\|");
    }
}
