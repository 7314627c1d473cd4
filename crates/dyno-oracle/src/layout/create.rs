//! Creates all objects of a load, still empty. Each object is recorded before it is created, so that a crash
//! leaves no unknown object.

use super::super::connection::OracleConnection;
use super::super::sql::{self, OracleSqlFile};
use super::meta::{HOME, OracleLoadedLayout};
use super::session::{OracleLoadContext, explain};
use super::tables::{TestTable, column_definitions, dictionary_name};
use dyno_engine::TargetError;
use dyno_engine::layout::{fresh_mark, pairs};

/// The metadata tables in creation order.
pub(super) const META_TABLES: [(&str, OracleSqlFile); 4] = [
    ("dyno_objects", sql::CREATE_OBJECTS),
    ("dyno_meta", sql::CREATE_META),
    ("dyno_chunks", sql::CREATE_CHUNKS),
    ("dyno_tables", sql::CREATE_TABLES),
];

/// Creates the metadata tables and stores the spec in them.
pub(super) fn metadata(
    connection: &OracleConnection,
    loading: &OracleLoadContext<'_>,
) -> Result<(), TargetError> {
    let config = loading.loaders.0;
    let mark = fresh_mark();
    let clause = config.tablespace_clause();
    let made = || -> Result<(), TargetError> {
        for (i, (name, create)) in META_TABLES.iter().enumerate() {
            // The first table records the others.
            if i > 0 {
                record(connection, name, &mark)?;
            }
            connection.run(&create.with(&[("tablespace", &clause)]), &[])?;
            comment(connection, name, &mark)?;
            if i == 0 {
                record(connection, name, &mark)?;
            }
        }
        describe(connection, loading, &mark)
    };
    made().map_err(|error| explain(error, "Dyno's metadata tables cannot be created", config))
}

fn describe(
    connection: &OracleConnection,
    loading: &OracleLoadContext<'_>,
    mark: &str,
) -> Result<(), TargetError> {
    let mut all = pairs(loading.spec, HOME.format, &loading.options.dyno_version);
    all.push(("mark", mark.to_owned()));
    for (name, value) in &all {
        connection.run(&sql::NOTE_META.text(), &[("name", name), ("value", value)])?;
    }
    connection.run(&sql::NOTE_META_NOW.text(), &[("name", &"started_at")])?;
    connection.commit()
}

/// Records and commits that table `name` will be created.
fn record(connection: &OracleConnection, name: &str, mark: &str) -> Result<(), TargetError> {
    let name = name.to_uppercase();
    connection.run(&sql::FORGET_OBJECT.text(), &[("kind", &"table"), ("name", &name)])?;
    connection.run(&sql::NOTE_OBJECT.text(), &[("kind", &"table"), ("name", &name), ("mark", &mark)])?;
    connection.commit()
}

/// Marks table `name` as complete. A mark contains only letters, digits and spaces.
fn comment(connection: &OracleConnection, name: &str, mark: &str) -> Result<(), TargetError> {
    debug_assert!(mark.bytes().all(|b| b.is_ascii_alphanumeric() || b == b' '));
    connection.run(&sql::COMMENT.with(&[("table", name), ("mark", mark)]), &[]).map(|_| ())
}

/// Creates the tables that do not exist yet, and replaces those whose creation was interrupted.
pub(super) fn tables(
    connection: &OracleConnection,
    loading: &OracleLoadContext<'_>,
    found: &OracleLoadedLayout,
) -> Result<(), TargetError> {
    for table in loading.tables.iter().filter(|table| !found.has(&dictionary_name(table))) {
        if found.unfinished.contains(&dictionary_name(table)) {
            connection.run(&sql::DROP_TABLE.with(&[("table", &table.name())]), &[])?;
        }
        create(connection, table, loading, &found.mark).map_err(|error| {
            explain(error, &format!("table {} cannot be created", table.name()), loading.loaders.0)
        })?;
    }
    Ok(())
}

fn create(
    connection: &OracleConnection,
    table: &TestTable,
    loading: &OracleLoadContext<'_>,
    mark: &str,
) -> Result<(), TargetError> {
    let name = table.name();
    let (columns, clause) = (column_definitions(table, loading.spec), loading.loaders.0.tablespace_clause());
    record(connection, &name, mark)?;
    connection.run(
        &sql::CREATE_TABLE.with(&[("table", &name), ("columns", &columns), ("tablespace", &clause)]),
        &[],
    )?;
    comment(connection, &name, mark)
}
