//! Finds which connections hold the locks that sessions wait for.
//!
//! MySQL 8 and later show row locks in `performance_schema.data_lock_waits` and locks on table definitions in
//! `metadata_locks`. MySQL 5.7 and MariaDB show them in tables of `information_schema`, which need the
//! privilege `PROCESS`.

use std::collections::{BTreeMap, BTreeSet};

use super::wire::{MySqlConnection, MySqlError};
use dyno_engine::lock_waits::{BlockedSession, OpenTransaction, SessionIdentity};
use dyno_engine::{Refusal as _, TargetError, TextRow};

/// Columns of each result: the waiting connection; the blocking connection with its user, host and program;
/// the table; and the command of the blocking connection.
const ROW_LOCKS_MYSQL: &str =
    "SELECT r.PROCESSLIST_ID AS dyno_monitoring, b.PROCESSLIST_ID, b.PROCESSLIST_USER, b.PROCESSLIST_HOST, a.ATTR_VALUE,
         CONCAT_WS('.', l.OBJECT_SCHEMA, l.OBJECT_NAME), b.PROCESSLIST_COMMAND
     FROM performance_schema.data_lock_waits w
     JOIN performance_schema.threads r ON r.THREAD_ID = w.REQUESTING_THREAD_ID
     JOIN performance_schema.threads b ON b.THREAD_ID = w.BLOCKING_THREAD_ID
     LEFT JOIN performance_schema.data_locks l ON l.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID
     LEFT JOIN performance_schema.session_connect_attrs a
         ON a.PROCESSLIST_ID = b.PROCESSLIST_ID AND a.ATTR_NAME = 'program_name'";
const METADATA_LOCKS_MYSQL: &str = "SELECT r.PROCESSLIST_ID AS dyno_monitoring, b.PROCESSLIST_ID, b.PROCESSLIST_USER, b.PROCESSLIST_HOST, a.ATTR_VALUE,
         CONCAT_WS('.', w.OBJECT_SCHEMA, w.OBJECT_NAME), b.PROCESSLIST_COMMAND
     FROM performance_schema.metadata_locks w
     JOIN performance_schema.metadata_locks h ON h.OBJECT_TYPE = w.OBJECT_TYPE AND h.OBJECT_SCHEMA <=> w.OBJECT_SCHEMA
         AND h.OBJECT_NAME <=> w.OBJECT_NAME AND h.LOCK_STATUS = 'GRANTED' AND h.OWNER_THREAD_ID <> w.OWNER_THREAD_ID
     JOIN performance_schema.threads r ON r.THREAD_ID = w.OWNER_THREAD_ID
     JOIN performance_schema.threads b ON b.THREAD_ID = h.OWNER_THREAD_ID
     LEFT JOIN performance_schema.session_connect_attrs a
         ON a.PROCESSLIST_ID = b.PROCESSLIST_ID AND a.ATTR_NAME = 'program_name'
     WHERE w.LOCK_STATUS = 'PENDING' AND w.OBJECT_TYPE = 'TABLE'";
const ROW_LOCKS_OTHERS: &str =
    "SELECT r.trx_mysql_thread_id AS dyno_monitoring, b.trx_mysql_thread_id, p.USER, p.HOST, NULL, l.lock_table, p.COMMAND
     FROM information_schema.INNODB_LOCK_WAITS w
     JOIN information_schema.INNODB_TRX r ON r.trx_id = w.requesting_trx_id
     JOIN information_schema.INNODB_TRX b ON b.trx_id = w.blocking_trx_id
     LEFT JOIN information_schema.INNODB_LOCKS l ON l.lock_id = w.requested_lock_id
     LEFT JOIN information_schema.PROCESSLIST p ON p.ID = b.trx_mysql_thread_id";

/// The first version of MySQL with `data_lock_waits`.
const DATA_LOCKS: u32 = 80_001;

