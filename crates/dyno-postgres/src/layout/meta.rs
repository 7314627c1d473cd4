//! The data describes itself: what was loaded, by which version, how far, and which objects are Dyno's.
//!
//! `dyno.meta` holds the spec as key and value, `dyno.objects` every object with its oid (so that an object that somebody
//! else made under an old name is never taken for ours), `dyno.chunks` the chunks that are there for good, and
//! `dyno.tables` what was measured after the load.

use std::collections::HashSet;

use dyno_plan::DataSpec;

use super::super::wire::Connection;
use super::quote::literal;
use super::tables::{COLUMN_BYTES, SCHEMA};
use dyno_engine::layout::{Home, Notes, chunks, pairs};
use dyno_engine::{DataState, SchemaFacts, TargetError};

/// Where it is, in the version of this layout; another one is neither run nor resumed, only dropped.
const HOME: Home = Home { place: "in schema dyno", meta: "dyno.meta", tables: "dyno.tables", format: "1" };

/// Statements that create the metadata tables; the first objects to be recorded.
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

/// The metadata tables, in the order of their creation.
pub(super) const META_TABLES: [&str; 4] = ["meta", "objects", "chunks", "tables"];

/// The server's time as RFC 3339 in UTC, as a SQL expression.
pub(super) const NOW: &str =
    "to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')";

/// A statement that records an object of `kind` under `name`, whose oid the SQL expression `oid` gives.
pub(super) fn record_sql(kind: &str, name: &str, oid: &str) -> String {
    format!("INSERT INTO dyno.objects (kind, name, oid) VALUES ({}, {}, {oid})", literal(kind), literal(name))
}

/// A statement that records a table or an index of schema `dyno`.
pub(super) fn record_relation_sql(kind: &str, name: &str) -> String {
    record_sql(kind, name, &format!("{}::regclass", literal(&format!("{SCHEMA}.{name}"))))
}

/// A statement that describes `spec` in `dyno.meta`.
pub(super) fn describe_sql(spec: &DataSpec, dyno_version: &str) -> String {
    let mut all = pairs(spec, HOME.format, dyno_version);
    all.push(("column_bytes", COLUMN_BYTES.to_string()));
    let values: String =
        all.iter().map(|(key, value)| format!("({}, {}), ", literal(key), literal(value))).collect();
    format!("INSERT INTO dyno.meta VALUES {values}('started_at', {NOW})")
}

/// What is there, and whatever a resuming load needs to know beside it.
#[derive(Debug)]
pub(super) struct Found {
    /// As users see it.
    pub(super) state: DataState,
    /// Chunks that are there for good: kind, schema, first position.
    pub(super) chunks: HashSet<(String, u32, u64)>,
    /// Indexes that are there.
    pub(super) indexes: HashSet<String>,
}

/// Reads the metadata; `None` if there is none of Dyno's.
pub(super) fn read(connection: &mut Connection) -> Result<Option<Found>, TargetError> {
    let there = connection.simple("SELECT to_regclass('dyno.meta'), to_regclass('dyno.objects')")?;
    if !there.first().is_some_and(|row| row.get(0).is_some() && row.get(1).is_some()) {
        return Ok(None);
    }
    let rows = connection.simple("SELECT key, value FROM dyno.meta")?;
    let notes = Notes::new(&HOME, &rows);
    let spec = notes.spec()?;
    let column_bytes: usize = notes.number("column_bytes")?;
    if column_bytes != COLUMN_BYTES {
        let what = format!("its columns have {column_bytes} bytes, and this version makes {COLUMN_BYTES}");
        return Err(HOME.broken(what));
    }
    let (chunks, rows) = chunks(&connection.simple("SELECT kind, schema, first, rows FROM dyno.chunks")?);
    let indexes = connection.simple("SELECT name FROM dyno.objects WHERE kind = 'index'")?;
    let indexes = indexes.iter().filter_map(|row| row.get(0).map(str::to_owned)).collect();
    let state = notes.state(spec, rows, |_| {
        missing(connection)?;
        HOME.facts(&connection.simple(
            "SELECT kind, schema, name, rows, blocks, bytes FROM dyno.tables ORDER BY kind, schema",
        )?)
    })?;
    Ok(Some(Found { state, chunks, indexes }))
}

/// Fails if an object that is recorded is not there any more, or is another one.
fn missing(connection: &mut Connection) -> Result<(), TargetError> {
    let gone = connection.simple(
        "SELECT o.kind, o.name FROM dyno.objects o
         WHERE o.kind IN ('table', 'index') AND to_regclass('dyno.' || o.name) IS DISTINCT FROM o.oid::regclass
         ORDER BY o.seq LIMIT 1",
    )?;
    let Some(row) = gone.first() else { return Ok(()) };
    let (kind, name) = (row.text(0), row.text(1));
    Err(HOME.broken(format!("{kind} {SCHEMA}.{name} is not there any more, or not the one that was loaded")))
}

/// Statements that note what was measured and that the load is finished, as one transaction, which survives a crash of the
/// server from the moment it is acknowledged.
pub(super) fn finish_sql(measured: &[(SchemaFacts, u64)]) -> String {
    // The log is written in order: waiting for this commit is waiting for all that the load has written.
    let mut sql = String::from("SET LOCAL synchronous_commit = on; DELETE FROM dyno.tables; ");
    for (SchemaFacts { schema, kind, table, rows, blocks, bytes }, relation_blocks) in measured {
        let (kind, table) = (literal(kind), literal(table));
        sql.push_str(&format!(
            "INSERT INTO dyno.tables VALUES ({kind}, {schema}, {table}, {rows}, {blocks}, {relation_blocks}, {bytes}); "
        ));
    }
    format!("{sql}INSERT INTO dyno.meta VALUES ('finished_at', {NOW})")
}
