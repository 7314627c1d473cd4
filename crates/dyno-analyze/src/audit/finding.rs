//! What a check comes to, and the shortest ways to say it.

use dyno_record::{AuditCheck, CheckStatus};

/// A check that was made: its outcome, both figures as shown, and the sentence.
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

/// What every check returns; the error side is not a fault, it is `skipped`.
pub(super) type Verdict = Result<Finding, Skip>;

/// A finding of `status`.
pub(super) fn found(
    status: CheckStatus,
    expected: impl Into<String>,
    observed: impl Into<String>,
    detail: impl Into<String>,
) -> Verdict {
    Ok(Finding { status, expected: expected.into(), observed: observed.into(), detail: detail.into() })
}

/// The check cannot be made, because of `reason`.
pub(super) fn skip(reason: impl Into<String>) -> Verdict {
    Err(Skip(reason.into()))
}

/// The verdict as the record keeps it.
pub(super) fn named(name: &str, verdict: Verdict) -> AuditCheck {
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
