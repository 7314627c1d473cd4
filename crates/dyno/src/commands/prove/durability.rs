//! `dyno prove durability`: checks that acknowledged commits exist after the server was killed.

use std::os::fd::AsFd as _;
use std::process::Stdio;

use dyno_campaign::prove::{KillSettings, durability};
use dyno_record::Status;
use serde_json::json;

use super::comparison;
use crate::cli::{CommonArgs, MarkArgs, ProveDurability};
use crate::console::Console;
use crate::exit::Exit;
use crate::{context, event_messages};

pub(super) fn run(common: &CommonArgs, args: &ProveDurability, talk: &Console) -> anyhow::Result<Exit> {
    let plan = context::plan(common)?;
    // Output of the commands goes where messages go.
    let output = || match talk.quiet {
        true => Ok(Stdio::null()),
        false => Ok(std::io::stderr().as_fd().try_clone_to_owned()?.into()),
    };
    let kill = KillSettings {
        command: &args.kill_command,
        after: args.after.0,
        restart: args.restart_command.as_deref(),
        wait: args.restart_wait.0,
        output: &output,
    };
    let outcome =
        context::run_campaign(common, &MarkArgs::default(), talk, |ctx| durability(ctx, plan, kill))?;
    let record = &outcome.record;
    let Some(verdict) = &outcome.verdict else {
        for reason in &record.reasons {
            talk.error(&format!("the run ended before the server was killed: {reason}"), "");
        }
        return Ok(if record.status == Status::Interrupted { Exit::Interrupted } else { Exit::Failed });
    };
    talk.json(&json!({
        "proof": "durability", "proved": verdict.is_proved, "verdict": verdict.line, "reasons": verdict.reasons,
        "run": record.id, "server": verdict.server, "settings_off": verdict.settings_off,
        "account": verdict.account.as_ref().map(comparison::as_json),
    }))?;
    if let Some(account) = &verdict.account {
        talk.show(&comparison::table(account, None, &talk.style()))?;
    }
    talk.show("\n")?;
    event_messages::show(&verdict.line, 0, talk)?;
    for reason in &verdict.reasons {
        event_messages::show(reason, 2, talk)?;
    }
    talk.say(&format!("the run is stored as {}", record.id));
    Ok(if verdict.is_proved { Exit::Done } else { Exit::Invalid })
}
