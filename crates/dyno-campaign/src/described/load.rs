//! Creates and fills the described tables, and continues an interrupted load.

use std::time::Instant;

use dyno_engine::{ObjectKind, Target, TargetError, TargetErrorKind};
use dyno_workload::custom::CustomWorkload;

use super::create::create;
use super::state_tables::{self, TableLoadEntry, TableLoadStage};
use super::{drop, fill, finish};
use crate::campaign_context::CampaignContext;
use crate::custom_data;
use crate::event::{CampaignEvent, LoadEvent, WorkloadSetup};

/// Which existing tables may be dropped to make room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replace {
    /// No existing tables are dropped.
    Nothing,
    /// Tables from another description, or with another scale.
    Others,
    /// All tables that were created for this workload.
    All,
}

/// Creates and fills the missing tables of `workload` on `target` over `parallel` connections, and executes
/// its setup SQL.
///
/// # Errors
/// Other tables are in the way, the database refuses a statement, or the user cancelled.
pub(crate) fn load(
    ctx: &CampaignContext<'_>,
    target: &dyn Target,
    workload: &CustomWorkload,
    parallel: u32,
    replace: Replace,
) -> Result<WorkloadSetup, TargetError> {
    let began = Instant::now();
    let mut stored_entry = state_tables::read_entry(target, workload)?;
    if let Some(entry) = &stored_entry {
        let is_good = entry.matches_workload(workload)
            && matches!(entry.state, TableLoadStage::Rows | TableLoadStage::Loaded);
        if replace == Replace::All || (replace == Replace::Others && !is_good) {
            drop::tear_down(ctx, target, workload)?;
            stored_entry = None;
        } else if !is_good {
            return Err(refusal(entry, workload));
        }
    }
    let tables = workload.loaded_tables().map(|table| (table.name().to_owned(), table.rows())).collect();
    let mut report = WorkloadSetup { name: workload.name().to_owned(), tables, ..WorkloadSetup::default() };
    if let Some(entry) = &stored_entry
        && entry.state == TableLoadStage::Loaded
    {
        super::require::require_tables_exist(target, workload)?;
        report.already = true;
    } else {
        create_tables(target, workload, stored_entry.as_ref())?;
        let filled = fill::fill(ctx, target, workload, parallel);
        ctx.emit(CampaignEvent::Load(LoadEvent::Over));
        report.rows_written = filled?;
        let finished = finish::index_and_verify(ctx, target, workload, parallel);
        ctx.emit(CampaignEvent::Load(LoadEvent::Over));
        finished?;
        state_tables::set_stage(target, workload, TableLoadStage::Setup)?;
        report.statements = custom_data::set_up(ctx, target, workload)?;
        state_tables::set_stage(target, workload, TableLoadStage::Loaded)?;
    }
    report.seconds = began.elapsed().as_secs_f64();
    Ok(report)
}

/// Says why an existing load cannot be continued.
fn refusal(entry: &TableLoadEntry, workload: &CustomWorkload) -> TargetError {
    let name = workload.name();
    let way_out = "load with --replace to drop it first";
    let error = |message: String, hint: String| TargetError::new(TargetErrorKind::Data, message).hint(hint);
    match entry.state {
        TableLoadStage::Drop => {
            error(format!("a drop of {name} did not finish"), "`dyno drop` finishes it".to_owned())
        }
        TableLoadStage::Setup if entry.matches_workload(workload) => error(
            format!("a load of {name} that began at {} was interrupted in the SQL of [setup]", entry.since),
            format!("it is unknown which of its statements were executed: {way_out}"),
        ),
        _ => error(
            super::require::difference(entry, workload),
            format!("{way_out}, or change the plan to match the existing data"),
        ),
    }
}

/// Creates missing tables; each is recorded in the state tables first.
fn create_tables(
    target: &dyn Target,
    workload: &CustomWorkload,
    stored_entry: Option<&TableLoadEntry>,
) -> Result<(), TargetError> {
    let tables = workload.tables();
    let names: Vec<&str> = tables.iter().map(|table| table.name()).collect();
    let existing = target.find(ObjectKind::Table, &names)?;
    let is_there = |name: &str| existing.iter().any(|item| item.name == name);
    let is_noted =
        |name: &str| stored_entry.is_some_and(|entry| entry.tables.iter().any(|noted| noted == name));
    if let Some(table) = tables.iter().find(|table| is_there(table.name()) && !is_noted(table.name())) {
        let problem =
            format!("a table {} already exists and was not created for {}", table.name(), workload.name());
        let hint = "drop or rename that table, or rename the table in the workload";
        let fault = table.fault(problem, "");
        return Err(TargetError::new(TargetErrorKind::Data, fault.to_string()).hint(hint));
    }
    if stored_entry.is_none() {
        state_tables::insert_entry(target, workload)?;
    }
    for (place, table) in tables.iter().enumerate() {
        if !is_noted(table.name()) {
            state_tables::add_table(target, workload, table.name(), place)?;
        }
        // Tables that runs fill are created before each run.
        if !is_there(table.name()) && !table.is_filled_by_runs() {
            state_tables::execute_all(target, &[state_tables::delete_parts_sql(workload, table.name())])?;
            create(target, table)?;
        }
    }
    Ok(())
}
