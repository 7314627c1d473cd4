//! Dropping exactly what was made.

use dyno_engine::{DropItem, ObjectKind, Target, TargetError, TargetErrorKind};
use dyno_workload::own::Own;

use super::book::{self, BOOK, Entry, State};
use crate::lead::Lead;
use crate::own_data;

/// What [`take_down`] removes.
pub(crate) fn inventory(target: &dyn Target, own: &Own) -> Result<Vec<DropItem>, TargetError> {
    let Some(entry) = book::read(target, own)? else { return Ok(Vec::new()) };
    let mut all = if has_set_up(&entry) { own_data::statements(own, target) } else { Vec::new() };
    all.extend(tables(target, &entry)?);
    if entry.others == 0 {
        all.extend(target.find(ObjectKind::Table, &BOOK)?);
    }
    Ok(all)
}

/// Whether the SQL of `[setup]` was done, and that of `[drop]` was not.
fn has_set_up(entry: &Entry) -> bool {
    matches!(entry.state, State::Setup | State::Loaded)
}

/// Tables that were made and are there, the last one first.
fn tables(target: &dyn Target, entry: &Entry) -> Result<Vec<DropItem>, TargetError> {
    let names: Vec<&str> = entry.tables.iter().rev().map(String::as_str).collect();
    target.find(ObjectKind::Table, &names)
}

/// Does the SQL of `[drop]` where nobody knows how much of `[setup]` was done: what is not there cannot be dropped.
fn take_down_what_is_there(target: &dyn Target, own: &Own) -> Result<(), TargetError> {
    for statement in own.teardown(target.engine()).as_ref().map_err(own_data::misfit)? {
        match book::does(target, std::slice::from_ref(&statement.sql)) {
            Err(error) if !matches!(error.kind, TargetErrorKind::Database | TargetErrorKind::Data) => {
                return Err(error);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Does the SQL of `[drop]`, and drops the tables that were made; then the book where it tells of nothing else.
pub(crate) fn take_down(lead: &Lead<'_>, target: &dyn Target, own: &Own) -> Result<(), TargetError> {
    let Some(entry) = book::read(target, own)? else { return Ok(()) };
    match entry.state {
        State::Loaded => drop(own_data::take_down(lead, target, own)?),
        State::Setup => take_down_what_is_there(target, own)?,
        State::Rows | State::Drop => {}
    }
    if has_set_up(&entry) {
        book::turn_to(target, own, State::Drop)?;
    }
    for table in tables(target, &entry)? {
        book::does(target, &[target.table_words().drop_table(&table.name)])?;
    }
    for table in &entry.tables {
        book::does(target, &book::forget_table(own, table))?;
    }
    book::does(target, &[book::forget(own)])?;
    if entry.others == 0 {
        for table in target.find(ObjectKind::Table, &BOOK)? {
            book::does(target, &[target.table_words().drop_table(&table.name)])?;
        }
    }
    Ok(())
}
