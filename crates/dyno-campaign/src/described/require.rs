//! Whether what is there is what is described.

use dyno_engine::{ObjectKind, Target, TargetError, TargetErrorKind};
use dyno_workload::own::Own;

use super::book::{self, Entry, State, words};

/// Whether the tables of `own` are there, and by which scale others are where they are not.
pub(crate) fn holds(target: &dyn Target, own: &Own) -> Result<Result<(), Option<u64>>, TargetError> {
    Ok(match book::read(target, own)? {
        Some(entry) if entry.is_of(own) && entry.state == State::Loaded => Ok(()),
        Some(entry) => Err(Some(entry.scale)),
        None => Err(None),
    })
}

/// Fails unless the tables of `own` are there as they are described.
///
/// # Errors
/// They are not; says what is there instead, and the way out.
pub(crate) fn require(target: &dyn Target, own: &Own) -> Result<(), TargetError> {
    if own.tables().is_empty() {
        return Ok(());
    }
    let name = own.name();
    let wrong =
        |message: String, hint: &str| Err(TargetError::new(TargetErrorKind::Data, message).hint(hint));
    match book::read(target, own)? {
        None => wrong(format!("the tables of {name} are not there"), "`dyno load` makes and fills them"),
        Some(entry) if !entry.is_of(own) => wrong(
            difference(&entry, own),
            "set workload.scale to what is there, or load anew with `dyno load --replace`",
        ),
        Some(entry) => match entry.state {
            State::Loaded => all_there(target, own),
            State::Drop => wrong(format!("a drop of {name} did not end"), "`dyno drop` ends it"),
            State::Rows => wrong(
                format!("a load of {name} that began at {} did not end", entry.since),
                "`dyno load` resumes it, `dyno drop` removes it",
            ),
            State::Setup => wrong(
                format!(
                    "a load of {name} that began at {} was broken off in the SQL of [setup]",
                    entry.since
                ),
                "`dyno load --replace` loads it anew",
            ),
        },
    }
}

/// Fails where a table is gone.
pub(super) fn all_there(target: &dyn Target, own: &Own) -> Result<(), TargetError> {
    let names: Vec<&str> = own.loaded_tables().map(|table| table.name()).collect();
    let there = target.find(ObjectKind::Table, &names)?;
    match names.iter().find(|name| !there.iter().any(|item| item.name == **name)) {
        None => Ok(()),
        Some(gone) => {
            let message = format!("the table {gone} of {} is not there any more", own.name());
            Err(TargetError::new(TargetErrorKind::Data, message).hint("`dyno load --replace` loads it anew"))
        }
    }
}

/// What is there, and what is described.
pub(super) fn difference(entry: &Entry, own: &Own) -> String {
    let name = own.name();
    match entry.scale == own.scale() {
        true => format!(
            "{name} was loaded from another description or seed of its tables: {} are there, and {} are described",
            entry.seed_and_tables,
            words(own)
        ),
        false => {
            format!("{name} was loaded with scale {}, and scale {} is asked for", entry.scale, own.scale())
        }
    }
}
