//! Checks the invariants of custom workloads: after a load, and before and after each run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_engine::{Cancel, Target, TargetError, TargetErrorKind, TextRow, bounded_query};
use dyno_record::InvariantResult;
use dyno_workload::custom::{CustomWorkload, InvariantTiming, Single};

use crate::campaign_context::CampaignContext;
use crate::custom_data::{error_at_statement, unsupported_engine};
use crate::custom_workloads;
use crate::error::Error;
use crate::event::CampaignEvent;
use crate::targets::{ReachedTarget, ReachedTargets};

/// Maximum time for an invariant, which may read a whole table; and the limit after the user cancelled the
/// run.
const INVARIANT_MAX: Duration = Duration::from_secs(1_800);
const STOPPED_MAX: Duration = Duration::from_secs(10);

/// The reason in a record until the invariant was queried after the run.
const NOT_YET: &str = "nobody has asked after the run, which is stored first";

/// The name of an invariant, and the result of its query.
type InvariantAnswer = (String, Result<String, TargetError>);

/// Queries the invariants of a target.
#[derive(Clone, Copy)]
struct InvariantReader<'a> {
    ctx: &'a CampaignContext<'a>,
    limit: Duration,
    cancel: &'a Cancel,
}

/// Queries the invariants of each workload before a run. Workloads that share data are queried once, under
/// the first.
///
/// # Errors
/// An invariant that must stay unchanged cannot be queried, so there would be nothing to compare.
pub(crate) fn read_before_run(
    ctx: &CampaignContext<'_>,
    targets: &ReachedTargets,
    workloads: &[Arc<CustomWorkload>],
) -> Result<Vec<Vec<InvariantResult>>, Error> {
    let asking = InvariantReader { ctx, limit: INVARIANT_MAX, cancel: &ctx.cancel };
    let of_target = |reached: &ReachedTarget, singles: &[Single]| {
        let answers = asking.query_all(&reached.target, &singles.iter().collect::<Vec<_>>());
        let invariant_before = |(single, answer): (&Single, Result<String, TargetError>)| {
            let before = match (answer, &single.is) {
                // The expected value is known, so the run can be audited without this result.
                (Err(error), Some(_)) if error.kind != TargetErrorKind::Cancelled => None,
                (answer, _) => Some(answer?),
            };
            let name = label(targets, reached, single);
            Ok(InvariantResult { name, is: single.is.clone(), before, after: Err(NOT_YET.to_owned()) })
        };
        singles.iter().zip(answers).map(invariant_before).collect::<Result<Vec<_>, TargetError>>()
    };
    for_each_workload(targets, workloads, |reached, singles| of_target(reached, singles).map_err(Error::from))
}

/// Queries the invariants again after a run whose record is stored; returns how long that took. If the user
/// cancels, it ends early.
///
/// # Errors
/// The workload has no SQL for a target's engine.
pub(crate) fn read_after_run(
    ctx: &CampaignContext<'_>,
    targets: &ReachedTargets,
    workloads: &[Arc<CustomWorkload>],
    invariants: &mut [Vec<InvariantResult>],
) -> Result<Duration, Error> {
    let began = Instant::now();
    let never = Cancel::default();
    let asking = match ctx.cancel.is_cancelled() {
        true => InvariantReader { ctx, limit: STOPPED_MAX, cancel: &never },
        false => InvariantReader { ctx, limit: INVARIANT_MAX, cancel: &ctx.cancel },
    };
    let answers = for_each_workload(targets, workloads, |reached, singles| {
        let answers = asking.query_all(&reached.target, &singles.iter().collect::<Vec<_>>());
        Ok(answers.into_iter().map(|answer| (String::new(), answer)).collect::<Vec<InvariantAnswer>>())
    })?;
    for (invariant, (_, answer)) in invariants.iter_mut().flatten().zip(answers.into_iter().flatten()) {
        invariant.after = answer.map_err(|error| error.to_string());
    }
    Ok(began.elapsed())
}

/// Checks the conditions of the workload against loaded data; returns their number.
///
/// # Errors
/// A condition does not hold, or its query fails.
pub(crate) fn check_after_load(
    ctx: &CampaignContext<'_>,
    target: &Arc<dyn Target>,
    workload: &CustomWorkload,
) -> Result<usize, TargetError> {
    let singles = workload
        .invariants(target.engine(), InvariantTiming::Load)
        .map_err(|fault| unsupported_engine(&fault))?;
    let asking = InvariantReader { ctx, limit: INVARIANT_MAX, cancel: &ctx.cancel };
    let answers = asking.query_all(target, &singles.iter().collect::<Vec<_>>());
    for (single, answer) in singles.iter().zip(answers) {
        let (answer, is) = (answer?, single.is.as_deref().unwrap_or_default());
        if answer != is {
            let problem = format!("{} is {answer}, and has to be {is}", single.name);
            let message = single.fault(problem, "").to_string();
            return Err(TargetError::new(TargetErrorKind::Data, message)
                .hint("the data does not match its description: `dyno load --replace` loads it again"));
        }
    }
    Ok(singles.len())
}

