//! Creates all objects of a load, still empty. Each object is recorded before it is created, so that a crash
//! leaves no unknown object.

use super::super::ops::slice_sql;
use super::super::wire::MySqlConnection;
use super::meta::{META_TABLES, MySqlLoadedLayout, describe_sql, record_sql};
use super::quote::literal;
use super::session::{MySqlLoadContext, explain};
use super::tables::{MySqlRowShape, create_sql};
use dyno_engine::TargetError;
use dyno_engine::layout::fresh_mark;

/// Creates the metadata tables and stores the spec in them.
pub(super) fn metadata(
    connection: &mut MySqlConnection,
    loading: &MySqlLoadContext<'_>,
    shape: MySqlRowShape,
) -> Result<(), TargetError> {
    let mark = fresh_mark();
    let mut make = |sql: &str| {
        let made = connection.simple(sql).map(|_| ());
        made.map_err(|error| {
            explain(error, "Dyno's metadata tables cannot be created", &loading.loaders.config)
        })
    };
    for (i, (name, columns)) in META_TABLES.iter().enumerate() {
        let create = format!(
            "CREATE TABLE {name} ({columns}) ENGINE=InnoDB CHARACTER SET ascii COLLATE ascii_bin COMMENT={}",
            literal(&mark)
        );
        // The first table records the others.
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

/// Creates tables and procedures that are missing, for example because an older version did not create them.
pub(super) fn complete(
    connection: &mut MySqlConnection,
    loading: &MySqlLoadContext<'_>,
    shape: MySqlRowShape,
    found: &MySqlLoadedLayout,
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
            |error| explain(error, &format!("{kind} {name} cannot be created"), &loading.loaders.config),
        )?;
    }
    Ok(())
}
