//! Requests the execution plan of each statement of a custom workload, with values as sessions draw them.

use std::sync::Arc;

use dyno_engine::{RequestCompletion, SessionRequest, Target, TargetError, TargetErrorKind};
use dyno_plan::PlanErrors;
use dyno_workload::custom::{CustomActor, CustomWorkload, WorkloadError};

use crate::error::Error;
use crate::targets::ReachedTarget;

/// Maximum number of transactions drawn until each statement has occurred once.
const TRANSACTIONS_MAX: usize = 10_000;

/// The execution plan of a statement.
#[derive(Debug, Clone)]
pub struct StatementPlan {
    /// The statement's generated name, such as `pay_2`.
    pub name: String,
    /// The statement's name in its file; absent if it has none.
    pub called: Option<String>,
    /// The lines of the execution plan, or why there is none.
    pub lines: Result<Vec<String>, String>,
}

/// Requests the plan of each statement, with the values that session 0 draws with `seed`.
///
/// # Errors
/// The target cannot be reached.
pub(crate) fn explain_statements(
    reached: &ReachedTarget,
    workload: &Arc<CustomWorkload>,
    seed: u64,
) -> Result<Vec<StatementPlan>, Error> {
    let target = reached.target.as_ref();
    let texts = texts(target, workload, seed).map_err(PlanErrors::from)?;
    let described = workload.described(target.engine()).map_err(PlanErrors::from)?;
    let names = described.iter().flat_map(|transaction| &transaction.statements);
    let mut all = Vec::new();
    for (statement, text) in names.zip(texts) {
        let lines = match text {
            None => Err("no sampled transaction executed it".to_owned()),
            Some(sql) => reached.named(explain_one(target, &sql))?,
        };
        all.push(StatementPlan { name: statement.name.clone(), called: statement.called.clone(), lines });
    }
    Ok(all)
}

fn explain_one(target: &dyn Target, sql: &str) -> Result<Result<Vec<String>, String>, TargetError> {
    match target.explain(sql) {
        Ok(lines) => Ok(Ok(lines)),
        Err(error) if error.kind == TargetErrorKind::Unreachable => Err(error),
        Err(error) => Ok(Err(error.message)),
    }
}

/// Returns each statement with the values of its first execution. Every read is assumed to return one row
/// with the value 1.
fn texts(
    target: &dyn Target,
    workload: &Arc<CustomWorkload>,
    seed: u64,
) -> Result<Vec<Option<String>>, WorkloadError> {
    let engine = target.engine();
    let mut texts = vec![None; workload.statements(engine, target.dialect())?.len()];
    let mut actor = CustomActor::new(workload, engine, seed, 0)?;
    let classes = workload.weights().count();
    for number in 0..TRANSACTIONS_MAX {
        if texts.iter().all(Option::is_some) {
            break;
        }
        // Each class once first, because a class with weight 0 is never drawn.
        if number < classes {
            actor.draw_of(number);
        } else {
            actor.draw();
        }
        let mut last = None;
        while let Some(step) = actor.step(last) {
            last = Some(RequestCompletion { rows: 1, commit_began_ns: None });
            actor.request(step, |request| match request {
                SessionRequest::Execute(statement, values) if texts[statement.index()].is_none() => {
                    let text = workload.written_out(engine, statement, values, |value| target.literal(value));
                    text.map(|text| texts[statement.index()] = Some(text))
                }
                _ => Ok(()),
            })?;
        }
    }
    Ok(texts)
}
