//! What a file says about the data that Dyno put into it.
//!
//! `dyno_meta` has one row: the spec, column by column, and when it was loaded. `dyno_objects` has a row for every
//! object that Dyno made, and only those are ever dropped. Both change in the same transactions as the data, so a load
//! that was interrupted at any moment, even by the machine, finds out exactly how far it came.

use dyno_plan::DataSpec;
use rusqlite::{Connection, OptionalExtension, params};

use super::names::{Table, tables};
use crate::fault::{Doing, Fault};
use dyno_engine::data::TableKind;
use dyno_engine::{DataState, SchemaFacts, TargetError};

/// The version of the tables below; a file of another version is refused.
const FORMAT_VERSION: i64 = 1;
/// The same where rows have a secondary key, which older versions do not know.
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

/// SQLite's expression for now, RFC 3339 in UTC.
const NOW: &str = "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')";

/// What the metadata says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Meta {
    pub(crate) spec: DataSpec,
    /// Whether the load made the file itself.
    pub(crate) file_created: bool,
    pub(crate) started_at: String,
    pub(crate) finished_at: Option<String>,
}

/// One recorded object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Object {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) bytes: Option<u64>,
}

fn data_error(message: impl Into<String>, hint: &str) -> TargetError {
    TargetError::data(message).hint(hint)
}

/// Names of everything in the file but SQLite's own tables, in the order they were made.
pub(super) fn names_in_file(conn: &Connection) -> Result<Vec<String>, Fault> {
    let sql = "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid";
    let mut statement = conn.prepare(sql)?;
    let names = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(names)
}

fn exists(conn: &Connection, name: &str) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM sqlite_schema WHERE name = ?1";
    Ok(conn.query_row(sql, [name], |_| Ok(())).optional()?.is_some())
}

/// Reads the metadata; `None` is a file without any.
///
/// # Errors
/// A table called `dyno_meta` is not Dyno's, or another version's.
pub(crate) fn read(conn: &Connection) -> Result<Option<Meta>, TargetError> {
    let doing = "read the metadata";
    if !exists(conn, META).doing(doing)? {
        return Ok(None);
    }
    let strange = || {
        data_error(
            "the table dyno_meta is not one that this version of dyno has made",
            "load into another file, or use the version of dyno that loaded this one",
        )
    };
    let version: Option<i64> = conn
        .query_row("SELECT format_version FROM dyno_meta WHERE id = 1", [], |row| row.get(0))
        .map_err(|_| strange())?;
    let known = version.filter(|version| [FORMAT_VERSION, FORMAT_SECONDARY].contains(version));
    if known.is_none() || !exists(conn, OBJECTS).doing(doing)? {
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
                secondary: known == Some(FORMAT_SECONDARY),
            };
            Ok(Meta { spec, file_created: row.get(6)?, started_at: row.get(7)?, finished_at: row.get(8)? })
        })
        .doing(doing)?;
    Ok(Some(meta))
}

/// What the file holds.
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

/// What was measured of each table when its load ended.
fn facts(conn: &Connection, spec: &DataSpec) -> Result<Vec<SchemaFacts>, Fault> {
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

/// Makes the metadata and the empty tables of `spec`, all or nothing.
///
/// # Errors
/// An object of one of our names is there already: it is somebody else's.
pub(super) fn begin(
    conn: &Connection,
    spec: &DataSpec,
    column_bytes: usize,
    file_created: bool,
    load_settings: &str,
    dyno_version: &str,
) -> Result<(), TargetError> {
    let wanted = tables(spec);
    let taken = names_in_file(conn).doing("look for tables")?;
    let ours = wanted.iter().flat_map(|table| {
        let indexes = table.indexes(spec).into_iter().map(|(index, _)| index);
        std::iter::once(table.name()).chain(indexes)
    });
    let mut ours = [META.to_owned(), OBJECTS.to_owned()].into_iter().chain(ours);
    if let Some(name) = ours.find(|name| taken.iter().any(|other| other.eq_ignore_ascii_case(name))) {
        return Err(data_error(
            format!("{name} is in the file already, and dyno has not made it"),
            "load into another file, or rename it",
        ));
    }
    let version = if spec.secondary { FORMAT_SECONDARY } else { FORMAT_VERSION };
    let sql = format!(
        "INSERT INTO dyno_meta(id, format_version, schemas, rows_per_schema, scan_rows_per_schema, block_size,
            compressible, seed, column_bytes, file_created, load_settings, dyno_version, started_at)
         VALUES(1, {version}, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, {NOW})"
    );
    let make = || -> Result<(), Fault> {
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
    make().doing("make the tables")
}

/// Notes an object that Dyno makes in the same transaction.
pub(super) fn record(conn: &Connection, name: &str, kind: &str) -> Result<(), Fault> {
    conn.execute("INSERT INTO dyno_objects(name, kind) VALUES(?1, ?2)", [name, kind])?;
    Ok(())
}

/// Whether an object is recorded as Dyno's.
pub(super) fn recorded(conn: &Connection, name: &str) -> Result<bool, Fault> {
    let sql = "SELECT 1 FROM dyno_objects WHERE name = ?1";
    Ok(conn.query_row(sql, [name], |_| Ok(())).optional()?.is_some())
}

/// Rows of `table` that are there for good.
pub(super) fn rows_loaded(conn: &Connection, table: Table) -> Result<u64, Fault> {
    let sql = "SELECT rows_loaded FROM dyno_objects WHERE name = ?1";
    Ok(conn.query_row(sql, [table.name()], |row| row.get(0))?)
}

/// Notes, in the transaction that loads them, how many rows of `table` there are.
pub(super) fn set_rows_loaded(conn: &Connection, table: Table, rows: u64) -> Result<(), Fault> {
    conn.execute("UPDATE dyno_objects SET rows_loaded = ?1 WHERE name = ?2", params![rows, table.name()])?;
    Ok(())
}

/// Notes what was measured, and that the load has ended.
pub(super) fn finish(conn: &Connection, measured: &[SchemaFacts]) -> Result<(), Fault> {
    let transaction = conn.unchecked_transaction()?;
    let sql = "UPDATE dyno_objects SET row_count = ?1, block_count = ?2, bytes = ?3 WHERE name = ?4";
    for facts in measured {
        conn.execute(sql, params![facts.rows, facts.blocks, facts.bytes, facts.table])?;
    }
    conn.execute(&format!("UPDATE dyno_meta SET finished_at = {NOW} WHERE id = 1"), [])?;
    Ok(transaction.commit()?)
}

/// Every object recorded as Dyno's: indexes first, then tables, the metadata last.
pub(super) fn objects(conn: &Connection) -> Result<Vec<Object>, Fault> {
    let sql = "SELECT o.name, o.kind, o.bytes FROM dyno_objects o JOIN sqlite_schema s ON s.name = o.name
        ORDER BY o.name IN ('dyno_meta', 'dyno_objects'), o.kind = 'table', o.rowid";
    let mut statement = conn.prepare(sql)?;
    let objects = statement
        .query_map([], |row| Ok(Object { name: row.get(0)?, kind: row.get(1)?, bytes: row.get(2)? }))?
        .collect::<Result<_, _>>()?;
    Ok(objects)
}

/// The kind of table that a session reads, if it is there.
pub(crate) fn has(spec: &DataSpec, kind: TableKind) -> bool {
    kind == TableKind::Rows || spec.scan_rows > 0
}
