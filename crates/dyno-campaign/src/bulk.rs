//! Prepares and completes runs that load a table, or that start with emptied tables.

use std::sync::Arc;

use dyno_engine::Target;
use dyno_plan::Plan;
use dyno_record::{Metric, RunRecord, Unit};
use dyno_workload::custom::{CustomWorkload, DescribedTable};

use crate::campaign_context::CampaignContext;
use crate::described;
use crate::error::Error;
use crate::event::CampaignEvent;
use crate::targets::{ReachedTarget, ReachedTargets};

/// Whether one of the workloads loads a table.
pub(crate) fn has_bulk_load(workloads: &[Arc<CustomWorkload>]) -> bool {
    workloads.iter().any(|workload| workload.bulk().is_some())
}

/// Recreates the table that the run loads, and the tables that are emptied before each run.
///
/// # Errors
/// The database refuses it, or the engine does not support such tables.
pub(crate) fn empty_tables(
    ctx: &CampaignContext<'_>,
    targets: &ReachedTargets,
    workloads: &[Arc<CustomWorkload>],
) -> Result<(), Error> {
    // Two workloads of the same folder share their tables.
    let mut made: Vec<&str> = Vec::new();
    for workload in workloads.iter().filter(|custom_workload| {
        custom_workload.bulk().is_some() || custom_workload.tables().iter().any(DescribedTable::is_emptied)
    }) {
        if made.contains(&workload.name()) {
            continue;
        }
        made.push(workload.name());
        for reached in &targets.all {
            ctx.emit(CampaignEvent::EmptyingTable);
            reached.named(described::make_empty(reached.target.as_ref(), workload))?;
        }
    }
    Ok(())
}

/// Completes the load of a `measured` run: creates indexes, flushes the table to disk, counts the rows. For a
/// cancelled run it only counts.
///
/// # Errors
/// Errors are stored in the record; none is returned.
pub(crate) fn finish_bulk_load(
    ctx: &CampaignContext<'_>,
    targets: &ReachedTargets,
    workloads: &[Arc<CustomWorkload>],
    measured: &mut RunRecord,
) -> Result<(), Error> {
    let Some(loaded) = measured.workload.as_mut().and_then(|facts| facts.loaded.as_deref_mut()) else {
        return Ok(());
    };
    for_each_bulk_load(targets, workloads, |reached, custom_workload| {
        ctx.emit(CampaignEvent::SettlingLoad);
        let target: &dyn Target = reached.target.as_ref();
        described::complete_bulk_load(target, custom_workload, loaded);
        Ok(())
    })?;
    let (durable_s, indexed_s) = (loaded.durable_s.clone(), loaded.indexed_s.clone());
    let rate = loaded.durable_rows_per_s().filter(|_| loaded.is_whole());
    let metrics = &mut measured.metrics;
    let mut put = |name: &str, value: Result<f64, String>, unit: Unit| {
        let metric = match value {
            Ok(value) => Metric::Value { value, unit },
            Err(absent) => Metric::Absent { absent },
        };
        metrics.insert(name.to_owned(), metric);
    };
    if let Ok(seconds) = indexed_s {
        put("load_index_s", Ok(seconds), Unit::Seconds);
    }
    put("load_durable_s", durable_s, Unit::Seconds);
    if let Some(rate) = rate {
        put("load_durable_rows_per_s", Ok(rate), Unit::RowsPerSecond);
    }
    Ok(())
}

fn for_each_bulk_load(
    targets: &ReachedTargets,
    workloads: &[Arc<CustomWorkload>],
    mut work: impl FnMut(&ReachedTarget, &CustomWorkload) -> Result<(), Error>,
) -> Result<(), Error> {
    for workload in workloads.iter().filter(|own| own.bulk().is_some()) {
        targets.all.iter().try_for_each(|reached| work(reached, workload))?;
    }
    Ok(())
}

/// Refuses plans whose other settings cannot be combined with a load.
pub(crate) fn refuse_unfit(plan: &Plan, workloads: &[Arc<CustomWorkload>]) -> Result<(), Error> {
    if !has_bulk_load(workloads) {
        return Ok(());
    }
    let workload = &plan.workload;
    let unfit = [
        (workloads.len() > 1, "workload.beside", "no other workload can run beside it"),
        (plan.target.all().len() > 1, "target.urls", "only sessions of one target can load the table"),
        (workload.rate.is_some(), "workload.rate", "a load always runs at full speed"),
        (!workload.phases.is_empty(), "workload.phases", "a load always runs at full speed"),
        (workload.think_every > 0, "workload.think_every", "a load always runs at full speed"),
        (plan.run.ops_per_session.is_some(), "run.ops_per_session", "the table defines the number of rows"),
        (
            workload.connect == dyno_plan::Connect::Transaction,
            "workload.connect",
            "a loading session keeps its connection",
        ),
    ];
    match unfit.into_iter().find(|(is_so, ..)| *is_so) {
        None => Ok(()),
        Some((_, key, why)) => Err(Error::usage(
            format!("{key} cannot be combined with a workload that loads a table: {why}"),
            format!("leave {key} out"),
        )),
    }
}
