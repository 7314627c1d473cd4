//! What must be the same before and after each run of a user's own workload.

use std::sync::Arc;
use std::time::Duration;

use dyno_engine::{Cancel, Row, TargetError, TargetErrorKind, patience};
use dyno_record::Invariant;
use dyno_workload::own::{Own, Single};

use crate::error::Error;
use crate::event::Event;
use crate::lead::Lead;
use crate::own;
use crate::own_data::{at, misfit};
use crate::targets::{Reached, Targets};

/// How long an invariant may take: it reads all of a table. And where the user has stopped the run, and wants its end.
const INVARIANT_MAX: Duration = Duration::from_secs(1_800);
const STOPPED_MAX: Duration = Duration::from_secs(10);

/// What a record says of an invariant until it was asked for after the run.
const NOT_YET: &str = "nobody has asked after the run, which is stored first";

/// A question by its name, and the answer.
type Answer = (String, Result<String, TargetError>);

/// What the invariants of each workload are before a run; those of workloads with the same data stand with the first.
///
/// # Errors
/// One cannot be told: nothing could be held against it.
pub(crate) fn before(
    lead: &Lead<'_>,
    targets: &Targets,
    owns: &[Arc<Own>],
) -> Result<Vec<Vec<Invariant>>, Error> {
    let known = |(name, answer): Answer| {
        let after = Err(NOT_YET.to_owned());
        Ok(Invariant { name, before: answer?, after })
    };
    let all = ask(lead, targets, owns, INVARIANT_MAX, &lead.cancel)?;
    all.into_iter().map(|answers| answers.into_iter().map(known).collect()).collect()
}

/// Asks for them again, after a run whose record is safe. Whoever stops the run while this goes on does not wait for it.
///
/// # Errors
/// The workload has no SQL for a target.
pub(crate) fn after(
    lead: &Lead<'_>,
    targets: &Targets,
    owns: &[Arc<Own>],
    invariants: &mut [Vec<Invariant>],
) -> Result<(), Error> {
    let answers = match lead.cancel.is_cancelled() {
        true => ask(lead, targets, owns, STOPPED_MAX, &Cancel::default())?,
        false => ask(lead, targets, owns, INVARIANT_MAX, &lead.cancel)?,
    };
    for (invariant, (_, answer)) in invariants.iter_mut().flatten().zip(answers.into_iter().flatten()) {
        invariant.after = answer.map_err(|error| error.to_string());
    }
    Ok(())
}

fn ask(
    lead: &Lead<'_>,
    targets: &Targets,
    owns: &[Arc<Own>],
    limit: Duration,
    cancel: &Cancel,
) -> Result<Vec<Vec<Answer>>, Error> {
    let asked: Vec<&Arc<Own>> = own::of_data(owns).collect();
    let one = |own: &Arc<Own>| match asked.iter().any(|asked| Arc::ptr_eq(asked, own)) {
        true => ask_own(lead, targets, own, limit, cancel),
        false => Ok(Vec::new()),
    };
    owns.iter().map(one).collect()
}

fn ask_own(
    lead: &Lead<'_>,
    targets: &Targets,
    own: &Own,
    limit: Duration,
    cancel: &Cancel,
) -> Result<Vec<Answer>, Error> {
    let mut all = Vec::new();
    for reached in targets.holders()? {
        let invariants = own.invariants(reached.target.engine()).map_err(|fault| misfit(&fault))?;
        if !invariants.is_empty() {
            lead.tell(Event::AskingInvariants);
        }
        for single in invariants {
            let label = match targets.is_several() {
                true => format!("{} of {}", single.name, reached.target.url()),
                false => single.name.clone(),
            };
            let answer = ask_one(reached, &single.sql, limit, cancel);
            all.push((label, answer.map_err(|error| told(&single, error))));
        }
    }
    Ok(all)
}

/// The error with the place of the SQL, where it is one of that.
fn told(single: &Single, error: TargetError) -> TargetError {
    match error.kind {
        TargetErrorKind::Cancelled | TargetErrorKind::Unreachable => error,
        _ => at(single, error),
    }
}

fn ask_one(reached: &Reached, sql: &str, limit: Duration, cancel: &Cancel) -> Result<String, TargetError> {
    let (target, sql) = (Arc::clone(&reached.target), sql.to_owned());
    patience::within(limit, cancel, "asking for an invariant", move || {
        let mut answer = String::new();
        target.script(&[&sql], &mut |rows| {
            answer = words(&rows);
            Ok(())
        })?;
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
