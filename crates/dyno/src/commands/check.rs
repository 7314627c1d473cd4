//! `dyno check`: reports everything that would prevent a run or distort its figures, with remedies.

use dyno_campaign::{Checked, Error};
use dyno_plan::Plan;
use dyno_record::Severity;
use serde_json::json;

use super::accept;
use crate::cli::{Check, CommonArgs, MarkArgs};
use crate::console::Console;
use crate::context;
use crate::engines::ENGINES;
use crate::exit::Exit;

pub(super) fn run(common: &CommonArgs, args: &Check, talk: &Console) -> anyhow::Result<Exit> {
    let plan = context::plan(common)?;
    if args.grants {
        return print_grants(&plan, talk);
    }
    if args.accept {
        return accept::run(common, &plan, args, talk);
    }
    let check = if args.deep { dyno_campaign::check_deep } else { dyno_campaign::check };
    show(
        &context::run_campaign_with_agents(common, (&MarkArgs::default(), &args.met), talk, |ctx| {
            check(ctx, &plan)
        })?,
        talk,
    )
}

/// Prints the statements that an administrator runs for each target's user.
fn print_grants(plan: &Plan, talk: &Console) -> anyhow::Result<Exit> {
    for url in plan.target.all() {
        // For a target behind a pooler, the server's own URL applies.
        let url = plan.target.observe_url.as_ref().unwrap_or(url);
        talk.print_raw(&(ENGINES.of(url).map_err(Error::from)?.grants)(url))?;
    }
    Ok(Exit::Done)
}

/// Shows the findings for each target.
fn show(checked_targets: &[Checked], talk: &Console) -> anyhow::Result<Exit> {
    let (mut worst, mut answers) = (None, Vec::new());
    for Checked { url, identity, advice } in checked_targets {
        let between = if answers.is_empty() { "" } else { "\n" };
        talk.show(&format!("{between}{} {} at {url}\n\n", identity.product, identity.version))?;
        talk.show(&dyno_report::advice_table(advice, &talk.style()))?;
        worst = worst.max(advice.iter().map(|a| a.severity).max());
        answers.push(json!({
            "target": url, "product": identity.product, "version": identity.version, "advice": advice,
        }));
    }
    match answers.as_slice() {
        [only] => talk.json(only)?,
        several => talk.json(&json!({ "targets": several }))?,
    }
    Ok(if worst == Some(Severity::Fail) { Exit::Failed } else { Exit::Done })
}
