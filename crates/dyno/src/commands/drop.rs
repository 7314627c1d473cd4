//! `dyno drop`: removes exactly what Dyno created, after showing it.

use std::io::IsTerminal as _;

use dyno_campaign::{CampaignContext, Error, TargetObjects, drop_data};
use dyno_engine::DropItem;
use serde_json::json;

use crate::cli::{CommonArgs, Drop, MarkArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::{context, event_messages, prompt};

pub(super) fn run(common: &CommonArgs, args: &Drop, talk: &Console) -> anyhow::Result<Exit> {
    let plan = context::plan(common)?;
    let agrees = |found: &TargetObjects| if args.yes { Ok(true) } else { confirm_drop(found, talk) };
    let drop = |ctx: &CampaignContext<'_>| drop_data(ctx, &plan, agrees);
    let Some(removed) = context::run_campaign(common, &MarkArgs::default(), talk, drop)? else {
        return Ok(Exit::Done);
    };
    let (mut names, mut left) = (Vec::new(), Vec::new());
    for TargetObjects { url, items, left: stays } in &removed {
        let named = |item: &DropItem| {
            let mut name = json!({ "kind": item.kind, "name": item.name });
            if plan.target.is_several() {
                name["target"] = url.as_str().into();
            }
            name
        };
        names.extend(items.iter().map(named));
        left.extend(stays.iter().map(|item| {
            let mut name = named(item);
            name["why"] = event_messages::reason_kept(item).into();
            name
        }));
    }
    talk.json(&json!({ "dropped": names, "left": left }))?;
    Ok(Exit::Done)
}

/// Shows what a target contains, and asks whether to remove it.
fn confirm_drop(holdings: &TargetObjects, talk: &Console) -> Result<bool, Error> {
    let failed = |error| Error::because("the confirmation could not be read", error);
    let rows = holdings.items.iter().map(|item| dyno_report::DropRow {
        kind: item.kind.clone(),
        name: item.name.clone(),
        bytes: item.bytes,
    });
    let table = dyno_report::drop_table(&rows.collect::<Vec<_>>(), &talk.style());
    talk.show(&table).map_err(failed)?;
    for item in &holdings.left {
        talk.say(&format!("stays: {} {}: {}", item.kind, item.name, event_messages::reason_kept(item)));
    }
    if !std::io::stdin().is_terminal() {
        return Err(Error::usage(
            "drop asks for confirmation, but there is no terminal",
            "add --yes to drop without confirmation",
        ));
    }
    let (count, url) = (holdings.items.len(), &holdings.url);
    let agreed =
        prompt::confirm(&[], &format!("remove these {count} objects from {url}?")).map_err(failed)?;
    if !agreed {
        talk.say(&format!("nothing was removed from {url}"));
    }
    Ok(agreed)
}
