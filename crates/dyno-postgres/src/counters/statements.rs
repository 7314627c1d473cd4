//! Counts of all statements of the server, from `pg_stat_statements`.
//!
//! Statements inside functions are left out: the statement that calls the function includes them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use dyno_engine::statement_counts::STATEMENTS_MAX;
use dyno_engine::{
    CumulativeStatement, Refusal as _, StatementDescription, StatementSnapshot, TargetError, TextRow,
};
use dyno_record::{CountedStatements, StatementCounts};

use super::super::executed_statements::{self, HIDDEN, MAKE_IT};
use super::super::layout::{ident, literal};
use super::super::wire::{PostgresConnection, PostgresError};
use super::flush_sql;

/// What texts of Dyno's observing statements contain. Servers keep comments and names, but not values.
const MONITORING: &str = r"/\* dyno \*/|PREPARE dyno_|dyno_lock";

/// Columns of the rows of [`counts_sql`], and of the row before them with the state of the statistics.
const COUNT_COLUMNS: usize = 12;
const STATE_COLUMNS: usize = 3;

/// Reads the counts on the observer's connection, with statements that are prepared there.
pub(super) struct PostgresStatementReader {
    counts: String,
}

impl PostgresStatementReader {
    /// Prepares the statements, and adds their transactions to `commits`.
    ///
    /// # Errors
    /// The server keeps no such counts, or this user may not read them, with a hint; else the connection is lost.
    pub(super) fn open(connection: &mut PostgresConnection, commits: &mut u64) -> Result<Self, TargetError> {
        let mut ask = |sql: &str| {
            let rows = connection.simple(sql)?;
            *commits += 1;
            Ok::<_, TargetError>(rows)
        };
        let columns_sql = "SELECT n.nspname, a.attname FROM pg_extension e
             JOIN pg_namespace n ON n.oid = e.extnamespace
             JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = 'pg_stat_statements'
             JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
             WHERE e.extname = 'pg_stat_statements'";
        let columns = ask(columns_sql)?;
        let Some(first) = columns.first() else { return Err(executed_statements::not_installed()) };
        let schema = ident(first.text(0));
        let columns: Vec<&str> = columns.iter().map(|row| row.text(1)).collect();
        let prepared = format!(
            "PREPARE dyno_statements_state AS {}; PREPARE dyno_statements AS {}; PREPARE dyno_texts (text[]) AS {}",
            state_sql(&schema, &columns),
            counts_sql(&schema, &columns),
            texts_sql(&schema, &columns),
        );
        // The first executions look up names in the catalog, and those blocks would count in the window.
        let warm_up = "EXECUTE dyno_statements_state; EXECUTE dyno_statements; EXECUTE dyno_texts ('{}')";
        ask(&prepared).and_then(|_| ask(warm_up)).map_err(explain)?;
        let version_num = connection.server_version_num();
        let flush = flush_sql(version_num);
        let separator = if flush.is_empty() { "" } else { "; " };
        let counts = format!("{flush}{separator}EXECUTE dyno_statements_state; EXECUTE dyno_statements");
        Ok(Self { counts })
    }

    /// The counts of all statements.
    pub(super) fn read(&self, connection: &mut PostgresConnection) -> Result<StatementSnapshot, TargetError> {
        snapshot(&connection.simple(&self.counts).map_err(explain)?)
    }

    /// Texts, databases and users of the statements `keys`, and Dyno's observing statements.
    pub(super) fn describe(
        &self,
        connection: &mut PostgresConnection,
        keys: &[&str],
    ) -> Result<Vec<StatementDescription>, TargetError> {
        let flush = flush_sql(connection.server_version_num());
        let separator = if flush.is_empty() { "" } else { "; " };
        // Keys are numbers and spaces.
        let keys = literal(&format!("{{\"{}\"}}", keys.join("\",\"")));
        let rows = connection.simple(&format!("{flush}{separator}EXECUTE dyno_texts ({keys})"))?;
        Ok(rows.iter().filter(|row| row.len() == 6).map(describe).collect())
    }
}

