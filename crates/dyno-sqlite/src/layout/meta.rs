//! Stores in the file what Dyno has loaded into it.
//!
//! `dyno_meta` has one row: the spec, column by column, and the time of the load. `dyno_objects` has a row
//! for every object that Dyno created, and only those are ever dropped. Both change in the transactions of
//! the data. A load that was interrupted at any moment, even by a crash of the machine, therefore knows
//! exactly how far it was.

use dyno_plan::DataSpec;
use rusqlite::{Connection, OptionalExtension, params};

use super::names::{SqliteTable, tables};
use crate::fault::{SqliteError, SqliteErrorContext};
use dyno_engine::data::TableKind;
use dyno_engine::{DataState, SchemaFacts, TargetError};

/// The version of the metadata tables; a file with another version is rejected.
const FORMAT_VERSION: i64 = 1;
/// The version for rows with a secondary key, which older versions do not support.
const FORMAT_SECONDARY: i64 = 2;

const META: &str = "dyno_meta";
const OBJECTS: &str = "dyno_objects";

const DDL: &str = "
    CREATE TABLE dyno_meta(
        id INTEGER PRIMARY KEY CHECK (id = 1),
        format_version INTEGER NOT NULL,
        schemas INTEGER NOT NULL, rows_per_schema INTEGER NOT NULL, scan_rows_per_schema INTEGER NOT NULL,
        block_size INTEGER NOT NULL, compressible INTEGER NOT NULL, seed TEXT NOT NULL,
        column_bytes INTEGER NOT NULL, file_created INTEGER NOT NULL, load_settings TEXT NOT NULL,
        dyno_version TEXT NOT NULL, started_at TEXT NOT NULL, finished_at TEXT);
    CREATE TABLE dyno_objects(
        name TEXT NOT NULL, kind TEXT NOT NULL, rows_loaded INTEGER NOT NULL DEFAULT 0,
        row_count INTEGER, block_count INTEGER, bytes INTEGER);
    INSERT INTO dyno_objects(name, kind) VALUES('dyno_meta', 'table'), ('dyno_objects', 'table');";

/// SQLite's expression for the current time in UTC as RFC 3339.
const NOW: &str = "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')";

/// The contents of the metadata tables.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SqliteLoadedLayout {
    pub(crate) spec: DataSpec,
    /// Whether the load created the file itself.
    pub(crate) file_created: bool,
    pub(crate) started_at: String,
    pub(crate) finished_at: Option<String>,
}

/// One object that is recorded as Dyno's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SqliteDatabaseObject {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) bytes: Option<u64>,
}

fn data_error(message: impl Into<String>, hint: &str) -> TargetError {
    TargetError::data(message).hint(hint)
}

/// Names of everything in the file except SQLite's own tables, in creation order.
pub(super) fn names_in_file(conn: &Connection) -> Result<Vec<String>, SqliteError> {
    let sql = "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid";
    let mut statement = conn.prepare(sql)?;
    let names = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(names)
}

fn exists(conn: &Connection, name: &str) -> Result<bool, SqliteError> {
    let sql = "SELECT 1 FROM sqlite_schema WHERE name = ?1";
    Ok(conn.query_row(sql, [name], |_| Ok(())).optional()?.is_some())
}

