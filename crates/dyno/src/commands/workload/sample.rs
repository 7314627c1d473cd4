//! Generates sample transactions with their values, as if their statements returned rows.

use std::sync::Arc;

use dyno_engine::{RequestCompletion, SessionRequest, Value};
use dyno_workload::custom::{
    CustomActor, CustomWorkload, DescribedTransaction, TransactionEnd, WorkloadError,
};
use serde_json::json;

/// Maximum statements shown of one transaction.
const STATEMENTS_MAX: usize = 40;
/// Maximum characters shown of a value.
const LETTERS_MAX: usize = 60;

pub(super) struct SampleTransaction {
    pub(super) transaction: String,
    /// Its statements in order, with the values of their parameters.
    pub(super) statements: Vec<(String, Vec<(String, serde_json::Value)>)>,
    pub(super) more: usize,
    /// Whether a step rolled it back.
    pub(super) rolled_back: bool,
}

/// The number that a statement returns if its result is used, and the number of rows of the other statements.
pub(super) const RETURNED: (u64, u64) = (100, 1);

/// The first `count` transactions of session 0.
pub(super) fn draw(
    workload: &Arc<CustomWorkload>,
    engine: &str,
    seed: u64,
    count: usize,
) -> Result<Vec<SampleTransaction>, WorkloadError> {
    let mut actor = CustomActor::new(workload, engine, seed, 0)?;
    let described = workload.described(engine)?;
    Ok((0..count).map(|_| sample_transaction(&mut actor, &described)).collect())
}

fn sample_transaction(actor: &mut CustomActor, described: &[DescribedTransaction]) -> SampleTransaction {
    let transaction = &described[actor.draw().place().unwrap_or(0)];
    let before: usize = described
        .iter()
        .take_while(|other| other.name != transaction.name)
        .map(|other| other.statements.len())
        .sum();
    let (mut statements, mut more, mut last) = (Vec::new(), 0, None);
    while let Some(step) = actor.step(last) {
        let mut rows = RETURNED.1;
        let shown = actor.request(step, |request| match request {
            SessionRequest::Execute(statement, values) => {
                let statement = &transaction.statements[statement.index() - before];
                if statement.returns_number {
                    rows = RETURNED.0;
                }
                let name = statement.called.as_ref().unwrap_or(&statement.name);
                let values = statement.params.iter().cloned().zip(values.iter().map(shown)).collect();
                Some((name.clone(), values))
            }
            _ => None,
        });
        // A column value is used like any other number.
        let number = RETURNED.0.cast_signed();
        let _ = actor.read(|_| Some(Value::Int(number)));
        last = Some(RequestCompletion { rows, commit_began_ns: None });
        match shown {
            Some(shown) if statements.len() < STATEMENTS_MAX => statements.push(shown),
            Some(_) => more += 1,
            None => {}
        }
    }
    let rolled_back = actor.outcome().ended == TransactionEnd::RolledBack;
    SampleTransaction { transaction: transaction.name.clone(), statements, more, rolled_back }
}

/// A value in readable JSON.
fn shown(value: &Value<'_>) -> serde_json::Value {
    match *value {
        Value::Null => serde_json::Value::Null,
        Value::Int(number) => json!(number),
        Value::Real(number) => json!(number),
        Value::Text(bytes) => json!(shorten(&String::from_utf8_lossy(bytes))),
        Value::Bytes(bytes) => {
            let hex: String = bytes.iter().take(LETTERS_MAX).map(|byte| format!("{byte:02x}")).collect();
            json!(shorten(&hex))
        }
    }
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(LETTERS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
