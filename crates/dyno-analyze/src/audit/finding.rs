//! The outcome of a check, and short functions that build it.

use dyno_record::{AuditCheck, CheckStatus};

/// The outcome of a check: its status, both figures as shown, and the sentence.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) status: CheckStatus,
    pub(super) expected: String,
    pub(super) observed: String,
    pub(super) detail: String,
}

/// Why a check could not be made.
#[derive(Debug)]
pub(super) struct Skip(pub(super) String);

/// The result of every check. The error side is no failure: it becomes `skipped`.
pub(super) type AuditCheckResult = Result<Finding, Skip>;

/// Builds a finding with the given status.
pub(super) fn conclude(
    status: CheckStatus,
    expected: impl Into<String>,
    observed: impl Into<String>,
    detail: impl Into<String>,
) -> AuditCheckResult {
    Ok(Finding { status, expected: expected.into(), observed: observed.into(), detail: detail.into() })
}

/// The check cannot be made, for the given reason.
pub(super) fn skip(reason: impl Into<String>) -> AuditCheckResult {
    Err(Skip(reason.into()))
}

/// The verdict as the record stores it.
pub(super) fn named_check(name: &str, verdict: AuditCheckResult) -> AuditCheck {
    let check = name.to_owned();
    match verdict {
        Ok(Finding { status, expected, observed, detail }) => {
            AuditCheck { check, status, expected, observed, detail }
        }
        Err(Skip(detail)) => AuditCheck {
            check,
            status: CheckStatus::Skipped,
            expected: String::new(),
            observed: String::new(),
            detail,
        },
    }
}
