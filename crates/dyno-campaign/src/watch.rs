//! A running database looked at from outside, from the first look to the stored record. Takes no lock, loads nothing, changes
//! nothing: others may be at work, and they are what is looked at.

use std::sync::Arc;

use dyno_drive::present::{self, Present, Seen};
use dyno_drive::{Unwatched, Watch as _};
use dyno_engine::{Clock, MonotonicClock};
use dyno_plan::{Length, Plan};
use dyno_record::{RunRecord, StartedRun};

use crate::error::Error;
use crate::event::{Event, Warning};
use crate::keeper::{self, Keeper};
use crate::lead::Lead;
use crate::measure::{series_points_max, store};
use crate::targets::Targets;
use crate::{data, hosts, names};

/// Looks at the target of `plan` for its `run.time`, every `observe.interval`, and stores what was seen. Nothing else of the plan has a
/// meaning here.
///
/// # Errors
/// There are several targets, it cannot be reached or be looked at from outside, or the repository cannot be written.
pub fn watch(lead: &Lead<'_>, plan: &Plan) -> Result<Arc<RunRecord>, Error> {
    // Opened first: a repository that cannot be written is found before, not after hours.
    let repository = lead.repository()?;
    let targets = Targets::reach(lead, plan)?;
    if targets.is_several() {
        let hint = "watch each with a `dyno watch` of its own";
        return Err(Error::usage("one target is watched at a time, and there are several", hint));
    }
    lead.tell(Event::Reached);
    let reached = targets.first();
    let Length::Time(length) = plan.run.length() else {
        return Err(Error::usage("a watch goes by time, and run.ops_per_session is set", "leave it out"));
    };
    let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::default());
    // What cannot be looked at is found before anything is noted.
    let far = hosts::reach(plan, &targets.all, &clock, lead)?.into_iter().flatten().next();
    let begun = names::drawn(|now, random| {
        let (id, at) = (dyno_record::new_run_id(now, random), dyno_record::rfc3339(now));
        let begun = StartedRun::by_this_process(id, at, targets.engines(), targets.urls(), Plan::clone(plan));
        repository.begin(&begun).map(|()| begun)
    })?;
    let present = Present {
        target: Arc::clone(&reached.target),
        identity: reached.identity_through(far.as_deref()),
        far,
        host_paths: data::host_paths(&reached.identity),
        interval_s: plan.observe.interval.0.as_secs_f64(),
        length_s: length.0.as_secs_f64(),
        samples_per_s: plan.observe.waits.map_or(0.0, |rate| rate.0),
        clock,
        cancel: lead.cancel.clone(),
        dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
        series_points_max: series_points_max(),
        begun,
    };
    let id = present.begun.id.clone();
    lead.tell(Event::RunBegun { id: id.clone(), targets: targets.words(), is_part: false });
    let marked = |record: RunRecord| RunRecord {
        variant: lead.marks.variant.clone(),
        tags: lead.marks.tag.clone(),
        ..record
    };
    let keeper = keeper::is_long(plan).then(|| {
        let draft = marked(present::draft(&present));
        Keeper::start(draft, repository.path().to_path_buf(), &Unwatched, lead)
    });
    let outcome = present::watch(&present, &mut |seen| match (seen, &keeper) {
        (Seen::Final(chunk), Some(keeper)) => keeper.event(&dyno_drive::Event::Final(chunk)),
        (Seen::Final(_), None) => {}
        (seen, _) => lead.tell(Event::Seen(seen)),
    });
    let is_overview = outcome.as_ref().is_ok_and(|record| record.series.full.is_some());
    let why = match keeper {
        Some(keeper) => keeper.finish(is_overview),
        None => Some("the watch was taken for a short one".to_owned()),
    };
    lead.tell(Event::RunOver);
    let mut record = match outcome {
        Ok(record) => marked(record),
        Err(error) => {
            // Nothing was seen, so there is nothing to keep.
            repository.delete(&id)?;
            return Err(error.into());
        }
    };
    if is_overview {
        keeper::note(&mut record, why.as_ref());
        if let Some(why) = why {
            lead.tell(Event::Warning(Warning::SeriesNotWhole(why)));
        }
    }
    store(&repository, lead, &record)?;
    let record = Arc::new(record);
    lead.tell(Event::Stored(Arc::clone(&record)));
    Ok(record)
}
