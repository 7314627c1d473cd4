//! `dyno check`: everything that would prevent or falsify a run, with the way out.

use dyno_plan::{Engine, Plan};
use dyno_record::{Advice, Identity, Severity};
use dyno_target::{DataState, Target, Work};

use crate::cli::{Check, Common};
use crate::context;
use crate::exit::{Exit, usage};
use crate::talk::Talk;

mod deep;

pub(super) fn run(common: &Common, args: &Check, talk: &Talk) -> anyhow::Result<Exit> {
    let plan = context::plan(common)?;
    if args.grants {
        return grants(&plan, talk);
    }
    let (target, identity) = context::reach(&plan, talk)?;
    if args.deep {
        let _lock = context::lock(target.as_ref(), Work::Load, talk)?;
        talk.say("loading, driving and dropping a small schema");
        let advice = deep::check(&plan, target.as_ref())?;
        return show(&advice, &identity, target.as_ref(), talk);
    }
    let mut advice = target.preflight(&plan)?;
    // Engines that look at the data themselves know more about it.
    if !advice.iter().any(|finding| finding.check == "data") {
        advice.push(data(&plan, talk, target.as_ref())?);
    }
    let found_well = |finding: &&mut Advice| finding.check == "data" && finding.severity == Severity::Ok;
    if !target.capabilities().ephemeral
        && let Some(finding) = advice.iter_mut().find(found_well)
        && let Err(error) = target.spot_check(&context::spec(&plan, target.as_ref())?, context::spot_seed())
    {
        *finding = self::advice("data", Severity::Fail, error.to_string(), error.hint);
    }
    advice.push(repository(common));
    advice.extend(host(plan.sessions(), identity.same_host));
    show(&advice, &identity, target.as_ref(), talk)
}

/// Prints what only one engine's users need: other engines' hints hold whole statements.
fn grants(plan: &Plan, talk: &Talk) -> anyhow::Result<Exit> {
    if Engine::of(&plan.target.url) != Some(Engine::Oracle) {
        return Err(usage(
            format!("there is no list of grants for {}", plan.target.url.scheme),
            "dyno check says what a user misses; --grants is for oracle:// targets",
        ));
    }
    talk.show(dyno_target::oracle::GRANTS)?;
    Ok(Exit::Done)
}

fn show(advice: &[Advice], identity: &Identity, target: &dyn Target, talk: &Talk) -> anyhow::Result<Exit> {
    talk.show(&format!("{} {} at {}\n\n", identity.product, identity.version, target.url()))?;
    talk.show(&dyno_report::advice_table(advice, &talk.style()))?;
    talk.json(&serde_json::json!({
        "target": target.url(), "product": identity.product, "version": identity.version, "advice": advice,
    }))?;
    let worst = advice.iter().map(|a| a.severity).max();
    Ok(if worst == Some(Severity::Fail) { Exit::Failed } else { Exit::Done })
}

fn advice(check: &str, severity: Severity, found: impl Into<String>, way_out: impl Into<String>) -> Advice {
    Advice { check: check.to_owned(), severity, found: found.into(), way_out: way_out.into() }
}

/// Whether the target holds what the plan describes.
fn data(plan: &Plan, talk: &Talk, target: &dyn Target) -> anyhow::Result<Advice> {
    if target.capabilities().ephemeral {
        return Ok(advice("data", Severity::Ok, "lives in memory: every run loads it first", ""));
    }
    let spec = match context::spec(plan, target) {
        Ok(spec) => spec,
        Err(error) => {
            return Ok(advice("data", Severity::Fail, error.to_string(), "change data.* in the plan"));
        }
    };
    talk.detail("looking at the data");
    Ok(match context::require_data(target, &spec) {
        Ok(()) => advice("data", Severity::Ok, "the target holds what the plan describes", ""),
        Err(error) => {
            let empty = matches!(target.survey()?, DataState::Empty);
            let severity = if empty { Severity::Note } else { Severity::Fail };
            advice("data", severity, error.to_string(), error.hint)
        }
    })
}

/// Whether runs can be stored.
fn repository(common: &Common) -> Advice {
    match context::repository(common) {
        Ok(repository) => advice(
            "repository",
            Severity::Ok,
            format!("runs are kept in {}", repository.path().display()),
            "",
        ),
        Err(error) => advice(
            "repository",
            Severity::Fail,
            error.to_string(),
            "give --repository FILE in a place you can write",
        ),
    }
}

/// What the driving machine itself says about the plan.
fn host(sessions: u32, same_host: bool) -> Vec<Advice> {
    let facts = dyno_host::facts(&[]);
    let mut all = Vec::new();
    let cpus = facts.cpus_allowed.max(1);
    if same_host && sessions > cpus * 4 {
        all.push(advice(
            "processors",
            Severity::Note,
            format!("{sessions} sessions share {cpus} processors with the database"),
            "expect queueing on processors; drive from another host to keep the client's share apart",
        ));
    }
    all
}
