//! Everything a load fills, created empty in one transaction: after a crash either all of it is there and recorded, or
//! nothing.

use std::collections::HashSet;

use dyno_plan::DataSpec;

use super::super::connect::ConnectConfig;
use super::super::ops::slice_sql;
use super::super::wire::Connection;
use super::meta::{CREATE_META, META_TABLES, describe_sql, record_relation_sql, record_sql};
use super::quote::literal;
use super::session::explain;
use super::tables::{SCHEMA, Table};
use dyno_engine::error::TargetError;

/// Full name and `CREATE` statement of every procedure.
fn procedures(spec: &DataSpec) -> impl Iterator<Item = (String, String)> {
    (1..=spec.schemas).flat_map(|schema| slice_sql(spec, schema))
}

/// The statements that create a procedure and record it.
fn making(name: &str, sql: &str) -> [String; 2] {
    let oid = format!("{}::regproc", literal(name));
    let record = record_sql("procedure", name.trim_start_matches("dyno."), &oid);
    [sql.trim_end().trim_end_matches(';').to_owned(), record]
}

/// Creates and records the procedures that a load of an older version has not made.
pub(super) fn complete(
    connection: &mut Connection,
    spec: &DataSpec,
    config: &ConnectConfig,
) -> Result<(), TargetError> {
    let rows = connection.simple("SELECT 'dyno.' || name FROM dyno.objects WHERE kind = 'procedure'")?;
    let there: HashSet<&str> = rows.iter().filter_map(|row| row.get(0)).collect();
    let missing: Vec<_> = procedures(spec).filter(|(name, _)| !there.contains(name.as_str())).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let statements: Vec<_> = missing.iter().flat_map(|(name, sql)| making(name, sql)).collect();
    connection
        .simple(&statements.join(";\n"))
        .map(|_| ())
        .map_err(|error| explain(error, &format!("procedures of schema {SCHEMA} cannot be created"), config))
}

/// Creates and records schema, metadata and empty tables of `spec`.
pub(super) fn create(
    connection: &mut Connection,
    spec: &DataSpec,
    dyno_version: &str,
    config: &ConnectConfig,
) -> Result<(), TargetError> {
    let there = connection.simple(&format!("SELECT FROM pg_namespace WHERE nspname = '{SCHEMA}'"))?;
    let make_schema = there.is_empty();
    let mut statements = Vec::new();
    if make_schema {
        statements.push(format!("CREATE SCHEMA {SCHEMA}"));
    }
    statements.push(CREATE_META.trim_end_matches(';').to_owned());
    if make_schema {
        statements.push(record_sql("schema", SCHEMA, &format!("'{SCHEMA}'::regnamespace")));
    }
    statements.extend(META_TABLES.iter().map(|name| record_relation_sql("table", name)));
    statements.push(describe_sql(spec, dyno_version));
    for table in Table::all(spec) {
        statements.push(table.create_sql());
        statements.push(record_relation_sql("table", &table.name()));
    }
    statements.extend(procedures(spec).flat_map(|(name, sql)| making(&name, &sql)));
    // One simple query is one transaction.
    connection
        .simple(&statements.join(";\n"))
        .map(|_| ())
        .map_err(|error| explain(error, &format!("schema {SCHEMA} and its tables cannot be created"), config))
}
