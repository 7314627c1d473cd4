//! Removes exactly what Dyno created.

use dyno_engine::{Holder, Work};
use dyno_plan::Plan;

use crate::error::Error;
use crate::event::{Event, Holdings};
use crate::lead::Lead;
use crate::targets::{self, Reached, Targets};

/// Removes what Dyno made in the targets of `plan`; returns what was removed and what stays, or nothing where whoever leads does
/// not agree to one of them.
///
/// # Errors
/// A target cannot be reached, is at work for somebody else, or does not let go of something.
pub fn drop_data(
    lead: &Lead<'_>,
    plan: &Plan,
    agrees: impl Fn(&Holdings) -> Result<bool, Error>,
) -> Result<Option<Vec<Holdings>>, Error> {
    let targets = Targets::reach(lead, plan)?;
    let mut all = Vec::new();
    for holder in targets.holders()? {
        let Some(removed) = holder.named(drop_from(lead, plan, holder, &agrees))? else { return Ok(None) };
        lead.tell(Event::Dropped(removed.clone()));
        all.push(removed);
    }
    Ok(Some(all))
}

/// What was removed from one target; nothing where nobody agrees.
fn drop_from(
    lead: &Lead<'_>,
    plan: &Plan,
    holder: &Reached,
    agrees: &impl Fn(&Holdings) -> Result<bool, Error>,
) -> Result<Option<Holdings>, Error> {
    let target = holder.target.as_ref();
    let found = Holdings { url: target.url(), items: target.inventory()?, left: target.foreign()? };
    if found.items.is_empty() {
        return Ok(Some(found));
    }
    let _lock = holder.lock(&Holder::this_process(Work::Drop), targets::claim(plan), lead)?;
    if !agrees(&found)? {
        return Ok(None);
    }
    Ok(Some(Holdings { items: target.drop_all()?, ..found }))
}
