//! Measures the blocks that Dyno's observer and sampler read. V$SYSSTAT includes them in its totals;
//! V$SESSTAT shows them per session.

use std::collections::BTreeMap;

use dyno_record::{Counter, CounterReading, Snapshot};

use super::super::connection::TextRow;

/// Portable counters with the statistic that each one is.
const STATISTICS: [(Counter, &str); 4] = [
    (Counter::LogicalReads, "session logical reads"),
    (Counter::PhysicalReads, "physical reads"),
    (Counter::PhysicalReadRequests, "physical read IO requests"),
    (Counter::PhysicalReadBytes, "physical read bytes"),
];

/// Reads of observer and sampler by session and statistic; a session that has ended keeps its last values.
#[derive(Debug, Default)]
pub(super) struct OracleObserverReads(BTreeMap<(String, String), u64>);

impl OracleObserverReads {
    /// Stores a row of session, name and value.
    pub(super) fn note(&mut self, row: &TextRow) {
        if let (Some(session), Some(name), Some(value)) = (row.get(0), row.get(1), row.parse(2)) {
            self.0.insert((session.to_owned(), name.to_owned()), value);
        }
    }

    /// Fills [`Snapshot::observer`]; sets nothing if no session was visible.
    pub(super) fn fill(&self, snapshot: &mut Snapshot) {
        for (counter, statistic) in STATISTICS {
            let sessions = self.0.iter().filter(|((_, name), _)| name == statistic).map(|(_, value)| *value);
            let is_counted = matches!(snapshot.portable.get(&counter), Some(CounterReading::Value(_)));
            if let (true, Some(sum)) = (is_counted, sessions.reduce(u64::saturating_add)) {
                snapshot.observer.insert(counter, sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: [&str; 3]) -> TextRow {
        TextRow(cells.iter().map(|cell| Some((*cell).to_owned())).collect())
    }

    fn logical_reads(reads: &OracleObserverReads) -> Option<u64> {
        let mut snapshot = Snapshot::default();
        snapshot.set(Counter::LogicalReads, 10_000);
        reads.fill(&mut snapshot);
        assert!(!snapshot.observer.contains_key(&Counter::PhysicalReads), "it is not counted");
        snapshot.observer.get(&Counter::LogicalReads).copied()
    }

    #[test]
    fn observer_reads_sum_observer_and_sampler() {
        let mut reads = OracleObserverReads::default();
        assert_eq!(logical_reads(&reads), None, "nobody was seen");
        reads.note(&row(["7,1", "session logical reads", "500"]));
        reads.note(&row(["8,1", "session logical reads", "20"]));
        reads.note(&row(["7,1", "physical reads", "3"]));
        assert_eq!(logical_reads(&reads), Some(520));
        reads.note(&row(["7,1", "session logical reads", "700"]));
        assert_eq!(logical_reads(&reads), Some(720), "the sampler has ended and keeps its blocks");
    }
}
