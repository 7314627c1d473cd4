//! Everything a load fills, created empty. Each object is recorded before it is made, so whatever a crash leaves behind is
//! known.

use dyno_plan::DataSpec;

use super::super::connect::ConnectConfig;
use super::super::ops::slice_sql;
use super::super::wire::Connection;
use super::loading::Loading;
use super::meta::{self, Found, MARK, META_TABLES, describe_sql, record_sql};
use super::quote::literal;
use super::session::explain;
use super::tables::Shape;
use dyno_engine::data::mix;
use dyno_engine::error::TargetError;

/// Creates the metadata and describes `spec` in it.
pub(super) fn metadata(
    connection: &mut Connection,
    spec: &DataSpec,
    shape: Shape,
    dyno_version: &str,
    config: &ConnectConfig,
) -> Result<(), TargetError> {
    let mark = fresh_mark();
    let mut make = |sql: &str| {
        let made = connection.simple(sql).map(|_| ());
        made.map_err(|error| explain(error, "Dyno's metadata tables cannot be created", config))
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
    make(&describe_sql(spec, shape, &mark, dyno_version))
}

/// A comment that no other load has: of the moment, this process and its randomness of addresses.
fn fresh_mark() -> String {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // The low half of the nanoseconds is what differs.
    let number = mix(since_epoch.as_nanos() as u64 ^ mix(u64::from(std::process::id())));
    format!("{MARK}{number:016x}")
}

/// Creates the tables and procedures that are not there yet.
pub(super) fn tables(
    connection: &mut Connection,
    loading: &Loading<'_>,
    found: &Found,
) -> Result<(), TargetError> {
    let Loading { config, spec, shape, tables, .. } = *loading;
    let tables = tables.iter().map(|table| ("table", table.name(), table.create_sql(shape, &found.mark)));
    make(connection, tables, found, config)?;
    procedures(connection, spec, shape, found, config)
}

/// Creates the procedures that are not there yet, such as those that a load of an older version has not made.
pub(super) fn procedures(
    connection: &mut Connection,
    spec: &DataSpec,
    shape: Shape,
    found: &Found,
    config: &ConnectConfig,
) -> Result<(), TargetError> {
    let procedures = (1..=spec.schemas)
        .flat_map(|schema| slice_sql(schema, shape, &found.mark))
        .map(|(name, sql)| ("procedure", name, sql));
    make(connection, procedures, found, config)
}

/// Records and creates the objects that are not there yet: kind, name and statement of each.
fn make(
    connection: &mut Connection,
    objects: impl Iterator<Item = (&'static str, String, String)>,
    found: &Found,
    config: &ConnectConfig,
) -> Result<(), TargetError> {
    for (kind, name, sql) in objects {
        if found.objects.contains(&(kind.to_owned(), name.clone())) {
            continue;
        }
        connection
            .simple(&meta::record_sql(kind, &name, &found.mark))
            .and_then(|_| connection.simple(&sql))
            .map_err(|error| explain(error, &format!("{kind} {name} cannot be created"), config))?;
    }
    Ok(())
}
