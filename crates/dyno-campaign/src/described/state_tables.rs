//! The state tables in a database: which workload's tables Dyno created there, from which description, and
//! how far each load got.

use dyno_engine::{ObjectKind, Target, TargetError, TargetErrorKind, TextRow};
use dyno_workload::custom::CustomWorkload;

/// One row for each workload.
const LOADS: &str = "dyno_own_loads";
/// One row for each table that was created.
const TABLES: &str = "dyno_own_tables";
/// One row for each part of a table that is stored.
const PARTS: &str = "dyno_own_parts";

/// All state tables, in the order in which they are created.
pub(super) const STATE_TABLES: [&str; 3] = [PARTS, TABLES, LOADS];

/// The stage that a load has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableLoadStage {
    /// Tables are created and filled.
    Rows,
    /// The statements of `[setup]` are being executed.
    Setup,
    /// Tables, rows and setup are complete.
    Loaded,
    /// The statements of `[drop]` are done, and the tables are being dropped.
    Drop,
}

dyno_plan::names! {
    /// The name of the stage in the state table.
    TableLoadStage { Rows = "rows", Setup = "setup", Loaded = "loaded", Drop = "drop" }
}

/// The stored state of a workload's load.
#[derive(Debug, Clone)]
pub(super) struct TableLoadEntry {
    pub(super) digest: String,
    pub(super) scale: u64,
    pub(super) seed_and_tables: String,
    pub(super) state: TableLoadStage,
    pub(super) since: String,
    /// Tables that were created, in the order of creation.
    pub(super) tables: Vec<String>,
    /// Number of other workloads in the state tables.
    pub(super) other_workloads: usize,
}

impl TableLoadEntry {
    /// Whether the entry describes these tables, with this scale.
    pub(super) fn matches_workload(&self, workload: &CustomWorkload) -> bool {
        self.digest == workload.tables_digest()
    }
}

/// Executes a query and returns its rows.
pub(super) fn query_rows(target: &dyn Target, sql: &str) -> Result<Vec<TextRow>, TargetError> {
    let mut all = Vec::new();
    target.script(&[sql], &mut |rows| {
        all.extend(rows);
        Ok(())
    })?;
    Ok(all)
}

/// Executes statements, each committed separately.
pub(super) fn execute_all(target: &dyn Target, statements: &[String]) -> Result<(), TargetError> {
    let texts: Vec<&str> = statements.iter().map(String::as_str).collect();
    target.script(&texts, &mut |_| Ok(()))
}

/// Quotes a text as a literal, without characters that could end it: names of workloads and tables, digests,
/// times.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace(['\'', '\\'], ""))
}

/// Reads the entry of the workload of this name; `None` if there is none.
///
/// # Errors
/// The entry cannot be read, or it belongs to another workload of the same name.
pub(super) fn read_entry(
    target: &dyn Target,
    custom_workload: &CustomWorkload,
) -> Result<Option<TableLoadEntry>, TargetError> {
    let entry = read_entry_named(target, custom_workload.name())?;
    let is_described = |name: &String| custom_workload.tables().iter().any(|table| table.name() == name);
    match &entry {
        Some(there)
            if !there.tables.is_empty()
                && !there.matches_workload(custom_workload)
                && !there.tables.iter().any(is_described) =>
        {
            let message = format!(
                "another workload named {} created {} on the target, and this workload describes none of them",
                custom_workload.name(),
                there.tables.join(", ")
            );
            let hint = "change name = \"…\" in one workload.toml; drop the existing tables with the folder \
                        that created them";
            Err(TargetError::new(TargetErrorKind::Data, message).hint(hint))
        }
        _ => Ok(entry),
    }
}

fn read_entry_named(target: &dyn Target, name: &str) -> Result<Option<TableLoadEntry>, TargetError> {
    if target.find(ObjectKind::Table, &[LOADS])?.is_empty() {
        return Ok(None);
    }
    let sql = format!("SELECT workload, description, load_scale, words, state, since FROM {LOADS}");
    let rows = query_rows(target, &sql)?;
    let Some(row) = rows.iter().find(|row| row.text(0) == name) else { return Ok(None) };
    let sql = format!("SELECT table_name FROM {TABLES} WHERE workload = {} ORDER BY place", literal(name));
    let tables = query_rows(target, &sql)?.iter().map(|row| row.text(0).to_owned()).collect();
    Ok(Some(TableLoadEntry {
        digest: row.text(1).to_owned(),
        scale: row.parse(2).ok_or_else(|| unreadable("a scale"))?,
        seed_and_tables: row.text(3).to_owned(),
        state: TableLoadStage::from_name(row.text(4)).ok_or_else(|| unreadable("a state"))?,
        since: row.text(5).to_owned(),
        tables,
        other_workloads: rows.len() - 1,
    }))
}

fn unreadable(field: &str) -> TargetError {
    let message = format!("{field} in {LOADS} cannot be read");
    TargetError::new(TargetErrorKind::Data, message)
        .hint("another version of Dyno or another program has written to it")
}

