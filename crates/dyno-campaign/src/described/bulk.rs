//! A table that a run loads: empty before it, and behind it indexed, written to the disk for good, and counted.

use std::time::Instant;

use dyno_engine::{ObjectKind, Target, TargetError};
use dyno_record::Loaded;
use dyno_workload::own::{DescribedTable, Own, OwnBulk};

use super::{book, create, finish};

/// Makes the table that `own` loads anew, without rows, and has the database write what it still has to: nothing of the run before
/// falls into the next. So are tables that are emptied before each run, with their indexes.
///
/// # Errors
/// The database refuses it, or the engine has no such table.
pub(crate) fn make_empty(target: &dyn Target, own: &Own) -> Result<(), TargetError> {
    for table in own.tables().iter().filter(|table| table.is_emptied()) {
        anew(target, table)?;
        index(target, table)?;
    }
    let Some(bulk) = own.bulk() else { return Ok(()) };
    let table = bulk.described();
    anew(target, table)?;
    if table.is_indexed_first() {
        index(target, table)?;
    }
    // Whoever may not ask for that is told so behind the run.
    let _ = settle(target, table);
    bulk.begin();
    Ok(())
}

/// Makes a table anew, without rows and indexes.
fn anew(target: &dyn Target, table: &DescribedTable) -> Result<(), TargetError> {
    for there in target.find(ObjectKind::Table, &[table.name()])? {
        book::does(target, &[target.table_words().drop_table(&there.name)])?;
    }
    create::create(target, table)
}

/// Makes keys and indexes, as far as they are not made with the table.
fn index(target: &dyn Target, table: &DescribedTable) -> Result<(), TargetError> {
    let statements: Vec<String> =
        table.indexes(&target.table_words()).into_iter().map(|index| index.sql).collect();
    book::does(target, &statements).map_err(|error| create::at(table, error))
}

/// Does the statements after which the table is on the disk for good; the seconds that they took.
fn settle(target: &dyn Target, table: &DescribedTable) -> Result<f64, TargetError> {
    let statements = (target.table_words().settle)(table.name());
    let texts: Vec<&str> = statements.iter().map(String::as_str).collect();
    let began = Instant::now();
    target.script(&texts, &mut |_| Ok(()))?;
    Ok(began.elapsed().as_secs_f64())
}

/// Ends the load of `own`, of which the run has `measured` the rows: makes what comes behind the rows, has all of it written, and counts.
pub(crate) fn loaded(target: &dyn Target, own: &Own, measured: &mut Loaded) {
    let Some(bulk) = own.bulk() else { return };
    let table = bulk.described();
    if measured.indexes.1 > 0 {
        let began = Instant::now();
        measured.indexed_s =
            index(target, table).map(|()| began.elapsed().as_secs_f64()).map_err(|error| error.to_string());
    } else {
        measured.indexed_s = Err("there is none that comes behind the rows".to_owned());
    }
    measured.durable_by = (target.table_words().settle)(table.name()).join("; ");
    measured.durable_s = match (target.capabilities().ephemeral, table.is_logged()) {
        (true, _) => Err("a database in memory is on no disk".to_owned()),
        (_, false) => {
            Err("no log of it was written: a crash takes its rows, or leaves them beyond recovery".to_owned())
        }
        _ => settle(target, table).map_err(|error| error.to_string()),
    };
    count(target, bulk, measured);
}

/// Counts the rows, and holds a load that is whole against what was described.
fn count(target: &dyn Target, bulk: &OwnBulk, measured: &mut Loaded) {
    match finish::look(target, bulk.described()) {
        Ok((count, wrong)) => {
            measured.counted = count.parse().map_err(|_| format!("the database counts {count:?} rows"));
            if measured.is_whole() {
                let words = |(what, there, wanted)| format!("{what} is {there}, and has to be {wanted}");
                measured.wrong = wrong.into_iter().map(words).collect();
            }
        }
        Err(error) => measured.counted = Err(error.to_string()),
    }
}
