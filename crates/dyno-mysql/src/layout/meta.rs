//! The data describes itself: what was loaded, by which version, how far, and which objects are Dyno's.
//!
//! `dyno_meta` holds the spec as name and value, `dyno_objects` every object, `dyno_chunks` the chunks that are there for
//! good, and `dyno_tables` what was measured after the load. MySQL's statements that create or drop cannot be taken back, so
//! each object is recorded before it is made. Every object carries the load's mark as its comment, so one that somebody
//! else made under an old name is never taken for ours.

use std::collections::{HashMap, HashSet};

use dyno_plan::DataSpec;

use super::super::wire::{Connection, Row};
use super::quote::literal;
use super::tables::{Shape, Table};
use dyno_engine::data::TableKind;
use dyno_engine::error::{TargetError, TargetErrorKind};
use dyno_engine::load::{DataState, DropItem, SchemaFacts};

/// Version of this layout; another one is neither run nor resumed, only dropped.
const FORMAT: &str = "2";

/// What every mark begins with.
pub(super) const MARK: &str = "dyno load ";

/// The metadata tables in the order of their creation, with their columns.
pub(super) const META_TABLES: [(&str, &str); 4] = [
    (
        "dyno_objects",
        "seq BIGINT NOT NULL AUTO_INCREMENT UNIQUE, kind VARCHAR(16) NOT NULL, name VARCHAR(64) NOT NULL, \
         mark VARCHAR(64) NOT NULL, PRIMARY KEY (kind, name)",
    ),
    ("dyno_meta", "name VARCHAR(32) NOT NULL PRIMARY KEY, value VARCHAR(255) NOT NULL"),
    (
        "dyno_chunks",
        "kind VARCHAR(8) NOT NULL, number INT NOT NULL, first BIGINT NOT NULL, row_count BIGINT NOT NULL, \
         PRIMARY KEY (kind, number, first)",
    ),
    (
        "dyno_tables",
        "kind VARCHAR(8) NOT NULL, number INT NOT NULL, name VARCHAR(64) NOT NULL, row_count BIGINT NOT NULL, \
         pages BIGINT NOT NULL, bytes BIGINT NOT NULL, PRIMARY KEY (kind, number)",
    ),
];

/// The server's time as RFC 3339 in UTC, as a SQL expression.
pub(super) const NOW: &str = "DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%dT%H:%i:%sZ')";

/// A statement that records an object that is about to be made.
pub(super) fn record_sql(kind: &str, name: &str, mark: &str) -> String {
    let values = [kind, name, mark].map(literal).join(", ");
    format!("REPLACE INTO dyno_objects (kind, name, mark) VALUES ({values})")
}

/// A statement that describes `spec` in `dyno_meta`.
pub(super) fn describe_sql(spec: &DataSpec, shape: Shape, mark: &str, dyno_version: &str) -> String {
    let pairs = [
        ("format", FORMAT.to_owned()),
        ("mark", mark.to_owned()),
        ("schemas", spec.schemas.to_string()),
        ("rows", spec.rows.to_string()),
        ("scan_rows", spec.scan_rows.to_string()),
        ("block_size", spec.block_size.to_string()),
        ("compressible", spec.compressible.to_string()),
        ("seed", spec.seed.to_string()),
        (SECONDARY, spec.secondary.to_string()),
        ("column_bytes", shape.column_bytes.to_string()),
        ("pad_bytes", shape.pad_bytes.to_string()),
        ("dyno_version", dyno_version.to_owned()),
    ];
    let values = pairs.map(|(name, value)| format!("({}, {})", literal(name), literal(&value)));
    format!("INSERT INTO dyno_meta VALUES {}, ('started_at', {NOW})", values.join(", "))
}

/// What is there, and whatever a resuming load needs to know beside it.
#[derive(Debug)]
pub(super) struct Found {
    /// As users see it.
    pub(super) state: DataState,
    /// The comment of every object of this load.
    pub(super) mark: String,
    /// Chunks that are there for good: kind, schema, first position.
    pub(super) chunks: HashSet<(String, u32, u64)>,
    /// Tables and procedures that are there, by kind and name.
    pub(super) objects: HashSet<(String, String)>,
}

