//! What must hold of the data of a user's own workload: behind a load, and behind each run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_engine::{Cancel, Row, Target, TargetError, TargetErrorKind, patience};
use dyno_record::Invariant;
use dyno_workload::own::{After, Own, Single};

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

/// Asks a target for invariants.
#[derive(Clone, Copy)]
struct Asking<'a> {
    lead: &'a Lead<'a>,
    limit: Duration,
    cancel: &'a Cancel,
}

/// What the invariants of each workload are before a run; those of workloads with the same data stand with the first.
///
/// # Errors
/// One that has to stay the same cannot be asked for: nothing could be compared with it.
pub(crate) fn before(
    lead: &Lead<'_>,
    targets: &Targets,
    owns: &[Arc<Own>],
) -> Result<Vec<Vec<Invariant>>, Error> {
    let asking = Asking { lead, limit: INVARIANT_MAX, cancel: &lead.cancel };
    let of_target = |reached: &Reached, singles: &[Single]| {
        let answers = asking.ask(&reached.target, &singles.iter().collect::<Vec<_>>());
        let known = |(single, answer): (&Single, Result<String, TargetError>)| {
            let before = match (answer, &single.is) {
                // What it has to be is known, so the run can be judged without the answer.
                (Err(error), Some(_)) if error.kind != TargetErrorKind::Cancelled => None,
                (answer, _) => Some(answer?),
            };
            let name = label(targets, reached, single);
            Ok(Invariant { name, is: single.is.clone(), before, after: Err(NOT_YET.to_owned()) })
        };
        singles.iter().zip(answers).map(known).collect::<Result<Vec<_>, TargetError>>()
    };
    of_each(targets, owns, |reached, singles| of_target(reached, singles).map_err(Error::from))
}

/// Asks for them again, after a run whose record is safe; how long that took. Whoever stops the run while this goes on does not wait for it.
///
/// # Errors
/// The workload has no SQL for a target.
pub(crate) fn after(
    lead: &Lead<'_>,
    targets: &Targets,
    owns: &[Arc<Own>],
    invariants: &mut [Vec<Invariant>],
) -> Result<Duration, Error> {
    let began = Instant::now();
    let never = Cancel::default();
    let asking = match lead.cancel.is_cancelled() {
        true => Asking { lead, limit: STOPPED_MAX, cancel: &never },
        false => Asking { lead, limit: INVARIANT_MAX, cancel: &lead.cancel },
    };
    let answers = of_each(targets, owns, |reached, singles| {
        let answers = asking.ask(&reached.target, &singles.iter().collect::<Vec<_>>());
        Ok(answers.into_iter().map(|answer| (String::new(), answer)).collect::<Vec<Answer>>())
    })?;
    for (invariant, (_, answer)) in invariants.iter_mut().flatten().zip(answers.into_iter().flatten()) {
        invariant.after = answer.map_err(|error| error.to_string());
    }
    Ok(began.elapsed())
}

/// Holds what was loaded against what has to hold of it; how many conditions there are.
///
/// # Errors
/// One does not hold, or cannot be asked for.
pub(crate) fn of_load(lead: &Lead<'_>, target: &Arc<dyn Target>, own: &Own) -> Result<usize, TargetError> {
    let singles = own.invariants(target.engine(), After::Load).map_err(|fault| misfit(&fault))?;
    let asking = Asking { lead, limit: INVARIANT_MAX, cancel: &lead.cancel };
    let answers = asking.ask(target, &singles.iter().collect::<Vec<_>>());
    for (single, answer) in singles.iter().zip(answers) {
        let (answer, is) = (answer?, single.is.as_deref().unwrap_or_default());
        if answer != is {
            let problem = format!("{} is {answer}, and has to be {is}", single.name);
            let message = single.fault(problem, "").to_string();
            return Err(TargetError::new(TargetErrorKind::Data, message)
                .hint("the load is not what was described: `dyno load --replace` loads it anew"));
        }
    }
    Ok(singles.len())
}

/// What `of` makes of the invariants of each workload on each target that has data of its own.
fn of_each<T>(
    targets: &Targets,
    owns: &[Arc<Own>],
    mut of: impl FnMut(&Reached, &[Single]) -> Result<Vec<T>, Error>,
) -> Result<Vec<Vec<T>>, Error> {
    let asked: Vec<&Arc<Own>> = own::of_data(owns).collect();
    let mut all = Vec::new();
    for own in owns {
        let mut of_own = Vec::new();
        if asked.iter().any(|asked| Arc::ptr_eq(asked, own)) {
            for reached in targets.holders()? {
                let singles = own.invariants(reached.target.engine(), After::Run);
                of_own.extend(of(reached, &singles.map_err(|fault| misfit(&fault))?)?);
            }
        }
        all.push(of_own);
    }
    Ok(all)
}

/// The name of an invariant, of several targets with its target.
fn label(targets: &Targets, reached: &Reached, single: &Single) -> String {
    match targets.is_several() {
        true => format!("{} of {}", single.name, reached.target.url()),
        false => single.name.clone(),
    }
}

/// The error with the place of the SQL, where it is one of that.
fn told(single: &Single, error: TargetError) -> TargetError {
    match error.kind {
        TargetErrorKind::Cancelled | TargetErrorKind::Unreachable => error,
        _ => at(single, error),
    }
}

impl Asking<'_> {
    /// Asks for all of `singles` in one snapshot; behind one that fails those that stand behind it are not known either.
    fn ask(&self, target: &Arc<dyn Target>, singles: &[&Single]) -> Vec<Result<String, TargetError>> {
        if singles.is_empty() {
            return Vec::new();
        }
        self.lead.tell(Event::AskingInvariants);
        let snapshot = target.dialect().snapshot;
        let own = singles.iter().map(|single| single.sql.as_str());
        let all: Vec<String> =
            snapshot.iter().copied().chain(own).chain(["COMMIT"]).map(str::to_owned).collect();
        let (connection, first) = (Arc::clone(target), snapshot.len());
        let (sender, answers) = std::sync::mpsc::channel();
        let done = patience::within(self.limit, self.cancel, "asking for invariants", move || {
            let mut number = 0;
            let texts: Vec<&str> = all.iter().map(String::as_str).collect();
            connection.script(&texts, &mut |rows| {
                if (first..texts.len() - 1).contains(&number) {
                    // Whoever has asked may have gone.
                    let _ = sender.send(words(&rows));
                }
                number += 1;
                Ok(())
            })
        });
        let answers: Vec<String> = answers.try_iter().collect();
        let no_row = || TargetError::new(TargetErrorKind::Data, "the invariant has no row");
        let one = |(place, single): (usize, &&Single)| match answers.get(place) {
            Some(answer) if answer.is_empty() => Err(told(single, no_row())),
            Some(answer) => Ok(answer.clone()),
            None => Err(match &done {
                Err(error) if place == answers.len() => told(single, copy(error)),
                Err(error) => copy(error),
                Ok(()) => told(single, no_row()),
            }),
        };
        singles.iter().enumerate().map(one).collect()
    }
}

/// The same error for another invariant.
fn copy(error: &TargetError) -> TargetError {
    TargetError::new(error.kind, error.to_string())
}

/// Rows as one text: columns apart by a comma, rows by a semicolon.
fn words(rows: &[Row]) -> String {
    let column = |value: &Option<String>| value.clone().unwrap_or_else(|| "NULL".to_owned());
    let row = |row: &Row| row.0.iter().map(column).collect::<Vec<_>>().join(", ");
    rows.iter().map(row).collect::<Vec<_>>().join("; ")
}
