//! Rows that the database counted as changed, by kind, as far as its counters separate them.

use dyno_record::window::WorkCounts;

use super::compare::{Tolerance, share_of};
use super::facts::{AuditFacts, AuditInterval};

/// Rows by what was done to them.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowChanges {
    pub(super) updated: u64,
    pub(super) inserted: u64,
    pub(super) deleted: u64,
}

/// Rows that the database counted; `None` where it does not count them separately.
pub(super) fn row_changes(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> Option<RowChanges> {
    let names = facts.counting.rows.by_kind.as_ref()?;
    Some(RowChanges {
        updated: interval.native(&names.updated)?,
        inserted: interval.native(&names.inserted)?,
        deleted: interval.native(&names.deleted)?,
    })
}

/// The tolerance for counts of `rows`, from the interval's uncertainty and the database's own. `of`
/// counts these rows in a part of the work. In a short window, one update in progress is a larger
/// share of the updated rows than of all work.
pub(super) fn tolerance(
    facts: &AuditFacts<'_>,
    interval: &AuditInterval<'_>,
    rows: u64,
    per_error: u64,
    of: impl Fn(&WorkCounts) -> u64,
) -> Tolerance {
    let mut tolerance = Tolerance::of(interval, rows, per_error);
    if let Some((begin, end)) = &interval.unsure {
        let failed = interval.errors.saturating_mul(per_error);
        let either = failed.saturating_add(of(begin).max(of(end)));
        (tolerance.fewer, tolerance.more) = (tolerance.fewer.max(either), tolerance.more.max(either));
    }
    let missed = share_of(rows, facts.counting.rows.missed_share);
    tolerance.fewer = tolerance.fewer.saturating_add(missed);
    tolerance
}