/// Adds to an error of the server how to make the statistics readable.
fn explain(error: TargetError) -> TargetError {
    let hint = match PostgresError::of(&error).map(PostgresError::code).as_deref() {
        // The view exists, but the library that counts is not loaded.
        Some("55000") => MAKE_IT,
        Some("42703" | "42883") => {
            "ALTER EXTENSION pg_stat_statements UPDATE brings it to the version of the server"
        }
        Some("42501") => "GRANT pg_read_all_stats TO the user of --target",
        _ => return error,
    };
    error.during("pg_stat_statements").hint(hint)
}

/// Returns the setting of what is counted, how often statements were discarded, and the time of the last reset.
fn state_sql(schema: &str, columns: &[&str]) -> String {
    let track = "current_setting('pg_stat_statements.track', true)";
    // The view with the state is as old as this column.
    match columns.contains(&"toplevel") {
        true => {
            format!("SELECT /* dyno */ {track}, dealloc, stats_reset FROM {schema}.pg_stat_statements_info")
        }
        false => format!("SELECT /* dyno */ {track}, NULL::bigint, NULL::text"),
    }
}

fn top_level(columns: &[&str]) -> &'static str {
    if columns.contains(&"toplevel") { "s.toplevel" } else { "true" }
}

/// The key of a statement; statements of other users without a visible id share one.
const KEY: &str = "concat_ws(' ', s.queryid, s.dbid, s.userid)";

fn counts_sql(schema: &str, columns: &[&str]) -> String {
    let one_of = |names: &[&str]| {
        let known = names.iter().find(|name| columns.contains(*name));
        known.map_or_else(|| "NULL".to_owned(), |name| format!("s.{name}"))
    };
    format!(
        "SELECT /* dyno */ {KEY}, s.queryid IS NULL, {}, s.calls, {}, s.rows, s.shared_blks_hit + s.shared_blks_read,
             s.shared_blks_read, s.shared_blks_dirtied, s.temp_blks_read + s.temp_blks_written, {}, {}
         FROM {schema}.pg_stat_statements(false) s WHERE {} LIMIT {}",
        one_of(&["stats_since"]),
        one_of(&["total_exec_time", "total_time"]),
        one_of(&["shared_blk_read_time", "blk_read_time"]),
        one_of(&["wal_bytes"]),
        top_level(columns),
        STATEMENTS_MAX + 1
    )
}

fn texts_sql(schema: &str, columns: &[&str]) -> String {
    let marker = literal(MONITORING);
    format!(
        "SELECT /* dyno */ {KEY}, s.queryid, left(s.query, {}), d.datname, r.rolname, s.query ~ {marker}
         FROM {schema}.pg_stat_statements s
         LEFT JOIN pg_database d ON d.oid = s.dbid LEFT JOIN pg_roles r ON r.oid = s.userid
         WHERE {} AND ({KEY} = ANY ($1) OR s.query ~ {marker})",
        CountedStatements::TEXT_MAX,
        top_level(columns)
    )
}

/// The snapshot in the rows of both statements.
fn snapshot(rows: &[TextRow]) -> Result<StatementSnapshot, TargetError> {
    let state = rows.iter().find(|row| row.len() == STATE_COLUMNS);
    let state = |column| state.and_then(|row| row.get(column));
    if state(0) == Some("none") {
        return Err(TargetError::unsupported(
            "pg_stat_statements counts nothing: pg_stat_statements.track is none",
        )
        .hint("ALTER SYSTEM SET pg_stat_statements.track = 'top'; then SELECT pg_reload_conf()"));
    }
    let mut snapshot = StatementSnapshot {
        source: "pg_stat_statements".to_owned(),
        epoch: state(2).unwrap_or_default().to_owned(),
        evictions: state(1).and_then(|evictions| evictions.parse().ok()),
        overflow: None,
        statements: HashMap::with_capacity(rows.len()),
        notes: Vec::new(),
    };
    let mut hidden = false;
    for row in rows.iter().filter(|row| row.len() == COUNT_COLUMNS) {
        hidden |= row.get(1) == Some("t");
        match snapshot.statements.entry(row.text(0).to_owned()) {
            Entry::Vacant(place) => {
                let since = row.get(2).unwrap_or_default().to_owned();
                place.insert(CumulativeStatement { since, counts: counts(row) });
            }
            Entry::Occupied(mut place) => {
                let all = place.get_mut();
                all.counts = all.counts.plus(counts(row));
                // Of several statements together, no single begin is known.
                all.since.clear();
            }
        }
    }
    if rows.len() > STATEMENTS_MAX {
        return Err(TargetError::unsupported(format!(
            "the server keeps more than {STATEMENTS_MAX} statements, and reading them would disturb the measurement"
        ))
        .hint("lower pg_stat_statements.max"));
    }
    if hidden {
        snapshot.notes.push(
            "statements of other users are not visible and are added up; GRANT pg_read_all_stats to this user"
                .to_owned(),
        );
    }
    Ok(snapshot)
}

