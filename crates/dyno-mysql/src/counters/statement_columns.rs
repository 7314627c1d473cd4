//! The columns of `performance_schema` that count statements.

use dyno_engine::{TargetError, TextRow};
use dyno_record::StatementCounts;

use super::super::executed_statements::{PICO, may_not_read};
use super::super::wire::MySqlConnection;

/// Columns before the counts in each row.
const KEY_COLUMNS: usize = 3;

/// The first version of MySQL whose lock time is waits for locks. In earlier ones and in MariaDB it is the time
/// from the begin of the statement until it has locked its tables.
const LOCK_WAITS_SINCE: u32 = 80_028;

/// The columns that depend on version and consumers: a name, or NULL.
pub(super) struct MySqlStatementColumns {
    cpu: &'static str,
    lock: &'static str,
}

impl MySqlStatementColumns {
    pub(super) fn find(connection: &mut MySqlConnection) -> Result<Self, TargetError> {
        // Without this consumer the processor times are 0.
        let consumer = "SELECT ENABLED AS dyno_monitoring FROM performance_schema.setup_consumers
             WHERE NAME = 'events_statements_cpu'";
        let consumer = connection.simple(consumer).map_err(may_not_read)?;
        let counts_cpu = consumer.first().and_then(|row| row.get(0)) == Some("YES");
        let counts_lock_waits = !connection.is_mariadb() && connection.version_num() >= LOCK_WAITS_SINCE;
        Ok(Self {
            cpu: if counts_cpu { "SUM_CPU_TIME" } else { "NULL" },
            lock: if counts_lock_waits { "SUM_LOCK_TIME" } else { "NULL" },
        })
    }

    /// The columns that [`counts`] reads, after three others. What the server does not count is NULL.
    pub(super) fn sql(&self, calls: &str, time: &str) -> String {
        format!(
            "{calls}, {time}, {}, {}, SUM_ROWS_SENT, SUM_ROWS_AFFECTED, SUM_ROWS_EXAMINED,
             SUM_CREATED_TMP_DISK_TABLES, SUM_SORT_ROWS, SUM_ERRORS",
            self.cpu, self.lock
        )
    }
}

/// The counts in a row; times are in picoseconds there.
pub(super) fn counts(row: &TextRow) -> StatementCounts {
    let number = |column: usize| row.parse::<u64>(KEY_COLUMNS + column);
    let seconds = |column: usize| number(column).map(|picoseconds| picoseconds as f64 / PICO);
    StatementCounts {
        calls: number(0).unwrap_or(0),
        time_s: seconds(1).unwrap_or(0.0),
        cpu_s: seconds(2),
        lock_s: seconds(3),
        rows: number(4).zip(number(5)).map(|(sent, affected)| sent.wrapping_add(affected)),
        rows_examined: number(6),
        temp_tables_on_disk: number(7),
        rows_sorted: number(8),
        errors: number(9),
        ..StatementCounts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picoseconds_become_seconds_and_uncounted_figures_are_absent() {
        let cells = ["d", "bench", "t", "4", "2500000000000", "", "", "3", "2", "70", "1", "9", "1"];
        let row = TextRow(cells.iter().map(|cell| (!cell.is_empty()).then(|| (*cell).to_owned())).collect());
        let counts = counts(&row);
        assert_eq!((counts.calls, counts.time_s, counts.cpu_s, counts.lock_s), (4, 2.5, None, None));
        assert_eq!((counts.rows, counts.rows_examined), (Some(5), Some(70)));
        assert_eq!(
            (counts.temp_tables_on_disk, counts.rows_sorted, counts.errors),
            (Some(1), Some(9), Some(1))
        );
    }
}