/// The name of what tells whether rows have a secondary key.
const SECONDARY: &str = "secondary";

fn broken(what: impl std::fmt::Display) -> TargetError {
    let message = format!("Dyno's metadata (dyno_meta and its kin) cannot be used: {what}");
    TargetError::new(TargetErrorKind::Data, message)
        .hint("`dyno load --replace` drops what Dyno made and loads anew")
}

/// One table or procedure of this database: kind, name, comment, bytes.
#[derive(Debug, Clone)]
pub(super) struct Object {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) mark: String,
    pub(super) bytes: Option<u64>,
}

impl Object {
    /// As users see it.
    pub(super) fn item(&self, database: &str) -> DropItem {
        DropItem { kind: self.kind.clone(), name: format!("{database}.{}", self.name), bytes: self.bytes }
    }
}

/// Tables and procedures in this database whose names begin as Dyno's do.
const OBJECTS: &str =
    "SELECT 'table', TABLE_NAME, TABLE_COMMENT, DATA_LENGTH + INDEX_LENGTH FROM information_schema.TABLES
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME LIKE 'dyno\\_%'
     UNION ALL SELECT 'procedure', ROUTINE_NAME, ROUTINE_COMMENT, NULL FROM information_schema.ROUTINES
     WHERE ROUTINE_SCHEMA = DATABASE() AND ROUTINE_NAME LIKE 'dyno\\_%'";

/// Everything in this database whose name begins as Dyno's do.
pub(super) fn objects(connection: &mut Connection) -> Result<Vec<Object>, TargetError> {
    let rows = connection.simple(OBJECTS)?;
    Ok(rows.iter().filter_map(object).collect())
}

fn object(row: &Row) -> Option<Object> {
    Some(Object {
        kind: row.get(0)?.to_owned(),
        name: row.get(1)?.to_owned(),
        mark: row.get(2).unwrap_or_default().to_owned(),
        bytes: row.parse(3),
    })
}

/// Whether `objects` hold the table `name` with a mark of Dyno's.
pub(super) fn has_table(objects: &[Object], name: &str) -> bool {
    objects.iter().any(|o| o.kind == "table" && o.name == name && o.mark.starts_with(MARK))
}

/// Whether there is nothing of Dyno's but metadata tables: a load that was killed before it described itself has left them, or a
/// drop just before its end. Nothing has been loaded, or nothing of it is left.
fn is_metadata_alone(objects: &[Object]) -> bool {
    let is_metadata = |object: &Object| META_TABLES.iter().any(|(name, _)| *name == object.name);
    objects.iter().filter(|object| object.mark.starts_with(MARK)).all(is_metadata)
}

/// Reads the metadata; `None` if there is none of Dyno's that describes anything.
pub(super) fn read(connection: &mut Connection) -> Result<Option<Found>, TargetError> {
    let objects = objects(connection)?;
    if !has_table(&objects, "dyno_objects") {
        return Ok(None);
    }
    let is_described = has_table(&objects, "dyno_meta");
    if !is_described && is_metadata_alone(&objects) {
        return Ok(None);
    }
    if !is_described {
        return Err(broken("dyno_meta is not there"));
    }
    let rows = connection.simple("SELECT name, value FROM dyno_meta")?;
    let meta: HashMap<&str, &str> = rows.iter().filter_map(|row| Some((row.get(0)?, row.get(1)?))).collect();
    match meta.get("format") {
        None if meta.is_empty() && is_metadata_alone(&objects) => return Ok(None),
        Some(&FORMAT) => {}
        Some(other) => {
            return Err(broken(format!("its format is {other:?} and this version of Dyno knows {FORMAT}")));
        }
        None => return Err(broken("dyno_meta names no format")),
    }
    let spec = spec(&meta)?;
    let mark = meta.get("mark").copied().unwrap_or_default().to_owned();
    let chunk_rows = connection.simple("SELECT kind, number, first, row_count FROM dyno_chunks")?;
    let chunks =
        chunk_rows.iter().filter_map(|row| Some((row.get(0)?.to_owned(), row.parse(1)?, row.parse(2)?)));
    let there = objects.iter().filter(|object| object.mark == mark);
    let there: HashSet<_> = there.map(|object| (object.kind.clone(), object.name.clone())).collect();
    let state = match meta.get("finished_at") {
        Some(at) => {
            missing(&spec, &there)?;
            DataState::Loaded { tables: facts(connection)?, spec, at: (*at).to_owned() }
        }
        None => DataState::Partial {
            spec,
            since: meta.get("started_at").copied().unwrap_or_default().to_owned(),
            rows: chunk_rows.iter().filter_map(|row| row.parse::<u64>(3)).sum(),
        },
    };
    Ok(Some(Found { state, mark, chunks: chunks.collect(), objects: there }))
}

