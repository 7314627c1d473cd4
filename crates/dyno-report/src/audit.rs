//! The audit in plain words, what failed first.

use dyno_record::{AuditCheck, CheckStatus};

use crate::style::{Paint, Style};
use crate::table::{Cell, Column, Table};
use crate::text::{clean, pad, width, wrap};

/// Lines that one finding may take.
const LINES_MAX: usize = 5;

/// Checks in which client, database and host speak about the same thing: shown in full when they pass, because they are
/// why a result can be believed.
const COMPARISONS: [&str; 7] = [
    "commits",
    "logical_reads",
    "rows_updated",
    "update_values",
    "redo_grew",
    "physical_reads",
    "littles_law",
];

/// The order in which findings are told.
pub(crate) const ORDER: [CheckStatus; 4] =
    [CheckStatus::Fail, CheckStatus::Warn, CheckStatus::Pass, CheckStatus::Skipped];

/// The mark of a finding, its word and its colour.
fn mark(status: CheckStatus) -> (&'static str, &'static str, Paint) {
    match status {
        CheckStatus::Pass => ("✓", "pass", Paint::Good),
        CheckStatus::Warn => ("!", "warn", Paint::Warn),
        CheckStatus::Fail => ("✗", "fail", Paint::Bad),
        CheckStatus::Skipped => ("–", "skipped", Paint::Dim),
    }
}

/// Findings of `status`, in the audit's order.
fn of(checks: &[AuditCheck], status: CheckStatus) -> impl Iterator<Item = &AuditCheck> {
    checks.iter().filter(move |check| check.status == status)
}

/// A check's name as people say it.
pub(crate) fn spoken(name: &str) -> String {
    let name = clean(name);
    match name.strip_suffix("_whole") {
        Some(name) => format!("{} (whole run)", name.replace('_', " ")),
        None => name.replace('_', " "),
    }
}

/// Whether the checks are those of an imported record, which nobody audited.
fn is_imported(checks: &[AuditCheck]) -> bool {
    checks.iter().any(|check| check.check == "imported")
}

/// The audit in a few words: `2 failed, 1 warning, 12 passed, 1 skipped`.
pub fn audit_summary(checks: &[AuditCheck]) -> String {
    let counted = |status, one: &str, many: &str| {
        let count = of(checks, status).filter(|check| check.check != "imported").count();
        (count > 0).then(|| format!("{count} {}", if count == 1 { one } else { many }))
    };
    let parts = [
        counted(CheckStatus::Fail, "failed", "failed"),
        counted(CheckStatus::Warn, "warning", "warnings"),
        counted(CheckStatus::Pass, "passed", "passed"),
        counted(CheckStatus::Skipped, "skipped", "skipped"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match (is_imported(checks), parts.is_empty()) {
        (true, true) => "none, as the figures are imported".into(),
        (true, false) => {
            format!(
                "none, as the figures are imported; its columns held against each other: {}",
                parts.join(", ")
            )
        }
        (false, true) => "nothing was checked".into(),
        (false, false) => parts.join(", "),
    }
}

/// One line under the name of the audit.
fn title(checks: &[AuditCheck], style: &Style) -> String {
    format!("{}: {}\n", style.paint(Paint::Head, "audit"), audit_summary(checks))
}

/// One finding as a sentence of several lines: `✗ fail  commits: 6,400 acknowledged, database counted 6,000`.
fn sentence(check: &AuditCheck, style: &Style) -> String {
    let (mark, word, paint) = mark(check.status);
    let head = match check.status {
        CheckStatus::Pass | CheckStatus::Skipped => format!("{mark} "),
        CheckStatus::Warn | CheckStatus::Fail => format!("{mark} {word}  "),
    };
    let indent = 2 + width(&head);
    let text = format!("{}: {}", spoken(&check.check), clean(&check.detail));
    let lines = wrap(&text, style.columns().saturating_sub(indent), LINES_MAX);
    let mut out = format!("  {}{}\n", style.paint(paint, &head), lines[0]);
    for line in &lines[1..] {
        out.push_str(&format!("{}{line}\n", pad(indent)));
    }
    out
}

/// Names in one line, or as many as they need: `✓ also passed: edges, stalls`.
fn names(head: &str, paint: Paint, names: &[String], style: &Style) -> String {
    if names.is_empty() {
        return String::new();
    }
    let lines = wrap(&format!("{head}: {}", names.join(", ")), style.columns() - 4, LINES_MAX);
    let line = |(i, line): (usize, &String)| {
        let indent = pad(if i == 0 { 2 } else { 4 });
        format!("{indent}{}\n", style.paint(paint, line))
    };
    lines.iter().enumerate().map(line).collect()
}

/// The audit for a result: failures and warnings in sentences first, then the comparisons of client, database and host;
/// all else that passed or was skipped by name only.
pub fn audit_words(checks: &[AuditCheck], style: &Style) -> String {
    let mut out = title(checks, style);
    for status in [CheckStatus::Fail, CheckStatus::Warn] {
        out.extend(of(checks, status).map(|check| sentence(check, style)));
    }
    let (compared, others): (Vec<_>, Vec<_>) =
        of(checks, CheckStatus::Pass).partition(|check| COMPARISONS.contains(&check.check.as_str()));
    out.extend(compared.into_iter().map(|check| sentence(check, style)));
    let spoken_names =
        |checks: Vec<&AuditCheck>| -> Vec<String> { checks.iter().map(|c| spoken(&c.check)).collect() };
    out.push_str(&names("✓ also passed", Paint::Good, &spoken_names(others), style));
    let skipped = of(checks, CheckStatus::Skipped).collect();
    out.push_str(&names("– skipped", Paint::Dim, &spoken_names(skipped), style));
    out
}

/// The whole audit in sentences, with the reasons of what was skipped.
pub fn audit_full(checks: &[AuditCheck], style: &Style) -> String {
    let mut out = title(checks, style);
    for status in ORDER {
        out.extend(of(checks, status).map(|check| sentence(check, style)));
    }
    out
}

/// The whole audit as a table, with what was expected and observed.
pub fn audit_table(checks: &[AuditCheck], style: &Style) -> String {
    let mut table = Table::new(vec![
        Column::text("check"),
        Column::text("status"),
        Column::text("expected"),
        Column::text("observed"),
    ]);
    for status in ORDER {
        for check in of(checks, status) {
            let (mark, word, paint) = mark(status);
            table.row([
                Cell::from(check.check.as_str()),
                Cell::painted(&format!("{mark} {word}"), paint),
                check.expected.as_str().into(),
                check.observed.as_str().into(),
            ]);
            for line in wrap(&clean(&check.detail), style.columns() - 2, LINES_MAX) {
                table.note(&line, Paint::Dim);
            }
        }
    }
    table.render(style)
}
