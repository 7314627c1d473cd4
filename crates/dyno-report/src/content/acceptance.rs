//! The result of an acceptance, step by step, for a terminal.

use dyno_record::{Acceptance, AcceptanceFinding, AcceptanceStep, AcceptanceVerdict};

use crate::style::{Paint, Style};
use crate::text::{clean, pad, wrap};

/// Maximum lines of one sentence.
const LINES_MAX: usize = 8;

/// Columns before the findings of a step.
const INDENT: usize = 6;

fn mark(verdict: AcceptanceVerdict) -> (&'static str, Paint) {
    match verdict {
        AcceptanceVerdict::Proved => ("✓", Paint::Good),
        AcceptanceVerdict::NotApplicable => ("·", Paint::Dim),
        AcceptanceVerdict::NotProved => ("!", Paint::Warn),
        AcceptanceVerdict::Wrong => ("✗", Paint::Bad),
    }
}

/// All steps with their findings, the number of steps by verdict, and the missing grants.
pub fn acceptance_page(acceptance: &Acceptance, style: &Style) -> String {
    let mut out = String::new();
    for step in &acceptance.steps {
        one_step(&mut out, step, style);
    }
    out.push_str(&format!("\n{}\n", summary(acceptance)));
    if !acceptance.grants.is_empty() {
        out.push_str("\nGrants that are missing, for an administrator to run:\n");
        for line in acceptance.grants.lines() {
            out.push_str(&format!("  {}\n", clean(line)));
        }
    }
    out
}

/// The number of steps by verdict: `10 steps: 9 proved, 1 not applicable, 0 not proved, 0 wrong`.
fn summary(acceptance: &Acceptance) -> String {
    use AcceptanceVerdict::{NotApplicable, NotProved, Proved, Wrong};
    let counts = [Proved, NotApplicable, NotProved, Wrong]
        .map(|verdict| format!("{} {}", acceptance.count(verdict), verdict.name()));
    format!("{} steps: {}", acceptance.steps.len(), counts.join(", "))
}

fn one_step(out: &mut String, step: &AcceptanceStep, style: &Style) {
    let (sign, paint) = mark(step.verdict);
    let verdict = style.paint(paint, &format!("{sign} {:<14}", step.verdict.name()));
    out.push_str(&format!("{:>3} {verdict} {}\n", step.number, clean(&step.title)));
    step.findings.iter().for_each(|finding| one_finding(out, finding, style));
}

fn one_finding(out: &mut String, finding: &AcceptanceFinding, style: &Style) {
    let (sign, paint) = mark(finding.verdict);
    let room = style.columns().saturating_sub(INDENT + 2);
    let text = format!("{}: {}", clean(&finding.name), clean(&finding.observed));
    for (at, line) in wrap(&text, room, LINES_MAX).iter().enumerate() {
        let front = if at == 0 { style.paint(paint, sign) } else { " ".to_owned() };
        out.push_str(&format!("{}{front} {line}\n", pad(INDENT)));
    }
    if finding.way_out.is_empty() {
        return;
    }
    for (at, line) in wrap(&clean(&finding.way_out), room.saturating_sub(2), LINES_MAX).iter().enumerate() {
        let arrow = if at == 0 { "→ " } else { "  " };
        out.push_str(&format!("{}  {arrow}{line}\n", pad(INDENT)));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use AcceptanceVerdict::{NotApplicable, NotProved, Proved};

    #[test]
    fn acceptance_page_lists_findings_totals_and_missing_grants() {
        let finding = |name: &str, verdict| AcceptanceFinding::new(name, verdict, "seen");
        let rights = finding("grants", NotProved).way_out("GRANT a TO b;");
        let steps = vec![
            AcceptanceStep::new(1, "logon", "log on", vec![finding("version", Proved)]),
            AcceptanceStep::new(2, "rights", "read every view", vec![rights]),
            AcceptanceStep::new(3, "reports", "take a report", vec![finding("report", NotApplicable)]),
        ];
        let acceptance = Acceptance {
            dyno_version: "0".to_owned(),
            engine: "postgres".to_owned(),
            product: "PostgreSQL".to_owned(),
            version: "16".to_owned(),
            verdict: NotProved,
            steps,
            settings: BTreeMap::new(),
            grants: "GRANT a TO b;".to_owned(),
        };
        let page = acceptance_page(&acceptance, &Style { color: false, width: 80 });
        let expected = "  1 ✓ proved         log on
      ✓ version: seen
  2 ! not proved     read every view
      ! grants: seen
        → GRANT a TO b;
  3 · not applicable take a report
      · report: seen

3 steps: 1 proved, 1 not applicable, 1 not proved, 0 wrong

Grants that are missing, for an administrator to run:
  GRANT a TO b;
";
        assert_eq!(page, expected);
    }
}
