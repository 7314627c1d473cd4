//! Observes a running database from outside, until the record is stored. It takes no lock, loads nothing and
//! changes nothing: the activity of others is what is measured.

use std::sync::Arc;

use dyno_drive::{NoopRunListener, RunListener as _};
use dyno_engine::{Clock, MonotonicClock};
use dyno_plan::{Length, Plan};
use dyno_record::{RecordKind, RunRecord, StartedRun};
use dyno_watch::{ObservationEvent, ObservationJob};

use crate::campaign_context::CampaignContext;
use crate::error::Error;
use crate::event::{CampaignEvent, Warning};
use crate::interval_store::{self, IntervalStoreListener};
use crate::measure::{series_points_max, store};
use crate::targets::ReachedTargets;
use crate::{data, hosts, names};

/// Observes the target of `plan` for its `run.time`, every `observe.interval`, and stores the result. Other
/// keys of the plan have no effect.
///
/// # Errors
/// There are several targets, the target cannot be reached or cannot be observed from outside, or the
/// repository cannot be written.
pub fn watch(ctx: &CampaignContext<'_>, plan: &Plan) -> Result<Arc<RunRecord>, Error> {
    // Opened first, so that an unwritable repository is detected now, and not after hours.
    let repository = ctx.repository()?;
    let targets = ReachedTargets::reach(ctx, plan)?;
    if targets.is_several() {
        let hint = "run a separate `dyno watch` for each target";
        return Err(Error::usage("`dyno watch` observes one target, but the plan names several", hint));
    }
    ctx.emit(CampaignEvent::Reached);
    let reached = targets.first();
    let Length::Time(length) = plan.run.length() else {
        return Err(Error::usage(
            "`dyno watch` runs for a time, but run.ops_per_session is set",
            "leave it out",
        ));
    };
    let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::default());
    // Detects a machine that cannot be observed before the run is stored as started.
    let far = hosts::connect_hosts(plan, &targets.all, &clock, ctx)?.into_iter().flatten().next();
    let started_run = names::with_unique_name(|now, random| {
        let (id, at) = (dyno_record::new_run_id(now, random), dyno_record::rfc3339(now));
        let new_run =
            StartedRun::by_this_process(id, at, targets.engines(), targets.urls(), Plan::clone(plan));
        repository.begin(&new_run).map(|()| new_run)
    })?;
    let present = ObservationJob {
        target: Arc::clone(&reached.target),
        identity: reached.identity_through(far.as_deref()),
        remote_host: far,
        host_paths: data::host_paths(&reached.identity),
        interval_s: plan.observe.interval.0.as_secs_f64(),
        length_s: length.0.as_secs_f64(),
        samples_per_s: plan.observe.waits.map_or(0.0, |rate| rate.0),
        clock,
        cancel: ctx.cancel.clone(),
        dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
        series_points_max: series_points_max(),
        begun: started_run,
    };
    let id = present.begun.id.clone();
    ctx.emit(CampaignEvent::RunBegun {
        id: id.clone(),
        kind: RecordKind::Watch,
        targets: targets.words(),
        is_part: false,
    });
    let marked = |record: RunRecord| RunRecord {
        variant: ctx.marks.variant.clone(),
        tags: ctx.marks.tag.clone(),
        options: ctx.marks.options.clone(),
        ..record
    };
    let keeper = interval_store::is_long(plan).then(|| {
        let draft = marked(dyno_watch::draft(&present));
        IntervalStoreListener::start(draft, repository.path().to_path_buf(), &NoopRunListener, ctx)
    });
    let outcome = dyno_watch::watch(&present, &mut |seen| match (seen, &keeper) {
        (ObservationEvent::Final(chunk), Some(keeper)) => keeper.event(&dyno_drive::RunEvent::Final(chunk)),
        (ObservationEvent::Final(_), None) => {}
        (seen, _) => ctx.emit(CampaignEvent::Seen(seen)),
    });
    let is_overview = outcome.as_ref().is_ok_and(|record| record.series.full.is_some());
    let why = match keeper {
        Some(keeper) => keeper.finish(is_overview),
        None => Some("the watch was expected to be short".to_owned()),
    };
    ctx.emit(CampaignEvent::RunOver);
    let mut record = match outcome {
        Ok(record) => marked(record),
        Err(error) => {
            // Nothing was observed, so no run is kept.
            repository.delete(&id)?;
            return Err(error.into());
        }
    };
    if is_overview {
        interval_store::note_incomplete_series(&mut record, why.as_ref());
        if let Some(why) = why {
            ctx.emit(CampaignEvent::Warning(Warning::SeriesNotWhole(why)));
        }
    }
    store(&repository, ctx, &record)?;
    let record = Arc::new(record);
    ctx.emit(CampaignEvent::Stored(Arc::clone(&record)));
    Ok(record)
}