/// Describes the connections that block those for which `is_ours` is true. Empty if nothing blocks them or
/// this user may not see it.
pub(super) fn blockers(
    connection: &mut MySqlConnection,
    is_ours: impl Fn(u32) -> bool,
) -> Result<Vec<String>, TargetError> {
    let mut rows = Vec::new();
    for sql in queries(connection) {
        match connection.simple(sql) {
            Ok(more) => rows.extend(more),
            Err(error) if MySqlError::of(&error).is_some() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(describe_blockers(&rows, is_ours))
}

fn queries(connection: &MySqlConnection) -> &'static [&'static str] {
    if has_data_locks(connection) { &[ROW_LOCKS_MYSQL, METADATA_LOCKS_MYSQL] } else { &[ROW_LOCKS_OTHERS] }
}

fn has_data_locks(connection: &MySqlConnection) -> bool {
    !connection.is_mariadb() && connection.version_num() >= DATA_LOCKS
}

/// All connections that wait for locks of others.
///
/// # Errors
/// The connection is lost, or this user may not see the locks.
pub(super) fn blocked(connection: &mut MySqlConnection) -> Result<Vec<BlockedSession>, TargetError> {
    let mut all = Vec::new();
    for sql in queries(connection) {
        for row in connection.simple(sql)? {
            let blocker = SessionIdentity {
                id: row.text(1).to_owned(),
                name: session_name(row.text(4), row.text(2), row.text(3)),
                state: row.text(6).to_owned(),
            };
            let (waiter, object) = (row.text(0).to_owned(), row.text(5).replace('`', ""));
            all.push(BlockedSession { waiter, blocker, object });
        }
    }
    Ok(all)
}

/// `nightly etl@db2`, as far as the parts are known.
fn session_name(program: &str, user: &str, host: &str) -> String {
    let at = if host.is_empty() { String::new() } else { format!("@{host}") };
    format!("{program} {user}{at}").trim().to_owned()
}

/// Open transactions. Columns: connection, user, host, command, and age in seconds. MySQL would count the rows of
/// `information_schema.PROCESSLIST` as rows written.
const TRANSACTIONS_MYSQL: &str =
    "SELECT t.trx_mysql_thread_id AS dyno_monitoring, p.PROCESSLIST_USER, p.PROCESSLIST_HOST,
         p.PROCESSLIST_COMMAND, TIMESTAMPDIFF(SECOND, t.trx_started, NOW())
     FROM information_schema.INNODB_TRX t
     LEFT JOIN performance_schema.threads p ON p.PROCESSLIST_ID = t.trx_mysql_thread_id
     WHERE t.trx_mysql_thread_id <> 0";
const TRANSACTIONS_OTHERS: &str =
    "SELECT t.trx_mysql_thread_id AS dyno_monitoring, p.USER, p.HOST, p.COMMAND,
         TIMESTAMPDIFF(SECOND, t.trx_started, NOW())
     FROM information_schema.INNODB_TRX t
     LEFT JOIN information_schema.PROCESSLIST p ON p.ID = t.trx_mysql_thread_id
     WHERE t.trx_mysql_thread_id <> 0";

/// The most transactions that one reading lists.
const TRANSACTIONS_MAX: usize = 5;

/// The oldest transactions of InnoDB.
///
/// # Errors
/// The connection is lost, or this user may not see them.
pub(super) fn open_transactions(
    connection: &mut MySqlConnection,
) -> Result<Vec<OpenTransaction>, TargetError> {
    let transaction = |row: &TextRow| {
        let session = SessionIdentity {
            id: row.text(0).to_owned(),
            name: session_name("", row.text(1), row.text(2)),
            state: row.text(3).to_owned(),
        };
        Some(OpenTransaction { session, age_s: row.parse(4)? })
    };
    let sql = if has_data_locks(connection) { TRANSACTIONS_MYSQL } else { TRANSACTIONS_OTHERS };
    let mut all: Vec<OpenTransaction> = connection.simple(sql)?.iter().filter_map(transaction).collect();
    all.sort_by(|a, b| b.age_s.total_cmp(&a.age_s));
    all.truncate(TRANSACTIONS_MAX);
    Ok(all)
}

/// The connections that block without waiting themselves; if every blocker waits, all of them.
fn describe_blockers(rows: &[TextRow], is_ours: impl Fn(u32) -> bool) -> Vec<String> {
    let waiting: BTreeSet<u32> = rows.iter().filter_map(|row| row.parse(0)).collect();
    let mut blocking: BTreeMap<u32, String> = BTreeMap::new();
    // A connection that blocks one of ours may itself wait for another one, which then blocks ours too.
    let mut reached: BTreeSet<u32> = waiting.iter().copied().filter(|&id| is_ours(id)).collect();
    loop {
        let before = reached.len();
        for row in rows {
            let (Some(waiter), Some(blocker)) = (row.parse(0), row.parse::<u32>(1)) else { continue };
            if reached.contains(&waiter) {
                reached.insert(blocker);
                blocking.entry(blocker).or_insert_with(|| describe_blocker(blocker, row));
            }
        }
        if reached.len() == before {
            break;
        }
    }
    let at_root: Vec<String> =
        blocking.iter().filter(|(id, _)| !waiting.contains(id)).map(|(_, words)| words.clone()).collect();
    if at_root.is_empty() { blocking.into_values().collect() } else { at_root }
}

/// Example: `process 42 nightly etl@db2, with a lock on bench.accounts`.
fn describe_blocker(id: u32, row: &TextRow) -> String {
    let part = |index: usize| row.get(index).filter(|text| !text.is_empty());
    let mut words = format!("process {id}");
    if let Some(program) = part(4) {
        words.push_str(&format!(" {program}"));
    }
    if let Some(user) = part(2) {
        words.push_str(&format!(" {user}"));
    }
    if let Some(host) = part(3) {
        words.push_str(&format!("@{host}"));
    }
    if let Some(table) = part(5) {
        words.push_str(&format!(", with a lock on {}", table.replace('`', "")));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn final_blocker_of_a_wait_chain_is_named() {
        let row = |waiter: &str, blocker: &str, user: &str| {
            let texts = [Some(waiter), Some(blocker), Some(user), Some("db2"), None, Some("`bench`.`t`")];
            TextRow(texts.map(|text| text.map(str::to_owned)).to_vec())
        };
        let is_ours = |id| id < 10;
        // 1 and 2 wait for 3, 3 for 20, and 20 for 30. Connection 40 waits for 50, but 40 is not ours.
        let rows = [row("1", "3", "me"), row("2", "3", "me"), row("3", "20", "etl"), row("20", "30", "root")];
        let all: Vec<TextRow> = rows.iter().cloned().chain([row("40", "50", "x")]).collect();
        assert_eq!(describe_blockers(&all, is_ours), ["process 30 root@db2, with a lock on bench.t"]);
        assert_eq!(describe_blockers(&all[..3], is_ours), ["process 20 etl@db2, with a lock on bench.t"]);
        // Two connections that wait for each other are both named.
        let circle = [row("1", "2", "me"), row("2", "1", "me")];
        assert_eq!(describe_blockers(&circle, is_ours).len(), 2);
        assert!(describe_blockers(&all, |_| false).is_empty());
    }
}
