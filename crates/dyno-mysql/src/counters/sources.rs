//! Where counters come from, each a query of (name, value) that may fail alone.

use super::super::layout::literal;

/// One source of counters. A source that this server lacks or this user may not read leaves the others alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Source {
    /// What its native names begin with.
    pub(super) name: &'static str,
    /// The query; columns name and value.
    pub(super) sql: &'static str,
}

/// Status variables of the whole server.
pub(super) const STATUS: Source = Source { name: "status", sql: "SHOW GLOBAL STATUS" };

/// Every setting: what counters mean, and what must not change under a run.
pub(super) const SETTINGS: Source = Source { name: "setting", sql: "SHOW GLOBAL VARIABLES" };

/// Beginnings of the names of settings that move by themselves, or that are one connection's own.
pub(super) const RESTLESS: [&str; 8] =
    ["error_count", "gtid_", "identity", "insert_id", "last_insert_id", "pseudo_", "rand_seed", "timestamp"];

/// Status variables that are states and no counters: what changes of them changes the platform as a setting does.
pub(super) const STATES: [&str; 5] = [
    REDO_ENABLED,
    "Rpl_semi_sync_master_status",
    "Rpl_semi_sync_source_status",
    "wsrep_cluster_status",
    "wsrep_ready",
];

/// Whether InnoDB writes redo: `ALTER INSTANCE DISABLE INNODB REDO_LOG`.
pub(super) const REDO_ENABLED: &str = "Innodb_redo_log_enabled";

/// Variables that sessions have of their own.
pub(super) const SESSION_VARIABLES: &str = "SELECT VARIABLE_NAME FROM performance_schema.variables_by_thread
     WHERE THREAD_ID = (SELECT THREAD_ID FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID())";

/// When a variable was last set, but for `session_variables`: of these the server also keeps when any session set its own. MariaDB
/// does not tell.
pub(super) fn variables_set(session_variables: &[String]) -> String {
    let names: Vec<String> =
        session_variables.iter().map(|name| literal(name)).chain([literal("")]).collect();
    let names = names.join(", ");
    format!(
        "SELECT MAX(SET_TIME) FROM performance_schema.variables_info WHERE VARIABLE_NAME NOT IN ({names})"
    )
}

/// Rows of tables read and written, as storage engines gave and took them: of the run's own tables, and of all others but the
/// server's own.
pub(super) const TABLES: Source = Source {
    name: "tables",
    sql: "SELECT CONCAT(IF(OBJECT_SCHEMA = DATABASE() AND OBJECT_NAME LIKE 'dyno\\_%', 'own.', 'others.'), part),
              SUM(IF(part = 'rows_read', COUNT_FETCH, COUNT_INSERT + COUNT_UPDATE + COUNT_DELETE))
          FROM performance_schema.table_io_waits_summary_by_table,
              (SELECT 'rows_read' AS part UNION ALL SELECT 'rows_written') parts
          WHERE OBJECT_SCHEMA NOT IN ('mysql', 'performance_schema', 'information_schema', 'sys')
              AND (SELECT ENABLED FROM performance_schema.setup_instruments
                   WHERE NAME = 'wait/io/table/sql/handler') = 'YES'
          GROUP BY 1",
};

/// File I/O by kind of file: counts, bytes and picoseconds.
pub(super) const FILES: Source = Source {
    name: "file",
    sql: "SELECT CONCAT(SUBSTRING_INDEX(EVENT_NAME, '/', -1), '.', part), CASE part
              WHEN 'count_read' THEN COUNT_READ WHEN 'count_write' THEN COUNT_WRITE WHEN 'count_misc' THEN COUNT_MISC
              WHEN 'bytes_read' THEN SUM_NUMBER_OF_BYTES_READ WHEN 'bytes_write' THEN SUM_NUMBER_OF_BYTES_WRITE
              WHEN 'ps_read' THEN SUM_TIMER_READ WHEN 'ps_write' THEN SUM_TIMER_WRITE ELSE SUM_TIMER_MISC END
          FROM performance_schema.file_summary_by_event_name, (SELECT 'count_read' AS part UNION ALL SELECT 'count_write'
              UNION ALL SELECT 'count_misc' UNION ALL SELECT 'bytes_read' UNION ALL SELECT 'bytes_write'
              UNION ALL SELECT 'ps_read' UNION ALL SELECT 'ps_write' UNION ALL SELECT 'ps_misc') parts
          WHERE EVENT_NAME IN ('wait/io/file/innodb/innodb_data_file', 'wait/io/file/innodb/innodb_log_file',
              'wait/io/file/innodb/innodb_dblwr_file', 'wait/io/file/sql/binlog')",
};

/// Statements: how many and how long, over all classes.
pub(super) const STATEMENTS: Source = Source {
    name: "statements",
    sql: "SELECT 'count', SUM(COUNT_STAR) FROM performance_schema.events_statements_summary_global_by_event_name
          UNION ALL SELECT 'ps', SUM(SUM_TIMER_WAIT)
          FROM performance_schema.events_statements_summary_global_by_event_name",
};

/// Waits of sessions on locks and latches, by class: counts and picoseconds.
pub(super) const WAITS: Source = Source {
    name: "wait",
    sql: "SELECT CONCAT(REPLACE(SUBSTRING(EVENT_NAME, 6), '/', '.'), '.ps'), SUM_TIMER_WAIT
          FROM performance_schema.events_waits_summary_global_by_event_name
          WHERE COUNT_STAR > 0 AND EVENT_NAME NOT LIKE 'wait/io/file/%' AND EVENT_NAME <> 'idle'",
};

/// All of them: those first that are held against what sessions did.
pub(super) const ALL: [Source; 6] = [STATUS, TABLES, SETTINGS, FILES, STATEMENTS, WAITS];

/// What is empty where `performance_schema` is off.
pub(super) const OF_PERFORMANCE_SCHEMA: [Source; 4] = [TABLES, FILES, STATEMENTS, WAITS];
