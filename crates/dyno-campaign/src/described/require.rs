//! Checks whether the tables on a target match their description.

use dyno_engine::{ObjectKind, Target, TargetError, TargetErrorKind};
use dyno_workload::custom::CustomWorkload;

use super::state_tables::{self, TableLoadEntry, TableLoadStage, describe_tables};

/// Whether the tables of `workload` exist; otherwise the scale of existing other tables, if there are any.
pub(crate) fn holds(
    target: &dyn Target,
    workload: &CustomWorkload,
) -> Result<Result<(), Option<u64>>, TargetError> {
    Ok(match state_tables::read_entry(target, workload)? {
        Some(entry) if entry.matches_workload(workload) && entry.state == TableLoadStage::Loaded => Ok(()),
        Some(entry) => Err(Some(entry.scale)),
        None => Err(None),
    })
}

/// Fails unless the tables of `custom_workload` exist as described.
///
/// # Errors
/// They do not; the error says what exists instead, with a hint.
pub(crate) fn require(target: &dyn Target, custom_workload: &CustomWorkload) -> Result<(), TargetError> {
    if custom_workload.tables().is_empty() {
        return Ok(());
    }
    let name = custom_workload.name();
    let wrong =
        |message: String, hint: &str| Err(TargetError::new(TargetErrorKind::Data, message).hint(hint));
    match state_tables::read_entry(target, custom_workload)? {
        None => wrong(format!("the tables of {name} do not exist"), "`dyno load` creates and fills them"),
        Some(entry) if !entry.matches_workload(custom_workload) => wrong(
            difference(&entry, custom_workload),
            "set workload.scale to that of the existing data, or load again with `dyno load --replace`",
        ),
        Some(entry) => match entry.state {
            TableLoadStage::Loaded => require_tables_exist(target, custom_workload),
            TableLoadStage::Drop => {
                wrong(format!("a drop of {name} did not finish"), "`dyno drop` finishes it")
            }
            TableLoadStage::Rows => wrong(
                format!("a load of {name} that began at {} did not finish", entry.since),
                "`dyno load` resumes it, `dyno drop` removes it",
            ),
            TableLoadStage::Setup => wrong(
                format!(
                    "a load of {name} that began at {} was interrupted in the SQL of [setup]",
                    entry.since
                ),
                "`dyno load --replace` loads it again",
            ),
        },
    }
}

/// Whether nothing of the workload's tables was ever loaded, or all of it was dropped. A target that cannot be read
/// counts as loaded.
pub(crate) fn is_absent(target: &dyn Target, custom_workload: &CustomWorkload) -> bool {
    matches!(state_tables::read_entry(target, custom_workload), Ok(None))
}

/// Fails if a table does not exist any more.
pub(super) fn require_tables_exist(
    target: &dyn Target,
    workload: &CustomWorkload,
) -> Result<(), TargetError> {
    let names: Vec<&str> = workload.loaded_tables().map(|table| table.name()).collect();
    let existing = target.find(ObjectKind::Table, &names)?;
    match names.iter().find(|name| !existing.iter().any(|item| item.name == **name)) {
        None => Ok(()),
        Some(gone) => {
            let message = format!("the table {gone} of {} no longer exists", workload.name());
            Err(TargetError::new(TargetErrorKind::Data, message).hint("`dyno load --replace` loads it again"))
        }
    }
}

/// Describes the difference between existing tables and the description.
pub(super) fn difference(entry: &TableLoadEntry, workload: &CustomWorkload) -> String {
    let name = workload.name();
    match entry.scale == workload.scale() {
        true => format!(
            "{name} was loaded from another description or seed of its tables: {} exist, and {} are described",
            entry.seed_and_tables,
            describe_tables(workload)
        ),
        false => {
            format!(
                "{name} was loaded with scale {}, but the plan requires scale {}",
                entry.scale,
                workload.scale()
            )
        }
    }
}
