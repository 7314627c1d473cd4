//! How much of the database's counters is the run's own: all but what other users' sessions did.
//!
//! Oracle counts for each session as for the whole (V$SESSTAT, V$SYSSTAT), so what others did is told and not guessed. What
//! is left is the run's with the background work that it causes: the recursive work of the database belongs to no
//! session of anybody. A session that ends takes its figures with it; what it did up to the snapshot before is remembered.

use std::collections::BTreeMap;

use dyno_record::{Counter, Reading, Snapshot};

use super::super::connection::Row;

/// Portable counters by the statistics that they are made of.
const STATISTICS: [(Counter, &[&str]); 8] = [
    (Counter::LogicalReads, &["session logical reads"]),
    (Counter::PhysicalReads, &["physical reads"]),
    (Counter::PhysicalReadRequests, &["physical read IO requests"]),
    (Counter::PhysicalReadBytes, &["physical read bytes"]),
    (Counter::RedoBytes, &["redo size"]),
    (Counter::Commits, &["user commits"]),
    (Counter::Executions, &["execute count"]),
    (Counter::RowsRead, &["table fetch by rowid", "table scan rows gotten"]),
];

/// What keeps a difference of counters that began at different times from going below zero.
const BASE: u64 = 1 << 60;

/// What sessions of others have done, those included that have ended.
#[derive(Debug, Default)]
pub(super) struct Others(BTreeMap<(String, String), u64>);

impl Others {
    /// Takes session, name and value.
    pub(super) fn note(&mut self, row: &Row) {
        if let (Some(session), Some(name), Some(value)) = (row.get(0), row.get(1), row.parse(2)) {
            self.0.insert((session.to_owned(), name.to_owned()), value);
        }
    }

    /// Fills [`Snapshot::own`] with what others did not do.
    pub(super) fn fill(&self, snapshot: &mut Snapshot) {
        for (counter, names) in STATISTICS {
            let Some(&Reading::Value(all)) = snapshot.portable.get(&counter) else { continue };
            let of_counter = self.0.iter().filter(|((_, name), _)| names.contains(&name.as_str()));
            let others: u64 = of_counter.map(|(_, value)| value).sum();
            snapshot.own.insert(counter, (BASE + all).saturating_sub(others));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: [&str; 3]) -> Row {
        Row(cells.iter().map(|cell| Some((*cell).to_owned())).collect())
    }

    fn own(others: &Others, all: u64) -> u64 {
        let mut snapshot = Snapshot::default();
        snapshot.set(Counter::LogicalReads, all);
        others.fill(&mut snapshot);
        snapshot.own[&Counter::LogicalReads]
    }

    #[test]
    fn what_others_did_is_not_the_runs_even_when_they_have_gone() {
        let mut others = Others::default();
        others.note(&row(["7,1", "session logical reads", "500"]));
        let begin = own(&others, 10_000);
        others.note(&row(["7,1", "session logical reads", "700"]));
        others.note(&row(["7,1", "redo size", "9999"]));
        assert_eq!(own(&others, 11_000) - begin, 800);
        // The session has gone, and another has its number.
        others.note(&row(["7,2", "session logical reads", "100"]));
        assert_eq!(own(&others, 12_000) - begin, 1_700);
    }

    #[test]
    fn what_the_database_does_not_tell_is_nobodys() {
        let mut snapshot = Snapshot::default();
        Others::default().fill(&mut snapshot);
        assert!(snapshot.own.is_empty());
    }
}
