//! The data describes itself: what was loaded, by which version, how far, and which objects are Dyno's.
//!
//! `dyno_meta` holds the spec as name and value, `dyno_objects` every object, `dyno_chunks` the chunks that are there for
//! good, and `dyno_tables` what was measured after the load. MySQL's statements that create or drop cannot be taken back, so
//! each object is recorded before it is made. Every object carries the load's mark as its comment, so one that somebody
//! else made under an old name is never taken for ours.

use std::collections::HashSet;

use dyno_plan::DataSpec;

use super::super::wire::{MySqlConnection, TextRow};
use super::quote::literal;
use super::tables::{MySqlRowShape, tables};
use dyno_engine::layout::{LayoutMetadata, MARK, MetadataLocation, chunks, pairs};
use dyno_engine::{DataState, DropItem, SchemaFacts, TargetError};

/// Where it is, in the version of this layout; another one is neither run nor resumed, only dropped.
const HOME: MetadataLocation = MetadataLocation {
    place: "(dyno_meta and its kin)",
    meta: "dyno_meta",
    tables: "dyno_tables",
    format: "2",
};

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
pub(super) fn describe_sql(spec: &DataSpec, shape: MySqlRowShape, mark: &str, dyno_version: &str) -> String {
    let mut all = pairs(spec, HOME.format, dyno_version);
    all.push(("mark", mark.to_owned()));
    all.push(("column_bytes", shape.column_bytes.to_string()));
    all.push(("pad_bytes", shape.pad_bytes.to_string()));
    let values: String =
        all.iter().map(|(name, value)| format!("({}, {}), ", literal(name), literal(value))).collect();
    format!("INSERT INTO dyno_meta VALUES {values}('started_at', {NOW})")
}

/// What is there, and whatever a resuming load needs to know beside it.
#[derive(Debug)]
pub(super) struct MySqlLoadedLayout {
    /// As users see it.
    pub(super) state: DataState,
    /// The comment of every object of this load.
    pub(super) mark: String,
    /// Chunks that are there for good: kind, schema, first position.
    pub(super) chunks: HashSet<(String, u32, u64)>,
    /// Tables and procedures that are there, by kind and name.
    pub(super) objects: HashSet<(String, String)>,
}

/// One table or procedure of this database: kind, name, comment, bytes.
#[derive(Debug, Clone)]
pub(super) struct MySqlDatabaseObject {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) mark: String,
    pub(super) bytes: Option<u64>,
}

impl MySqlDatabaseObject {
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
pub(super) fn objects(connection: &mut MySqlConnection) -> Result<Vec<MySqlDatabaseObject>, TargetError> {
    let rows = connection.simple(OBJECTS)?;
    Ok(rows.iter().filter_map(object).collect())
}

fn object(row: &TextRow) -> Option<MySqlDatabaseObject> {
    Some(MySqlDatabaseObject {
        kind: row.get(0)?.to_owned(),
        name: row.get(1)?.to_owned(),
        mark: row.get(2).unwrap_or_default().to_owned(),
        bytes: row.parse(3),
    })
}

/// Whether `objects` hold the table `name` with a mark of Dyno's.
pub(super) fn has_table(objects: &[MySqlDatabaseObject], name: &str) -> bool {
    objects.iter().any(|o| o.kind == "table" && o.name == name && o.mark.starts_with(MARK))
}

/// Whether there is nothing of Dyno's but metadata tables: a load that was killed before it described itself has left them, or a
/// drop just before its end. Nothing has been loaded, or nothing of it is left.
fn is_metadata_alone(objects: &[MySqlDatabaseObject]) -> bool {
    let is_metadata = |object: &MySqlDatabaseObject| META_TABLES.iter().any(|(name, _)| *name == object.name);
    objects.iter().filter(|object| object.mark.starts_with(MARK)).all(is_metadata)
}

/// Reads the metadata; `None` if there is none of Dyno's that describes anything.
pub(super) fn read(connection: &mut MySqlConnection) -> Result<Option<MySqlLoadedLayout>, TargetError> {
    let objects = objects(connection)?;
    if !has_table(&objects, "dyno_objects") {
        return Ok(None);
    }
    let is_described = has_table(&objects, "dyno_meta");
    if !is_described && is_metadata_alone(&objects) {
        return Ok(None);
    }
    if !is_described {
        return Err(HOME.broken("dyno_meta does not exist"));
    }
    let rows = connection.simple("SELECT name, value FROM dyno_meta")?;
    let notes = LayoutMetadata::new(&HOME, &rows);
    if notes.is_empty() && is_metadata_alone(&objects) {
        return Ok(None);
    }
    let spec = notes.spec()?;
    check_shape(&notes, &spec)?;
    let mark = notes.text("mark");
    let (chunks, rows) =
        chunks(&connection.simple("SELECT kind, number, first, row_count FROM dyno_chunks")?);
    let marked = objects.iter().filter(|object| object.mark == mark);
    let object_names: HashSet<_> = marked.map(|object| (object.kind.clone(), object.name.clone())).collect();
    let state = notes.state(spec, rows, |spec| {
        check_tables_exist(spec, &object_names)?;
        HOME.facts(&connection.simple(
            "SELECT kind, number, name, row_count, pages, bytes FROM dyno_tables ORDER BY kind, number",
        )?)
    })?;
    Ok(Some(MySqlLoadedLayout { state, mark, chunks, objects: object_names }))
}

/// Fails if rows are of another shape than this version makes.
fn check_shape(notes: &LayoutMetadata<'_>, spec: &DataSpec) -> Result<(), TargetError> {
    let shape = MySqlRowShape::of(spec.block_size)?;
    let (column_bytes, pad_bytes) = (notes.number("column_bytes")?, notes.number("pad_bytes")?);
    if (shape.column_bytes, shape.pad_bytes) == (column_bytes, pad_bytes) {
        return Ok(());
    }
    Err(HOME.broken(format!(
        "its rows have columns of {column_bytes} and a pad of {pad_bytes} bytes, which this version does \
        not create"
    )))
}

/// Fails if a table of the load is not there any more, or is another one.
fn check_tables_exist(spec: &DataSpec, object_names: &HashSet<(String, String)>) -> Result<(), TargetError> {
    let mut names = tables(spec).into_iter().map(|table| table.name());
    match names.find(|name| !object_names.contains(&("table".to_owned(), name.clone()))) {
        Some(name) => {
            Err(HOME.broken(format!("table {name} no longer exists, or is not the one that was loaded")))
        }
        None => Ok(()),
    }
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
