//! `dyno check`: everything that would prevent or falsify a run, with the way out.

use dyno_campaign::{Checked, Error};
use dyno_plan::Plan;
use dyno_record::Severity;
use serde_json::json;

use super::accept;
use crate::cli::{Check, Common, Marks};
use crate::context;
use crate::engines::ENGINES;
use crate::exit::Exit;
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &Check, talk: &Talk) -> anyhow::Result<Exit> {
    let plan = context::plan(common)?;
    if args.grants {
        return grants(&plan, talk);
    }
    if args.accept {
        return accept::run(common, &plan, args, talk);
    }
    let check = if args.deep { dyno_campaign::check_deep } else { dyno_campaign::check };
    show(
        &context::led_looking(common, (&Marks::default(), &args.met), talk, |lead| check(lead, &plan))?,
        talk,
    )
}

/// Prints what an administrator runs for each target's user.
fn grants(plan: &Plan, talk: &Talk) -> anyhow::Result<Exit> {
    for url in plan.target.all() {
        // Of a target behind a pooler the server's own names count.
        let url = plan.target.observe_url.as_ref().unwrap_or(url);
        talk.hand_over(&(ENGINES.of(url).map_err(Error::from)?.grants)(url))?;
    }
    Ok(Exit::Done)
}

/// Shows what was found of each target.
fn show(found: &[Checked], talk: &Talk) -> anyhow::Result<Exit> {
    let (mut worst, mut answers) = (None, Vec::new());
    for Checked { url, identity, advice } in found {
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
