//! A catalogue of tests, one after the other: each under rising load, with its data made before and removed behind it.

mod choice;
mod course;
mod data;
mod fit;
mod order;
mod planned;
mod size;
mod steps;
mod units;

use dyno_engine::Work;
use dyno_record::SweepKind;

use crate::calibrate;
use crate::campaign::{self, Concluded, Frame};
use crate::error::Error;
use crate::lead::Lead;
use crate::ready::Ready;
use crate::room::Loading;
use crate::targets::Targets;
pub use choice::{Choice, Depth};
use fit::Room;
pub use order::Order;

/// Tests that may fail one after the other before it is the platform that fails.
const FAILURES_MAX: u32 = 6;

/// Processors that this program may use.
fn processors() -> u32 {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Does the runs of `order` that are left; nothing where none is.
///
/// # Errors
/// The target is not fit for a run, or the repository fails; a test that fails ends no other.
pub fn suite(lead: &Lead<'_>, mut order: Order) -> Result<Option<Concluded>, Error> {
    if order.first().is_none() {
        return Ok(None);
    }
    order.calibrations = calibrate::all(lead)?;
    if let Some(widest) = order.plans().first() {
        let targets = Targets::reach(lead, widest)?;
        let caches = targets.all.iter().filter_map(|reached| reached.identity.cache_bytes);
        order.outgrow(caches.clone().max().unwrap_or_default());
        let is_here = targets.all.iter().all(|reached| reached.identity.same_host);
        order.fit(&Room {
            cache_bytes: caches.min(),
            memory_bytes: is_here.then(|| dyno_host::facts(&[]).memory_bytes).filter(|bytes| *bytes > 0),
            processors: is_here.then(processors),
        });
        if order.resumed.is_none() {
            order.there_before = data::there_before(lead, &targets, order.choice.replace, &order.plans())?;
        }
    }
    let Some(first) = order.first() else { return Ok(None) };
    let plans = order.plans();
    let loading = Loading::AsNeeded { own: &plans, replace: order.choice.replace };
    let is_new = order.resumed.is_none();
    let mut ready = Ready::new(lead, first, Work::Run, loading, |_| Ok(())).inspect_err(|_| {
        // Remove what an incomplete load left; the load's own error is returned. Before a resumed suite others may have loaded data.
        if is_new && !order.choice.keep {
            drop(data::remove(&lead.past_stop(), &order.there_before, &plans));
        }
    })?;
    ready.marks.clone_from(&order.marks);
    let frame = Frame {
        axes: vec![("test".to_owned(), order.widest()), ("sessions".to_owned(), 8)],
        resumed: order.resumed.take(),
        failures_max: FAILURES_MAX,
        ..Frame::new(SweepKind::Suite, order.definition())
    };
    let outcome = campaign::follow(ready, frame, &mut order);
    // As many runs as were asked for leave the data to those that follow; whatever else ends a suite leaves none.
    let is_to_be_continued = outcome.as_ref().is_ok_and(|ended| !ended.done && ended.stopped.is_none());
    if order.choice.keep || is_to_be_continued {
        return outcome.map(Some);
    }
    let removed = data::remove(&lead.past_stop(), &order.there_before, &plans);
    let mut concluded = outcome?;
    match (removed, &mut concluded.stopped) {
        (Err(error), Some(why)) => why.push_str(&format!("; its data could not be removed: {error}")),
        (Err(error), None) => return Err(error),
        (Ok(()), _) => {}
    }
    Ok(Some(concluded))
}
