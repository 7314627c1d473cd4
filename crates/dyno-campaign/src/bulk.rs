//! A run that loads a table, or leaves in one what is its own alone: what is done before it and behind it.

use std::sync::Arc;

use dyno_engine::Target;
use dyno_plan::Plan;
use dyno_record::{Metric, RunRecord, Unit};
use dyno_workload::own::{DescribedTable, Own};

use crate::described;
use crate::error::Error;
use crate::event::Event;
use crate::lead::Lead;
use crate::targets::{Reached, Targets};

/// Whether one of the workloads loads a table.
pub(crate) fn loads(owns: &[Arc<Own>]) -> bool {
    owns.iter().any(|own| own.bulk().is_some())
}

/// Makes the table anew that is loaded, and those that are emptied before each run.
///
/// # Errors
/// The database refuses it, or the engine has no such table.
pub(crate) fn before(lead: &Lead<'_>, targets: &Targets, owns: &[Arc<Own>]) -> Result<(), Error> {
    // Two workloads of one folder have the same tables.
    let mut made: Vec<&str> = Vec::new();
    for own in
        owns.iter().filter(|own| own.bulk().is_some() || own.tables().iter().any(DescribedTable::is_emptied))
    {
        if made.contains(&own.name()) {
            continue;
        }
        made.push(own.name());
        for reached in &targets.all {
            lead.tell(Event::EmptyingTable);
            reached.named(described::make_empty(reached.target.as_ref(), own))?;
        }
    }
    Ok(())
}

/// Ends the load of a run that was `measured`: indexes, all of it on the disk for good, counted. A run that was stopped is only counted.
///
/// # Errors
/// None of its own.
pub(crate) fn after(
    lead: &Lead<'_>,
    targets: &Targets,
    owns: &[Arc<Own>],
    measured: &mut RunRecord,
) -> Result<(), Error> {
    let Some(loaded) = measured.workload.as_mut().and_then(|own| own.loaded.as_deref_mut()) else {
        return Ok(());
    };
    each(targets, owns, |reached, own| {
        lead.tell(Event::SettlingLoad);
        let target: &dyn Target = reached.target.as_ref();
        described::loaded(target, own, loaded);
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

fn each(
    targets: &Targets,
    owns: &[Arc<Own>],
    mut work: impl FnMut(&Reached, &Own) -> Result<(), Error>,
) -> Result<(), Error> {
    for own in owns.iter().filter(|own| own.bulk().is_some()) {
        targets.all.iter().try_for_each(|reached| work(reached, own))?;
    }
    Ok(())
}

/// Refuses what does not go together with a load.
pub(crate) fn refuse_unfit(plan: &Plan, owns: &[Arc<Own>]) -> Result<(), Error> {
    if !loads(owns) {
        return Ok(());
    }
    let workload = &plan.workload;
    let unfit = [
        (owns.len() > 1, "workload.beside", "no other workload runs beside it"),
        (plan.target.all().len() > 1, "target.urls", "the sessions of one target load it"),
        (workload.rate.is_some(), "workload.rate", "it goes as fast as it can"),
        (!workload.phases.is_empty(), "workload.phases", "it goes as fast as it can"),
        (workload.think_every > 0, "workload.think_every", "it goes as fast as it can"),
        (plan.run.ops_per_session.is_some(), "run.ops_per_session", "its table says how many rows there are"),
        (
            workload.connect == dyno_plan::Connect::Transaction,
            "workload.connect",
            "a loader keeps its connection",
        ),
    ];
    match unfit.into_iter().find(|(is_so, ..)| *is_so) {
        None => Ok(()),
        Some((_, key, why)) => Err(Error::usage(
            format!("{key} does not go together with a workload that loads a table: {why}"),
            format!("leave {key} out"),
        )),
    }
}