/// Reads the metadata; `None` if the file has none.
///
/// # Errors
/// A table named `dyno_meta` is not Dyno's, or has another version.
pub(crate) fn read(conn: &Connection) -> Result<Option<SqliteLoadedLayout>, TargetError> {
    let doing = "read the metadata";
    if !exists(conn, META).doing(doing)? {
        return Ok(None);
    }
    let strange = || {
        data_error(
            "this version of Dyno did not create the table dyno_meta",
            "load into another file, or use the version of Dyno that loaded this one",
        )
    };
    let version: Option<i64> = conn
        .query_row("SELECT format_version FROM dyno_meta WHERE id = 1", [], |row| row.get(0))
        .map_err(|_| strange())?;
    let known_version = version.filter(|version| [FORMAT_VERSION, FORMAT_SECONDARY].contains(version));
    if known_version.is_none() || !exists(conn, OBJECTS).doing(doing)? {
        return Err(strange());
    }
    let sql =
        "SELECT schemas, rows_per_schema, scan_rows_per_schema, block_size, compressible, seed, file_created,
        started_at, finished_at FROM dyno_meta WHERE id = 1";
    let meta = conn
        .query_row(sql, [], |row| {
            let seed: String = row.get(5)?;
            let spec = DataSpec {
                schemas: row.get(0)?,
                rows: row.get(1)?,
                scan_rows: row.get(2)?,
                block_size: row.get(3)?,
                compressible: row.get(4)?,
                seed: seed.parse().map_err(|_| rusqlite::Error::IntegralValueOutOfRange(5, 0))?,
                secondary: known_version == Some(FORMAT_SECONDARY),
                copied: false,
            };
            Ok(SqliteLoadedLayout {
                spec,
                file_created: row.get(6)?,
                started_at: row.get(7)?,
                finished_at: row.get(8)?,
            })
        })
        .doing(doing)?;
    Ok(Some(meta))
}

/// The state of Dyno's data in the file.
pub(crate) fn state(conn: &Connection) -> Result<DataState, TargetError> {
    let Some(meta) = read(conn)? else { return Ok(DataState::Empty) };
    let doing = "read the metadata";
    match meta.finished_at {
        Some(at) => {
            Ok(DataState::Loaded { tables: facts(conn, &meta.spec).doing(doing)?, spec: meta.spec, at })
        }
        None => {
            let sql = "SELECT COALESCE(SUM(rows_loaded), 0) FROM dyno_objects";
            let rows = conn.query_row(sql, [], |row| row.get(0)).doing(doing)?;
            Ok(DataState::Partial { spec: meta.spec, since: meta.started_at, rows })
        }
    }
}

/// The measurements of each table at the end of its load.
fn facts(conn: &Connection, spec: &DataSpec) -> Result<Vec<SchemaFacts>, SqliteError> {
    let sql = "SELECT row_count, block_count, bytes FROM dyno_objects WHERE name = ?1";
    let mut statement = conn.prepare(sql)?;
    let mut all = Vec::new();
    for table in tables(spec) {
        let facts = statement.query_row([table.name()], |row| {
            Ok(SchemaFacts {
                schema: table.schema,
                kind: table.kind.name(),
                table: table.name(),
                rows: row.get(0)?,
                blocks: row.get(1)?,
                bytes: row.get(2)?,
            })
        })?;
        all.push(facts);
    }
    Ok(all)
}

/// Creates the metadata and the empty tables of `spec` in one transaction.
///
/// # Errors
/// An object with one of Dyno's names already exists and is not Dyno's.
pub(super) fn begin(
    conn: &Connection,
    spec: &DataSpec,
    column_bytes: usize,
    file_created: bool,
    load_settings: &str,
    dyno_version: &str,
) -> Result<(), TargetError> {
    let wanted = tables(spec);
    let existing_names = names_in_file(conn).doing("look for tables")?;
    let ours = wanted.iter().flat_map(|table| {
        let indexes = table.indexes(spec).into_iter().map(|(index, _)| index);
        std::iter::once(table.name()).chain(indexes)
    });
    let mut ours = [META.to_owned(), OBJECTS.to_owned()].into_iter().chain(ours);
    if let Some(name) = ours.find(|name| existing_names.iter().any(|other| other.eq_ignore_ascii_case(name)))
    {
        return Err(data_error(
            format!("{name} already exists in the file, and Dyno did not create it"),
            "load into another file, or rename it",
        ));
    }
    let version = if spec.secondary { FORMAT_SECONDARY } else { FORMAT_VERSION };
    let sql = format!(
        "INSERT INTO dyno_meta(id, format_version, schemas, rows_per_schema, scan_rows_per_schema, block_size,
            compressible, seed, column_bytes, file_created, load_settings, dyno_version, started_at)
         VALUES(1, {version}, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, {NOW})"
    );
    let make = || -> Result<(), SqliteError> {
        let transaction = conn.unchecked_transaction()?;
        conn.execute_batch(DDL)?;
        conn.execute(
            &sql,
            params![
                spec.schemas,
                spec.rows,
                spec.scan_rows,
                spec.block_size,
                spec.compressible,
                spec.seed.to_string(),
                column_bytes as u64,
                file_created,
                load_settings,
                dyno_version
            ],
        )?;
        for table in &wanted {
            conn.execute(&table.ddl(), [])?;
            record(conn, &table.name(), "table")?;
        }
        Ok(transaction.commit()?)
    };
    make().doing("create the tables")
}

