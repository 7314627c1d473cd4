//! Completes a load after the rows are written: builds indexes, gathers statistics, measures tables and
//! records the end.

use oracledb::ToDbValue;

use super::super::connection::OracleConnection;
use super::super::sql;
use super::session::{OracleLoadContext, explain};
use super::tables::{TestTable, dictionary_name, indexes};
use super::verify::measure;
use dyno_engine::{SchemaFacts, TargetError};

/// Builds the indexes that do not exist yet.
pub(super) fn index(loading: &OracleLoadContext<'_>) -> Result<(), TargetError> {
    let tables: Vec<TestTable> = loading.tables.iter().filter(|table| table.has_keys()).copied().collect();
    let config = loading.loaders.0;
    let logging = if config.index_nologging { "NOLOGGING" } else { "LOGGING" };
    let clause = config.tablespace_clause();
    loading.each_table(&tables, "index", |connection, table| {
        for (index, column) in indexes(table, loading.spec) {
            let name = index.to_uppercase();
            if !connection.rows(&sql::INDEX_THERE.text(), &[("index_name", &name)])?.is_empty() {
                continue;
            }
            let create = sql::CREATE_INDEX.with(&[
                ("index", &index),
                ("table", &table.name()),
                ("column", column),
                ("tablespace", &clause),
                ("logging", logging),
            ]);
            let doing = format!("index {name} cannot be built");
            connection.run(&create, &[]).map_err(|error| explain(error, &doing, config))?;
        }
        Ok(())
    })
}

/// Gathers and locks the optimizer's statistics.
pub(super) fn statistics(loading: &OracleLoadContext<'_>) -> Result<(), TargetError> {
    loading.each_table(&loading.tables, "statistics", |connection, table| {
        let name = dictionary_name(table);
        let doing = format!("statistics of {name} cannot be gathered");
        let gathered = connection.run(&sql::GATHER_STATISTICS.text(), &[("table_name", &name)]);
        gathered.map(|_| ()).map_err(|error| explain(error, &doing, loading.loaders.0))
    })
}

/// Measures every table, returns an error if one does not match the spec, and records the results and the end
/// of the load.
pub(super) fn verify(
    control: &OracleConnection,
    loading: &OracleLoadContext<'_>,
) -> Result<Vec<SchemaFacts>, TargetError> {
    let facts = loading.measure(|connection, table| measure(connection, loading.spec, table))?;
    note(control, &facts)
        .map_err(|error| explain(error, "the end of the load cannot be recorded", loading.loaders.0))?;
    Ok(facts)
}

/// Records measurements and the end of the load in one transaction.
fn note(control: &OracleConnection, measured: &[SchemaFacts]) -> Result<(), TargetError> {
    control.run(&sql::CLEAR_TABLES.text(), &[])?;
    for facts in measured {
        let SchemaFacts { kind, schema, table, rows, blocks, bytes } = facts;
        let binds: [(&str, &dyn ToDbValue); 6] = [
            ("kind", kind),
            ("schema_no", schema),
            ("name", table),
            ("row_count", rows),
            ("blocks", blocks),
            ("bytes", bytes),
        ];
        control.run(&sql::NOTE_TABLE.text(), &binds)?;
    }
    control.run(&sql::NOTE_META_NOW.text(), &[("name", &"finished_at")])?;
    control.commit()
}
