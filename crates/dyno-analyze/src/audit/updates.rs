//! Checks updates: rows counted on both sides, values really changed, redo really written.

use dyno_plan::Redo;
use dyno_record::window::WorkCounts;
use dyno_record::{CheckStatus, Counter, RowEffect, Window};

use super::facts::{AuditFacts, AuditInterval};
use super::finding::{AuditCheckResult, conclude, skip};
use super::rows;
use crate::number::{bytes, count, fixed};

/// Columns that an update sets, by the plan's redo setting.
const COLUMNS_LITE: u64 = 2;
const COLUMNS_HEAVY: u64 = 19;

/// Bytes of every new value that redo compression cannot remove: the stamp of run, session and
/// operation in front of it. Engines that log less than whole rows still log from the first changed
/// byte to the last.
const STAMP_BYTES: u64 = 41;

/// Share of the work that must lie between the two readings of the redo before its size is judged.
const SURE_SHARE_MIN: f64 = 0.5;

/// Compares the rows updated with those that the database counted.
pub(super) fn check(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> AuditCheckResult {
    facts.on_test_data()?;
    // Rows counted by kind are compared by kind: a log that is a table inserts rows, and updates
    // none. The other counters include all changed rows of any kind, and those of the layout
    // itself.
    let native = rows::row_changes(facts, interval);
    let churned = interval.rows_inserted.saturating_add(interval.rows_deleted);
    let (updated, database) = match native {
        Some(rows) => (interval.rows_updated, rows.updated),
        None => (
            interval.rows_updated.saturating_add(churned.saturating_mul(facts.counting.rows.records)),
            interval.counter(Counter::RowsWritten)?,
        ),
    };
    if updated == 0 && database == 0 {
        return conclude(CheckStatus::Pass, "0", "0", "none, and the database counted none");
    }
    let records = facts.counting.rows.records;
    let unsure = |part: &WorkCounts| match native {
        Some(_) => part.rows_updated,
        None => part.rows_updated + (part.rows_inserted + part.rows_deleted).saturating_mul(records),
    };
    let tolerance = rows::tolerance(facts, interval, updated, rows_per_error(facts, interval), unsure);
    let difference = tolerance.compare(updated, database);
    let gap = count(u64::try_from(difference.excess.unsigned_abs()).unwrap_or(u64::MAX));
    if facts.replicated && difference.excess > 0 && difference.status != CheckStatus::Pass {
        let detail = format!(
            "{} acknowledged, database counted {}; {gap} more: it also applies writes of sessions on the \
             other targets",
            count(updated),
            count(database)
        );
        return conclude(CheckStatus::Pass, count(updated), count(database), detail);
    }
    if let Some(free) = tolerance.too_wide(updated, difference) {
        return skip(format!(
            "{} acknowledged, database counted {}: up to {} may differ, so these counts prove nothing",
            count(updated),
            count(database),
            count(free)
        ));
    }
    let missed = facts.counting.rows.missed_because.as_deref().filter(|_| interval.name != "window");
    let verdict = match (difference.excess, difference.status) {
        (0, _) => String::new(),
        (by, CheckStatus::Pass) if by < 0 && missed.is_some() => {
            format!("; {gap} less, {}", missed.unwrap_or_default())
        }
        (_, CheckStatus::Pass) => format!("; {gap} apart, {}", interval.uncertainty()),
        (by, _) if by > 0 => {
            format!("; {gap} more: other sessions write too, so the counters include their work")
        }
        _ => format!("; {gap} are missing: acknowledged, but not counted"),
    };
    let with_others = if native.is_none() && churned > 0 { " with those inserted and deleted" } else { "" };
    let detail = format!(
        "{} acknowledged{with_others}, database counted {}{verdict}",
        count(updated),
        count(database)
    );
    conclude(difference.status, count(updated), count(database), detail)
}

/// Most rows that one failed operation may have updated nevertheless.
fn rows_per_error(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> u64 {
    let rows = facts.rows_per_operation(|class| class.rows == RowEffect::Updated);
    facts.operations_per_error(interval).saturating_mul(rows)
}

/// Whether the rows hold the new values when they are read back.
pub(super) fn values(facts: &AuditFacts<'_>) -> AuditCheckResult {
    facts.on_test_data()?;
    let Some(whole) = &facts.record.whole else {
        return skip("the record does not cover the whole life of the sessions");
    };
    let (rows, held) = whole.verified_rows;
    if whole.rows_updated == 0 {
        return skip("nothing was updated");
    }
    if rows == 0 {
        let detail =
            format!("{} rows were updated, but none was read back afterwards", count(whole.rows_updated));
        return conclude(CheckStatus::Warn, "> 0", "0", detail);
    }
    let detail = format!(
        "{} rows of the last updates read back, {} hold a value of this run",
        count(rows),
        count(held)
    );
    let status = if held == rows { CheckStatus::Pass } else { CheckStatus::Fail };
    conclude(status, count(rows), count(held), detail)
}

/// Share of the window's work whose redo may precede the first reading. Sessions pass the begin one
/// by one. What each counts from then on is written before all have passed and the server is read.
fn redo_before(window: &Window) -> f64 {
    let after_s = (window.edge_us_max.0.max(0.0) + window.snapshot_us.0.max(0.0)) / 1e6;
    (after_s / window.seconds).clamp(0.0, 1.0)
}

/// Whether the database wrote redo for updates and inserts. The redo of a delete varies too much.
pub(super) fn redo_grew(facts: &AuditFacts<'_>) -> AuditCheckResult {
    facts.on_test_data()?;
    let window = facts.compared_window()?;
    if window.rows_updated.saturating_add(window.rows_inserted) == 0 {
        return skip("nothing was updated in the window");
    }
    // If most of the window is over when the server is read, the window says nothing. The whole run
    // has no sessions at its ends.
    let sure_share = 1.0 - window.blur.max(redo_before(facts.window()?));
    let (interval, sure_share, of) = match sure_share >= SURE_SHARE_MIN {
        true => (window, sure_share, ""),
        false => {
            let whole = facts.whole_interval()?;
            let sure_share = 1.0 - whole.blur;
            (whole, sure_share, " in the whole run")
        }
    };
    if sure_share < SURE_SHARE_MIN {
        return skip("most of the redo may have been written before or after it was read");
    }
    let (updated, inserted) = (interval.rows_updated, interval.rows_inserted);
    let redo = interval.counter(Counter::RedoBytes)?;
    let columns = match facts.record.plan.workload.redo {
        Redo::Lite => COLUMNS_LITE,
        Redo::Heavy => COLUMNS_HEAVY,
    };
    // An inserted row has new values in all columns.
    let values = updated.saturating_mul(columns).saturating_add(inserted.saturating_mul(COLUMNS_HEAVY));
    let least = ((values as f64 * sure_share) as u64).saturating_mul(STAMP_BYTES);
    let rows = updated.saturating_add(inserted);
    let verb = if inserted > 0 { "updated or inserted" } else { "updated" };
    let words = format!(
        "{} of redo for {} rows {verb}{of}, {} bytes per row",
        bytes(redo),
        count(rows),
        fixed(redo as f64 / rows.max(1) as f64, 0)
    );
    let (expected, observed) = (format!("≥ {}", bytes(least)), bytes(redo));
    if redo == 0 || redo < least {
        let detail = format!(
            "{words}: less than the new values themselves; the tables are not logged, or redo is not counted"
        );
        return conclude(CheckStatus::Fail, expected, observed, detail);
    }
    conclude(CheckStatus::Pass, expected, observed, words)
}