/// Records an object that Dyno creates in the same transaction.
pub(super) fn record(conn: &Connection, name: &str, kind: &str) -> Result<(), SqliteError> {
    conn.execute("INSERT INTO dyno_objects(name, kind) VALUES(?1, ?2)", [name, kind])?;
    Ok(())
}

/// Whether an object is recorded as Dyno's.
pub(super) fn recorded(conn: &Connection, name: &str) -> Result<bool, SqliteError> {
    let sql = "SELECT 1 FROM dyno_objects WHERE name = ?1";
    Ok(conn.query_row(sql, [name], |_| Ok(())).optional()?.is_some())
}

/// Committed rows of `table` so far.
pub(super) fn rows_loaded(conn: &Connection, table: SqliteTable) -> Result<u64, SqliteError> {
    let sql = "SELECT rows_loaded FROM dyno_objects WHERE name = ?1";
    Ok(conn.query_row(sql, [table.name()], |row| row.get(0))?)
}

/// Records the number of rows of `table`, in the transaction that loads them.
pub(super) fn set_rows_loaded(conn: &Connection, table: SqliteTable, rows: u64) -> Result<(), SqliteError> {
    conn.execute("UPDATE dyno_objects SET rows_loaded = ?1 WHERE name = ?2", params![rows, table.name()])?;
    Ok(())
}

/// Records the measurements and the end of the load.
pub(super) fn finish(conn: &Connection, measured: &[SchemaFacts]) -> Result<(), SqliteError> {
    let transaction = conn.unchecked_transaction()?;
    let sql = "UPDATE dyno_objects SET row_count = ?1, block_count = ?2, bytes = ?3 WHERE name = ?4";
    for facts in measured {
        conn.execute(sql, params![facts.rows, facts.blocks, facts.bytes, facts.table])?;
    }
    conn.execute(&format!("UPDATE dyno_meta SET finished_at = {NOW} WHERE id = 1"), [])?;
    Ok(transaction.commit()?)
}

/// Every object recorded as Dyno's: indexes first, then tables, the metadata last.
pub(super) fn objects(conn: &Connection) -> Result<Vec<SqliteDatabaseObject>, SqliteError> {
    let sql = "SELECT o.name, o.kind, o.bytes FROM dyno_objects o JOIN sqlite_schema s ON s.name = o.name
        ORDER BY o.name IN ('dyno_meta', 'dyno_objects'), o.kind = 'table', o.rowid";
    let mut statement = conn.prepare(sql)?;
    let objects = statement
        .query_map([], |row| {
            Ok(SqliteDatabaseObject { name: row.get(0)?, kind: row.get(1)?, bytes: row.get(2)? })
        })?
        .collect::<Result<_, _>>()?;
    Ok(objects)
}

/// Whether `spec` has tables of the kind that a session reads.
pub(crate) fn has(spec: &DataSpec, kind: TableKind) -> bool {
    kind == TableKind::Rows || spec.scan_rows > 0
}
