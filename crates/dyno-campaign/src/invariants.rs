//! What must be the same before and after each run of a user's own workload.

use std::sync::Arc;
use std::time::Duration;

use dyno_engine::{Cancel, Row, TargetError, TargetErrorKind, patience};
use dyno_record::Invariant;
use dyno_workload::own::Own;

use crate::error::Error;
use crate::lead::Lead;
use crate::own_data::{at, misfit};
use crate::targets::{Reached, Targets};

/// How long an invariant may take: it reads all of a table.
const INVARIANT_MAX: Duration = Duration::from_secs(1_800);

/// What is asked by its name, and the answer.
pub(crate) type Answers = Vec<(String, Result<String, String>)>;

/// What the invariants of the workload are on each target, in their order: name and answer.
pub(crate) fn ask(lead: &Lead<'_>, targets: &Targets, own: &Own) -> Result<Answers, Error> {
    let mut all = Vec::new();
    for reached in targets.holders()? {
        let invariants = own.invariants(reached.target.engine()).map_err(|fault| misfit(&fault))?;
        for single in invariants {
            let label = match targets.is_several() {
                true => format!("{} of {}", single.name, reached.target.url()),
                false => single.name.clone(),
            };
            let answer = ask_one(reached, &single.sql, &lead.cancel);
            all.push((label, answer.map_err(|error| at(&single, error).to_string())));
        }
    }
    Ok(all)
}

fn ask_one(reached: &Reached, sql: &str, cancel: &Cancel) -> Result<String, TargetError> {
    let (target, sql) = (Arc::clone(&reached.target), sql.to_owned());
    patience::within(INVARIANT_MAX, cancel, "asking for an invariant", move || {
        let mut answer = String::new();
        target.script(&[&sql], &mut |rows| answer = words(&rows))?;
        match answer.is_empty() {
            true => Err(TargetError::new(TargetErrorKind::Data, "the invariant has no row")),
            false => Ok(answer),
        }
    })
}

/// Rows as one text: columns apart by a comma, rows by a semicolon.
fn words(rows: &[Row]) -> String {
    let column = |value: &Option<String>| value.clone().unwrap_or_else(|| "NULL".to_owned());
    let row = |row: &Row| row.0.iter().map(column).collect::<Vec<_>>().join(", ");
    rows.iter().map(row).collect::<Vec<_>>().join("; ")
}

/// Both answers together.
pub(crate) fn held(before: Answers, after: Answers) -> Vec<Invariant> {
    let unknown = |why: String| format!("not known: {why}");
    before
        .into_iter()
        .zip(after)
        .map(|((name, before), (_, after))| Invariant { name, before: before.unwrap_or_else(unknown), after })
        .collect()
}
