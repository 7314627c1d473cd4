//! The data describes itself: what was loaded, by which version, how far, and which objects are Dyno's.
//!
//! `dyno.meta` holds the spec as key and value, `dyno.objects` every object with its oid (so that an object that somebody
//! else made under an old name is never taken for ours), `dyno.chunks` the chunks that are there for good, and
//! `dyno.tables` what was measured after the load.

use std::collections::{HashMap, HashSet};

use dyno_plan::DataSpec;

use super::super::wire::{Connection, Row};
use super::quote::literal;
use super::tables::{COLUMN_BYTES, SCHEMA, Table};
use dyno_engine::data::TableKind;
use dyno_engine::error::{TargetError, TargetErrorKind};
use dyno_engine::load::{DataState, SchemaFacts};

/// Version of this layout; another one is neither run nor resumed, only dropped.
const FORMAT: &str = "1";

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
    let pairs = [
        ("format", FORMAT.to_owned()),
        ("schemas", spec.schemas.to_string()),
        ("rows", spec.rows.to_string()),
        ("scan_rows", spec.scan_rows.to_string()),
        ("block_size", spec.block_size.to_string()),
        ("compressible", spec.compressible.to_string()),
        ("seed", spec.seed.to_string()),
        (SECONDARY, spec.secondary.to_string()),
        ("column_bytes", COLUMN_BYTES.to_string()),
        ("dyno_version", dyno_version.to_owned()),
    ];
    let values = pairs.map(|(key, value)| format!("({}, {})", literal(key), literal(&value)));
    format!("INSERT INTO dyno.meta VALUES {}, ('started_at', {NOW})", values.join(", "))
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

/// The name of what tells whether rows have a secondary key.
const SECONDARY: &str = "secondary";

fn broken(what: impl std::fmt::Display) -> TargetError {
    let message = format!("Dyno's metadata in schema {SCHEMA} cannot be used: {what}");
    TargetError::new(TargetErrorKind::Data, message)
        .hint("`dyno load --replace` drops what Dyno made and loads anew")
}

/// Reads the metadata; `None` if there is none of Dyno's.
pub(super) fn read(connection: &mut Connection) -> Result<Option<Found>, TargetError> {
    let there = connection.simple("SELECT to_regclass('dyno.meta'), to_regclass('dyno.objects')")?;
    if !there.first().is_some_and(|row| row.get(0).is_some() && row.get(1).is_some()) {
        return Ok(None);
    }
    let rows = connection.simple("SELECT key, value FROM dyno.meta")?;
    let meta: HashMap<&str, &str> = rows.iter().filter_map(|row| Some((row.get(0)?, row.get(1)?))).collect();
    match meta.get("format") {
        Some(&FORMAT) => {}
        Some(other) => {
            return Err(broken(format!("its format is {other:?} and this version of Dyno knows {FORMAT}")));
        }
        None => return Err(broken("dyno.meta names no format")),
    }
    let spec = spec(&meta)?;
    let chunk_rows = connection.simple("SELECT kind, schema, first, rows FROM dyno.chunks")?;
    let chunks =
        chunk_rows.iter().filter_map(|row| Some((row.get(0)?.to_owned(), row.parse(1)?, row.parse(2)?)));
    let index_rows = connection.simple("SELECT name FROM dyno.objects WHERE kind = 'index'")?;
    let indexes = index_rows.iter().filter_map(|row| Some(row.get(0)?.to_owned()));
    let state = match meta.get("finished_at") {
        Some(at) => {
            let tables = facts(connection)?;
            missing(connection)?;
            DataState::Loaded { spec, at: (*at).to_owned(), tables }
        }
        None => DataState::Partial {
            spec,
            since: meta.get("started_at").copied().unwrap_or_default().to_owned(),
            rows: chunk_rows.iter().filter_map(|row| row.parse::<u64>(3)).sum(),
        },
    };
    Ok(Some(Found { state, chunks: chunks.collect(), indexes: indexes.collect() }))
}

fn spec(meta: &HashMap<&str, &str>) -> Result<DataSpec, TargetError> {
    fn number<T: std::str::FromStr>(meta: &HashMap<&str, &str>, key: &str) -> Result<T, TargetError> {
        let text = meta.get(key).ok_or_else(|| broken(format!("{key} is missing")))?;
        text.parse().map_err(|_| broken(format!("{key} is {text:?}")))
    }
    let column_bytes: usize = number(meta, "column_bytes")?;
    if column_bytes != COLUMN_BYTES {
        return Err(broken(format!(
            "its columns have {column_bytes} bytes, and this version makes {COLUMN_BYTES}"
        )));
    }
    Ok(DataSpec {
        schemas: number(meta, "schemas")?,
        rows: number(meta, "rows")?,
        scan_rows: number(meta, "scan_rows")?,
        block_size: number(meta, "block_size")?,
        compressible: number(meta, "compressible")?,
        seed: number(meta, "seed")?,
        // Loads of older versions have none, and do not say so.
        secondary: meta.contains_key(SECONDARY) && number(meta, SECONDARY)?,
    })
}

/// Fails if an object that is recorded is not there any more, or is another one.
fn missing(connection: &mut Connection) -> Result<(), TargetError> {
    let gone = connection.simple(
        "SELECT o.kind, o.name FROM dyno.objects o
         WHERE o.kind IN ('table', 'index') AND to_regclass('dyno.' || o.name) IS DISTINCT FROM o.oid::regclass
         ORDER BY o.seq LIMIT 1",
    )?;
    match gone.first() {
        Some(row) => Err(broken(format!(
            "{} {SCHEMA}.{} is not there any more, or not the one that was loaded",
            row.get(0).unwrap_or_default(),
            row.get(1).unwrap_or_default()
        ))),
        None => Ok(()),
    }
}

/// What was measured of each table when the load was finished.
fn facts(connection: &mut Connection) -> Result<Vec<SchemaFacts>, TargetError> {
    let rows = connection
        .simple("SELECT kind, schema, name, rows, blocks, bytes FROM dyno.tables ORDER BY kind, schema")?;
    rows.iter().map(|row| fact(row).ok_or_else(|| broken("a row of dyno.tables cannot be read"))).collect()
}

fn fact(row: &Row) -> Option<SchemaFacts> {
    let kinds = [TableKind::Rows, TableKind::Scan];
    let kind = kinds.into_iter().find(|kind| Some(kind.name()) == row.get(0))?;
    Some(SchemaFacts {
        schema: row.parse(1)?,
        kind: kind.name(),
        table: row.get(2)?.to_owned(),
        rows: row.parse(3)?,
        blocks: row.parse(4)?,
        bytes: row.parse(5)?,
    })
}

/// Statements that note what was measured and that the load is finished, as one transaction, which survives a crash of the
/// server from the moment it is acknowledged.
pub(super) fn finish_sql(measured: &[(Table, SchemaFacts, u64)]) -> String {
    // The log is written in order: waiting for this commit is waiting for all that the load has written.
    let mut sql = String::from("SET LOCAL synchronous_commit = on; DELETE FROM dyno.tables; ");
    for (table, facts, relation_blocks) in measured {
        sql.push_str(&format!(
            "INSERT INTO dyno.tables VALUES ({}, {}, {}, {}, {}, {relation_blocks}, {}); ",
            literal(table.kind.name()),
            table.schema,
            literal(&facts.table),
            facts.rows,
            facts.blocks,
            facts.bytes
        ));
    }
    format!("{sql}INSERT INTO dyno.meta VALUES ('finished_at', {NOW})")
}
