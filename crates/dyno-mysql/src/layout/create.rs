//! Everything a load fills, created empty. Each object is recorded before it is made, so whatever a crash leaves behind is
//! known.

use super::super::ops::slice_sql;
use super::super::wire::Connection;
use super::meta::{Found, META_TABLES, describe_sql, record_sql};
use super::quote::literal;
use super::session::{Loading, explain};
use super::tables::{Shape, create_sql};
use dyno_engine::TargetError;
use dyno_engine::layout::fresh_mark;

/// Creates the metadata and describes the spec in it.
pub(super) fn metadata(
    connection: &mut Connection,
    loading: &Loading<'_>,
    shape: Shape,
) -> Result<(), TargetError> {
    let mark = fresh_mark();
    let mut make = |sql: &str| {
        let made = connection.simple(sql).map(|_| ());
        made.map_err(|error| explain(error, "Dyno's metadata tables cannot be created", loading.loaders.0))
    };
    for (i, (name, columns)) in META_TABLES.iter().enumerate() {
        let create = format!(
            "CREATE TABLE {name} ({columns}) ENGINE=InnoDB CHARACTER SET ascii COLLATE ascii_bin COMMENT={}",
            literal(&mark)
        );
        // The first one is what others are recorded in.
        if i == 0 {
            make(&create)?;
            make(&record_sql("table", name, &mark))?;
        } else {
            make(&record_sql("table", name, &mark))?;
            make(&create)?;
        }
    }
    make(&describe_sql(loading.spec, shape, &mark, &loading.options.dyno_version))
}

/// Creates the tables and procedures that are not there yet, such as those that a load of an older version has not made.
pub(super) fn complete(
    connection: &mut Connection,
    loading: &Loading<'_>,
    shape: Shape,
    found: &Found,
) -> Result<(), TargetError> {
    let mark = &found.mark;
    let tables = loading.tables.iter().map(|table| ("table", table.name(), create_sql(table, shape, mark)));
    let procedures = (1..=loading.spec.schemas).flat_map(|schema| slice_sql(schema, shape, mark));
    let procedures = procedures.map(|(name, sql)| ("procedure", name, sql));
    for (kind, name, sql) in tables.chain(procedures) {
        if found.objects.contains(&(kind.to_owned(), name.clone())) {
            continue;
        }
        connection.simple(&record_sql(kind, &name, mark)).and_then(|_| connection.simple(&sql)).map_err(
            |error| explain(error, &format!("{kind} {name} cannot be created"), loading.loaders.0),
        )?;
    }
    Ok(())
}
