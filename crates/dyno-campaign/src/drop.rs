//! Removes exactly what Dyno created.

use std::sync::Arc;

use dyno_engine::{DropItem, Holder, Target, TargetError, Work};
use dyno_plan::Plan;
use dyno_workload::own::Own;

use crate::error::Error;
use crate::event::{Event, Holdings};
use crate::lead::Lead;
use crate::load::retried;
use crate::targets::{self, Reached, Targets};
use crate::{described, own, own_data};

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
    let owns = own::of(plan, lead.engines.specs)?;
    let targets = Targets::reach(lead, plan)?;
    let mut all = Vec::new();
    for holder in targets.holders()? {
        let Some(removed) = holder.named(drop_from(lead, plan, &owns, holder, &agrees))? else {
            return Ok(None);
        };
        lead.tell(Event::Dropped(removed.clone()));
        all.push(removed);
    }
    Ok(Some(all))
}

/// What was removed from one target; nothing where nobody agrees.
fn drop_from(
    lead: &Lead<'_>,
    plan: &Plan,
    owns: &[Arc<Own>],
    holder: &Reached,
    agrees: &impl Fn(&Holdings) -> Result<bool, Error>,
) -> Result<Option<Holdings>, Error> {
    let target = holder.target.as_ref();
    // What was set up last goes first.
    let data = || own::of_data(owns).rev();
    let found = match owns.is_empty() {
        false => {
            let items = data().map(|own| items(own, target)).collect::<Result<Vec<_>, _>>()?;
            Holdings { url: target.url(), items: items.concat(), left: Vec::new() }
        }
        true => Holdings { url: target.url(), items: target.inventory()?, left: target.foreign()? },
    };
    if found.items.is_empty() {
        return Ok(Some(found));
    }
    let _lock = holder.lock(&Holder::this_process(Work::Drop), targets::claim(plan), lead)?;
    if !agrees(&found)? {
        return Ok(None);
    }
    if owns.is_empty() {
        return Ok(Some(Holdings { items: retried(lead, || target.drop_all())?, ..found }));
    }
    for own in data() {
        match own.tables().is_empty() {
            true => drop(own_data::take_down(lead, target, own)?),
            false => described::take_down(lead, target, own)?,
        }
    }
    let emptied = remove_emptied_file(target)?;
    Ok(Some(Holdings { items: [found.items, emptied].concat(), ..found }))
}

/// Removes a database file that Dyno created and that holds nothing any more.
fn remove_emptied_file(target: &dyn Target) -> Result<Vec<DropItem>, TargetError> {
    let items = target.inventory()?;
    match !items.is_empty() && items.iter().all(|item| item.kind == "file") {
        true => target.drop_all(),
        false => Ok(Vec::new()),
    }
}

/// What is removed for a workload of the user's own.
fn items(own: &Own, target: &dyn Target) -> Result<Vec<DropItem>, TargetError> {
    match own.tables().is_empty() {
        true => Ok(own_data::statements(own, target)),
        false => described::inventory(target, own),
    }
}
