//! Updates: rows counted on both sides, values really changed, redo really written.

use dyno_plan::Redo;
use dyno_record::{CheckStatus, Counter};

use super::compare::{Tolerance, share_of};
use super::facts::{Engine, Facts, Interval};
use super::finding::{Verdict, found, skip};
use crate::number::{bytes, count, fixed};

/// Columns that an update sets.
const COLUMNS_LITE: u64 = 2;
const COLUMNS_HEAVY: u64 = 19;

/// Bytes of every new value that no compression of redo takes away: the stamp of run, session and operation in front of
/// it. Engines that log less than whole rows still log from the first changed byte to the last.
const STAMP_BYTES: u64 = 41;

/// Share of the rows that MySQL may fail to count: threads add to its counters of rows without locks, so that two at one
/// moment may count as one (`ib_counter_t` in InnoDB's ut0counter.h). With 2 sessions on 2 processors 1 of 4,888 was seen
/// missing, and none in most runs.
const FUZZY_SHARE: f64 = 0.001;

/// Whether the database may lose rows that it counts. MariaDB's own counts are those of its sessions, and exact.
fn is_fuzzy(facts: &Facts<'_>) -> bool {
    facts.engine == Engine::Mysql && facts.target().is_some_and(|target| target.identity.product != "MariaDB")
}

/// Rows updated in the window.
pub(super) fn window(facts: &Facts<'_>) -> Verdict {
    check(facts, &facts.window_interval()?)
}

/// Rows updated in the sessions' whole life.
pub(super) fn whole(facts: &Facts<'_>) -> Verdict {
    check(facts, &facts.whole_interval()?)
}

fn check(facts: &Facts<'_>, interval: &Interval<'_>) -> Verdict {
    // PostgreSQL counts updates of our tables; what others write elsewhere does not blur it.
    let native = (facts.engine == Engine::Postgres).then(|| interval.native("dyno.rows.n_tup_upd")).flatten();
    // The others count all rows that changed, in whichever way, InnoDB those of the layout itself too: a row has its spacers.
    let churned = interval.rows_inserted.saturating_add(interval.rows_deleted);
    let records = if facts.engine == Engine::Mysql { records(facts) } else { 1 };
    let (updated, database) = match native {
        Some(rows) => (interval.rows_updated, rows),
        None => (
            interval.rows_updated.saturating_add(churned.saturating_mul(records)),
            interval.counter(Counter::RowsWritten)?,
        ),
    };
    if updated == 0 && database == 0 {
        return found(CheckStatus::Pass, "0", "0", "none, and the database counted none");
    }
    let mut tolerance = Tolerance::of(interval, updated, rows_per_error(facts, interval));
    if native.is_none() && is_fuzzy(facts) {
        tolerance.fewer = tolerance.fewer.saturating_add(share_of(updated, FUZZY_SHARE));
    }
    let difference = tolerance.compare(updated, database);
    let gap = count(u64::try_from(difference.by.unsigned_abs()).unwrap_or(u64::MAX));
    if facts.replicated && difference.by > 0 && difference.status != CheckStatus::Pass {
        let detail = format!(
            "{} acknowledged, database counted {}; {gap} more: it applies what sessions on the other targets write",
            count(updated),
            count(database)
        );
        return found(CheckStatus::Pass, count(updated), count(database), detail);
    }
    let verdict = match (difference.by, difference.status) {
        (0, _) => String::new(),
        (by, CheckStatus::Pass) if by < 0 && interval.name != "window" && is_fuzzy(facts) => {
            format!("; {gap} less, as MySQL adds rows up without locks and now and then loses one")
        }
        (_, CheckStatus::Pass) => format!("; {gap} apart, {}", interval.uncertainty()),
        (by, _) if by > 0 => {
            format!("; {gap} more: others write too, so the counters are not this run's alone")
        }
        _ => format!("; {gap} are missing: acknowledged, but not counted"),
    };
    let with_others = if native.is_none() && churned > 0 { " with those inserted and deleted" } else { "" };
    let detail = format!(
        "{} acknowledged{with_others}, database counted {}{verdict}",
        count(updated),
        count(database)
    );
    found(difference.status, count(updated), count(database), detail)
}

/// Records that a row is with its spacers: two, but on pages of 64 KiB, where three spacers keep rows apart.
fn records(facts: &Facts<'_>) -> u64 {
    let block_size = facts.target().and_then(|target| target.data.as_ref()).map(|data| data.block_size);
    if block_size == Some(65_536) { 4 } else { 2 }
}

/// Most rows that one failed operation may have updated all the same.
fn rows_per_error(facts: &Facts<'_>, interval: &Interval<'_>) -> u64 {
    let work_unit = u64::from(facts.record.plan.workload.work_unit);
    facts.operations_per_error(interval).saturating_mul(work_unit)
}

/// Whether the rows hold the new values when they are read back.
pub(super) fn values(facts: &Facts<'_>) -> Verdict {
    let Some(whole) = &facts.record.whole else {
        return skip("the record does not hold the sessions' whole life");
    };
    let (rows, held) = whole.verified_rows;
    if whole.rows_updated == 0 {
        return skip("nothing was updated");
    }
    if rows == 0 {
        let detail =
            format!("{} rows were updated, but none was read back afterwards", count(whole.rows_updated));
        return found(CheckStatus::Warn, "> 0", "0", detail);
    }
    let detail = format!(
        "{} rows of the last updates read back, {} hold a value of this run",
        count(rows),
        count(held)
    );
    let status = if held == rows { CheckStatus::Pass } else { CheckStatus::Fail };
    found(status, count(rows), count(held), detail)
}

/// Whether the database wrote redo for what was updated and inserted. What it writes for a deletion differs too much.
pub(super) fn redo_grew(facts: &Facts<'_>) -> Verdict {
    let interval = facts.window_interval()?;
    let (updated, inserted) = (interval.rows_updated, interval.rows_inserted);
    let rows = updated.saturating_add(inserted);
    if rows == 0 {
        return skip("nothing was updated in the window");
    }
    let redo = interval.counter(Counter::RedoBytes)?;
    let columns = match facts.record.plan.workload.redo {
        Redo::Lite => COLUMNS_LITE,
        Redo::Heavy => COLUMNS_HEAVY,
    };
    // A row that is inserted has new values in all columns.
    let values = updated.saturating_mul(columns).saturating_add(inserted.saturating_mul(COLUMNS_HEAVY));
    let sure = (values as f64 * (1.0 - interval.blur)) as u64;
    let least = sure.saturating_mul(STAMP_BYTES);
    let what = if inserted > 0 { "updated or inserted" } else { "updated" };
    let words = format!(
        "{} of redo for {} rows {what}, {} bytes per row",
        bytes(redo),
        count(rows),
        fixed(redo as f64 / rows as f64, 0)
    );
    let (expected, observed) = (format!("≥ {}", bytes(least)), bytes(redo));
    if redo == 0 || redo < least {
        let detail = format!(
            "{words}: less than the new values themselves; the tables are not logged, or redo is not counted"
        );
        return found(CheckStatus::Fail, expected, observed, detail);
    }
    found(CheckStatus::Pass, expected, observed, words)
}
