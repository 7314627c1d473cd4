//! Rows that the database counted as changed, apart by kind, as far as its own counters tell.

use dyno_record::window::Counted;

use super::compare::{Tolerance, share_of};
use super::facts::{Facts, Interval};

/// Rows by what was done to them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Changed {
    pub(super) updated: u64,
    pub(super) inserted: u64,
    pub(super) deleted: u64,
}

/// Rows that the database counted; nothing where it does not count them apart.
pub(super) fn changed(facts: &Facts<'_>, interval: &Interval<'_>) -> Option<Changed> {
    let names = facts.counting.rows.by_kind.as_ref()?;
    Some(Changed {
        updated: interval.native(&names.updated)?,
        inserted: interval.native(&names.inserted)?,
        deleted: interval.native(&names.deleted)?,
    })
}

/// What the interval's uncertainty and the database's own allow for counts of `rows`. `of` tells how many of them a part of
/// the work counts: in a short window a single update under way is a greater share of the rows updated than of all work.
pub(super) fn tolerance(
    facts: &Facts<'_>,
    interval: &Interval<'_>,
    rows: u64,
    per_error: u64,
    of: impl Fn(&Counted) -> u64,
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
