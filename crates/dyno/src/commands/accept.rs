//! `dyno check --accept`: tests an engine on a server and reports what is proved, not proved, or wrong.

use std::path::Path;

use dyno_campaign::{Error, TargetAcceptance, accept, files};
use dyno_plan::Plan;
use dyno_record::AcceptanceVerdict;
use serde_json::{Value, json};

use crate::cli::{Check, CommonArgs, MarkArgs};
use crate::console::Console;
use crate::context;
use crate::exit::Exit;

/// Format version of `--record` files.
const RECORD_VERSION: u32 = 1;

pub(super) fn run(common: &CommonArgs, plan: &Plan, args: &Check, talk: &Console) -> anyhow::Result<Exit> {
    let accepted =
        context::run_campaign_with_agents(common, (&MarkArgs::default(), &args.met), talk, |ctx| {
            accept(ctx, plan)
        })?;
    if let Some(path) = &args.record {
        write_record(path, &accepted)?;
        talk.say(&format!("the masked record is in {}", path.display()));
    }
    show(&accepted, talk)
}

/// Writes acceptance results without names of hosts, users, databases and files.
fn write_record(path: &Path, accepted: &[TargetAcceptance]) -> Result<(), Error> {
    let all: Vec<_> = accepted.iter().map(|accepted| &accepted.masked).collect();
    let record = json!({ "kind": "acceptance", "record_version": RECORD_VERSION, "targets": all });
    let failed = |error: std::io::Error| {
        Error::because(format!("the record cannot be written to {}: {error}", path.display()), error)
    };
    let mut text = serde_json::to_vec_pretty(&record).map_err(|error| failed(error.into()))?;
    text.push(b'\n');
    files::replace(path, &text).map_err(failed)
}

fn show(accepted: &[TargetAcceptance], talk: &Console) -> anyhow::Result<Exit> {
    let (mut worst, mut answers) = (AcceptanceVerdict::NotApplicable, Vec::new());
    for TargetAcceptance { url, acceptance, .. } in accepted {
        let between = if answers.is_empty() { "" } else { "\n" };
        talk.show(&format!("{between}{} {} at {url}\n\n", acceptance.product, acceptance.version))?;
        talk.show(&dyno_report::acceptance_page(acceptance, &talk.style()))?;
        worst = worst.max(acceptance.verdict);
        let mut answer = serde_json::to_value(acceptance)?;
        answer["target"] = Value::from(url.as_str());
        answers.push(answer);
    }
    match answers.as_slice() {
        [only] => talk.json(only)?,
        several => talk.json(&json!({ "targets": several }))?,
    }
    Ok(match worst {
        AcceptanceVerdict::NotApplicable | AcceptanceVerdict::Proved => Exit::Done,
        AcceptanceVerdict::NotProved | AcceptanceVerdict::Wrong => Exit::Invalid,
    })
}
