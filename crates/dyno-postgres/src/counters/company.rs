//! What of the server's counts is the run's own, and what others did beside it.

use std::collections::BTreeMap;

use dyno_record::{Counter, Reading, Snapshot};

/// Sources whose cells are sums of blocks and rows: see `counters_company.sql`.
const OWN: &str = "dyno.own";
const SYSTEM: &str = "dyno.system";
const HERE: &str = "dyno.here";
const ELSEWHERE: &str = "dyno.elsewhere";

/// The source of what each of our server processes has written to the WAL: `wal_bytes.PID.STARTED`, `wal_records.…`.
const BACKENDS: &str = "dyno.backends";

/// Bytes of a WAL page and of its header (`XLogPageHeaderData`), which positions count and records do not.
const WAL_PAGE: f64 = 8_192.0;
const WAL_PAGE_HEADER: f64 = 24.0;

/// Each record begins at a multiple of eight bytes: half of that is lost on average.
const WAL_PADDING: f64 = 3.5;

/// Who did what, as far as it can be told; remembers what server processes did that are gone.
#[derive(Debug, Default)]
pub(super) struct Company {
    /// The sums of the snapshot at hand.
    sums: BTreeMap<String, f64>,
    /// What each server process of ours has written, as last seen.
    backends: BTreeMap<String, f64>,
}

impl Company {
    /// Takes a cell that is of company; false if it is something else.
    pub(super) fn takes(&mut self, source: &str, key: &str, value: Option<&str>) -> bool {
        let Some(number) = value.and_then(|value| value.parse().ok()) else {
            return source == BACKENDS;
        };
        match source {
            OWN | SYSTEM | HERE | ELSEWHERE => self.sums.insert(format!("{source}.{key}"), number),
            BACKENDS => self.backends.insert(key.to_owned(), number),
            _ => return false,
        };
        true
    }

    /// Fills [`Snapshot::own`] and [`Snapshot::elsewhere`], and forgets the sums.
    pub(super) fn fill(&mut self, snapshot: &mut Snapshot) {
        let sums = std::mem::take(&mut self.sums);
        let sum = |source: &str, key: &str| sums.get(&format!("{source}.{key}")).copied();
        self.blocks(snapshot, &sum);
        beside(snapshot, &sum);
        if let Some(bytes) = self.redo_bytes() {
            snapshot.own.insert(Counter::RedoBytes, bytes.round() as u64);
        }
    }

    /// Blocks of the run's own relations and of the system's.
    fn blocks(&self, snapshot: &mut Snapshot, sum: &impl Fn(&str, &str) -> Option<f64>) {
        let read = |source| Some(sum(source, "blks_fetched")? - sum(source, "blks_hit")?);
        if let (Some(own), Some(system)) = (sum(OWN, "blks_fetched"), sum(SYSTEM, "blks_fetched")) {
            snapshot.native.insert("dyno.system.blks_fetched".to_owned(), system);
            snapshot.own.insert(Counter::LogicalReads, (own + system) as u64);
        }
        let (Some(own), Some(system)) = (read(OWN), read(SYSTEM)) else { return };
        snapshot.native.insert("dyno.system.blks_read".to_owned(), system);
        let blocks = (own + system).max(0.0) as u64;
        snapshot.own.insert(Counter::PhysicalReads, blocks);
        // Bytes are a multiple of the database's blocks, and so are requests where each is a block.
        if let (Some(Reading::Value(bytes)), Some(Reading::Value(all))) = (
            snapshot.portable.get(&Counter::PhysicalReadBytes),
            snapshot.portable.get(&Counter::PhysicalReads),
        ) && let Some(size) = bytes.checked_div(*all)
        {
            snapshot.own.insert(Counter::PhysicalReadBytes, blocks * size);
        }
    }

    /// What our processes have written, as a distance between positions in the WAL.
    fn redo_bytes(&self) -> Option<f64> {
        let of = |kind: &str| {
            let cells = self.backends.iter().filter(|(key, _)| key.starts_with(kind));
            cells.map(|(_, value)| *value).reduce(|sum, value| sum + value)
        };
        let padded = of("wal_bytes.")? + of("wal_records.").unwrap_or(0.0) * WAL_PADDING;
        Some(padded * WAL_PAGE / (WAL_PAGE - WAL_PAGE_HEADER))
    }
}

/// What others did: in other databases, and to other tables of this one.
fn beside(snapshot: &mut Snapshot, sum: &impl Fn(&str, &str) -> Option<f64>) {
    // A server may have no other database.
    let elsewhere = |key| sum(ELSEWHERE, key).unwrap_or(0.0);
    let Some(commits) = sum(ELSEWHERE, "xact_commit") else { return };
    let read = elsewhere("blks_fetched") - elsewhere("blks_hit");
    let mut put = |counter, value: f64| snapshot.elsewhere.insert(counter, value.max(0.0) as u64);
    put(Counter::Commits, commits);
    put(Counter::LogicalReads, elsewhere("blks_fetched"));
    put(Counter::PhysicalReads, read);
    for (counter, key) in [(Counter::RowsRead, "tup_read"), (Counter::RowsWritten, "tup_written")] {
        if let (Some(here), Some(own), Some(system)) = (sum(HERE, key), sum(OWN, key), sum(SYSTEM, key)) {
            put(counter, elsewhere(key) + (here - own - system).max(0.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(cells: &[(&str, &str, f64)]) -> Company {
        let mut company = Company::default();
        for (source, key, value) in cells {
            assert!(company.takes(source, key, Some(&value.to_string())), "{source}.{key}");
        }
        company
    }

    #[test]
    fn what_is_neither_own_nor_the_systems_is_of_others() {
        let mut company = taken(&[
            (OWN, "blks_fetched", 100.0),
            (OWN, "blks_hit", 90.0),
            (OWN, "tup_written", 7.0),
            (SYSTEM, "blks_fetched", 20.0),
            (SYSTEM, "blks_hit", 20.0),
            (SYSTEM, "tup_written", 1.0),
            (HERE, "tup_written", 10.0),
            (ELSEWHERE, "tup_written", 30.0),
            (ELSEWHERE, "xact_commit", 4.0),
        ]);
        let mut snapshot = Snapshot::default();
        company.fill(&mut snapshot);
        assert_eq!(snapshot.own[&Counter::LogicalReads], 120);
        assert_eq!(snapshot.own[&Counter::PhysicalReads], 10);
        assert_eq!(snapshot.elsewhere[&Counter::RowsWritten], 32);
        assert_eq!(snapshot.elsewhere[&Counter::Commits], 4);
        assert!(!snapshot.own.contains_key(&Counter::RedoBytes), "nobody told");
    }

    #[test]
    fn what_a_process_wrote_stays_when_it_is_gone() {
        let mut company = taken(&[(BACKENDS, "wal_bytes.7.1", 81_680.0), (BACKENDS, "wal_records.7.1", 0.0)]);
        let mut snapshot = Snapshot::default();
        company.fill(&mut snapshot);
        assert_eq!(snapshot.own[&Counter::RedoBytes], 81_920);
        assert!(company.takes(BACKENDS, "wal_bytes.7.2", Some("8168")), "a new one with the same number");
        company.fill(&mut snapshot);
        assert_eq!(snapshot.own[&Counter::RedoBytes], 90_112);
    }

    #[test]
    fn other_sources_are_left_to_others() {
        assert!(!Company::default().takes("dyno.rows", "tables", Some("1")));
    }
}
