//! Separates this run's share of the server's counters from background activity.

use std::collections::BTreeMap;

use dyno_record::{Counter, CounterReading, Snapshot};

/// Sources whose cells are sums of blocks and rows; see `counters_company.sql`.
const OWN: &str = "dyno.own";
const SYSTEM: &str = "dyno.system";
const HERE: &str = "dyno.here";
const ELSEWHERE: &str = "dyno.elsewhere";

/// The source for the WAL that each server process of Dyno has written: `wal_bytes.PID.STARTED`,
/// `wal_records.…`.
const BACKENDS: &str = "dyno.backends";

/// Bytes of a WAL page and of its header (`XLogPageHeaderData`). WAL positions include the headers, record
/// sizes do not.
const WAL_PAGE: f64 = 8_192.0;
const WAL_PAGE_HEADER: f64 = 24.0;

/// Each record begins at a multiple of eight bytes, which costs half of that on average.
const WAL_PADDING: f64 = 3.5;

/// Attributes activity to the run or to others as far as the server shows it. It remembers the WAL of server
/// processes that have ended.
#[derive(Debug, Default)]
pub(super) struct PostgresForeignActivity {
    /// The sums of the current snapshot.
    sums: BTreeMap<String, f64>,
    /// The WAL that each server process of Dyno had written when last seen.
    backends: BTreeMap<String, f64>,
}

impl PostgresForeignActivity {
    /// Stores a cell if its source belongs to this module; otherwise returns false.
    pub(super) fn accept_cell(&mut self, source: &str, key: &str, value: Option<&str>) -> bool {
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

    /// Fills [`Snapshot::own`] and [`Snapshot::elsewhere`], and clears the sums.
    pub(super) fn fill(&mut self, snapshot: &mut Snapshot) {
        let sums = std::mem::take(&mut self.sums);
        let sum = |source: &str, key: &str| sums.get(&format!("{source}.{key}")).copied();
        self.blocks(snapshot, &sum);
        fill_elsewhere(snapshot, &sum);
        if let Some(bytes) = self.redo_bytes() {
            snapshot.own.insert(Counter::RedoBytes, bytes.round() as u64);
        }
    }

    /// Blocks of the run's own relations and of the system's relations.
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
        // Bytes are a multiple of the block size, and so are requests if each reads one block.
        if let (Some(CounterReading::Value(bytes)), Some(CounterReading::Value(all))) = (
            snapshot.portable.get(&Counter::PhysicalReadBytes),
            snapshot.portable.get(&Counter::PhysicalReads),
        ) && let Some(size) = bytes.checked_div(*all)
        {
            snapshot.own.insert(Counter::PhysicalReadBytes, blocks * size);
        }
    }

    /// The WAL that Dyno's processes have written, as a difference of WAL positions.
    fn redo_bytes(&self) -> Option<f64> {
        let sum_of = |kind: &str| {
            let cells = self.backends.iter().filter(|(key, _)| key.starts_with(kind));
            cells.map(|(_, value)| *value).reduce(|sum, value| sum + value)
        };
        let padded = sum_of("wal_bytes.")? + sum_of("wal_records.").unwrap_or(0.0) * WAL_PADDING;
        Some(padded * WAL_PAGE / (WAL_PAGE - WAL_PAGE_HEADER))
    }
}

/// Activity of others: in other databases, and on other tables of this one.
fn fill_elsewhere(snapshot: &mut Snapshot, sum: &impl Fn(&str, &str) -> Option<f64>) {
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

    fn taken(cells: &[(&str, &str, f64)]) -> PostgresForeignActivity {
        let mut company = PostgresForeignActivity::default();
        for (source, key, value) in cells {
            assert!(company.accept_cell(source, key, Some(&value.to_string())), "{source}.{key}");
        }
        company
    }

    #[test]
    fn activity_that_is_neither_own_nor_system_is_background() {
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
    fn writes_of_ended_processes_stay_counted() {
        let mut company = taken(&[(BACKENDS, "wal_bytes.7.1", 81_680.0), (BACKENDS, "wal_records.7.1", 0.0)]);
        let mut snapshot = Snapshot::default();
        company.fill(&mut snapshot);
        assert_eq!(snapshot.own[&Counter::RedoBytes], 81_920);
        assert!(
            company.accept_cell(BACKENDS, "wal_bytes.7.2", Some("8168")),
            "a new one with the same number"
        );
        company.fill(&mut snapshot);
        assert_eq!(snapshot.own[&Counter::RedoBytes], 90_112);
    }

    #[test]
    fn foreign_activity_rejects_cells_of_other_sources() {
        assert!(!PostgresForeignActivity::default().accept_cell("dyno.rows", "tables", Some("1")));
    }
}
