//! Stores what was loaded, by which version, how far, and which objects belong to Dyno.
//!
//! `dyno.meta` holds the spec as key and value. `dyno.objects` lists every object with its oid, so Dyno never
//! claims an object that another user created under an old name. `dyno.chunks` lists the committed chunks,
//! and `dyno.tables` holds the measurements after the load.

use std::collections::HashSet;

use dyno_plan::DataSpec;

use super::super::wire::PostgresConnection;
use super::quote::literal;
use super::tables::{COLUMN_BYTES, SCHEMA};
use dyno_engine::layout::{LayoutMetadata, MetadataLocation, chunks, pairs};
use dyno_engine::{DataState, SchemaFacts, TargetError};

/// The location and format of the metadata. Data with another format can only be dropped, not run or resumed.
const HOME: MetadataLocation =
    MetadataLocation { place: "in schema dyno", meta: "dyno.meta", tables: "dyno.tables", format: "1" };

/// The statements that create the metadata tables, which are the first recorded objects.
pub(super) const CREATE_META: &str = "
    CREATE TABLE dyno.meta (key text PRIMARY KEY, value text NOT NULL);
    CREATE TABLE dyno.objects (
        seq int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind text NOT NULL, name text NOT NULL, oid oid NOT NULL);
    CREATE TABLE dyno.chunks (
        kind text NOT NULL, schema int4 NOT NULL, first int8 NOT NULL, rows int8 NOT NULL,
        PRIMARY KEY (kind, schema, first));
    CREATE TABLE dyno.tables (
        kind text NOT NULL, schema int4 NOT NULL, name text NOT NULL, rows int8 NOT NULL, blocks int8 NOT NULL,
        relation_blocks int8 NOT NULL, bytes int8 NOT NULL, PRIMARY KEY (kind, schema));";

/// The metadata tables in creation order.
pub(super) const META_TABLES: [&str; 4] = ["meta", "objects", "chunks", "tables"];

/// An SQL expression for the server's time in UTC as RFC 3339.
pub(super) const NOW: &str =
    "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')";

/// The statement that records an object of `kind` under `name`; the SQL expression `oid` gives its oid.
pub(super) fn record_sql(kind: &str, name: &str, oid: &str) -> String {
    format!("INSERT INTO dyno.objects (kind, name, oid) VALUES ({}, {}, {oid})", literal(kind), literal(name))
}

/// The statement that records a table or an index of schema `dyno`.
pub(super) fn record_relation_sql(kind: &str, name: &str) -> String {
    record_sql(kind, name, &format!("{}::regclass", literal(&format!("{SCHEMA}.{name}"))))
}

/// The statement that stores `spec` in `dyno.meta`.
pub(super) fn describe_sql(spec: &DataSpec, dyno_version: &str) -> String {
    let mut all = pairs(spec, HOME.format, dyno_version);
    all.push(("column_bytes", COLUMN_BYTES.to_string()));
    let values: String =
        all.iter().map(|(key, value)| format!("({}, {}), ", literal(key), literal(value))).collect();
    format!("INSERT INTO dyno.meta VALUES {values}('started_at', {NOW})")
}

/// The loaded data, and what a resumed load needs to know.
#[derive(Debug)]
pub(super) struct PostgresLoadedLayout {
    /// The state as the user sees it.
    pub(super) state: DataState,
    /// Committed chunks: kind, schema, first position.
    pub(super) chunks: HashSet<(String, u32, u64)>,
    /// Names of the indexes that exist.
    pub(super) indexes: HashSet<String>,
}

/// Reads the metadata; `None` if Dyno has stored none.
pub(super) fn read(connection: &mut PostgresConnection) -> Result<Option<PostgresLoadedLayout>, TargetError> {
    let relations = connection.simple("SELECT to_regclass('dyno.meta'), to_regclass('dyno.objects')")?;
    if !relations.first().is_some_and(|row| row.get(0).is_some() && row.get(1).is_some()) {
        return Ok(None);
    }
    let rows = connection.simple("SELECT key, value FROM dyno.meta")?;
    let notes = LayoutMetadata::new(&HOME, &rows);
    let spec = notes.spec()?;
    let column_bytes: usize = notes.number("column_bytes")?;
    if column_bytes != COLUMN_BYTES {
        let fault = format!("its columns have {column_bytes} bytes, but this version creates {COLUMN_BYTES}");
        return Err(HOME.broken(fault));
    }
    let (chunks, rows) = chunks(&connection.simple("SELECT kind, schema, first, rows FROM dyno.chunks")?);
    let indexes = connection.simple("SELECT name FROM dyno.objects WHERE kind = 'index'")?;
    let indexes = indexes.iter().filter_map(|row| row.get(0).map(str::to_owned)).collect();
    let state = notes.state(spec, rows, |_| {
        check_objects_exist(connection)?;
        HOME.facts(&connection.simple(
            "SELECT kind, schema, name, rows, blocks, bytes FROM dyno.tables ORDER BY kind, schema",
        )?)
    })?;
    Ok(Some(PostgresLoadedLayout { state, chunks, indexes }))
}

/// Returns an error if a recorded object is missing or was replaced.
fn check_objects_exist(connection: &mut PostgresConnection) -> Result<(), TargetError> {
    let missing_rows = connection.simple(
        "SELECT o.kind, o.name FROM dyno.objects o
         WHERE o.kind IN ('table', 'index') AND to_regclass('dyno.' || o.name) IS DISTINCT FROM o.oid::regclass
         ORDER BY o.seq LIMIT 1",
    )?;
    let Some(row) = missing_rows.first() else { return Ok(()) };
    let (kind, name) = (row.text(0), row.text(1));
    Err(HOME.broken(format!("{kind} {SCHEMA}.{name} no longer exists, or is not the one that was loaded")))
}

/// The statements that record measurements and the end of the load, as one transaction. It survives a server
/// crash as soon as the server has confirmed it.
pub(super) fn finish_sql(measured: &[(SchemaFacts, u64)]) -> String {
    // The WAL is written in order: waiting for this commit includes everything that the load has written.
    let mut sql = String::from("SET LOCAL synchronous_commit = on; DELETE FROM dyno.tables; ");
    for (SchemaFacts { schema, kind, table, rows, blocks, bytes }, relation_blocks) in measured {
        let (kind, table) = (literal(kind), literal(table));
        sql.push_str(&format!(
            "INSERT INTO dyno.tables VALUES ({kind}, {schema}, {table}, {rows}, {blocks}, {relation_blocks}, {bytes}); "
        ));
    }
    format!("{sql}INSERT INTO dyno.meta VALUES ('finished_at', {NOW})")
}
