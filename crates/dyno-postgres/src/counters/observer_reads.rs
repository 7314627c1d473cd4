//! Blocks that the observer itself reads, which the database counts among those of everybody.
//!
//! Until a transaction ends the server keeps the blocks that it read with the connection (`pg_stat_get_xact_blocks_fetched`).
//! So the last branch of each snapshot tells what the snapshot itself has read. The server books that when the snapshot ends,
//! and the next one finds it in the database's counters. Samplers and the edges of sessions read only relations that all
//! databases share, which are in no database's counters.

use dyno_record::{Counter, Reading, Snapshot};

use super::super::wire::Row;
use super::SHARED_STATISTICS;
use super::source::Source;

/// The source, and its columns.
pub(super) const OBSERVER: &str = "dyno.observer";
const FETCHED: &str = "blks_fetched";
const HIT: &str = "blks_hit";

/// The array is complete before the first block is counted: finding the relations reads blocks, too.
const SQL: &str = "SELECT 'dyno.observer', e.key, e.value::text
     FROM (SELECT sum(pg_stat_get_xact_blocks_fetched(o)) AS fetched, sum(pg_stat_get_xact_blocks_hit(o)) AS hit
           FROM unnest(ARRAY(SELECT c.oid FROM pg_class c
                             WHERE c.oid < 16384 AND c.relkind IN ('r', 'i', 't') AND NOT c.relisshared)) o) s,
         LATERAL (VALUES ('blks_fetched', s.fetched), ('blks_hit', s.hit)) e (key, value)";

/// What a snapshot asks for its own reads; `None` before version 15, which books statistics at a time of its own.
pub(super) fn source(version_num: u32) -> Option<Source> {
    (version_num >= SHARED_STATISTICS).then(|| Source { name: OBSERVER, sql: SQL.to_owned() })
}

/// Blocks got from the cache or from outside it, and those from outside it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Blocks {
    fetched: u64,
    read: u64,
}

impl Blocks {
    /// Those that the answer tells; `None` where it does not.
    fn of(rows: &[Row]) -> Option<Self> {
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
pub(super) struct PgObserverReads {
    /// Those that the database's counters hold.
    booked: Blocks,
    /// Those of the last snapshot, which the next one finds booked.
    pending: Option<Blocks>,
}

impl PgObserverReads {
    /// Those of an observer that has taken no snapshot yet.
    pub(super) fn new() -> Self {
        Self { booked: Blocks::default(), pending: Some(Blocks::default()) }
    }

    /// A snapshot has ended with these rows.
    pub(super) fn note(&mut self, rows: &[Row]) {
        let Some(pending) = self.pending else { return };
        self.booked.add(pending);
        self.pending = Blocks::of(rows);
    }

    /// The observer has read what no snapshot tells of.
    pub(super) fn lose(&mut self) {
        self.pending = None;
    }

    /// Fills [`Snapshot::observer`], where the server tells.
    pub(super) fn fill(&self, snapshot: &mut Snapshot, block_size: Option<u64>) {
        if self.pending.is_none() {
            return;
        }
        let Blocks { fetched, read } = self.booked;
        let bytes = block_size.map(|size| (Counter::PhysicalReadBytes, read * size));
        let blocks = [(Counter::LogicalReads, fetched), (Counter::PhysicalReads, read)];
        for (counter, value) in blocks.into_iter().chain(bytes) {
            if matches!(snapshot.portable.get(&counter), Some(Reading::Value(_))) {
                snapshot.observer.insert(counter, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(fetched: &str, hit: &str) -> Vec<Row> {
        let row = |key: &str, value: &str| {
            Row([OBSERVER, key, value].iter().map(|cell| Some((*cell).to_owned())).collect())
        };
        vec![row(FETCHED, fetched), row(HIT, hit)]
    }

    fn filled(reads: &PgObserverReads) -> Option<(u64, u64, u64)> {
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
    fn own_reads_of_a_snapshot_count_from_the_next_one_on() {
        let mut reads = PgObserverReads::new();
        reads.note(&rows("180", "178"));
        assert_eq!(filled(&reads), Some((0, 0, 0)), "its own are not booked yet");
        reads.note(&rows("150", "150"));
        assert_eq!(filled(&reads), Some((180, 2, 16_384)));
        reads.note(&rows("150", "150"));
        assert_eq!(filled(&reads), Some((330, 2, 16_384)));
    }

    #[test]
    fn own_reads_that_no_snapshot_tells_stay_unknown() {
        let mut silent = PgObserverReads::new();
        silent.note(&[]);
        silent.note(&rows("150", "150"));
        assert_eq!(filled(&silent), None, "one snapshot told nothing");
        let mut lost = PgObserverReads::new();
        lost.note(&rows("150", "150"));
        lost.lose();
        lost.note(&rows("150", "150"));
        assert_eq!(filled(&lost), None);
    }

    #[test]
    fn versions_that_book_late_are_not_asked_for_own_reads() {
        assert!(source(140_000).is_none() && source(150_000).is_some());
    }
}
