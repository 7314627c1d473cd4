//! Creates all objects of a load, still empty, in one transaction: after a crash either all exist and are
//! recorded, or none.

use std::collections::HashSet;

use dyno_plan::DataSpec;

use super::super::ops::slice_sql;
use super::super::wire::PostgresConnection;
use super::meta::{CREATE_META, META_TABLES, describe_sql, record_relation_sql, record_sql};
use super::quote::literal;
use super::session::{PostgresLoadContext, explain};
use super::tables::{SCHEMA, create_sql};
use dyno_engine::TargetError;

/// Full name and `CREATE` statement of every procedure.
fn procedures(spec: &DataSpec) -> impl Iterator<Item = (String, String)> {
    (1..=spec.schemas).flat_map(|schema| slice_sql(spec, schema))
}

/// The statements that create a procedure and record it.
fn creation_sql(name: &str, sql: &str) -> [String; 2] {
    let oid = format!("{}::regproc", literal(name));
    let record = record_sql("procedure", name.trim_start_matches("dyno."), &oid);
    [sql.trim_end().trim_end_matches(';').to_owned(), record]
}

/// Creates and records procedures that are missing because an older version loaded the data.
pub(super) fn complete(
    connection: &mut PostgresConnection,
    loading: &PostgresLoadContext<'_>,
) -> Result<(), TargetError> {
    let rows = connection.simple("SELECT 'dyno.' || name FROM dyno.objects WHERE kind = 'procedure'")?;
    let existing: HashSet<&str> = rows.iter().filter_map(|row| row.get(0)).collect();
    let missing = procedures(loading.spec).filter(|(name, _)| !existing.contains(name.as_str()));
    let statements: Vec<_> = missing.flat_map(|(name, sql)| creation_sql(&name, &sql)).collect();
    run(connection, loading, &statements, "procedures of schema dyno cannot be created")
}

/// Creates and records schema, metadata and empty tables.
pub(super) fn create(
    connection: &mut PostgresConnection,
    loading: &PostgresLoadContext<'_>,
) -> Result<(), TargetError> {
    let schema_rows = connection.simple(&format!("SELECT FROM pg_namespace WHERE nspname = '{SCHEMA}'"))?;
    let make_schema = schema_rows.is_empty();
    let mut statements = Vec::new();
    if make_schema {
        statements.push(format!("CREATE SCHEMA {SCHEMA}"));
    }
    statements.push(CREATE_META.trim_end_matches(';').to_owned());
    if make_schema {
        statements.push(record_sql("schema", SCHEMA, &format!("'{SCHEMA}'::regnamespace")));
    }
    statements.extend(META_TABLES.iter().map(|name| record_relation_sql("table", name)));
    statements.push(describe_sql(loading.spec, &loading.options.dyno_version));
    for table in &loading.tables {
        statements.extend([create_sql(table), record_relation_sql("table", &table.plain_name())]);
    }
    statements.extend(procedures(loading.spec).flat_map(|(name, sql)| creation_sql(&name, &sql)));
    run(connection, loading, &statements, "schema dyno and its tables cannot be created")
}

/// Executes all of `statements` or none: one simple query is one transaction.
fn run(
    connection: &mut PostgresConnection,
    loading: &PostgresLoadContext<'_>,
    statements: &[String],
    otherwise: &str,
) -> Result<(), TargetError> {
    let made = connection.simple(&statements.join(";\n")).map(|_| ());
    made.map_err(|error| explain(error, otherwise, &loading.loaders.config))
}
