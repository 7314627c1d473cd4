//! Drops exactly the tables that Dyno created for a workload.

use dyno_engine::{DropItem, ObjectKind, Target, TargetError, TargetErrorKind};
use dyno_workload::custom::CustomWorkload;

use super::state_tables::{self, STATE_TABLES, TableLoadEntry, TableLoadStage};
use crate::campaign_context::CampaignContext;
use crate::custom_data;

/// Lists the objects that [`tear_down`] removes.
pub(crate) fn inventory(
    target: &dyn Target,
    workload: &CustomWorkload,
) -> Result<Vec<DropItem>, TargetError> {
    let Some(entry) = state_tables::read_entry(target, workload)? else { return Ok(Vec::new()) };
    let mut all =
        if needs_teardown(&entry) { custom_data::teardown_items(workload, target) } else { Vec::new() };
    all.extend(existing_tables_of(target, &entry)?);
    if entry.other_workloads == 0 {
        all.extend(target.find(ObjectKind::Table, &STATE_TABLES)?);
    }
    Ok(all)
}

/// Whether the SQL of `[setup]` was started, and that of `[drop]` was not completed.
fn needs_teardown(entry: &TableLoadEntry) -> bool {
    matches!(entry.state, TableLoadStage::Setup | TableLoadStage::Loaded)
}

/// Returns the created tables that still exist, in reverse order of creation.
fn existing_tables_of(target: &dyn Target, entry: &TableLoadEntry) -> Result<Vec<DropItem>, TargetError> {
    let names: Vec<&str> = entry.tables.iter().rev().map(String::as_str).collect();
    target.find(ObjectKind::Table, &names)
}

/// Executes the SQL of `[drop]` after an interrupted `[setup]`. Errors are ignored, because some objects may
/// not exist.
fn tear_down_partial_setup(target: &dyn Target, workload: &CustomWorkload) -> Result<(), TargetError> {
    for statement in workload.teardown(target.engine()).as_ref().map_err(custom_data::unsupported_engine)? {
        match state_tables::execute_all(target, std::slice::from_ref(&statement.sql)) {
            Err(error) if !matches!(error.kind, TargetErrorKind::Database | TargetErrorKind::Data) => {
                return Err(error);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Executes the SQL of `[drop]` and drops the created tables. Drops the state tables, too, if they hold no
/// other workload.
pub(crate) fn tear_down(
    ctx: &CampaignContext<'_>,
    target: &dyn Target,
    workload: &CustomWorkload,
) -> Result<(), TargetError> {
    let Some(entry) = state_tables::read_entry(target, workload)? else { return Ok(()) };
    match entry.state {
        TableLoadStage::Loaded => drop(custom_data::tear_down_workload(ctx, target, workload)?),
        TableLoadStage::Setup => tear_down_partial_setup(target, workload)?,
        TableLoadStage::Rows | TableLoadStage::Drop => {}
    }
    if needs_teardown(&entry) {
        state_tables::set_stage(target, workload, TableLoadStage::Drop)?;
    }
    for table in existing_tables_of(target, &entry)? {
        state_tables::execute_all(target, &[target.table_words().drop_table(&table.name)])?;
    }
    for table in &entry.tables {
        state_tables::execute_all(target, &state_tables::delete_table_sql(workload, table))?;
    }
    state_tables::execute_all(target, &[state_tables::delete_workload_sql(workload)])?;
    if entry.other_workloads == 0 {
        for table in target.find(ObjectKind::Table, &STATE_TABLES)? {
            state_tables::execute_all(target, &[target.table_words().drop_table(&table.name)])?;
        }
    }
    Ok(())
}
