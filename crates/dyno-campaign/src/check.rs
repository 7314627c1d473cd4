//! Everything that would prevent or falsify a run, with the way out.

use std::sync::Arc;

use dyno_engine::advice::advice;
use dyno_engine::{DataState, Target, Work, WorkloadNeeds};
use dyno_plan::{Commit, Plan, Protocol};
use dyno_record::{Advice, Identity, Severity};

use crate::check_statements::statements;
use crate::error::Error;
use crate::event::Event;
use crate::lead::Lead;
use crate::targets::{Reached, Targets};
use crate::{consent, data, described, hosts, own};
use dyno_workload::conformance;
use dyno_workload::own::{Fault, Own};

/// What was found of one target.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The target.
    pub url: String,
    /// What it is.
    pub identity: Identity,
    /// What was found, in the order of checks.
    pub advice: Vec<Advice>,
}

impl Checked {
    fn of(reached: &Reached, advice: Vec<Advice>) -> Self {
        Self { url: reached.target.url(), identity: reached.identity.clone(), advice }
    }
}

/// Looks at the targets of `plan`, its data, the repository and this machine.
///
/// # Errors
/// A target cannot be reached, or takes no writes and the plan writes.
pub fn check(lead: &Lead<'_>, plan: &Plan) -> Result<Vec<Checked>, Error> {
    consent::tell(lead, plan);
    let targets = Targets::reach(lead, plan)?;
    let customs = own::of(plan, lead.engines.specs)?;
    targets.refuse_writes(&targets.first().needs(plan, &customs))?;
    let mut found = Vec::new();
    for (at, reached) in targets.all.iter().enumerate() {
        let needs = reached.needs(plan, &customs);
        // Test tables on the only target have to be loaded there; whatever else a replica holds comes from its primary.
        let needs = match &reached.reads_only {
            Some(_) if targets.is_several() || !needs.uses_test_tables() => needs.on_read_only_target(),
            _ => needs,
        };
        let mut advice = reached.named(findings(lead, plan, at, reached, &needs, &customs))?;
        advice.extend(hosts::checked(lead, plan, at, reached));
        if at == 0 {
            advice.push(repository(lead));
            advice.extend(host(plan.sessions(), reached.identity.same_host && plan.observe.hosts.is_empty()));
        }
        found.push(Checked::of(reached, advice));
    }
    Ok(found)
}

/// Loads, drives and drops a small schema on each target of `plan` that holds data of its own.
///
/// # Errors
/// A target cannot be reached, or holds data of Dyno's.
pub fn check_deep(lead: &Lead<'_>, plan: &Plan) -> Result<Vec<Checked>, Error> {
    consent::tell(lead, plan);
    let targets = Targets::reach(lead, plan)?;
    let _locks = targets.lock(Work::Load, lead)?;
    lead.tell(Event::CheckingDeeply);
    let one = |reached: &Reached| {
        let advice = {
            let target = reached.target.as_ref();
            let (commits, protocols) = (commits(lead, target), protocols(lead, target));
            reached.named(conformance::check(target, plan.data.block_size, &commits, protocols))?
        };
        Ok(Checked::of(reached, advice))
    };
    targets.holders()?.into_iter().map(one).collect()
}

/// Ways to commit that the engine of `target` can choose between.
pub(crate) fn commits(lead: &Lead<'_>, target: &dyn Target) -> Vec<Commit> {
    let chosen = lead.engines.specs.named(target.engine()).map_or(&[][..], |engine| engine.commits);
    [Commit::Wait].into_iter().chain(chosen.iter().copied()).collect()
}

