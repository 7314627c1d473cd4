//! `dyno drop`: removes exactly what Dyno created, after showing it.

use std::io::{IsTerminal, Write};

use dyno_engine::{Claim, DropItem, Holder, Work};

use crate::cli::{Common, Drop};
use crate::context;
use crate::exit::{Exit, usage};
use crate::talk::Talk;
use crate::targets::{Reached, Targets};

pub(super) fn run(common: &Common, args: &Drop, talk: &Talk) -> anyhow::Result<Exit> {
    let plan = context::plan(common)?;
    let targets = Targets::reach(&plan, talk)?;
    let (mut names, mut left) = (Vec::new(), Vec::new());
    for holder in targets.holders()? {
        match holder.named(drop_from(holder, context::claim(&plan), args, talk))? {
            Some(Removed { dropped, left: stays }) => {
                let named = |item: &DropItem| {
                    let mut name = serde_json::json!({ "kind": item.kind, "name": item.name });
                    if targets.is_several() {
                        name["target"] = holder.target.url().into();
                    }
                    name
                };
                names.extend(dropped.iter().map(named));
                left.extend(stays.iter().map(|item| {
                    let mut name = named(item);
                    name["why"] = why(item).into();
                    name
                }));
            }
            None => {
                talk.say(&format!("nothing was removed from {}", holder.target.url()));
                return Ok(Exit::Done);
            }
        }
    }
    talk.json(&serde_json::json!({ "dropped": names, "left": left }))?;
    Ok(Exit::Done)
}

/// What a drop did to one target.
struct Removed {
    dropped: Vec<DropItem>,
    /// What is not Dyno's and stays.
    left: Vec<DropItem>,
}

/// What was removed from one target; nothing if the user did not agree.
fn drop_from(holder: &Reached, claim: Claim, args: &Drop, talk: &Talk) -> anyhow::Result<Option<Removed>> {
    let target = holder.target.as_ref();
    let items = target.inventory()?;
    let left = target.foreign()?;
    let tell_left = || {
        for item in &left {
            talk.say(&format!("left {} {}: {}", item.kind, item.name, why(item)));
        }
    };
    if items.is_empty() {
        talk.say(&format!("{} holds nothing of Dyno's", target.url()));
        tell_left();
        return Ok(Some(Removed { dropped: Vec::new(), left }));
    }
    let _lock = context::lock(target, &Holder::this_process(Work::Drop), claim, talk)?;
    if !args.yes {
        talk.show(&dyno_report::drop_table(&rows(&items), &talk.style()))?;
        for item in &left {
            talk.say(&format!("stays: {} {}: {}", item.kind, item.name, why(item)));
        }
        if !confirmed(&target.url(), items.len())? {
            return Ok(None);
        }
    }
    let dropped = target.drop_all()?;
    talk.say(&format!("removed {} objects from {}", dropped.len(), target.url()));
    for item in &dropped {
        talk.detail(&format!("removed {} {}", item.kind, item.name));
    }
    tell_left();
    Ok(Some(Removed { dropped, left }))
}

/// Why a drop leaves something.
fn why(item: &DropItem) -> &'static str {
    match item.kind.as_str() {
        "schema" | "file" => "it was there before the load, or holds what Dyno did not make",
        _ => "it is not in the list of what Dyno made, or was made anew since",
    }
}

fn rows(items: &[DropItem]) -> Vec<dyno_report::DropRow> {
    let rows = items.iter().map(|item| dyno_report::DropRow {
        kind: item.kind.clone(),
        name: item.name.clone(),
        bytes: item.bytes,
    });
    rows.collect()
}

fn confirmed(url: &str, count: usize) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Err(usage(
            "drop asks before it removes anything, and there is no terminal to ask at",
            "--yes",
        ));
    }
    let question = dyno_report::text::talk(&format!("remove these {count} objects from {url}? [y/N] "));
    let mut err = std::io::stderr().lock();
    write!(err, "{question}")?;
    err.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
