//! A server with the event classes `io`, `synch`, `lock` and stages of statements.

use super::super::scripted::{step, timed};
use super::*;

const LOG: &[(&str, &str, f64)] = &[("io", "file/innodb/innodb_log_file", 2.6), ("CPU", "CPU", 0.6)];
const STAGES: &[(&str, &str, f64)] = &[("stage", "Updating", 3.7)];

/// Time in waits for row locks, by the server's counter, ms.
fn row_locks(record: &mut RunRecord, ms: f64) {
    record.counters.native.insert("Innodb_row_lock_time".into(), ms);
}

// One line for each situation, as far as it fits.
#[rustfmt::skip]
pub(super) const ROWS: &[SituationRow] = &[
    ("CPU alone", [20.0, 56.0, 1.0], &[("stage", "Sending data", 3.8)], |_| {}, (Cpu, Sure), ""),
    ("CPU shared with neighbours", [5.0, 15.0, 57.0], STAGES, |_| {}, (Cpu, Likely), "shared with"),
    ("log file", IDLE, LOG, |_| {}, (Commits, Sure), "innodb_log_file"),
    ("log file beside neighbours", BUSY, LOG, |_| {}, (Commits, Likely), "may wait for a processor"),
    ("binary log", IDLE, &[("io", "file/sql/binlog", 1.6), ("synch", "cond/sql/MYSQL_BIN_LOG::done", 1.2)], |_| {}, (Commits, Sure), ""),
    ("stage of commits", IDLE, &[("stage", "waiting for handler commit", 3.0)], |_| {}, (Commits, Sure), ""),
    ("commits in unnamed stages beside neighbours", BUSY, &[("stage", "query end", 3.0)],
        |record| step(record, "commit", 2_000, 15_000.0), (Commits, Likely), "75.0 %"),
    ("row locks by the counter", IDLE, STAGES, |record| row_locks(record, 30_000.0), (Locks, Sure), "75.0 %"),
    ("row locks beside neighbours", BUSY, STAGES, |record| row_locks(record, 30_000.0), (Locks, Likely), "row locks"),
    ("metadata lock", IDLE, &[("stage", "Waiting for table metadata lock", 3.2)], |_| {}, (Locks, Sure), "metadata"),
    ("lock of a handler", IDLE, &[("lock", "table/sql/handler", 3.2)], |_| {}, (Locks, Sure), ""),
    ("mutex of the pool", IDLE, &[("synch", "mutex/innodb/buf_pool_mutex", 2.6), ("CPU", "CPU", 0.9)], |_| {}, (Latches, Sure), "buf_pool"),
    ("data files", IDLE, &[("io", "file/innodb/innodb_data_file", 3.4)],
        |record| timed(record, dyno_record::Counter::PhysicalReadTime, 34.0), (Device, Sure), ""),
    ("data files beside neighbours", BUSY, &[("io", "file/innodb/innodb_data_file", 3.4)],
        |record| timed(record, dyno_record::Counter::PhysicalReadTime, 34.0), (Device, Sure), ""),
    ("socket of the client", [2.0, 4.0, 0.0], &[("io", "socket/sql/client_connection", 3.4), ("CPU", "CPU", 0.3)], |_| {}, (RoundTrips, Likely), ""),
    ("stages without a clock", [2.0, 9.0, 0.0], STAGES, |_| {}, UNKNOWN, "13.8 % busy"),
    ("connections", IDLE, &[("CPU", "CPU", 0.4)], |record| step(record, "connect", 10_000, 2_200.0), (Connections, Likely), "55.0 %"),
];

#[test]
fn limits_of_schema_events_are_due() {
    assert_limits(server, ROWS);
}