/// Ways in which statements can come to the engine of `target`, beside being prepared.
pub(crate) fn protocols(lead: &Lead<'_>, target: &dyn Target) -> &'static [Protocol] {
    lead.engines.specs.named(target.engine()).map_or(&[], |engine| engine.protocols)
}

/// Everything that one target and its data say about the plan, whose workload has these `needs` there.
fn findings(
    lead: &Lead<'_>,
    plan: &Plan,
    at: usize,
    reached: &Reached,
    needs: &WorkloadNeeds,
    customs: &[Arc<Own>],
) -> Result<Vec<Advice>, Error> {
    let target = &reached.target;
    let mut advice = target.preflight(&of_target(plan, at), needs)?;
    if !needs.uses_test_tables() {
        advice.extend(own::of_data(customs).filter_map(|own| tables(reached, own)));
        advice.extend(keys(reached, customs)?);
        for own in customs {
            advice.push(workload(reached, own)?);
        }
        advice.extend(statements(plan, at, reached, customs)?);
        return Ok(advice);
    }
    // Engines that look at the data themselves know more about it.
    if !advice.iter().any(|finding| finding.check == "data") {
        advice.push(data_there(lead, plan, target)?);
    }
    let found_well = |finding: &&mut Advice| finding.check == "data" && finding.severity == Severity::Ok;
    if !target.capabilities().ephemeral
        && let Some(finding) = advice.iter_mut().find(found_well)
    {
        match target.spot_check(&data::spec(plan, target)?, data::spot_seed()) {
            Ok(None) => {}
            Ok(Some(note)) => {
                *finding = self::advice("data", Severity::Warn, note, data::SPREAD_AGAIN);
            }
            Err(error) => *finding = self::advice("data", Severity::Fail, error.to_string(), error.hint),
        }
    }
    Ok(advice)
}

/// Whether the target takes every statement of a workload of the user's own.
fn workload(reached: &Reached, own: &Own) -> Result<Advice, Error> {
    let tried = own::tried(reached, own)?;
    let Some(first) = tried.refused.first() else {
        let words = format!("the target prepares all {} statements of {}", tried.statements, own.name());
        return Ok(advice("workload", Severity::Ok, words, ""));
    };
    let fault = Fault { hint: String::new(), ..first.clone() };
    Ok(advice("workload", Severity::Fail, fault.to_string(), first.hint.as_str()))
}

/// Whether the target holds the tables that a workload of the user's own describes.
fn tables(reached: &Reached, own: &Own) -> Option<Advice> {
    let target = reached.target.as_ref();
    if own.tables().is_empty() {
        return None;
    }
    if target.capabilities().ephemeral {
        return Some(advice("data", Severity::Ok, "lives in memory: every run loads it first", ""));
    }
    Some(match described::require(target, own) {
        Ok(()) => advice("data", Severity::Ok, format!("the tables of {} are there", own.name()), ""),
        Err(error) => advice("data", Severity::Fail, error.to_string(), error.hint),
    })
}

/// That tables without a primary key get one, where the server requires it; `None` where it does not, or all have one.
fn keys(reached: &Reached, owns: &[Arc<Own>]) -> Result<Option<Advice>, Error> {
    let tables = owns.iter().flat_map(|own| own.tables()).filter(|table| !table.has_key());
    let names: Vec<&str> = tables.map(|table| table.name()).collect();
    if names.is_empty() {
        return Ok(None);
    }
    let Some(key) = reached.target.required_key()? else { return Ok(None) };
    let names = names.join(", ");
    let problem = format!(
        "{} requires a primary key, which {names} lack: a load adds the column dyno_key",
        key.setting
    );
    Ok(Some(advice(
        "primary_key",
        Severity::Note,
        problem,
        "compare with servers that have the same setting",
    )))
}

/// The plan as one target sees it: its own share of the sessions, rounded up to as many on each schema.
fn of_target(plan: &Plan, at: usize) -> Plan {
    let mut own = plan.of_target(at);
    own.workload.beside = Vec::new();
    own.run.sessions_per_schema = plan.sessions_of(at).div_ceil(plan.data.schemas.max(1));
    own
}

/// Whether the target holds what the plan describes.
fn data_there(lead: &Lead<'_>, plan: &Plan, target: &Arc<dyn Target>) -> Result<Advice, Error> {
    if target.capabilities().ephemeral {
        return Ok(advice("data", Severity::Ok, "lives in memory: every run loads it first", ""));
    }
    let spec = match data::spec(plan, target) {
        Ok(spec) => spec,
        Err(error) => {
            return Ok(advice("data", Severity::Fail, error.to_string(), "change data.* in the plan"));
        }
    };
    lead.tell(Event::LookingAtData);
    Ok(match data::require(target, &spec, &lead.cancel) {
        Ok(None) => advice("data", Severity::Ok, "the target holds what the plan describes", ""),
        Ok(Some(note)) => advice("data", Severity::Warn, note, data::SPREAD_AGAIN),
        Err(error) => {
            let empty = matches!(data::survey(target)?, DataState::Empty);
            let severity = if empty { Severity::Note } else { Severity::Fail };
            advice("data", severity, error.to_string(), error.hint)
        }
    })
}

/// Whether runs can be stored.
fn repository(lead: &Lead<'_>) -> Advice {
    match lead.repository() {
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
            "name another file with --repository, in a place where you can write",
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
