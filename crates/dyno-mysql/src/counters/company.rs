//! How much of the server's counters is the run's own.
//!
//! MariaDB counts rows for each connection by the very rules by which it counts them for the server, so the sum over Dyno's
//! connections is the run's own. MySQL's counters of rows are InnoDB's, which knows no connections. There the rows of other
//! tables are told by `performance_schema`, and what others read of the test tables is what these gave beyond what
//! Dyno's own connections asked for. Both count commits for each connection.

use dyno_record::{Counter, Reading, Snapshot};

use super::super::own::Share;
use super::portable::Facts;

/// Fills [`Snapshot::own`] with what `sessions` did and what the `observer` did to look.
pub(super) fn fill(snapshot: &mut Snapshot, facts: &Facts, sessions: Share, observer: Share) {
    let all = sessions.and(observer);
    snapshot.own.insert(Counter::Commits, all.transactions());
    if facts.mariadb {
        snapshot.own.insert(Counter::RowsRead, all.rows_read);
        // What is logged into a table is a row that somebody wrote, and nobody is asked how many the sampler's were.
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

/// Whether the server writes a row into a table of its own for each statement.
fn logs_into_tables(facts: &Facts) -> bool {
    let into_tables =
        facts.setting("log_output").split(',').any(|output| output.eq_ignore_ascii_case("TABLE"));
    into_tables && (facts.is_on("slow_query_log") || facts.is_on("general_log"))
}

/// The share of a counter of which others have `by_others`. Only its movement means anything: the run's tables have been read
/// before by who knows whom.
fn put(snapshot: &mut Snapshot, counter: Counter, by_others: f64) {
    if let Some(&Reading::Value(all)) = snapshot.portable.get(&counter) {
        snapshot.own.insert(counter, (BASE + all as f64 - by_others).max(0.0).round() as u64);
    }
}

/// What keeps a difference of counters that began at different times from going below zero.
const BASE: f64 = (1u64 << 50) as f64;

/// Rows that `performance_schema` counted for tables.
struct Tables {
    own_read: f64,
    others_read: f64,
    others_written: f64,
}

impl Tables {
    /// Nothing where tables are not counted. A server may have no other tables than the run's.
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

    fn facts(mariadb: bool, settings: &[(&str, &str)]) -> Facts {
        let mut facts = Facts::new(mariadb, BTreeMap::new());
        facts.settings = settings.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        facts
    }

    fn asked(rows: u64) -> Share {
        Share {
            rows_asked_for: rows + 2,
            ranges: 2,
            rows_read: rows,
            rows_written: 3,
            commits: 8,
            prepares: 4,
        }
    }

    #[test]
    fn on_mariadb_the_connections_tell_it_themselves() {
        let mut snapshot = Snapshot::default();
        fill(&mut snapshot, &facts(true, &[]), asked(100), Share::default());
        let own = |counter| snapshot.own.get(&counter).copied();
        assert_eq!(own(Counter::RowsRead), Some(100));
        assert_eq!(own(Counter::RowsWritten), Some(3));
        assert_eq!(own(Counter::Commits), Some(6));
    }

    #[test]
    fn rows_of_a_log_that_is_a_table_are_nobodys() {
        let on = [("log_output", "FILE,TABLE"), ("slow_query_log", "ON")];
        let mut snapshot = Snapshot::default();
        fill(&mut snapshot, &facts(true, &on), asked(100), Share::default());
        assert!(!snapshot.own.contains_key(&Counter::RowsWritten));
        assert!(snapshot.own.contains_key(&Counter::RowsRead));
        assert!(!logs_into_tables(&facts(true, &on[..1])), "nothing is logged");
        assert!(!logs_into_tables(&facts(true, &[("log_output", "FILE"), ("general_log", "ON")])));
    }

    #[test]
    fn on_mysql_others_are_those_of_other_tables_and_of_these() {
        let moved = |own_read: f64, others_read: f64, asked_for: u64, all: u64| {
            let mut snapshot = Snapshot::default();
            snapshot.set(Counter::RowsRead, all);
            snapshot.native.insert("tables.own.rows_read".into(), own_read);
            snapshot.native.insert("tables.others.rows_read".into(), others_read);
            fill(&mut snapshot, &facts(false, &[]), asked(asked_for), Share::default());
            snapshot.own[&Counter::RowsRead]
        };
        let begin = moved(50_000.0, 7.0, 0, 90_000);
        assert_eq!(moved(50_100.0, 7.0, 100, 90_100) - begin, 100, "all of it is the run's");
        assert_eq!(moved(50_100.0, 307.0, 100, 90_400) - begin, 100, "another table");
        assert_eq!(moved(50_400.0, 7.0, 100, 90_400) - begin, 100, "others in the test tables");
    }

    #[test]
    fn without_counts_of_tables_nothing_is_made_up() {
        let mut snapshot = Snapshot::default();
        snapshot.set(Counter::RowsRead, 5);
        fill(&mut snapshot, &facts(false, &[]), asked(5), Share::default());
        assert!(!snapshot.own.contains_key(&Counter::RowsRead));
    }
}
