//! Shows the audit in plain words, failures first.

use dyno_record::{AuditCheck, CheckStatus};

use crate::model::table::{Grid, GridCell, GridHead};
use crate::style::{Paint, Style};
use crate::text::{clean, pad, width, wrap};

/// Maximum lines of one finding.
const LINES_MAX: usize = 5;

/// Maximum lines of a list of labels.
const LABEL_LINES_MAX: usize = 9;

/// Checks that compare client, database and host. They are shown in full when they pass, because they show
/// why a result can be trusted.
const COMPARISONS: [&str; 7] = [
    "commits",
    "logical_reads",
    "rows_updated",
    "update_values",
    "redo_grew",
    "physical_reads",
    "littles_law",
];

/// The order in which findings are shown.
pub(crate) const ORDER: [CheckStatus; 4] =
    [CheckStatus::Fail, CheckStatus::Warn, CheckStatus::Pass, CheckStatus::Skipped];

/// Mark, word and tone of a finding.
pub(crate) fn mark(status: CheckStatus) -> (&'static str, &'static str, &'static str) {
    match status {
        CheckStatus::Pass => ("✓", "pass", "good"),
        CheckStatus::Warn => ("!", "warn", "warn"),
        CheckStatus::Fail => ("✗", "fail", "bad"),
        CheckStatus::Skipped => ("–", "skipped", "dim"),
    }
}

/// Findings of `status`, in the audit's order.
fn of(checks: &[AuditCheck], status: CheckStatus) -> impl Iterator<Item = &AuditCheck> {
    checks.iter().filter(move |check| check.status == status)
}

/// A check's label, also for a record from elsewhere.
pub(crate) fn check_label(name: &str) -> String {
    dyno_analyze::check_label(&clean(name))
}

/// Whether the checks belong to an imported record, which was not audited.
fn is_imported(checks: &[AuditCheck]) -> bool {
    checks.iter().any(|check| check.check == "imported")
}

/// The audit in a few words: `2 failed, 1 warning, 12 passed, 1 skipped`.
pub fn audit_summary(checks: &[AuditCheck]) -> String {
    let counted = |status, singular: &str, plural: &str| {
        let count = of(checks, status).filter(|check| check.check != "imported").count();
        (count > 0).then(|| format!("{count} {}", if count == 1 { singular } else { plural }))
    };
    let parts = [
        counted(CheckStatus::Fail, "failed", "failed"),
        counted(CheckStatus::Warn, "warning", "warnings"),
        counted(CheckStatus::Pass, "passed", "passed"),
        counted(CheckStatus::Skipped, "skipped", "skipped"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    match (is_imported(checks), parts.is_empty()) {
        (true, true) => "none: the figures are imported".into(),
        (true, false) => {
            format!(
                "none: the figures are imported; their columns were compared with each other: {}",
                parts.join(", ")
            )
        }
        (false, true) => "no checks were made".into(),
        (false, false) => parts.join(", "),
    }
}

/// One line below the heading of the audit.
fn title(checks: &[AuditCheck], style: &Style) -> String {
    format!("{}: {}\n", style.paint(Paint::Head, "audit"), audit_summary(checks))
}

/// One finding as a sentence over several lines: `✗ fail  commits: 6,400 acknowledged, database counted
/// 6,000`.
fn sentence(check: &AuditCheck, style: &Style) -> String {
    let (mark, word, tone) = mark(check.status);
    let head = match check.status {
        CheckStatus::Pass | CheckStatus::Skipped => format!("{mark} "),
        CheckStatus::Warn | CheckStatus::Fail => format!("{mark} {word}  "),
    };
    let indent = 2 + width(&head);
    let text = format!("{}: {}", check_label(&check.check), clean(&check.detail));
    let lines = wrap(&text, style.columns().saturating_sub(indent), LINES_MAX);
    let mut out = format!(
        "  {}{}\n",
        Paint::of_tone(tone).map_or_else(|| head.clone(), |paint| style.paint(paint, &head)),
        lines[0]
    );
    for line in &lines[1..] {
        out.push_str(&format!("{}{line}\n", pad(indent)));
    }
    out
}

/// Labels on as many lines as needed: `✓ also passed: start skew, stalls`.
fn names(head: &str, paint: Paint, names: &[String], style: &Style) -> String {
    if names.is_empty() {
        return String::new();
    }
    let lines = wrap(&format!("{head}: {}", names.join(", ")), style.columns() - 4, LABEL_LINES_MAX);
    let line = |(i, line): (usize, &String)| {
        let indent = pad(if i == 0 { 2 } else { 4 });
        format!("{indent}{}\n", style.paint(paint, line))
    };
    lines.iter().enumerate().map(line).collect()
}

/// The audit for a result: failures and warnings as sentences first, then the comparisons of client, database
/// and host. All other checks are listed by name only.
pub fn audit_words(checks: &[AuditCheck], style: &Style) -> String {
    let mut out = title(checks, style);
    for status in [CheckStatus::Fail, CheckStatus::Warn] {
        out.extend(of(checks, status).map(|check| sentence(check, style)));
    }
    let (compared, others): (Vec<_>, Vec<_>) =
        of(checks, CheckStatus::Pass).partition(|check| COMPARISONS.contains(&check.check.as_str()));
    out.extend(compared.into_iter().map(|check| sentence(check, style)));
    let spoken_names =
        |checks: Vec<&AuditCheck>| -> Vec<String> { checks.iter().map(|c| check_label(&c.check)).collect() };
    out.push_str(&names("✓ also passed", Paint::Good, &spoken_names(others), style));
    let skipped = of(checks, CheckStatus::Skipped).collect();
    out.push_str(&names("– skipped", Paint::Dim, &spoken_names(skipped), style));
    out
}

/// The whole audit in sentences, with the reasons for skipped checks.
pub fn audit_full(checks: &[AuditCheck], style: &Style) -> String {
    let mut out = title(checks, style);
    for status in ORDER {
        out.extend(of(checks, status).map(|check| sentence(check, style)));
    }
    out
}

/// The whole audit as a table with expected and observed values.
pub fn audit_table(checks: &[AuditCheck], style: &Style) -> String {
    let mut table = Grid::new(vec![
        GridHead::text("check"),
        GridHead::text("status"),
        GridHead::text("expected"),
        GridHead::text("observed"),
    ]);
    for status in ORDER {
        for check in of(checks, status) {
            let (mark, word, tone) = mark(status);
            table.row([
                GridCell::from(check.check.as_str()),
                GridCell::from(format!("{mark} {word}")).toned(tone),
                check.expected.as_str().into(),
                check.observed.as_str().into(),
            ]);
            table.note(&check.detail, "dim");
        }
    }
    table.render(style)
}
