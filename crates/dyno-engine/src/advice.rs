//! Findings of a look at a platform before a run.

use dyno_record::{Advice, Severity};

/// A finding.
pub fn advice(
    check: &str,
    severity: Severity,
    found: impl Into<String>,
    way_out: impl Into<String>,
) -> Advice {
    Advice { check: check.to_owned(), severity, found: found.into(), way_out: way_out.into() }
}

/// A finding that all is well.
pub fn ok(check: &str, found: impl Into<String>) -> Advice {
    advice(check, Severity::Ok, found, "")
}
