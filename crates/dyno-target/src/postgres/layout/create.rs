//! Everything a load fills, created empty in one transaction: after a crash either all of it is there and recorded, or
//! nothing.

use dyno_plan::DataSpec;

use super::super::connect::ConnectConfig;
use super::super::ops::slice_sql;
use super::super::wire::Connection;
use super::meta::{CREATE_META, META_TABLES, describe_sql, record_relation_sql, record_sql};
use super::quote::literal;
use super::session::explain;
use super::tables::{SCHEMA, Table};
use crate::error::TargetError;

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
    for schema in 1..=spec.schemas {
        for (name, sql) in slice_sql(schema) {
            let oid = format!("{}::regproc", literal(&name));
            statements.push(sql.trim_end().trim_end_matches(';').to_owned());
            statements.push(record_sql("procedure", name.trim_start_matches("dyno."), &oid));
        }
    }
    // One simple query is one transaction.
    connection
        .simple(&statements.join(";\n"))
        .map(|_| ())
        .map_err(|error| explain(error, &format!("schema {SCHEMA} and its tables cannot be created"), config))
}
