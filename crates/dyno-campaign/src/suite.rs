//! Runs a suite: its tests one after the other under rising load, each with its own data.

mod choice;
mod data;
mod order;
mod platform_fit;
mod size;
mod steps;
mod strategy;
mod test_plan;
mod units;

use dyno_engine::LockPurpose;
use dyno_record::SweepKind;

use crate::calibrate;
use crate::campaign::{self, CampaignOutcome, CampaignSpec};
use crate::campaign_context::CampaignContext;
use crate::error::Error;
use crate::ready::PreparedCampaign;
use crate::room::DataLoadPolicy;
use crate::targets::ReachedTargets;
pub use choice::{Depth, SuiteSelection};
pub use order::SuiteCampaign;
use platform_fit::PlatformCapacity;

/// Number of consecutive failing tests after which the platform counts as failed.
const FAILURES_MAX: u32 = 6;

/// Number of processors that this program may use.
fn processors() -> u32 {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Executes the remaining runs of `order`; `None` if there is none.
///
/// # Errors
/// The target is unsuitable for a run, or the repository fails. A test that fails does not end the others.
pub fn suite(ctx: &CampaignContext<'_>, mut order: SuiteCampaign) -> Result<Option<CampaignOutcome>, Error> {
    if order.first().is_none() {
        return Ok(None);
    }
    order.calibrations = calibrate::stored_calibrations(ctx)?;
    if let Some(widest) = order.plans().first() {
        let targets = ReachedTargets::reach(ctx, widest)?;
        let caches = targets.all.iter().filter_map(|reached| reached.identity.cache_bytes);
        order.exceed_cache(caches.clone().max().unwrap_or_default());
        let is_here = targets.all.iter().all(|reached| reached.identity.same_host);
        order.fit_to_platform(&PlatformCapacity {
            cache_bytes: caches.min(),
            memory_bytes: is_here.then(|| dyno_host::facts(&[]).memory_bytes).filter(|bytes| *bytes > 0),
            processors: is_here.then(processors),
        });
        if order.resumed.is_none() {
            order.there_before = data::there_before(ctx, &targets, order.choice.replace, &order.plans())?;
        }
    }
    let Some(first) = order.first() else { return Ok(None) };
    let plans = order.plans();
    let loading = DataLoadPolicy::AsNeeded { replaceable: &plans, replace: order.choice.replace };
    let is_new = order.resumed.is_none();
    let mut ready =
        PreparedCampaign::new(ctx, first, LockPurpose::Run, loading, |_| Ok(())).inspect_err(|_| {
            // Removes what an incomplete load left, and returns the load's own error. Before a resumed suite
            // the data may belong to others.
            if is_new && !order.choice.keep {
                drop(data::remove(&ctx.without_cancel(), &order.there_before, &plans));
            }
        })?;
    ready.marks.clone_from(&order.marks);
    let frame = CampaignSpec {
        axes: vec![("test".to_owned(), order.widest()), ("sessions".to_owned(), 8)],
        resumed: order.resumed.take(),
        failures_max: FAILURES_MAX,
        ..CampaignSpec::new(SweepKind::Suite, order.definition())
    };
    let outcome = campaign::run_campaign(ready, frame, &mut order);
    // A suite that reached its limit of runs keeps its data for the next part. In every other case the data
    // is removed.
    let is_to_be_continued = outcome.as_ref().is_ok_and(|ended| !ended.done && ended.stopped.is_none());
    if order.choice.keep || is_to_be_continued {
        return outcome.map(Some);
    }
    let removed = data::remove(&ctx.without_cancel(), &order.there_before, &plans);
    let mut concluded = outcome?;
    match (removed, &mut concluded.stopped) {
        (Err(error), Some(why)) => why.push_str(&format!("; its data could not be removed: {error}")),
        (Err(error), None) => return Err(error),
        (Ok(()), _) => {}
    }
    Ok(Some(concluded))
}
