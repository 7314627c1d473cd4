//! What a database reads of its own catalog: bounded by what observing it and its background work explain.
//!
//! Dyno's observer and sampler look things up in the catalog, and so do planning and autovacuum. That is counted apart
//! from the tables, so it need not be guessed; but somebody else may read the catalog, too, so it is not waved through:
//! what exceeds the bound counts as the work of others.

use dyno_record::{Counter, Waits};

use super::facts::{Facts, Interval};
use crate::number::count;

/// Blocks of the catalog that one snapshot reads: 80 to 110 were seen on PostgreSQL 15 to 18 with two tables; and for each
/// table more, whose name and indexes are looked up.
const SNAPSHOT_BLOCKS: f64 = 250.0;
const SNAPSHOT_BLOCKS_PER_TABLE: f64 = 20.0;

/// Blocks that one sample reads: one to book its statistics, some when others came and went.
const SAMPLE_BLOCKS: f64 = 4.0;

/// Blocks that one round of autovacuum in one table reads, and each session after it, whose picture of the table is stale:
/// about 1,000 were seen for one table and eight sessions.
const VACUUM_BLOCKS: f64 = 1_500.0;
const STALE_BLOCKS: f64 = 60.0;

/// Blocks that autovacuum reads to see whether there is something to do: it comes once a minute.
const LOOK_BLOCKS: f64 = 1_000.0;

/// Blocks that a session reads each time it makes its statistics visible: of many sessions with little to do that is more than all else.
const EDGE_BLOCKS: f64 = 1.0;

/// What autovacuum did in the test tables.
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

/// Counters of which the observer's own reads are a part.
const READS: [Counter; 2] = [Counter::LogicalReads, Counter::PhysicalReads];

/// The most that the observer may have caused of a counter of reads; absent where the database reports its part.
///
/// That is what was read of the catalog, where the database counts it. Else it is the logical reads of as many snapshots. Their
/// blocks are in the cache after the first, so there is no such estimate of physical reads.
pub(super) fn observer_max(facts: &Facts<'_>, interval: &Interval<'_>, counter: Counter) -> Option<u64> {
    let is_unknown = READS.contains(&counter) && interval.of_observer(counter).is_none();
    let all = interval.counter(counter).ok().filter(|_| is_unknown)?;
    let snapshots = || snapshots(facts, interval) * SNAPSHOT_BLOCKS;
    let estimated = || (counter == Counter::LogicalReads).then(|| snapshots() as u64);
    Some(blocks(interval, counter).or_else(estimated)?.min(all))
}

/// Snapshots of the interval: one at each end, and one more that may lie at either.
fn snapshots(facts: &Facts<'_>, interval: &Interval<'_>) -> f64 {
    let every_s = facts.record.plan.observe.interval.0.as_secs_f64();
    let inside = if every_s > 0.0 { interval.seconds.max(0.0) / every_s } else { 0.0 };
    inside + 3.0
}

/// Blocks of the system's relations that were read, of the cache or from storage.
fn blocks(interval: &Interval<'_>, counter: Counter) -> Option<u64> {
    interval.native(match counter {
        Counter::LogicalReads => "dyno.system.blks_fetched",
        Counter::PhysicalReads => "dyno.system.blks_read",
        _ => return None,
    })
}

/// Blocks that looking and background work explain.
fn bound(facts: &Facts<'_>, interval: &Interval<'_>) -> u64 {
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

/// Blocks of the system's relations that nothing of ours explains.
pub(super) fn unexplained(facts: &Facts<'_>, interval: &Interval<'_>, counter: Counter) -> u64 {
    let Some(blocks) = blocks(interval, counter) else { return 0 };
    blocks.saturating_sub(bound(facts, interval))
}

/// What is to be said of them: nothing where there are none.
pub(super) fn words(facts: &Facts<'_>, interval: &Interval<'_>) -> String {
    match blocks(interval, Counter::LogicalReads) {
        None | Some(0) => String::new(),
        Some(blocks) => {
            let own = blocks.min(bound(facts, interval));
            format!("; {} logical reads were of the catalog, by observing and background work", count(own))
        }
    }
}
