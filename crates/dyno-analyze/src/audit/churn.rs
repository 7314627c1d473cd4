//! Checks inserts and deletes: rows counted on both sides, and the tables' own row count
//! afterwards.

use dyno_record::CheckStatus;
use dyno_record::window::WorkCounts;

use super::compare::Tolerance;
use super::facts::{AuditFacts, AuditInterval};
use super::finding::{AuditCheckResult, conclude, skip};
use super::rows;
use crate::number::count;

/// Compares the rows inserted and deleted with those that the database counted.
pub(super) fn check(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> AuditCheckResult {
    facts.on_test_data()?;
    if interval.inserts == 0 && interval.deletes == 0 {
        return skip("nothing was inserted or deleted");
    }
    let Some(changed) = rows::row_changes(facts, interval) else {
        let generic = "the engine does not count them separately for these tables; rows_updated compares all \
            rows written";
        return skip(facts.counting.rows.not_by_kind.as_deref().unwrap_or(generic));
    };
    let (inserted, deleted) = (changed.inserted, changed.deleted);
    let counting = &facts.counting.rows;
    let (records, logs) = (counting.records, &counting.more_inserted);
    let mut status = CheckStatus::Pass;
    let (mut words, mut too_wide) = (Vec::new(), 0);
    let of_inserted: fn(&WorkCounts) -> u64 = |part| part.rows_inserted;
    let of_deleted: fn(&WorkCounts) -> u64 = |part| part.rows_deleted;
    for (what, client, database, of) in [
        ("inserted", interval.rows_inserted, inserted, of_inserted),
        ("deleted", interval.rows_deleted, deleted, of_deleted),
    ] {
        let client = client.saturating_mul(records);
        let per_error = facts.operations_per_error(interval).saturating_mul(records);
        let unsure = |part: &WorkCounts| of(part).saturating_mul(records);
        let tolerance = rows::tolerance(facts, interval, client, per_error, unsure);
        let difference = tolerance.compare(client, database);
        too_wide += usize::from(tolerance.too_wide(client, difference).is_some());
        if what == "inserted" && difference.excess > 0 && logs.is_some() {
            words.push(format!("{} {what}, database counted no fewer", count(client)));
            continue;
        }
        status = status.max(difference.status);
        words.push(format!("{} {what}, database counted {}", count(client), count(database)));
    }
    if status == CheckStatus::Pass && too_wide > 0 {
        return skip(format!("{}: as many may differ, so these counts prove nothing", words.join("; ")));
    }
    words.extend(logs.clone());
    if records > 1 {
        words.push(format!("each row is {records} records with its spacers"));
    }
    let format_pair = |a: u64, b: u64| format!("{} + {}", count(a), count(b));
    let detail = match status {
        CheckStatus::Pass => words.join("; "),
        _ => format!("{}: these are not the same rows, or other sessions write too", words.join("; ")),
    };
    let client = |rows: u64| rows.saturating_mul(records);
    let expected = format_pair(client(interval.rows_inserted), client(interval.rows_deleted));
    conclude(status, expected, format_pair(inserted, deleted), detail)
}

/// Compares the rows that the tables hold beyond the loaded ones with those inserted and not
/// deleted.
pub(super) fn left(facts: &AuditFacts<'_>) -> AuditCheckResult {
    facts.on_test_data()?;
    let interval = facts.whole_interval()?;
    if interval.inserts == 0 && interval.deletes == 0 {
        return skip("nothing was inserted or deleted");
    }
    let Some(counted) = facts.record.whole.as_ref().and_then(|whole| whole.rows_left) else {
        return skip("the rows left in the tables were not counted");
    };
    let (inserted, deleted) = (interval.rows_inserted, interval.rows_deleted);
    let client = inserted.saturating_sub(deleted);
    let tolerance = Tolerance::of(&interval, client, facts.operations_per_error(&interval));
    let difference = tolerance.compare(client, counted);
    let words = format!(
        "{} inserted − {} deleted = {} rows, the tables held {} beyond the loaded ones",
        count(inserted),
        count(deleted),
        count(client),
        count(counted)
    );
    if tolerance.too_wide(client, difference).is_some() {
        return skip(format!("{words}: as many may differ, so these counts prove nothing"));
    }
    // Exact to the row: only these sessions know these keys.
    let status = match (difference.excess, difference.status) {
        (0, _) | (_, CheckStatus::Pass) => CheckStatus::Pass,
        // The length of failed slices is known on average only.
        _ if facts.server_drive() && interval.errors > 0 => CheckStatus::Warn,
        _ => CheckStatus::Fail,
    };
    let detail = match (status, difference.excess) {
        (CheckStatus::Pass, 0) => words,
        (CheckStatus::Pass | CheckStatus::Warn, _) => format!("{words}; {}", interval.uncertainty()),
        _ => format!("{words}: an acknowledged change is missing or was applied twice"),
    };
    conclude(status, count(client), count(counted), detail)
}
