//! How a target would do the statements of a user's own workload: each once, with values that sessions draw.

use std::sync::Arc;

use dyno_engine::{Done, Request, Target, TargetError, TargetErrorKind};
use dyno_plan::PlanErrors;
use dyno_workload::own::{Actor, Fault, Own};

use crate::error::Error;
use crate::targets::Reached;

/// Transactions that are drawn at most until each statement has come once.
const TRANSACTIONS_MAX: usize = 10_000;

/// The plan of a statement.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The statement's name: `pay_2`.
    pub name: String,
    /// The name that it has in its file, if it has one.
    pub called: Option<String>,
    /// The lines of its plan; or why there is none.
    pub lines: Result<Vec<String>, String>,
}

/// Asks for the plan of each statement, with the values that session 0 draws with `seed`.
///
/// # Errors
/// The target cannot be reached.
pub(crate) fn plans(reached: &Reached, own: &Arc<Own>, seed: u64) -> Result<Vec<Planned>, Error> {
    let target = reached.target.as_ref();
    let texts = texts(target, own, seed).map_err(PlanErrors::from)?;
    let described = own.described(target.engine()).map_err(PlanErrors::from)?;
    let names = described.iter().flat_map(|transaction| &transaction.statements);
    let mut all = Vec::new();
    for (statement, text) in names.zip(texts) {
        let lines = match text {
            None => Err("no transaction that was drawn has come to it".to_owned()),
            Some(sql) => reached.named(asked(target, &sql))?,
        };
        all.push(Planned { name: statement.name.clone(), called: statement.called.clone(), lines });
    }
    Ok(all)
}

fn asked(target: &dyn Target, sql: &str) -> Result<Result<Vec<String>, String>, TargetError> {
    match target.explain(sql) {
        Ok(lines) => Ok(Ok(lines)),
        Err(error) if error.kind == TargetErrorKind::Unreachable => Err(error),
        Err(error) => Ok(Err(error.message)),
    }
}

/// Each statement with the values of its first time, as if all that is read were one row and the number 1.
fn texts(target: &dyn Target, own: &Arc<Own>, seed: u64) -> Result<Vec<Option<String>>, Fault> {
    let engine = target.engine();
    let mut texts = vec![None; own.statements(engine, target.dialect())?.len()];
    let mut actor = Actor::new(own, engine, seed, 0)?;
    let classes = own.weights().count();
    for number in 0..TRANSACTIONS_MAX {
        if texts.iter().all(Option::is_some) {
            break;
        }
        // Each once, also one that never comes by weight.
        if number < classes {
            actor.draw_of(number);
        } else {
            actor.draw();
        }
        let mut last = None;
        while let Some(step) = actor.step(last) {
            last = Some(Done { rows: 1, commit_began_ns: None });
            actor.request(step, |request| match request {
                Request::Execute(statement, values) if texts[statement.index()].is_none() => {
                    let text = own.written_out(engine, statement, values, |value| target.literal(value));
                    text.map(|text| texts[statement.index()] = Some(text))
                }
                _ => Ok(()),
            })?;
        }
    }
    Ok(texts)
}
