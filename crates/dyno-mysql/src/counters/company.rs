//! Computes this run's share of the server's counters.
//!
//! MariaDB counts rows for each connection by the same rules as for the server, so the sum over Dyno's
//! connections is the run's share. MySQL's row counters are InnoDB's, which are not kept per connection.
//! There `performance_schema` counts the rows of other tables. Reads of the test tables beyond what Dyno's
//! connections requested are background activity. Both products count commits per connection.

use dyno_record::{Counter, CounterReading, Snapshot};

use super::super::own_connections::MySqlSessionStatus;
use super::portable::MySqlCounterFacts;

/// Fills [`Snapshot::own`] with the work of `sessions` and of the `observer`.
pub(super) fn fill(
    snapshot: &mut Snapshot,
    facts: &MySqlCounterFacts,
    sessions: MySqlSessionStatus,
    observer: MySqlSessionStatus,
) {
    let all = sessions.plus(observer);
    snapshot.own.insert(Counter::Commits, all.transactions());
    if facts.mariadb {
        snapshot.own.insert(Counter::RowsRead, all.rows_read);
        // Log tables add rows for every client, and the sampler's rows are not counted separately.
        if !logs_into_tables(facts) {
            snapshot.own.insert(Counter::RowsWritten, all.rows_written);
        }
        return;
    }
    let Some(tables) = Tables::of(snapshot) else { return };
    let asked_for = sessions.rows_asked_for.saturating_sub(sessions.ranges);
    let by_others = tables.others_read + tables.own_read - asked_for as f64;
    put(snapshot, Counter::RowsRead, by_others);
    put(snapshot, Counter::RowsWritten, tables.others_written);
}

/// Whether the server writes a row into a log table for each statement.
fn logs_into_tables(facts: &MySqlCounterFacts) -> bool {
    let into_tables =
        facts.setting("log_output").split(',').any(|output| output.eq_ignore_ascii_case("TABLE"));
    into_tables && (facts.is_on("slow_query_log") || facts.is_on("general_log"))
}

/// Stores the run's share of a counter of which `by_others` is background activity. Only differences are
/// meaningful, because the tables may have been read before the run.
fn put(snapshot: &mut Snapshot, counter: Counter, by_others: f64) {
    if let Some(&CounterReading::Value(all)) = snapshot.portable.get(&counter) {
        snapshot.own.insert(counter, (BASE + all as f64 - by_others).max(0.0).round() as u64);
    }
}

/// An offset that keeps the difference of counters with different start times above zero.
const BASE: f64 = (1u64 << 50) as f64;

/// Rows that `performance_schema` counted, for the run's tables and for others.
struct Tables {
    own_read: f64,
    others_read: f64,
    others_written: f64,
}

impl Tables {
    /// `None` if rows are not counted by table. A server may have only the run's tables.
    fn of(snapshot: &Snapshot) -> Option<Self> {
        let get = |name: &str| snapshot.native.get(&format!("tables.{name}")).copied();
        Some(Self {
            own_read: get("own.rows_read")?,
            others_read: get("others.rows_read").unwrap_or(0.0),
            others_written: get("others.rows_written").unwrap_or(0.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn facts(mariadb: bool, settings: &[(&str, &str)]) -> MySqlCounterFacts {
        let mut facts = MySqlCounterFacts::new(mariadb, BTreeMap::new());
        facts.settings = settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        facts
    }

    fn asked(rows: u64) -> MySqlSessionStatus {
        MySqlSessionStatus {
            rows_asked_for: rows + 2,
            ranges: 2,
            rows_read: rows,
            rows_written: 3,
            commits: 8,
            prepares: 4,
        }
    }

    #[test]
    fn mariadb_connections_report_their_own_counters() {
        let mut snapshot = Snapshot::default();
        fill(&mut snapshot, &facts(true, &[]), asked(100), MySqlSessionStatus::default());
        let own_count = |counter| snapshot.own.get(&counter).copied();
        assert_eq!(own_count(Counter::RowsRead), Some(100));
        assert_eq!(own_count(Counter::RowsWritten), Some(3));
        assert_eq!(own_count(Counter::Commits), Some(6));
    }

    #[test]
    fn log_table_rows_make_own_written_rows_unknown() {
        let on = [("log_output", "FILE,TABLE"), ("slow_query_log", "ON")];
        let mut snapshot = Snapshot::default();
        fill(&mut snapshot, &facts(true, &on), asked(100), MySqlSessionStatus::default());
        assert!(!snapshot.own.contains_key(&Counter::RowsWritten));
        assert!(snapshot.own.contains_key(&Counter::RowsRead));
        assert!(!logs_into_tables(&facts(true, &on[..1])), "nothing is logged");
        assert!(!logs_into_tables(&facts(true, &[("log_output", "FILE"), ("general_log", "ON")])));
    }

    #[test]
    fn mysql_own_reads_exclude_other_tables_and_other_sessions() {
        let moved = |own_read: f64, others_read: f64, asked_for: u64, all: u64| {
            let mut snapshot = Snapshot::default();
            snapshot.set(Counter::RowsRead, all);
            snapshot.native.insert("tables.own.rows_read".into(), own_read);
            snapshot.native.insert("tables.others.rows_read".into(), others_read);
            fill(&mut snapshot, &facts(false, &[]), asked(asked_for), MySqlSessionStatus::default());
            snapshot.own[&Counter::RowsRead]
        };
        let begin = moved(50_000.0, 7.0, 0, 90_000);
        assert_eq!(moved(50_100.0, 7.0, 100, 90_100) - begin, 100, "all of it is the run's");
        assert_eq!(moved(50_100.0, 307.0, 100, 90_400) - begin, 100, "another table");
        assert_eq!(moved(50_400.0, 7.0, 100, 90_400) - begin, 100, "others in the test tables");
    }

    #[test]
    fn rows_read_are_not_estimated_without_table_counts() {
        let mut snapshot = Snapshot::default();
        snapshot.set(Counter::RowsRead, 5);
        fill(&mut snapshot, &facts(false, &[]), asked(5), MySqlSessionStatus::default());
        assert!(!snapshot.own.contains_key(&Counter::RowsRead));
    }
}
