//! Compares the rows that the client touched with the database's logical reads.
//!
//! One row is one block. A database that counts fewer blocks than rows touched has not done the
//! work, or has not counted it. Index, catalog and the root of every tree come on top.

use dyno_record::{CheckStatus, Counter, TableCounters};

use super::compare::share_of;
use super::facts::{AuditFacts, AuditInterval};
use super::finding::{AuditCheckResult, conclude, skip};
use crate::number::{count, fixed};

/// Share of the rows touched that logical reads must reach. The 2 % allow for a block that is still
/// pinned: two neighbors in key order that share a block.
const READ_SHARE_MIN: f64 = 0.98;

/// Heap blocks per row read above which dead row versions, or rows across several blocks, distort
/// the work unit.
const HEAP_PER_ROW_READ_MAX: f64 = 1.1;

/// Fewest blocks that `rows` must have cost.
fn lowest(interval: &AuditInterval<'_>, rows: u64) -> u64 {
    let sure = share_of(rows, READ_SHARE_MIN * (1.0 - interval.blur));
    // Rounding up must not require more than the rows themselves.
    sure.min(rows)
}

/// Why the comparison says nothing: more of the interval's work may lie beyond its ends than
/// within.
fn is_blurred(interval: &AuditInterval<'_>, rows: u64) -> Option<String> {
    (lowest(interval, rows) < rows.div_ceil(2)).then(|| {
        format!(
            "too few rows to tell: up to {} of {} may be missing",
            count(rows - lowest(interval, rows)),
            count(rows)
        )
    })
}

/// Compares rows touched with logical reads.
pub(super) fn check(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> AuditCheckResult {
    facts.on_test_data()?;
    let reads = interval.without_observer(Counter::LogicalReads)?;
    let rows = interval.rows();
    if rows == 0 {
        return skip(format!("no rows were touched in the {}", interval.name));
    }
    if let Some(why) = is_blurred(interval, rows) {
        return skip(why);
    }
    let ratio = reads as f64 / rows as f64;
    let words = format!(
        "{} rows of one block each touched, database counted {} logical reads{}, {} per row",
        count(rows),
        count(reads),
        match interval.of_observer(Counter::LogicalReads) {
            None | Some(0) => String::new(),
            Some(blocks) => format!(" and {} of Dyno's own observer", count(blocks)),
        },
        fixed(ratio, 2)
    );
    let (expected, observed) = (format!("≥ {}", count(rows)), count(reads));
    if reads < lowest(interval, rows) {
        let detail = format!("{words}: fewer than the rows, so work was not done or not counted");
        return conclude(CheckStatus::Fail, expected, observed, detail);
    }
    // The check `others` decides whether these are the run's own.
    let detail =
        if ratio > 1.005 { format!("{words} (the excess is index and catalog blocks)") } else { words };
    conclude(CheckStatus::Pass, expected, observed, detail)
}

/// Blocks of the tables themselves. Engines that count them need no allowance for index and
/// catalog.
pub(super) fn heap(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> AuditCheckResult {
    facts.on_test_data()?;
    let Some(tables) = &facts.counting.tables else {
        return skip("the engine does not count blocks per table; logical_reads compares the total");
    };
    let parts: Option<Vec<u64>> = tables.blocks.iter().map(|name| interval.native(name)).collect();
    let Some(parts) = parts else {
        return skip("the database does not report blocks per table; logical_reads compares the total");
    };
    let heap = parts.into_iter().fold(0, u64::saturating_add);
    let scanned = scanned_rows(facts, interval);
    let rows = interval.rows().saturating_sub(scanned);
    if rows == 0 {
        return skip(format!("no rows were touched by key in the {}", interval.name));
    }
    if let Some(why) = is_blurred(interval, rows) {
        return skip(why);
    }
    let ratio = heap as f64 / rows as f64;
    let words = format!(
        "{} rows touched by key, database counted {} blocks of their tables, {} per row",
        count(rows),
        count(heap),
        fixed(ratio, 2)
    );
    let (expected, observed) = (count(rows), count(heap));
    if heap < lowest(interval, rows) {
        if fetched(tables, interval).is_some_and(|fetched| fetched >= lowest(interval, rows)) {
            let detail = format!(
                "{words}, yet all rows fetched: several rows lie in one block because earlier updates moved \
                 them there; reload the data for exact work units"
            );
            return conclude(CheckStatus::Warn, expected, observed, detail);
        }
        let detail = format!("{words}: fewer than the rows, so work was not done or not counted");
        return conclude(CheckStatus::Fail, expected, observed, detail);
    }
    let read_only = interval.writes() == 0 && interval.errors == 0 && interval.blur == 0.0;
    if read_only && ratio > HEAP_PER_ROW_READ_MAX {
        let detail = format!(
            "{words}: rows have dead versions or other sessions read these tables; vacuum them or reload the \
             data for exact work units"
        );
        return conclude(CheckStatus::Warn, expected, observed, detail);
    }
    conclude(CheckStatus::Pass, expected, observed, words)
}

/// Rows of those tables that index scans found. A range scan whose next row is in the current block
/// reads no block, and still fetches the row.
fn fetched(tables: &TableCounters, interval: &AuditInterval<'_>) -> Option<u64> {
    tables.fetched.iter().filter_map(|name| interval.native(name)).reduce(u64::saturating_add)
}

/// Rows that full scans read; they are in another table.
fn scanned_rows(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> u64 {
    let per_scan = facts.target().and_then(|t| t.data.as_ref()).map_or(0, |data| data.scan_rows);
    interval.scans.saturating_mul(per_scan)
}
