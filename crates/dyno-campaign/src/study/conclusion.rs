//! Concludes a study from its journal and its records.

use std::collections::BTreeMap;

use dyno_analyze::Conclusion;
use dyno_analyze::conclusion::study::{
    self, StudyMeasurements, StudyResult as Figures, StudyVariant, StudyVariantRound,
};
use dyno_record::{Repository, RepositoryError, RunRecord};

use super::order::StudyDefinition;
use super::progress::StudyProgress;
use crate::error::Error;

/// Returns the stored conclusion of the study `id`.
///
/// # Errors
/// There is no conclusion yet, or it cannot be read.
pub fn conclusion(repository: &Repository, id: &str) -> Result<Conclusion, Error> {
    let value = repository.conclusion(id)?.ok_or_else(|| {
        Error::usage(format!("{id} has no results yet"), "`dyno study resume` continues it")
    })?;
    Ok(serde_json::from_value(value)?)
}

/// Concludes from what was measured so far; `None` if nothing was measured.
pub(super) fn conclude_so_far(
    repository: &Repository,
    id: &str,
    order: &StudyDefinition,
    progress: &StudyProgress,
    is_done: bool,
) -> Result<Option<Conclusion>, Error> {
    if progress.measured.is_empty() {
        return Ok(None);
    }
    let legs = order.legs();
    let mut records: BTreeMap<String, RunRecord> = BTreeMap::new();
    for run in progress.measured.iter().filter_map(|measured| measured.run.as_ref()) {
        match repository.load(run) {
            Err(RepositoryError::NoRecord { .. }) => {}
            loaded => drop(records.insert(run.clone(), loaded?)),
        }
    }
    let (variants, tasks) = (&order.study.variants, &order.study.tasks);
    let mut runs: Vec<Vec<Vec<&RunRecord>>> = vec![vec![Vec::new(); tasks.len()]; variants.len()];
    let mut loads_s: Vec<Vec<Vec<f64>>> = vec![vec![Vec::new(); tasks.len()]; variants.len()];
    // A leg that failed halfway does not count, so that each variant has the same number of results for each
    // task.
    let counts = |leg: usize| {
        progress.done.contains(&leg)
            && !progress.failed.contains_key(&leg)
            && !progress.left_out.contains(&leg)
    };
    for measured in progress.measured.iter().filter(|measured| counts(measured.leg)) {
        let variant = legs[measured.leg].variant;
        runs[variant][measured.task].extend(measured.run.as_ref().and_then(|run| records.get(run)));
        loads_s[variant][measured.task].extend(measured.load_s);
    }
    let measured = StudyMeasurements {
        study: figures(order, progress),
        tasks: tasks.iter().map(|task| task.name.clone()).collect(),
        metrics: order.study.metrics.clone(),
        runs,
        loads_s,
    };
    let left = legs.len() - progress.done.len();
    let stopped = (!is_done && left > 0).then(|| format!("{left} of {} legs remain", legs.len()));
    let options = records.values().next().map(|record| record.options.clone()).unwrap_or_default();
    Ok(Some(study::conclusion(id, stopped, measured).with_options(&options)))
}

/// A note if no command verifies the base variant.
fn unverified(order: &StudyDefinition) -> Option<String> {
    let study = &order.study;
    let base = &study.variants[study.base];
    let has_commands =
        !study.serve.verify.is_empty() || base.parts.iter().any(|part| !part.verify.is_empty());
    let changes =
        study.variants.iter().any(|variant| variant.parts.iter().any(|part| !part.apply.is_empty()));
    (changes && !has_commands && base.settings.is_empty()).then(|| {
        format!(
            "{} has no verify: only the database's settings and the host's kernel settings show that it was \
             in force in its legs",
            base.name
        )
    })
}

/// The facts that are known without the records.
fn figures(order: &StudyDefinition, progress: &StudyProgress) -> Figures {
    let legs = order.legs();
    let variants = order.study.variants.iter().enumerate().map(|(at, variant)| {
        let is_of_variant = |leg: &usize| legs[*leg].variant == at;
        let failed = progress.failed.iter().filter(|(leg, _)| is_of_variant(leg));
        StudyVariant {
            name: variant.name.clone(),
            what: variant.words(),
            again: variant.again,
            worth: None,
            failed: failed.map(|(leg, why)| format!("repeat {} failed: {why}", legs[*leg].repeat)).collect(),
            verified: progress
                .verified
                .iter()
                .find(|(leg, _)| is_of_variant(leg))
                .map(|(_, said)| said.clone())
                .unwrap_or_default(),
            background: Vec::new(),
            not_durable: Vec::new(),
            differed: Vec::new(),
        }
    });
    let last = |at: usize, leg: usize| !progress.begun[at + 1..].iter().any(|(_, other)| *other == leg);
    let turn = |(at, (moment, leg)): (usize, &(String, usize))| StudyVariantRound {
        at: moment.clone(),
        variant: order.study.variants[legs[*leg].variant].name.clone(),
        repeat: legs[*leg].repeat,
        ended: match () {
            () if !last(at, *leg) || !progress.done.contains(leg) => "cut off",
            () if progress.failed.contains_key(leg) => "failed",
            () => "measured",
        }
        .to_owned(),
    };
    Figures {
        title: order.study.title.clone(),
        base: order.study.base,
        repeats: order.study.repeats,
        margin_pct: order.study.margin_pct,
        state: order.study.state.words().to_owned(),
        variants: variants.collect(),
        rows: Vec::new(),
        order: progress.begun.iter().enumerate().map(turn).collect(),
        caveats: order.study.caveats.iter().cloned().chain(unverified(order)).collect(),
        others: None,
    }
}
