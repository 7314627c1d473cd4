//! Bounds what a database reads of its own catalog by what observation and background work explain.
//!
//! Dyno's observer and sampler read the catalog, and so do planning and autovacuum. The database
//! counts this separately from the tables, so no estimate is needed. Other sessions may read the
//! catalog too, so reads beyond the bound count as background activity.

use dyno_record::{Counter, Waits};

use super::facts::{AuditFacts, AuditInterval};
use crate::number::count;

/// Catalog blocks that one snapshot reads: 80 to 110 were seen on PostgreSQL 15 to 18 with two
/// tables. The second constant is for each table more, whose name and indexes are looked up.
const SNAPSHOT_BLOCKS: f64 = 250.0;
const SNAPSHOT_BLOCKS_PER_TABLE: f64 = 20.0;

/// Blocks that one sample reads: one to flush its statistics, and some when other sessions appear
/// or end.
const SAMPLE_BLOCKS: f64 = 4.0;

/// Blocks that one round of autovacuum in one table reads, and each session after it, whose cached
/// metadata is stale: about 1,000 were seen for one table and eight sessions.
const VACUUM_BLOCKS: f64 = 1_500.0;
const STALE_BLOCKS: f64 = 60.0;

/// Blocks that autovacuum reads to see whether there is work, once a minute.
const LOOK_BLOCKS: f64 = 1_000.0;

/// Blocks that a session reads each time it flushes its statistics. With many sessions and little
/// work, that exceeds all else.
const EDGE_BLOCKS: f64 = 1.0;

/// Counters of vacuum and analyze runs in the test tables.
const ROUNDS: [&str; 8] = [
    "dyno.rows.autovacuum_count",
    "dyno.rows.autoanalyze_count",
    "dyno.rows.vacuum_count",
    "dyno.rows.analyze_count",
    "dyno.scan.autovacuum_count",
    "dyno.scan.autoanalyze_count",
    "dyno.scan.vacuum_count",
    "dyno.scan.analyze_count",
];

/// Counters that include the observer's own reads.
const READS: [Counter; 2] = [Counter::LogicalReads, Counter::PhysicalReads];

/// The most that the observer may have added to a counter of reads; absent where the database
/// reports its part.
///
/// It is what was read of the catalog, where the database counts that. Otherwise it is estimated
/// from the logical reads per snapshot. The blocks are in the cache after the first snapshot, so
/// there is no such estimate for physical reads.
pub(super) fn observer_max(
    facts: &AuditFacts<'_>,
    interval: &AuditInterval<'_>,
    counter: Counter,
) -> Option<u64> {
    let is_unknown = READS.contains(&counter) && interval.of_observer(counter).is_none();
    let all = interval.counter(counter).ok().filter(|_| is_unknown)?;
    let snapshots = || snapshots(facts, interval) * SNAPSHOT_BLOCKS;
    let estimated = || (counter == Counter::LogicalReads).then(|| snapshots() as u64);
    Some(blocks(interval, counter).or_else(estimated)?.min(all))
}

/// Snapshots of the interval: one at each end, and one more that may fall at either.
fn snapshots(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> f64 {
    let every_s = facts.record.plan.observe.interval.0.as_secs_f64();
    let inside = if every_s > 0.0 { interval.seconds.max(0.0) / every_s } else { 0.0 };
    inside + 3.0
}

/// Blocks of system relations that were read, from the cache or from storage.
fn blocks(interval: &AuditInterval<'_>, counter: Counter) -> Option<u64> {
    interval.native(match counter {
        Counter::LogicalReads => "dyno.system.blks_fetched",
        Counter::PhysicalReads => "dyno.system.blks_read",
        _ => return None,
    })
}

/// Blocks that observation and background work explain.
fn bound(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> u64 {
    let plan = &facts.record.plan;
    let seconds = interval.seconds.max(0.0);
    let snapshots = snapshots(facts, interval);
    let samples = match &facts.record.waits {
        Waits::Sampled { samples, .. } => *samples as f64,
        Waits::Absent { .. } => 0.0,
    };
    let tables = f64::from(plan.data.schemas) * 2.0;
    let sessions = f64::from(facts.sessions());
    let rounds: u64 = ROUNDS.iter().filter_map(|name| interval.native(name)).sum();
    let looks = LOOK_BLOCKS * (1.0 + seconds / 60.0);
    let edges = interval.native("dyno.own_commits").unwrap_or(0) as f64;
    let blocks = snapshots * (SNAPSHOT_BLOCKS + tables * SNAPSHOT_BLOCKS_PER_TABLE)
        + samples * SAMPLE_BLOCKS
        + rounds as f64 * (VACUUM_BLOCKS + sessions * STALE_BLOCKS)
        + looks
        + edges * EDGE_BLOCKS;
    blocks as u64
}

/// Blocks of system relations that neither observation nor background work explains.
pub(super) fn unexplained(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>, counter: Counter) -> u64 {
    let Some(blocks) = blocks(interval, counter) else { return 0 };
    blocks.saturating_sub(bound(facts, interval))
}

/// Words for the explained blocks; empty where there are none.
pub(super) fn words(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> String {
    match blocks(interval, Counter::LogicalReads) {
        None | Some(0) => String::new(),
        Some(blocks) => {
            let explained_blocks = blocks.min(bound(facts, interval));
            format!(
                "; {} logical reads were of the catalog, by observing and background work",
                count(explained_blocks)
            )
        }
    }
}
