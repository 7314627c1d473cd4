//! A catalogue of tests, one after the other: each under rising load, with its data made before and removed behind it.

mod choice;
mod course;
mod data;
mod order;
mod planned;
mod size;
mod steps;

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
pub use order::Order;

/// Tests that may fail one after the other before it is the platform that fails.
const FAILURES_MAX: u32 = 6;

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
        caches.max().into_iter().for_each(|bytes| order.outgrow(bytes));
        if order.resumed.is_none() {
            order.there_before = data::there_before(lead, &targets, order.choice.replace, &order.plans())?;
        }
    }
    let Some(first) = order.first() else { return Ok(None) };
    let plans = order.plans();
    let loading = Loading::AsNeeded { own: &plans, replace: order.choice.replace };
    let mut ready = Ready::new(lead, first, Work::Run, loading, |_| Ok(()))?;
    ready.marks.clone_from(&order.marks);
    let frame = Frame {
        axes: vec![("test".to_owned(), order.widest()), ("sessions".to_owned(), 8)],
        resumed: order.resumed.take(),
        failures_max: FAILURES_MAX,
        ..Frame::new(SweepKind::Suite, order.definition())
    };
    let concluded = campaign::follow(ready, frame, &mut order)?;
    if concluded.done && !order.choice.keep {
        data::remove(lead, &order.there_before, &plans)?;
    }
    Ok(Some(concluded))
}
