//! Everything a load fills, created empty. Each object is recorded before it is made, so whatever a crash leaves behind is
//! known.

use dyno_plan::DataSpec;

use super::super::connect::ConnectConfig;
use super::super::connection::Connection;
use super::super::sql::{self, Statement};
use super::meta::{FORMAT, Found, MARK, SECONDARY};
use super::rows::Loading;
use super::session::explain;
use super::tables::Table;
use dyno_engine::data::mix;
use dyno_engine::error::TargetError;

/// The metadata tables in the order of their creation.
pub(super) const META_TABLES: [(&str, Statement); 4] = [
    ("dyno_objects", sql::CREATE_OBJECTS),
    ("dyno_meta", sql::CREATE_META),
    ("dyno_chunks", sql::CREATE_CHUNKS),
    ("dyno_tables", sql::CREATE_TABLES),
];

/// Creates the metadata and describes `spec` in it.
pub(super) fn metadata(
    connection: &Connection,
    config: &ConnectConfig,
    spec: &DataSpec,
    dyno_version: &str,
) -> Result<(), TargetError> {
    let mark = fresh_mark();
    let clause = config.tablespace_clause();
    let made = || -> Result<(), TargetError> {
        for (i, (name, create)) in META_TABLES.iter().enumerate() {
            // The first one is what others are recorded in.
            if i > 0 {
                record(connection, name, &mark)?;
            }
            connection.run(&create.with(&[("tablespace", &clause)]), &[])?;
            comment(connection, name, &mark)?;
            if i == 0 {
                record(connection, name, &mark)?;
            }
        }
        describe(connection, spec, &mark, dyno_version)
    };
    made().map_err(|error| explain(error, "Dyno's metadata tables cannot be created", config))
}

fn describe(
    connection: &Connection,
    spec: &DataSpec,
    mark: &str,
    dyno_version: &str,
) -> Result<(), TargetError> {
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
        ("dyno_version", dyno_version.to_owned()),
    ];
    for (name, value) in &pairs {
        connection.run(&sql::NOTE_META.text(), &[("name", name), ("value", value)])?;
    }
    connection.run(&sql::NOTE_META_NOW.text(), &[("name", &"started_at")])?;
    connection.commit()
}

/// A comment that no other load has: of the moment and this process.
fn fresh_mark() -> String {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // The low half of the nanoseconds is what differs.
    let number = mix(since_epoch.as_nanos() as u64 ^ mix(u64::from(std::process::id())));
    format!("{MARK}{number:016x}")
}

/// Notes for good that table `name` is about to be made.
fn record(connection: &Connection, name: &str, mark: &str) -> Result<(), TargetError> {
    let name = name.to_uppercase();
    connection.run(&sql::FORGET_OBJECT.text(), &[("kind", &"table"), ("name", &name)])?;
    connection.run(&sql::NOTE_OBJECT.text(), &[("kind", &"table"), ("name", &name), ("mark", &mark)])?;
    connection.commit()
}

/// Marks table `name` as finished. A mark is made of letters, digits and spaces only.
fn comment(connection: &Connection, name: &str, mark: &str) -> Result<(), TargetError> {
    debug_assert!(mark.bytes().all(|b| b.is_ascii_alphanumeric() || b == b' '));
    connection.run(&sql::COMMENT.with(&[("table", name), ("mark", mark)]), &[]).map(|_| ())
}

/// Creates the tables that are not there yet. One that was begun and not finished is made anew.
pub(super) fn tables(
    connection: &Connection,
    loading: &Loading<'_>,
    found: &Found,
) -> Result<(), TargetError> {
    for table in loading.tables.iter().filter(|table| !found.has(&table.dictionary_name())) {
        if found.unfinished.contains(&table.dictionary_name()) {
            connection.run(&sql::DROP_TABLE.with(&[("table", &table.name())]), &[])?;
        }
        create(connection, table, loading, &found.mark).map_err(|error| {
            explain(error, &format!("table {} cannot be created", table.name()), loading.config)
        })?;
    }
    Ok(())
}

fn create(
    connection: &Connection,
    table: &Table,
    loading: &Loading<'_>,
    mark: &str,
) -> Result<(), TargetError> {
    let name = table.name();
    let (columns, clause) = (table.column_definitions(loading.spec), loading.config.tablespace_clause());
    record(connection, &name, mark)?;
    connection.run(
        &sql::CREATE_TABLE.with(&[("table", &name), ("columns", &columns), ("tablespace", &clause)]),
        &[],
    )?;
    comment(connection, &name, mark)
}
