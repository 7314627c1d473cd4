//! Creates, fills and verifies the data.

use std::sync::Arc;
use std::time::Instant;

use dyno_engine::{LoadOptions, LoadReport, Progress, Target, TargetError, TargetErrorKind, Work};
use dyno_plan::{DataSpec, Plan};
use dyno_workload::own::Own;

use crate::described::{self, Replace};
use crate::error::Error;
use crate::event::{Event, LoadEvent, SetUp};
use crate::lead::Lead;
use crate::targets::Targets;
use crate::{data, invariants, own, own_data};

/// A target that is loaded.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Its URL.
    pub url: String,
    /// What was done.
    pub done: Done,
}

/// What was done to load a target.
#[derive(Debug, Clone)]
pub enum Done {
    /// Dyno's own test data was loaded, or was there.
    Data(LoadReport),
    /// A workload of the user's own was set up.
    SetUp(SetUp),
}

/// Loads the data of `plan`; data of another shape is dropped first where it may be replaced.
///
/// # Errors
/// A target cannot be reached or loaded, or holds something else.
pub fn load(lead: &Lead<'_>, plan: &Plan, replace: bool) -> Result<Vec<Loaded>, Error> {
    let owns = own::of(plan, lead.engines.specs)?;
    let targets = Targets::reach(lead, plan)?;
    let holders = targets.holders()?;
    lead.tell(Event::Reached);
    let specs = holders.iter().map(|holder| holder.spec(plan)).collect::<Result<Vec<_>, _>>()?;
    let _locks = targets.lock(Work::Load, lead)?;
    let mut all = Vec::new();
    for (holder, spec) in holders.iter().zip(&specs) {
        let (target, url) = (holder.target.as_ref(), holder.target.url());
        if targets.is_several() {
            lead.tell(Event::Load(LoadEvent::Target(url.clone())));
        }
        if target.capabilities().ephemeral {
            lead.tell(Event::Load(LoadEvent::Ephemeral));
        }
        let parallel = plan.data.load_parallel;
        for own in own::of_data(&owns) {
            let done = holder.named(load_own(lead, &holder.target, own, parallel, replace))?;
            all.push(Loaded { url: url.clone(), done });
        }
        if owns.is_empty() {
            let done = Done::Data(holder.named(load_one(lead, target, spec, parallel, replace))?);
            all.push(Loaded { url, done });
        }
    }
    if targets.is_shared() {
        lead.tell(Event::WaitingForData);
        targets.wait_seen(plan, &lead.cancel)?;
    }
    Ok(all)
}

/// Sets a workload of the user's own up.
fn load_own(
    lead: &Lead<'_>,
    target: &Arc<dyn Target>,
    own: &Own,
    parallel: u32,
    replace: bool,
) -> Result<Done, TargetError> {
    let replace = if replace { Replace::All } else { Replace::Nothing };
    let mut done = set_up(lead, target.as_ref(), own, parallel, replace)?;
    if !done.already {
        let began = Instant::now();
        done.conditions = invariants::of_load(lead, target, own)?;
        done.conditions_s = began.elapsed().as_secs_f64();
    }
    lead.tell(Event::Load(LoadEvent::SetUp(done.clone())));
    Ok(Done::SetUp(done))
}

/// Makes and fills the tables of a workload of the user's own, and does its SQL.
pub(crate) fn set_up(
    lead: &Lead<'_>,
    target: &dyn Target,
    own: &Own,
    parallel: u32,
    replace: Replace,
) -> Result<SetUp, TargetError> {
    if !own.tables().is_empty() {
        return retried(lead, || described::load(lead, target, own, parallel, replace));
    }
    let began = Instant::now();
    if replace == Replace::All {
        own_data::take_down(lead, target, own)?;
    }
    let statements = own_data::set_up(lead, target, own)?;
    let (name, seconds) = (own.name().to_owned(), began.elapsed().as_secs_f64());
    Ok(SetUp { name, statements, seconds, ..SetUp::default() })
}