fn counts(row: &TextRow) -> StatementCounts {
    StatementCounts {
        calls: row.parse(3).unwrap_or(0),
        time_s: row.parse::<f64>(4).unwrap_or(0.0) / 1e3,
        rows: row.parse(5),
        logical_reads: row.parse(6),
        physical_reads: row.parse(7),
        blocks_dirtied: row.parse(8),
        temp_blocks: row.parse(9),
        read_s: row.parse::<f64>(10).map(|ms| ms / 1e3),
        redo_bytes: row.parse(11),
        ..StatementCounts::default()
    }
}

fn describe(row: &TextRow) -> StatementDescription {
    let cell = |column| row.get(column).map(str::to_owned);
    StatementDescription {
        key: row.text(0).to_owned(),
        id: cell(1).unwrap_or_default(),
        text: cell(2).filter(|text| text != HIDDEN),
        database: cell(3),
        user: cell(4),
        is_monitoring: row.get(5) == Some("t"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: [&str; 4] = ["toplevel", "total_exec_time", "shared_blk_read_time", "stats_since"];

    fn row(cells: &[&str]) -> TextRow {
        TextRow(cells.iter().map(|cell| (!cell.is_empty()).then(|| (*cell).to_owned())).collect())
    }

    #[test]
    fn statement_columns_follow_version_of_extension() {
        let new = counts_sql("ext", &NEW);
        assert!(new.contains("s.toplevel"), "{new}");
        assert!(new.contains("s.stats_since"), "{new}");
        assert!(new.contains("s.shared_blk_read_time, NULL\n"), "no wal_bytes: {new}");
        let old = counts_sql("ext", &["total_exec_time", "blk_read_time", "wal_bytes"]);
        assert!(old.contains("WHERE true"), "{old}");
        assert!(old.contains("s.blk_read_time, s.wal_bytes"), "{old}");
        assert!(state_sql("ext", &NEW).contains("_info"));
        assert!(!state_sql("ext", &[]).contains("_info"));
    }

    #[test]
    fn statements_without_visible_id_are_added_up() {
        let statement = |key: &str, hidden: &str, calls: &str| {
            row(&[key, hidden, "", calls, "1500", "7", "30", "20", "2", "0", "0", "99"])
        };
        let rows = [
            row(&["top", "3", "t0"]),
            statement("1 5 10", "f", "4"),
            statement("5 11", "t", "1"),
            statement("5 11", "t", "2"),
        ];
        let snapshot = snapshot(&rows).unwrap();
        assert_eq!((snapshot.epoch.as_str(), snapshot.evictions), ("t0", Some(3)));
        assert_eq!(snapshot.statements["5 11"].counts.calls, 3);
        let own = snapshot.statements["1 5 10"].counts;
        assert_eq!((own.time_s, own.logical_reads, own.physical_reads), (1.5, Some(30), Some(20)));
        assert_eq!((own.redo_bytes, own.cpu_s, snapshot.notes.len()), (Some(99), None, 1));
        let off = super::snapshot(&[row(&["none", "", ""])]).unwrap_err();
        assert!(off.message.contains("track is none"), "{off}");
        assert!(!off.hint.is_empty(), "{off}");
    }
}
