//! The sources of counters: queries for (name, value), each of which may fail independently.

use super::super::layout::literal;

/// One source of counters. If the server lacks it or this user may not read it, the other sources remain
/// usable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MySqlCounterSource {
    /// Prefix of its native names.
    pub(super) name: &'static str,
    /// The query, with the columns name and value.
    pub(super) sql: &'static str,
}

/// Status variables of the whole server.
pub(super) const STATUS: MySqlCounterSource =
    MySqlCounterSource { name: "status", sql: "SHOW GLOBAL STATUS WHERE (SELECT 1 AS dyno_monitoring)" };

/// Every setting: it determines what counters mean, and must not change during a run.
pub(super) const SETTINGS: MySqlCounterSource =
    MySqlCounterSource { name: "setting", sql: "SHOW GLOBAL VARIABLES WHERE (SELECT 1 AS dyno_monitoring)" };

/// Prefixes of settings that change on their own or belong to one connection.
pub(super) const RESTLESS: [&str; 8] =
    ["error_count", "gtid_", "identity", "insert_id", "last_insert_id", "pseudo_", "rand_seed", "timestamp"];

/// Status variables that are states and not counters; a change of one changes the platform, as a change of a
/// setting does.
pub(super) const STATES: [&str; 5] = [
    REDO_ENABLED,
    "Rpl_semi_sync_master_status",
    "Rpl_semi_sync_source_status",
    "wsrep_cluster_status",
    "wsrep_ready",
];

/// Whether InnoDB writes redo; off after `ALTER INSTANCE DISABLE INNODB REDO_LOG`.
pub(super) const REDO_ENABLED: &str = "Innodb_redo_log_enabled";

/// Variables that each session has its own value of.
pub(super) const SESSION_VARIABLES: &str = "SELECT VARIABLE_NAME AS dyno_monitoring FROM performance_schema.variables_by_thread
     WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID())";

/// The query for the time when a variable was last set, without `session_variables`. For those the server
/// also records changes that a session makes for itself. MariaDB does not record the time.
pub(super) fn variables_set(session_variables: &[String]) -> String {
    let names: Vec<String> =
        session_variables.iter().map(|name| literal(name)).chain([literal("")]).collect();
    let names = names.join(", ");
    format!(
        "SELECT MAX(SET_TIME) AS dyno_monitoring FROM performance_schema.variables_info WHERE VARIABLE_NAME NOT IN ({names})"
    )
}

/// Rows that storage engines read and wrote: in the run's own tables, and in all other tables except the
/// server's own.
pub(super) const TABLES: MySqlCounterSource = MySqlCounterSource {
    name: "tables",
    sql: "SELECT CONCAT(IF(OBJECT_SCHEMA = DATABASE() AND OBJECT_NAME LIKE 'dyno\\_%', 'own.', 'others.'), part) AS dyno_monitoring,
              SUM(IF(part = 'rows_read', COUNT_FETCH, COUNT_INSERT + COUNT_UPDATE + COUNT_DELETE))
          FROM performance_schema.table_io_waits_summary_by_table,
              (SELECT 'rows_read' AS part UNION ALL SELECT 'rows_written') parts
          WHERE OBJECT_SCHEMA NOT IN ('mysql', 'performance_schema', 'information_schema', 'sys')
              AND (SELECT ENABLED FROM performance_schema.setup_instruments
                   WHERE NAME = 'wait/io/table/sql/handler') = 'YES'
          GROUP BY 1",
};

/// File I/O by type of file: counts, bytes and picoseconds.
pub(super) const FILES: MySqlCounterSource = MySqlCounterSource {
    name: "file",
    sql: "SELECT CONCAT(SUBSTRING_INDEX(EVENT_NAME, '/', -1), '.', part) AS dyno_monitoring, CASE part
              WHEN 'count_read' THEN COUNT_READ WHEN 'count_write' THEN COUNT_WRITE WHEN 'count_misc' THEN COUNT_MISC
              WHEN 'bytes_read' THEN SUM_NUMBER_OF_BYTES_READ WHEN 'bytes_write' THEN SUM_NUMBER_OF_BYTES_WRITE
              WHEN 'ps_read' THEN SUM_TIMER_READ WHEN 'ps_write' THEN SUM_TIMER_WRITE ELSE SUM_TIMER_MISC END
          FROM performance_schema.file_summary_by_event_name, (SELECT 'count_read' AS part UNION ALL SELECT 'count_write'
              UNION ALL SELECT 'count_misc' UNION ALL SELECT 'bytes_read' UNION ALL SELECT 'bytes_write'
              UNION ALL SELECT 'ps_read' UNION ALL SELECT 'ps_write' UNION ALL SELECT 'ps_misc') parts
          WHERE EVENT_NAME IN ('wait/io/file/innodb/innodb_data_file', 'wait/io/file/innodb/innodb_log_file',
              'wait/io/file/innodb/innodb_dblwr_file', 'wait/io/file/sql/binlog')",
};

/// Statements of all classes: count and time.
pub(super) const STATEMENTS: MySqlCounterSource = MySqlCounterSource {
    name: "statements",
    sql: "SELECT 'count' AS dyno_monitoring, SUM(COUNT_STAR) FROM performance_schema.events_statements_summary_global_by_event_name
          UNION ALL SELECT 'ps', SUM(SUM_TIMER_WAIT)
          FROM performance_schema.events_statements_summary_global_by_event_name",
};

/// Waits of sessions on locks and latches, by class: counts and picoseconds.
pub(super) const WAITS: MySqlCounterSource = MySqlCounterSource {
    name: "wait",
    sql:
        "SELECT CONCAT(REPLACE(SUBSTRING(EVENT_NAME, 6), '/', '.'), '.ps') AS dyno_monitoring, SUM_TIMER_WAIT
          FROM performance_schema.events_waits_summary_global_by_event_name
          WHERE COUNT_STAR > 0 AND EVENT_NAME NOT LIKE 'wait/io/file/%' AND EVENT_NAME <> 'idle'",
};

/// All sources. Those that are checked against the work of the sessions come first.
pub(super) const ALL: [MySqlCounterSource; 6] = [STATUS, TABLES, SETTINGS, FILES, STATEMENTS, WAITS];

/// Sources that are empty if `performance_schema` is off.
pub(super) const OF_PERFORMANCE_SCHEMA: [MySqlCounterSource; 4] = [TABLES, FILES, STATEMENTS, WAITS];
