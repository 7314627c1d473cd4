//! `dyno drop`: removes exactly what Dyno created, after showing it.

use std::io::{IsTerminal, Write};

use dyno_target::{DropItem, Work};

use crate::cli::{Common, Drop};
use crate::context;
use crate::exit::{Exit, usage};
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &Drop, talk: &Talk) -> anyhow::Result<Exit> {
    let plan = context::plan(common)?;
    let (target, _) = context::reach(&plan, talk)?;
    let items = target.inventory()?;
    let foreign = target.foreign()?;
    if items.is_empty() {
        talk.say(&format!("{} holds nothing of Dyno's", target.url()));
        talk.json(&serde_json::json!({ "dropped": [] }))?;
        return Ok(Exit::Done);
    }
    let _lock = context::lock(target.as_ref(), Work::Drop, talk)?;
    if !args.yes {
        talk.show(&dyno_report::drop_table(&rows(&items), &talk.style()))?;
        for item in &foreign {
            talk.say(&format!("not Dyno's, and stays: {} {}", item.kind, item.name));
        }
        if !confirmed(&target.url(), items.len())? {
            talk.say("nothing was removed");
            return Ok(Exit::Done);
        }
    }
    let dropped = target.drop_all()?;
    talk.say(&format!("removed {} objects from {}", dropped.len(), target.url()));
    for item in &dropped {
        talk.detail(&format!("removed {} {}", item.kind, item.name));
    }
    let names: Vec<_> =
        dropped.iter().map(|item| serde_json::json!({ "kind": item.kind, "name": item.name })).collect();
    talk.json(&serde_json::json!({ "dropped": names }))?;
    Ok(Exit::Done)
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
    let mut err = std::io::stderr().lock();
    write!(err, "remove these {count} objects from {url}? [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
