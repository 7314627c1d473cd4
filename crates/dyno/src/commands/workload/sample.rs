//! Some transactions with the values that they are given, as if their statements returned something.

use std::sync::Arc;

use dyno_engine::{Done, Request, Value};
use dyno_workload::own::{Actor, DescribedTransaction, Ended, Fault, Own};
use serde_json::json;

/// Statements of one transaction that are shown at most.
const STATEMENTS_MAX: usize = 40;
/// Letters of a value that are shown.
const LETTERS_MAX: usize = 60;

/// A transaction that was drawn.
pub(super) struct Drawn {
    pub(super) transaction: String,
    /// Its statements in their order, with the values of their parameters.
    pub(super) statements: Vec<(String, Vec<(String, serde_json::Value)>)>,
    /// How many more there are.
    pub(super) more: usize,
    /// Whether a step took it back.
    pub(super) rolled_back: bool,
}

/// What a statement returns whose number is read, and how many rows the others do.
pub(super) const RETURNED: (u64, u64) = (100, 1);

/// What session 0 does in its first `count` transactions.
pub(super) fn draw(own: &Arc<Own>, engine: &str, seed: u64, count: usize) -> Result<Vec<Drawn>, Fault> {
    let mut actor = Actor::new(own, engine, seed, 0)?;
    let described = own.described(engine)?;
    Ok((0..count).map(|_| one(&mut actor, &described)).collect())
}

fn one(actor: &mut Actor, described: &[DescribedTransaction]) -> Drawn {
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
            Request::Execute(statement, values) => {
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
        // A column is what is read of any other number.
        let number = RETURNED.0.cast_signed();
        let _ = actor.read(|_| Some(Value::Int(number)));
        last = Some(Done { rows, commit_began_ns: None });
        match shown {
            Some(shown) if statements.len() < STATEMENTS_MAX => statements.push(shown),
            Some(_) => more += 1,
            None => {}
        }
    }
    let rolled_back = actor.outcome().ended == Ended::RolledBack;
    Drawn { transaction: transaction.name.clone(), statements, more, rolled_back }
}

/// A value as people and programs read it.
fn shown(value: &Value<'_>) -> serde_json::Value {
    match *value {
        Value::Null => serde_json::Value::Null,
        Value::Int(number) => json!(number),
        Value::Real(number) => json!(number),
        Value::Text(bytes) => json!(short(&String::from_utf8_lossy(bytes))),
        Value::Bytes(bytes) => {
            let hex: String = bytes.iter().take(LETTERS_MAX).map(|byte| format!("{byte:02x}")).collect();
            json!(short(&hex))
        }
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LETTERS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
