//! Counts of the tables and indexes of the connected database.

use dyno_engine::table_counts::{CumulativeRelation, RELATIONS_MAX, TableSnapshot};
use dyno_engine::{Refusal as _, TargetError, TextRow};

use super::super::wire::PostgresError;
use super::flush_sql;

/// The names of a table's counts, in the order of the statement's columns.
const TABLE_COUNTS: [&str; 13] = [
    "rows_read",
    "rows_inserted",
    "rows_updated",
    "rows_updated_hot",
    "rows_deleted",
    "table_scans",
    "index_scans",
    "blocks_read",
    "blocks_hit",
    "vacuums",
    "autovacuums",
    "analyzes",
    "autoanalyzes",
];
const INDEX_COUNTS: [&str; 4] = ["rows_read", "index_scans", "blocks_read", "blocks_hit"];

/// The columns before the counts: identifier, name, table, size, dead rows.
const BEFORE: usize = 5;

/// The columns of the row before them: number of relations, and the mark of a reset.
const MARK_COLUMNS: usize = 2;

/// The SQL that prepares the statement `dyno_tables`, once for a connection.
pub(super) fn prepare_sql() -> String {
    // A size needs a lock on its table; `NULL` counts follow for indexes, so that both have the same columns.
    format!(
        "PREPARE dyno_tables AS SELECT /* dyno */ r.* FROM (
         SELECT s.relid, s.schemaname || '.' || s.relname, NULL::text, pg_catalog.pg_relation_size(s.relid),
             s.n_dead_tup, s.seq_tup_read + coalesce(s.idx_tup_fetch, 0), s.n_tup_ins, s.n_tup_upd,
             s.n_tup_hot_upd, s.n_tup_del, s.seq_scan, coalesce(s.idx_scan, 0), i.heap_blks_read,
             i.heap_blks_hit, s.vacuum_count, s.autovacuum_count, s.analyze_count, s.autoanalyze_count
         FROM pg_catalog.pg_stat_user_tables s JOIN pg_catalog.pg_statio_user_tables i USING (relid)
         UNION ALL
         SELECT s.indexrelid, s.schemaname || '.' || s.indexrelname, s.schemaname || '.' || s.relname,
             pg_catalog.pg_relation_size(s.indexrelid), NULL, s.idx_tup_read, s.idx_scan, i.idx_blks_read,
             i.idx_blks_hit, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
         FROM pg_catalog.pg_stat_user_indexes s JOIN pg_catalog.pg_statio_user_indexes i USING (indexrelid)
         ) r WHERE (SELECT count(*) FROM pg_catalog.pg_class WHERE relkind IN ('r', 'm', 'i')
             AND oid >= 16384) <= {RELATIONS_MAX}"
    )
}

/// Reads the counts. It waits only briefly for a lock, and adds nothing to the counts of user tables.
///
/// The mark changes with a reset, and with a restart: a crash loses the counts without a reset.
pub(super) fn read_sql(version_num: u32) -> String {
    let flush = flush_sql(version_num);
    let separator = if flush.is_empty() { "" } else { "; " };
    format!(
        "SET LOCAL lock_timeout = '200ms'; {flush}{separator}SELECT /* dyno */
             (SELECT count(*) FROM pg_catalog.pg_class WHERE relkind IN ('r', 'm', 'i') AND oid >= 16384),
             concat(stats_reset, ' ', pg_catalog.pg_postmaster_start_time())
         FROM pg_catalog.pg_stat_database WHERE datname = pg_catalog.current_database(); EXECUTE dyno_tables"
    )
}

/// The error of a reading; a lock that another session holds says so.
pub(super) fn not_read(error: TargetError) -> TargetError {
    match PostgresError::of(&error).map(|server| server.code.as_str()) {
        Some("55P03") => TargetError::unsupported("another session held a lock on a table or index"),
        _ => error,
    }
}

/// The snapshot in the rows.
pub(super) fn snapshot(rows: &[TextRow], version_num: u32) -> Result<TableSnapshot, TargetError> {
    let mark = rows.iter().find(|row| row.len() == MARK_COLUMNS);
    if mark.and_then(|row| row.parse::<usize>(0)).is_some_and(|number| number > RELATIONS_MAX) {
        return Err(TargetError::unsupported(format!(
            "the database has more than {RELATIONS_MAX} tables and indexes, and reading them would disturb the measurement"
        )));
    }
    let delay =
        if version_num < super::SHARED_STATISTICS { ", which lag by up to half a second" } else { "" };
    let mut snapshot = TableSnapshot {
        source: format!("pg_stat_user_tables and pg_stat_user_indexes{delay}"),
        size_note: "sizes are those of main files, without TOAST; reads and hits are blocks".to_owned(),
        epoch: mark.map_or_else(String::new, |row| row.text(1).to_owned()),
        ..TableSnapshot::default()
    };
    for row in rows.iter().filter(|row| row.len() == BEFORE + TABLE_COUNTS.len()) {
        let table = row.get(2).map(str::to_owned);
        let names: &[&'static str] = if table.is_some() { &INDEX_COUNTS } else { &TABLE_COUNTS };
        let count = |(at, name): (usize, &&'static str)| Some((*name, row.parse(BEFORE + at)?));
        let relation = CumulativeRelation {
            name: row.text(1).to_owned(),
            table,
            bytes: row.parse(3),
            dead_rows: row.parse(4),
            counts: names.iter().enumerate().filter_map(count).collect(),
        };
        snapshot.relations.insert(row.text(0).to_owned(), relation);
    }
    Ok(snapshot)
}
