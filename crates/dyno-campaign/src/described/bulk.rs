//! Handles a table that a run loads: empties it before the run; afterwards indexes it, flushes it to disk and
//! counts its rows.

use std::time::Instant;

use dyno_engine::{ObjectKind, Target, TargetError};
use dyno_record::BulkLoadResult;
use dyno_workload::custom::{CustomBulkLoad, CustomWorkload, DescribedTable};

use super::{create, finish, state_tables};

/// Recreates the table that `workload` loads, and the tables that are emptied before each run. Then flushes
/// pending writes, so that those of one run do not fall into the next.
///
/// # Errors
/// The database refuses it, or the engine does not support such tables.
pub(crate) fn make_empty(target: &dyn Target, workload: &CustomWorkload) -> Result<(), TargetError> {
    for table in workload.tables().iter().filter(|table| table.is_emptied()) {
        recreate_table(target, table)?;
        create_indexes(target, table)?;
    }
    let Some(bulk) = workload.bulk() else { return Ok(()) };
    let table = bulk.described();
    recreate_table(target, table)?;
    if table.is_indexed_first() {
        create_indexes(target, table)?;
    }
    // If this user may not flush, the record says so after the run.
    let _ = flush_table(target, table);
    bulk.begin();
    Ok(())
}

/// Recreates a table without rows and indexes.
fn recreate_table(target: &dyn Target, table: &DescribedTable) -> Result<(), TargetError> {
    for there in target.find(ObjectKind::Table, &[table.name()])? {
        state_tables::execute_all(target, &[target.table_words().drop_table(&there.name)])?;
    }
    create::create(target, table)
}

/// Creates keys and indexes that were not created with the table.
fn create_indexes(target: &dyn Target, table: &DescribedTable) -> Result<(), TargetError> {
    let statements: Vec<String> =
        table.indexes(&target.table_words()).into_iter().map(|index| index.sql).collect();
    state_tables::execute_all(target, &statements).map_err(|error| create::error_at_table(table, error))
}

/// Flushes the table to disk; returns the duration, s.
fn flush_table(target: &dyn Target, table: &DescribedTable) -> Result<f64, TargetError> {
    let statements = (target.table_words().settle)(table.name());
    let texts: Vec<&str> = statements.iter().map(String::as_str).collect();
    let began = Instant::now();
    target.script(&texts, &mut |_| Ok(()))?;
    Ok(began.elapsed().as_secs_f64())
}

/// Completes the load of `workload`, whose rows the run has `measured`: creates indexes, flushes the table
/// and counts its rows.
pub(crate) fn complete_bulk_load(
    target: &dyn Target,
    workload: &CustomWorkload,
    measured: &mut BulkLoadResult,
) {
    let Some(bulk) = workload.bulk() else { return };
    let table = bulk.described();
    if measured.indexes.1 > 0 {
        let began = Instant::now();
        measured.indexed_s = create_indexes(target, table)
            .map(|()| began.elapsed().as_secs_f64())
            .map_err(|error| error.to_string());
    } else {
        measured.indexed_s = Err("no index is created after the rows".to_owned());
    }
    measured.durable_by = (target.table_words().settle)(table.name()).join("; ");
    measured.durable_s = match (target.capabilities().ephemeral, table.is_logged()) {
        (true, _) => Err("a database in memory is not on disk".to_owned()),
        (_, false) => Err(
            "the table was loaded without logging: after a crash its rows are lost or cannot be recovered"
                .to_owned(),
        ),
        _ => flush_table(target, table).map_err(|error| error.to_string()),
    };
    count_rows(target, bulk, measured);
}

/// Counts the rows, and compares a complete load with its description.
fn count_rows(target: &dyn Target, bulk: &CustomBulkLoad, measured: &mut BulkLoadResult) {
    match finish::check_table(target, bulk.described()) {
        Ok((count, wrong)) => {
            measured.counted =
                count.parse().map_err(|_| format!("the database returned {count:?} as the number of rows"));
            if measured.is_whole() {
                let words = |(what, there, wanted)| format!("{what} is {there}, and has to be {wanted}");
                measured.wrong = wrong.into_iter().map(words).collect();
            }
        }
        Err(error) => measured.counted = Err(error.to_string()),
    }
}