/// Loads `spec` into `target`.
pub(crate) fn load_one(
    lead: &Lead<'_>,
    target: &dyn Target,
    spec: &DataSpec,
    parallel: u32,
    replace: bool,
) -> Result<LoadReport, TargetError> {
    let options = LoadOptions {
        parallel: parallel.min(target.capabilities().load_parallel_max),
        replace,
        dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let report = match attempt(lead, target, spec, &options) {
        // Of Dyno's data only what it recorded is removed; what is in its way and not Dyno's is an error again.
        Err(error) if replace && is_damage(error.kind) => {
            lead.tell(Event::Load(LoadEvent::Damaged(error.to_string())));
            retried(lead, || target.drop_all())?;
            attempt(lead, target, spec, &options)?
        }
        outcome => outcome?,
    };
    lead.tell(Event::Load(LoadEvent::Done(report.clone())));
    Ok(report)
}

/// Whether an error may be one of the data itself: also what the database says of a table or column that is gone.
fn is_damage(kind: TargetErrorKind) -> bool {
    matches!(kind, TargetErrorKind::Data | TargetErrorKind::Database)
}

/// Loads, and looks whether what was there already is still what was loaded; where it is to be replaced, rows that updates
/// have moved together are none that may stay.
fn attempt(
    lead: &Lead<'_>,
    target: &dyn Target,
    spec: &DataSpec,
    options: &LoadOptions,
) -> Result<LoadReport, TargetError> {
    let outcome = retried(lead, || target.load(spec, options, &Told(lead), &lead.cancel));
    lead.tell(Event::Load(LoadEvent::Over));
    let report = outcome?;
    if report.already
        && let Some(note) = target.spot_check(spec, data::spot_seed())?
    {
        if options.replace {
            return Err(TargetError::new(TargetErrorKind::Data, note));
        }
        lead.tell(Event::Load(LoadEvent::Worn(format!("{note}; {}", data::SPREAD_AGAIN))));
    }
    Ok(report)
}

/// Times that work which the database took back is done again.
const RETRIES: u32 = 3;

/// Does `work`, and does it again where the database took it back because of others, such as a server that was killed and still
/// rolls transactions of an earlier load back. Loads go on where they stopped, so nothing is done twice.
pub(crate) fn retried<T>(
    lead: &Lead<'_>,
    work: impl FnMut() -> Result<T, TargetError>,
) -> Result<T, TargetError> {
    retry(work, |error, retry| {
        lead.tell(Event::Load(LoadEvent::Retried(error.to_string(), retry, RETRIES)));
        !lead.cancel.is_cancelled()
    })
}

/// Does `work` up to [`RETRIES`] times more while its error is retryable and `again` agrees.
fn retry<T>(
    mut work: impl FnMut() -> Result<T, TargetError>,
    again: impl Fn(&TargetError, u32) -> bool,
) -> Result<T, TargetError> {
    for retry in 1..=RETRIES {
        match work() {
            Err(error) if error.is_retryable && again(&error, retry) => {}
            outcome => return outcome,
        }
    }
    work()
}

/// A load's progress, as whoever leads hears it.
struct Told<'a>(&'a Lead<'a>);

impl Progress for Told<'_> {
    fn phase(&self, name: &str, rows: u64) {
        self.0.tell(Event::Load(LoadEvent::Phase(name.to_owned(), rows)));
    }

    fn advance(&self, rows: u64, bytes: u64) {
        self.0.tell(Event::Load(LoadEvent::Advance(rows, bytes)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_retryable_errors_are_retried_and_not_for_ever() {
        let error = |is_retryable| TargetError { is_retryable, ..TargetError::database("deadlock (1213)") };
        let times = |failures: u32, is_retryable: bool, agrees: bool| {
            let mut calls = 0;
            let work = || {
                calls += 1;
                if calls > failures { Ok(()) } else { Err(error(is_retryable)) }
            };
            let outcome = retry(work, |_, _| agrees);
            (outcome.is_ok(), calls)
        };
        assert_eq!(times(0, true, true), (true, 1));
        assert_eq!(times(1, true, true), (true, 2));
        assert_eq!(times(99, true, true), (false, 1 + RETRIES));
        assert_eq!(times(1, false, true), (false, 1));
        assert_eq!(times(1, true, false), (false, 1));
    }
}
