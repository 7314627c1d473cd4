//! Completes a load after the rows are written: builds indexes, flushes pages, measures tables and records
//! the end.

use super::super::wire::MySqlConnection;
use super::meta::finish_sql;
use super::session::{MySqlLoadContext, explain};
use super::tables::{MySqlRowShape, TestTable, indexes};
use super::verify::measure;
use dyno_engine::{SchemaFacts, TargetError};

/// Builds the indexes that do not exist yet.
pub(super) fn index(loading: &MySqlLoadContext<'_>) -> Result<(), TargetError> {
    let tables: Vec<TestTable> = loading.tables.iter().filter(|table| table.has_keys()).copied().collect();
    loading.each_table(&tables, "index", |connection, table| {
        let name = table.name();
        for (index, statements) in indexes(table, loading.spec) {
            let index_rows =
                connection.simple(&format!("SHOW INDEX FROM {name} WHERE Key_name = '{index}'"))?;
            if !index_rows.is_empty() {
                continue;
            }
            let has_column = !connection.simple(&format!("SHOW COLUMNS FROM {name} LIKE 'sec'"))?.is_empty();
            for sql in statements {
                // A load that was stopped between the two statements has already added the column.
                if has_column && sql.contains("ADD COLUMN") {
                    continue;
                }
                connection.simple(&sql).map_err(|error| {
                    explain(error, &format!("index {index} cannot be built"), &loading.loaders.config)
                })?;
            }
        }
        Ok(())
    })
}

/// Flushes the pages that the load left in the buffer pool, so that the first run does not write them. This
/// needs the privileges to lock tables and reload; without them the server flushes in the background.
pub(super) fn write_out(loading: &MySqlLoadContext<'_>) {
    loading.progress.phase("write out", 0);
    let _ = loading.each(loading.tables.len(), |connection, job| {
        let name = loading.tables[job].name();
        let _ = connection.simple(&format!("FLUSH TABLES {name} FOR EXPORT"));
        let _ = connection.simple("UNLOCK TABLES");
        Ok(())
    });
}

/// Measures every table, returns an error if one does not match the spec, and records the results and the end
/// of the load.
pub(super) fn verify(
    control: &mut MySqlConnection,
    loading: &MySqlLoadContext<'_>,
    shape: MySqlRowShape,
) -> Result<Vec<SchemaFacts>, TargetError> {
    let facts = loading.measure(|connection, table| measure(connection, loading.spec, shape, table))?;
    control
        .simple(&finish_sql(&facts))
        .map_err(|error| explain(error, "the end of the load cannot be recorded", &loading.loaders.config))?;
    Ok(facts)
}
