//! Computes this run's share of the database's counters: everything except the work of other users' sessions.
//!
//! Oracle keeps the same statistics per session and in total (V$SESSTAT, V$SYSSTAT), so the work of others is
//! measured and not estimated. The rest is the run's, including the background work that it causes, because
//! recursive work belongs to no session. When a session ends its figures disappear; its work up to the
//! previous snapshot is remembered.

use std::collections::BTreeMap;

use dyno_record::{Counter, CounterReading, Snapshot};

use super::super::connection::TextRow;

/// Portable counters with the statistics that they are the sum of.
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

/// An offset that keeps the difference of counters with different start times above zero.
const BASE: u64 = 1 << 60;

/// The work of other sessions, including those that have ended.
#[derive(Debug, Default)]
pub(super) struct OracleForeignActivity(BTreeMap<(String, String), u64>);

impl OracleForeignActivity {
    /// Stores a row of session, name and value.
    pub(super) fn note(&mut self, row: &TextRow) {
        if let (Some(session), Some(name), Some(value)) = (row.get(0), row.get(1), row.parse(2)) {
            self.0.insert((session.to_owned(), name.to_owned()), value);
        }
    }

    /// Fills [`Snapshot::own`] with the difference between the total and the work of others.
    pub(super) fn fill(&self, snapshot: &mut Snapshot) {
        for (counter, names) in STATISTICS {
            let Some(&CounterReading::Value(all)) = snapshot.portable.get(&counter) else { continue };
            let of_counter = self.0.iter().filter(|((_, name), _)| names.contains(&name.as_str()));
            let foreign_total: u64 = of_counter.map(|(_, value)| value).sum();
            snapshot.own.insert(counter, (BASE + all).saturating_sub(foreign_total));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: [&str; 3]) -> TextRow {
        TextRow(cells.iter().map(|cell| Some((*cell).to_owned())).collect())
    }

    fn own(activity: &OracleForeignActivity, all: u64) -> u64 {
        let mut snapshot = Snapshot::default();
        snapshot.set(Counter::LogicalReads, all);
        activity.fill(&mut snapshot);
        snapshot.own[&Counter::LogicalReads]
    }

    #[test]
    fn foreign_activity_is_excluded_after_its_session_ended() {
        let mut activity = OracleForeignActivity::default();
        activity.note(&row(["7,1", "session logical reads", "500"]));
        let begin = own(&activity, 10_000);
        activity.note(&row(["7,1", "session logical reads", "700"]));
        activity.note(&row(["7,1", "redo size", "9999"]));
        assert_eq!(own(&activity, 11_000) - begin, 800);
        // The session has ended, and another one has its number.
        activity.note(&row(["7,2", "session logical reads", "100"]));
        assert_eq!(own(&activity, 12_000) - begin, 1_700);
    }

    #[test]
    fn foreign_activity_is_absent_without_session_statistics() {
        let mut snapshot = Snapshot::default();
        OracleForeignActivity::default().fill(&mut snapshot);
        assert!(snapshot.own.is_empty());
    }
}
