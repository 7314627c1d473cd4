//! Making and filling what is described, from where it stands.

use std::time::Instant;

use dyno_engine::{ObjectKind, Target, TargetError, TargetErrorKind};
use dyno_workload::own::Own;

use super::book::{self, Entry, State};
use super::create::create;
use super::{drop, fill, finish};
use crate::event::{Event, LoadEvent, SetUp};
use crate::lead::Lead;
use crate::own_data;

/// What may be dropped to make room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replace {
    /// Nothing.
    Nothing,
    /// What was made from another description, or with another scale.
    Others,
    /// Whatever was made for this workload.
    All,
}

/// Makes and fills the tables of `own` on `target` on so many connections, as far as they are not there, and does its setup.
///
/// # Errors
/// Something else is there; the database refuses something; or it was stopped.
pub(crate) fn load(
    lead: &Lead<'_>,
    target: &dyn Target,
    own: &Own,
    parallel: u32,
    replace: Replace,
) -> Result<SetUp, TargetError> {
    let began = Instant::now();
    let mut found = book::read(target, own)?;
    if let Some(entry) = &found {
        let is_good = entry.is_of(own) && matches!(entry.state, State::Rows | State::Loaded);
        if replace == Replace::All || (replace == Replace::Others && !is_good) {
            drop::take_down(lead, target, own)?;
            found = None;
        } else if !is_good {
            return Err(refused(entry, own));
        }
    }
    let tables = own.loaded_tables().map(|table| (table.name().to_owned(), table.rows())).collect();
    let mut done = SetUp { name: own.name().to_owned(), tables, ..SetUp::default() };
    if let Some(entry) = &found
        && entry.state == State::Loaded
    {
        super::require::all_there(target, own)?;
        done.already = true;
    } else {
        make(target, own, found.as_ref())?;
        let filled = fill::fill(lead, target, own, parallel);
        lead.tell(Event::Load(LoadEvent::Over));
        done.rows_written = filled?;
        let finished = finish::finish(lead, target, own, parallel);
        lead.tell(Event::Load(LoadEvent::Over));
        finished?;
        book::turn_to(target, own, State::Setup)?;
        done.statements = own_data::set_up(lead, target, own)?;
        book::turn_to(target, own, State::Loaded)?;
    }
    done.seconds = began.elapsed().as_secs_f64();
    Ok(done)
}

/// Why what is there is none to go on with.
fn refused(entry: &Entry, own: &Own) -> TargetError {
    let name = own.name();
    let way_out = "load with --replace to drop it first";
    let error = |message: String, hint: String| TargetError::new(TargetErrorKind::Data, message).hint(hint);
    match entry.state {
        State::Drop => error(format!("a drop of {name} did not end"), "`dyno drop` ends it".to_owned()),
        State::Setup if entry.is_of(own) => error(
            format!("a load of {name} that began at {} was broken off in the SQL of [setup]", entry.since),
            format!("nobody knows which of it is done: {way_out}"),
        ),
        _ => error(super::require::difference(entry, own), format!("{way_out}, or ask for what is there")),
    }
}

/// Makes the tables that are not there yet, each behind its line in the book.
fn make(target: &dyn Target, own: &Own, found: Option<&Entry>) -> Result<(), TargetError> {
    let tables = own.tables();
    let names: Vec<&str> = tables.iter().map(|table| table.name()).collect();
    let there = target.find(ObjectKind::Table, &names)?;
    let is_there = |name: &str| there.iter().any(|item| item.name == name);
    let is_noted = |name: &str| found.is_some_and(|entry| entry.tables.iter().any(|noted| noted == name));
    if let Some(table) = tables.iter().find(|table| is_there(table.name()) && !is_noted(table.name())) {
        let problem = format!("there is a table {} that was not made for {}", table.name(), own.name());
        let hint = "drop or rename that table, or give the one that is described another name";
        let fault = table.fault(problem, "");
        return Err(TargetError::new(TargetErrorKind::Data, fault.to_string()).hint(hint));
    }
    if found.is_none() {
        book::begin(target, own)?;
    }
    for (place, table) in tables.iter().enumerate() {
        if !is_noted(table.name()) {
            book::add_table(target, own, table.name(), place)?;
        }
        // What a run fills is made before each.
        if !is_there(table.name()) && !table.is_filled_by_runs() {
            book::does(target, &[book::forget_parts(own, table.name())])?;
            create(target, table)?;
        }
    }
    Ok(())
}
