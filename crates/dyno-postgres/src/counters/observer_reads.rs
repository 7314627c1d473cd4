//! Measures the blocks that the observer itself reads, which the database counts together with all others.
//!
//! Until a transaction ends, the server counts the blocks that it read per connection
//! (`pg_stat_get_xact_blocks_fetched`). The last branch of each snapshot returns what that snapshot has read.
//! The server adds it to the database's counters when the snapshot ends, so the next snapshot contains it.
//! Samplers and window boundaries of sessions read only shared relations, which no database's counters
//! include.

use dyno_record::{Counter, CounterReading, Snapshot};

use super::super::wire::TextRow;
use super::SHARED_STATISTICS;
use super::source::PostgresCounterSource;

/// The source, and its columns.
pub(super) const OBSERVER: &str = "dyno.observer";
const FETCHED: &str = "blks_fetched";
const HIT: &str = "blks_hit";

/// The array is complete before the first block is counted, because finding the relations also reads blocks.
const SQL: &str = "SELECT 'dyno.observer', e.key, e.value::text
     FROM (SELECT sum(pg_stat_get_xact_blocks_fetched(o)) AS fetched, sum(pg_stat_get_xact_blocks_hit(o)) AS hit
           FROM unnest(ARRAY(SELECT c.oid FROM pg_class c
                             WHERE c.oid < 16384 AND c.relkind IN ('r', 'i', 't') AND NOT c.relisshared)) o) s,
         LATERAL (VALUES ('blks_fetched', s.fetched), ('blks_hit', s.hit)) e (key, value)";

/// The source that returns a snapshot's own reads; `None` before version 15, which reports statistics at its
/// own time.
pub(super) fn source(version_num: u32) -> Option<PostgresCounterSource> {
    (version_num >= SHARED_STATISTICS).then(|| PostgresCounterSource { name: OBSERVER, sql: SQL.to_owned() })
}

/// Blocks fetched from the cache or from outside it, and those from outside it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Blocks {
    fetched: u64,
    read: u64,
}

impl Blocks {
    /// The blocks in the result; `None` if it contains none.
    fn of(rows: &[TextRow]) -> Option<Self> {
        let cell = |key: &str| {
            let row = rows.iter().find(|row| (row.get(0), row.get(1)) == (Some(OBSERVER), Some(key)))?;
            row.parse::<u64>(2)
        };
        let (fetched, hit) = (cell(FETCHED)?, cell(HIT)?);
        Some(Self { fetched, read: fetched.saturating_sub(hit) })
    }

    fn add(&mut self, other: Self) {
        self.fetched += other.fetched;
        self.read += other.read;
    }
}

/// Blocks that snapshots have read since the observer was opened.
#[derive(Debug)]
pub(super) struct PostgresObserverReads {
    /// Blocks that the database's counters include.
    booked: Blocks,
    /// Blocks of the last snapshot, which the next snapshot will find in the counters.
    pending: Option<Blocks>,
}

impl PostgresObserverReads {
    /// The state of an observer that has taken no snapshot yet.
    pub(super) fn new() -> Self {
        Self { booked: Blocks::default(), pending: Some(Blocks::default()) }
    }

    /// Records that a snapshot has ended with these rows.
    pub(super) fn note(&mut self, rows: &[TextRow]) {
        let Some(pending) = self.pending else { return };
        self.booked.add(pending);
        self.pending = Blocks::of(rows);
    }

    /// Records that the observer has read blocks that no snapshot reports.
    pub(super) fn mark_lost(&mut self) {
        self.pending = None;
    }

    /// Fills [`Snapshot::observer`] if the server reports the reads.
    pub(super) fn fill(&self, snapshot: &mut Snapshot, block_size: Option<u64>) {
        if self.pending.is_none() {
            return;
        }
        let Blocks { fetched, read } = self.booked;
        let bytes = block_size.map(|size| (Counter::PhysicalReadBytes, read * size));
        let blocks = [(Counter::LogicalReads, fetched), (Counter::PhysicalReads, read)];
        for (counter, value) in blocks.into_iter().chain(bytes) {
            if matches!(snapshot.portable.get(&counter), Some(CounterReading::Value(_))) {
                snapshot.observer.insert(counter, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(fetched: &str, hit: &str) -> Vec<TextRow> {
        let row = |key: &str, value: &str| {
            TextRow([OBSERVER, key, value].iter().map(|cell| Some((*cell).to_owned())).collect())
        };
        vec![row(FETCHED, fetched), row(HIT, hit)]
    }

    fn filled(reads: &PostgresObserverReads) -> Option<(u64, u64, u64)> {
        let mut snapshot = Snapshot::default();
        for counter in [Counter::LogicalReads, Counter::PhysicalReads, Counter::PhysicalReadBytes] {
            snapshot.set(counter, 10_000);
        }
        reads.fill(&mut snapshot, Some(8_192));
        let value = |counter| snapshot.observer.get(&counter).copied();
        Some((
            value(Counter::LogicalReads)?,
            value(Counter::PhysicalReads)?,
            value(Counter::PhysicalReadBytes)?,
        ))
    }

    #[test]
    fn observer_reads_of_snapshot_count_from_next_snapshot() {
        let mut reads = PostgresObserverReads::new();
        reads.note(&rows("180", "178"));
        assert_eq!(filled(&reads), Some((0, 0, 0)), "its own are not booked yet");
        reads.note(&rows("150", "150"));
        assert_eq!(filled(&reads), Some((180, 2, 16_384)));
        reads.note(&rows("150", "150"));
        assert_eq!(filled(&reads), Some((330, 2, 16_384)));
    }

    #[test]
    fn observer_reads_missing_from_snapshot_stay_unknown() {
        let mut silent = PostgresObserverReads::new();
        silent.note(&[]);
        silent.note(&rows("150", "150"));
        assert_eq!(filled(&silent), None, "one snapshot told nothing");
        let mut lost = PostgresObserverReads::new();
        lost.note(&rows("150", "150"));
        lost.mark_lost();
        lost.note(&rows("150", "150"));
        assert_eq!(filled(&lost), None);
    }

    #[test]
    fn observer_reads_are_not_queried_on_versions_that_record_late() {
        assert!(source(140_000).is_none());
        assert!(source(150_000).is_some());
    }
}