fn spec(meta: &HashMap<&str, &str>) -> Result<DataSpec, TargetError> {
    fn number<T: std::str::FromStr>(meta: &HashMap<&str, &str>, name: &str) -> Result<T, TargetError> {
        let text = meta.get(name).ok_or_else(|| broken(format!("{name} is missing")))?;
        text.parse().map_err(|_| broken(format!("{name} is {text:?}")))
    }
    let block_size = number(meta, "block_size")?;
    let shape = Shape::of(block_size)?;
    let (column_bytes, pad_bytes) = (number(meta, "column_bytes")?, number(meta, "pad_bytes")?);
    if (shape.column_bytes, shape.pad_bytes) != (column_bytes, pad_bytes) {
        return Err(broken(format!(
            "its rows have columns of {column_bytes} and a pad of {pad_bytes} bytes, which this version does not make"
        )));
    }
    Ok(DataSpec {
        schemas: number(meta, "schemas")?,
        rows: number(meta, "rows")?,
        scan_rows: number(meta, "scan_rows")?,
        block_size,
        compressible: number(meta, "compressible")?,
        seed: number(meta, "seed")?,
        // Loads of older versions have none, and do not say so.
        secondary: meta.contains_key(SECONDARY) && number(meta, SECONDARY)?,
    })
}

/// Fails if a table of the load is not there any more, or is another one.
fn missing(spec: &DataSpec, there: &HashSet<(String, String)>) -> Result<(), TargetError> {
    let tables = Table::all(spec);
    match tables.iter().find(|table| !there.contains(&("table".to_owned(), table.name()))) {
        Some(table) => {
            let name = table.name();
            Err(broken(format!("table {name} is not there any more, or not the one that was loaded")))
        }
        None => Ok(()),
    }
}

/// What was measured of each table when the load was finished.
fn facts(connection: &mut Connection) -> Result<Vec<SchemaFacts>, TargetError> {
    let rows = connection.simple(
        "SELECT kind, number, name, row_count, pages, bytes FROM dyno_tables ORDER BY kind, number",
    )?;
    rows.iter().map(|row| fact(row).ok_or_else(|| broken("a row of dyno_tables cannot be read"))).collect()
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

/// Statements that note what was measured and that the load is finished, as one transaction.
pub(super) fn finish_sql(measured: &[SchemaFacts]) -> String {
    let mut sql = String::from("START TRANSACTION; DELETE FROM dyno_tables; ");
    for facts in measured {
        let SchemaFacts { kind, schema, rows, blocks, bytes, .. } = facts;
        let (kind, name) = (literal(kind), literal(&facts.table));
        sql.push_str(&format!(
            "INSERT INTO dyno_tables VALUES ({kind}, {schema}, {name}, {rows}, {blocks}, {bytes}); "
        ));
    }
    format!("{sql}INSERT INTO dyno_meta VALUES ('finished_at', {NOW}); COMMIT")
}
