//! What comes after the rows: index, writing out, measuring, and the note that all is done.

use super::super::wire::Connection;
use super::meta::finish_sql;
use super::session::{Loading, explain};
use super::tables::{Shape, Table, indexes};
use super::verify::measure;
use dyno_engine::{SchemaFacts, TargetError};

/// Builds the indexes that are not there yet.
pub(super) fn index(loading: &Loading<'_>) -> Result<(), TargetError> {
    let tables: Vec<Table> = loading.tables.iter().filter(|table| table.has_keys()).copied().collect();
    loading.each_table(&tables, "index", |connection, table| {
        let name = table.name();
        for (index, statements) in indexes(table, loading.spec) {
            let there = connection.simple(&format!("SHOW INDEX FROM {name} WHERE Key_name = '{index}'"))?;
            if !there.is_empty() {
                continue;
            }
            let has_column = !connection.simple(&format!("SHOW COLUMNS FROM {name} LIKE 'sec'"))?.is_empty();
            for sql in statements {
                // A load that was stopped between the two has the column already.
                if has_column && sql.contains("ADD COLUMN") {
                    continue;
                }
                connection.simple(&sql).map_err(|error| {
                    explain(error, &format!("index {index} cannot be built"), loading.loaders.0)
                })?;
            }
        }
        Ok(())
    })
}

/// Writes what the load left in the buffer pool, so that the first run does not pay for it. Only who may lock tables and
/// reload can; for others the server does it in its own time.
pub(super) fn write_out(loading: &Loading<'_>) {
    loading.progress.phase("write out", 0);
    let _ = loading.each(loading.tables.len(), |connection, job| {
        let name = loading.tables[job].name();
        let _ = connection.simple(&format!("FLUSH TABLES {name} FOR EXPORT"));
        let _ = connection.simple("UNLOCK TABLES");
        Ok(())
    });
}

/// Measures every table, fails if one is not what it shall be, and notes the facts and the end of the load.
pub(super) fn verify(
    control: &mut Connection,
    loading: &Loading<'_>,
    shape: Shape,
) -> Result<Vec<SchemaFacts>, TargetError> {
    let facts = loading.measure(|connection, table| measure(connection, loading.spec, shape, table))?;
    control
        .simple(&finish_sql(&facts))
        .map_err(|error| explain(error, "the end of the load cannot be noted", loading.loaders.0))?;
    Ok(facts)
}
