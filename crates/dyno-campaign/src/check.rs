//! `dyno check`: everything that would prevent or falsify a run, with the way out.

use std::sync::Arc;

use dyno_engine::advice::advice;
use dyno_engine::{Cancel, DataState, Target, Work};
use dyno_plan::Plan;
use dyno_record::{Advice, Severity};

use crate::cli::{Check, Common};
use crate::consent;
use crate::context;
use crate::engines::ENGINES;
use crate::exit::Exit;
use crate::talk::Talk;
use crate::targets::{Reached, Targets};

mod deep;

pub(super) fn run(common: &Common, args: &Check, talk: &Talk) -> anyhow::Result<Exit> {
    let plan = context::plan(common)?;
    if args.grants {
        return grants(&plan, talk);
    }
    consent::tell(&plan, talk);
    let targets = Targets::reach(&plan, talk)?;
    if args.deep {
        return check_deep(&plan, &targets, talk);
    }
    targets.refuse_writes(&plan)?;
    let mut found = Vec::new();
    for (at, reached) in targets.all.iter().enumerate() {
        let mut advice = reached.named(findings(&plan, at, reached, targets.is_several(), talk))?;
        if at == 0 {
            advice.push(repository(common));
            advice.extend(host(plan.sessions(), reached.identity.same_host));
        }
        found.push((reached, advice));
    }
    show(&found, talk)
}

/// Loads, drives and drops a small schema on each target that holds data of its own.
fn check_deep(plan: &Plan, targets: &Targets, talk: &Talk) -> anyhow::Result<Exit> {
    let _locks = targets.lock(Work::Load, talk)?;
    talk.say("loading, driving and dropping a small schema");
    let one = |reached| -> anyhow::Result<(&Reached, Vec<Advice>)> {
        let reached: &Reached = reached;
        let advice = deep::check(plan, reached.target.as_ref()).map_err(Into::into);
        Ok((reached, reached.named(advice)?))
    };
    let found = targets.holders()?.into_iter().map(one).collect::<anyhow::Result<Vec<_>>>()?;
    show(&found, talk)
}

/// Everything that one target and its data say about the plan.
fn findings(
    plan: &Plan,
    at: usize,
    reached: &Reached,
    several: bool,
    talk: &Talk,
) -> anyhow::Result<Vec<Advice>> {
    let target = &reached.target;
    let mut advice = target.preflight(&of_target(plan, at, reached.reads_only.is_some()))?;
    if let (true, Some(why)) = (several, &reached.reads_only) {
        // What a replica lacks for writing is no fault of one that is only read.
        for finding in advice.iter_mut().filter(|f| WRITING.contains(&f.check.as_str())) {
            *finding =
                self::advice(&finding.check, Severity::Note, format!("{why}: its sessions only read"), "");
        }
    }
    // Engines that look at the data themselves know more about it.
    if !advice.iter().any(|finding| finding.check == "data") {
        advice.push(data(plan, talk, target)?);
    }
    let found_well = |finding: &&mut Advice| finding.check == "data" && finding.severity == Severity::Ok;
    if !target.capabilities().ephemeral
        && let Some(finding) = advice.iter_mut().find(found_well)
    {
        match target.spot_check(&context::spec(plan, target)?, context::spot_seed()) {
            Ok(None) => {}
            Ok(Some(note)) => {
                *finding = self::advice("data", Severity::Warn, note, context::SPREAD_AGAIN);
            }
            Err(error) => *finding = self::advice("data", Severity::Fail, error.to_string(), error.hint),
        }
    }
    Ok(advice)
}

/// Prints what an administrator runs for each target's user.
fn grants(plan: &Plan, talk: &Talk) -> anyhow::Result<Exit> {
    for url in plan.target.all() {
        // Of a target behind a pooler the server's own names count.
        let url = plan.target.observe_url.as_ref().unwrap_or(url);
        talk.hand_over(&(ENGINES.of(url)?.grants)(url))?;
    }
    Ok(Exit::Done)
}

/// Shows what was found of each target.
fn show(found: &[(&Reached, Vec<Advice>)], talk: &Talk) -> anyhow::Result<Exit> {
    let (mut worst, mut answers) = (None, Vec::new());
    for (reached, advice) in found {
        let (identity, url) = (&reached.identity, reached.target.url());
        let between = if answers.is_empty() { "" } else { "\n" };
        talk.show(&format!("{between}{} {} at {url}\n\n", identity.product, identity.version))?;
        talk.show(&dyno_report::advice_table(advice, &talk.style()))?;
        worst = worst.max(advice.iter().map(|a| a.severity).max());
        answers.push(serde_json::json!({
            "target": url, "product": identity.product, "version": identity.version, "advice": advice,
        }));
    }
    match answers.as_slice() {
        [only] => talk.json(only)?,
        several => talk.json(&serde_json::json!({ "targets": several }))?,
    }
    Ok(if worst == Some(Severity::Fail) { Exit::Failed } else { Exit::Done })
}

/// Checks of what only writing needs.
const WRITING: [&str; 2] = ["writable", "privileges"];

/// The plan as one target sees it: its own share of the sessions, rounded up to as many on each schema.
fn of_target(plan: &Plan, at: usize, reads_only: bool) -> Plan {
    let mut own = plan.of_target(at);
    own.run.sessions_per_schema = plan.sessions_of(at).div_ceil(plan.data.schemas.max(1));
    if reads_only {
        own.workload = own.workload.reads_only();
    }
    own
}

/// Whether the target holds what the plan describes.
fn data(plan: &Plan, talk: &Talk, target: &Arc<dyn Target>) -> anyhow::Result<Advice> {
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
    Ok(match context::require_data(target, &spec, &Cancel::default()) {
        Ok(None) => advice("data", Severity::Ok, "the target holds what the plan describes", ""),
        Ok(Some(note)) => advice("data", Severity::Warn, note, context::SPREAD_AGAIN),
        Err(error) => {
            let empty = matches!(context::survey(target)?, DataState::Empty);
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