/// Creates missing state tables, and adds an entry for `custom_workload`.
pub(super) fn insert_entry(target: &dyn Target, custom_workload: &CustomWorkload) -> Result<(), TargetError> {
    let existing = target.find(ObjectKind::Table, &STATE_TABLES)?;
    let is_there = |name: &str| existing.iter().any(|item| item.name == name);
    let end = target.table_words().end;
    let columns = |name: &str| match name {
        LOADS => {
            "workload VARCHAR(60) NOT NULL, description VARCHAR(64), load_scale NUMERIC(19), words VARCHAR(200), \
             state VARCHAR(10), since VARCHAR(40), PRIMARY KEY (workload)"
        }
        TABLES => {
            "workload VARCHAR(60) NOT NULL, table_name VARCHAR(60) NOT NULL, place NUMERIC(9), \
             PRIMARY KEY (workload, table_name)"
        }
        _ => {
            "workload VARCHAR(60) NOT NULL, table_name VARCHAR(60) NOT NULL, first_row NUMERIC(19) NOT NULL, \
             row_count NUMERIC(19), PRIMARY KEY (workload, table_name, first_row)"
        }
    };
    let missing = STATE_TABLES.into_iter().filter(|name| !is_there(name));
    let mut statements: Vec<String> =
        missing.map(|name| format!("CREATE TABLE {name} ({}){end}", columns(name))).collect();
    let (name, words) = (literal(custom_workload.name()), literal(&describe_tables(custom_workload)));
    let now = literal(&jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    statements.push(format!(
        "INSERT INTO {LOADS} VALUES ({name}, {}, {}, {words}, '{}', {now})",
        literal(custom_workload.tables_digest()),
        custom_workload.scale(),
        TableLoadStage::Rows.name()
    ));
    execute_all(target, &statements)
}

/// Describes the workload's seed and tables, for people.
pub(super) fn describe_tables(workload: &CustomWorkload) -> String {
    let rows: u64 = workload.tables().iter().map(|table| table.rows()).sum();
    let count = workload.tables().len();
    format!("{count} {} of {rows} rows together", if count == 1 { "table" } else { "tables" })
}

/// Stores that the load of `custom_workload` has reached `state`.
pub(super) fn set_stage(
    target: &dyn Target,
    custom_workload: &CustomWorkload,
    state: TableLoadStage,
) -> Result<(), TargetError> {
    let (state, name) = (state.name(), literal(custom_workload.name()));
    execute_all(target, &[format!("UPDATE {LOADS} SET state = '{state}' WHERE workload = {name}")])
}

/// Stores that a table is being created for `workload`.
pub(super) fn add_table(
    target: &dyn Target,
    workload: &CustomWorkload,
    table: &str,
    place: usize,
) -> Result<(), TargetError> {
    let (name, table) = (literal(workload.name()), literal(table));
    execute_all(target, &[format!("INSERT INTO {TABLES} VALUES ({name}, {table}, {place})")])
}

/// Returns the stored parts of a table: the first row and the number of rows of each.
pub(super) fn stored_parts(
    target: &dyn Target,
    custom_workload: &CustomWorkload,
    table: &str,
) -> Result<Vec<(u64, u64)>, TargetError> {
    let (name, table) = (literal(custom_workload.name()), literal(table));
    let sql = format!(
        "SELECT first_row, row_count FROM {PARTS} WHERE workload = {name} AND table_name = {table} ORDER BY first_row"
    );
    let part = |row: &TextRow| row.parse(0).zip(row.parse(1)).ok_or_else(|| unreadable("a part"));
    query_rows(target, &sql)?.iter().map(part).collect()
}

/// The statement that records a part.
pub(super) fn insert_part_sql(workload: &CustomWorkload, table: &str, first: u64, rows: u64) -> String {
    format!("INSERT INTO {PARTS} VALUES ({}, {}, {first}, {rows})", literal(workload.name()), literal(table))
}

/// The statement that deletes the recorded parts of a table.
pub(super) fn delete_parts_sql(custom_workload: &CustomWorkload, table: &str) -> String {
    format!(
        "DELETE FROM {PARTS} WHERE workload = {} AND table_name = {}",
        literal(custom_workload.name()),
        literal(table)
    )
}

/// The statements that delete a table's entries.
pub(super) fn delete_table_sql(custom_workload: &CustomWorkload, table: &str) -> Vec<String> {
    let (name, quoted) = (literal(custom_workload.name()), literal(table));
    vec![
        delete_parts_sql(custom_workload, table),
        format!("DELETE FROM {TABLES} WHERE workload = {name} AND table_name = {quoted}"),
    ]
}

/// The statement that deletes the workload's entry.
pub(super) fn delete_workload_sql(custom_workload: &CustomWorkload) -> String {
    format!("DELETE FROM {LOADS} WHERE workload = {}", literal(custom_workload.name()))
}