/// Calls `query_target` for the invariants of each workload on each target that holds its own data.
fn for_each_workload<T>(
    targets: &ReachedTargets,
    workloads: &[Arc<CustomWorkload>],
    mut query_target: impl FnMut(&ReachedTarget, &[Single]) -> Result<Vec<T>, Error>,
) -> Result<Vec<Vec<T>>, Error> {
    let workloads_with_data: Vec<&Arc<CustomWorkload>> =
        custom_workloads::distinct_workloads(workloads).collect();
    let mut all = Vec::new();
    for workload in workloads {
        let mut of_own = Vec::new();
        if workloads_with_data.iter().any(|asked| Arc::ptr_eq(asked, workload)) {
            for reached in targets.holders()? {
                let singles = workload.invariants(reached.target.engine(), InvariantTiming::Run);
                of_own.extend(query_target(reached, &singles.map_err(|fault| unsupported_engine(&fault))?)?);
            }
        }
        all.push(of_own);
    }
    Ok(all)
}

/// The name of an invariant; with several targets, followed by the target.
fn label(targets: &ReachedTargets, reached: &ReachedTarget, single: &Single) -> String {
    match targets.is_several() {
        true => format!("{} of {}", single.name, reached.target.url()),
        false => single.name.clone(),
    }
}

/// Adds the place of the SQL to errors that come from it.
fn error_at_query(single: &Single, error: TargetError) -> TargetError {
    match error.kind {
        TargetErrorKind::Cancelled | TargetErrorKind::Unreachable => error,
        _ => error_at_statement(single, error),
    }
}

impl InvariantReader<'_> {
    /// Queries all of `singles` in one snapshot. After a failed query, the results of the later ones are
    /// unknown.
    fn query_all(&self, target: &Arc<dyn Target>, singles: &[&Single]) -> Vec<Result<String, TargetError>> {
        if singles.is_empty() {
            return Vec::new();
        }
        self.ctx.emit(CampaignEvent::AskingInvariants);
        let snapshot = target.dialect().snapshot;
        let queries = singles.iter().map(|single| single.sql.as_str());
        let all: Vec<String> =
            snapshot.iter().copied().chain(queries).chain(["COMMIT"]).map(str::to_owned).collect();
        let (connection, first) = (Arc::clone(target), snapshot.len());
        let (sender, answers) = std::sync::mpsc::channel();
        let outcome = bounded_query::within(self.limit, self.cancel, "checking invariants", move || {
            let mut number = 0;
            let texts: Vec<&str> = all.iter().map(String::as_str).collect();
            connection.script(&texts, &mut |rows| {
                if (first..texts.len() - 1).contains(&number) {
                    // The receiver may have stopped waiting.
                    let _ = sender.send(format_rows(&rows));
                }
                number += 1;
                Ok(())
            })
        });
        let answers: Vec<String> = answers.try_iter().collect();
        let no_row = || TargetError::new(TargetErrorKind::Data, "the invariant returned no row");
        let answer_for = |(place, single): (usize, &&Single)| match answers.get(place) {
            Some(answer) if answer.is_empty() => Err(error_at_query(single, no_row())),
            Some(answer) => Ok(answer.clone()),
            None => Err(match &outcome {
                Err(error) if place == answers.len() => error_at_query(single, clone_error(error)),
                Err(error) => clone_error(error),
                Ok(()) => error_at_query(single, no_row()),
            }),
        };
        singles.iter().enumerate().map(answer_for).collect()
    }
}

/// Copies an error for another invariant.
fn clone_error(error: &TargetError) -> TargetError {
    TargetError::new(error.kind, error.to_string())
}

/// Formats rows as text: columns separated by commas, rows by semicolons.
fn format_rows(rows: &[TextRow]) -> String {
    let column = |value: &Option<String>| value.clone().unwrap_or_else(|| "NULL".to_owned());
    let row = |row: &TextRow| row.0.iter().map(column).collect::<Vec<_>>().join(", ");
    rows.iter().map(row).collect::<Vec<_>>().join("; ")
}
