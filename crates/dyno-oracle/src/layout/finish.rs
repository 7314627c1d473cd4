//! What comes after the rows: index, statistics, measuring, and the note that all is done.

use std::sync::{Mutex, PoisonError};

use oracledb::ToDbValue;

use super::super::connection::Connection;
use super::super::sql;
use super::rows::Loading;
use super::session::explain;
use super::tables::{Index, Table};
use super::verify::measure;
use dyno_engine::error::TargetError;
use dyno_engine::load::SchemaFacts;

/// Builds the indexes that are not there yet.
pub(super) fn index(loading: &Loading<'_>) -> Result<(), TargetError> {
    let of = |table: &Table| table.indexes(loading.spec).into_iter().map(|index| (*table, index)).collect();
    let all: Vec<(Table, Index)> = loading.tables.iter().flat_map(|table| -> Vec<_> { of(table) }).collect();
    loading.progress.phase("index", all.iter().map(|(table, _)| table.rows).sum());
    let logging = if loading.config.index_nologging { "NOLOGGING" } else { "LOGGING" };
    let clause = loading.config.tablespace_clause();
    loading.each(all.len(), &|connection, job| {
        let (table, index) = &all[job];
        let name = index.dictionary_name();
        let there = connection.rows(&sql::INDEX_THERE.text(), &[("index_name", &name)])?;
        if there.is_empty() {
            let create = sql::CREATE_INDEX.with(&[
                ("index", &index.name),
                ("table", &table.name()),
                ("column", index.column),
                ("tablespace", &clause),
                ("logging", logging),
            ]);
            connection
                .run(&create, &[])
                .map_err(|error| explain(error, &format!("index {name} cannot be built"), loading.config))?;
        }
        loading.progress.advance(table.rows, 0);
        Ok(())
    })
}

/// Gathers the optimizer's statistics, and locks them.
pub(super) fn statistics(loading: &Loading<'_>) -> Result<(), TargetError> {
    loading.progress.phase("statistics", loading.spec.total_rows());
    loading.each(loading.tables.len(), &|connection, job| {
        let table = loading.tables[job];
        let name = table.dictionary_name();
        connection.run(&sql::GATHER_STATISTICS.text(), &[("table_name", &name)]).map_err(|error| {
            explain(error, &format!("statistics of {name} cannot be gathered"), loading.config)
        })?;
        loading.progress.advance(table.rows, 0);
        Ok(())
    })
}

/// Measures every table, fails if one is not what it shall be, and notes the facts and the end of the load.
pub(super) fn verify(control: &Connection, loading: &Loading<'_>) -> Result<Vec<SchemaFacts>, TargetError> {
    loading.progress.phase("verify", loading.spec.total_rows());
    let measured = Mutex::new(Vec::new());
    loading.each(loading.tables.len(), &|connection, job| {
        let table = loading.tables[job];
        let facts = measure(connection, loading.spec, &table)?;
        loading.progress.advance(facts.rows, 0);
        measured.lock().unwrap_or_else(PoisonError::into_inner).push((table, facts));
        Ok(())
    })?;
    let mut measured = measured.into_inner().unwrap_or_else(PoisonError::into_inner);
    measured.sort_by_key(|(table, ..)| (table.kind, table.schema));
    let facts: Vec<SchemaFacts> = measured.into_iter().map(|(_, facts)| facts).collect();
    note(control, &facts)
        .map_err(|error| explain(error, "the end of the load cannot be noted", loading.config))?;
    Ok(facts)
}

/// Notes what was measured and that the load is finished, as one transaction.
fn note(control: &Connection, measured: &[SchemaFacts]) -> Result<(), TargetError> {
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
