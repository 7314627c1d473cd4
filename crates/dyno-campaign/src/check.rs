//! Checks a plan, its targets and this machine for problems that would prevent or distort a run, with a hint
//! for each.

use std::sync::Arc;

use dyno_engine::advice::advice;
use dyno_engine::{DataState, LockPurpose, Target, WorkloadNeeds};
use dyno_plan::{Commit, Plan, StatementProtocol};
use dyno_record::{Advice, Identity, Severity};

use crate::campaign_context::CampaignContext;
use crate::check_statements::check_statement_limit;
use crate::error::Error;
use crate::event::CampaignEvent;
use crate::targets::{ReachedTarget, ReachedTargets};
use crate::{consent, custom_workloads, data, described, hosts};
use dyno_workload::conformance;
use dyno_workload::custom::{CustomWorkload, WorkloadError};

/// The findings about one target.
#[derive(Debug, Clone)]
pub struct Checked {
    pub url: String,
    /// Product, version and settings of the target.
    pub identity: Identity,
    /// The findings, in the order of the checks.
    pub advice: Vec<Advice>,
}

impl Checked {
    fn of(reached: &ReachedTarget, advice: Vec<Advice>) -> Self {
        Self { url: reached.target.url(), identity: reached.identity.clone(), advice }
    }
}

/// Checks the targets of `plan`, its data, the repository and this machine.
///
/// # Errors
/// A target cannot be reached, or it is read-only and the plan writes.
pub fn check(ctx: &CampaignContext<'_>, plan: &Plan) -> Result<Vec<Checked>, Error> {
    consent::tell(ctx, plan);
    let targets = ReachedTargets::reach(ctx, plan)?;
    let customs = custom_workloads::read_workloads(plan, ctx.engines.specs)?;
    targets.refuse_writes(&targets.first().needs(plan, &customs))?;
    let mut checked_targets = Vec::new();
    for (at, reached) in targets.all.iter().enumerate() {
        let needs = reached.needs(plan, &customs);
        // On a single read-only target the test tables would still have to be loaded. All other data of a
        // replica comes from its primary.
        let needs = match &reached.reads_only {
            Some(_) if targets.is_several() || !needs.uses_test_tables() => needs.on_read_only_target(),
            _ => needs,
        };
        let mut advice = reached.named(findings(ctx, plan, at, reached, &needs, &customs))?;
        advice.extend(hosts::check_host(ctx, plan, at, reached));
        if at == 0 {
            advice.push(check_repository(ctx));
            advice.extend(check_processors(
                plan.sessions(),
                reached.identity.same_host && plan.observe.hosts.is_empty(),
            ));
        }
        checked_targets.push(Checked::of(reached, advice));
    }
    Ok(checked_targets)
}

/// Loads, runs and drops a small schema on each target of `plan` that holds its own data.
///
/// # Errors
/// A target cannot be reached, or already holds Dyno's data; or the user stopped the check, after its data was
/// dropped.
pub fn check_deep(ctx: &CampaignContext<'_>, plan: &Plan) -> Result<Vec<Checked>, Error> {
    consent::tell(ctx, plan);
    let targets = ReachedTargets::reach(ctx, plan)?;
    let _locks = targets.lock(LockPurpose::Load, ctx)?;
    ctx.emit(CampaignEvent::CheckingDeeply);
    let check_target = |reached: &ReachedTarget| {
        let advice = {
            let target = reached.target.as_ref();
            let (commits, protocols) = (commits(ctx, target), protocols(ctx, target));
            reached.named(conformance::check(
                target,
                plan.data.block_size,
                &commits,
                protocols,
                &ctx.cancel,
            ))?
        };
        Ok(Checked::of(reached, advice))
    };
    targets.holders()?.into_iter().map(check_target).collect()
}

/// Returns the commit modes that the target's engine supports.
pub(crate) fn commits(ctx: &CampaignContext<'_>, target: &dyn Target) -> Vec<Commit> {
    let chosen = ctx.engines.specs.named(target.engine()).map_or(&[][..], |engine| engine.commits);
    [Commit::Wait].into_iter().chain(chosen.iter().copied()).collect()
}

/// Returns the protocols that the target's engine supports besides prepared statements.
pub(crate) fn protocols(ctx: &CampaignContext<'_>, target: &dyn Target) -> &'static [StatementProtocol] {
    ctx.engines.specs.named(target.engine()).map_or(&[], |engine| engine.protocols)
}

/// Returns all findings about one target and its data, for a workload with these `needs`.
fn findings(
    ctx: &CampaignContext<'_>,
    plan: &Plan,
    at: usize,
    reached: &ReachedTarget,
    needs: &WorkloadNeeds,
    customs: &[Arc<CustomWorkload>],
) -> Result<Vec<Advice>, Error> {
    let target = &reached.target;
    let mut advice = target.preflight(&plan_for_target(plan, at), needs)?;
    if !needs.uses_test_tables() {
        advice.extend(
            custom_workloads::distinct_workloads(customs).filter_map(|own| check_tables(reached, own)),
        );
        let is_loaded =
            advice.iter().all(|finding| finding.check != "data" || finding.severity == Severity::Ok);
        advice.extend(check_primary_keys(reached, customs)?);
        // Asked first: a server may still count the statements that `check_workload` has just prepared.
        advice.extend(check_statement_limit(plan, at, reached, customs)?);
        for custom_workload in customs {
            advice.push(check_workload(reached, custom_workload, is_loaded)?);
        }
        return Ok(advice);
    }
    // Engines that check the data themselves report more details.
    if !advice.iter().any(|finding| finding.check == "data") {
        advice.push(check_data(ctx, plan, target)?);
    }
    let found_well = |finding: &&mut Advice| finding.check == "data" && finding.severity == Severity::Ok;
    if !target.capabilities().ephemeral
        && let Some(finding) = advice.iter_mut().find(found_well)
    {
        match target.block_data()?.spot_check(&data::spec(plan, target)?, data::spot_seed()) {
            Ok(None) => {}
            Ok(Some(note)) => {
                *finding = self::advice("data", Severity::Warn, note, data::SPREAD_AGAIN);
            }
            Err(error) => *finding = self::advice("data", Severity::Fail, error.to_string(), error.hint),
        }
    }
    Ok(advice)
}

/// Checks that the target accepts every statement of a custom workload.
fn check_workload(
    reached: &ReachedTarget,
    custom_workload: &CustomWorkload,
    is_loaded: bool,
) -> Result<Advice, Error> {
    let tried = custom_workloads::check_statements_on(reached, custom_workload)?;
    let Some(first) = tried.refused.first() else {
        let words =
            format!("the target prepares all {} statements of {}", tried.statements, custom_workload.name());
        return Ok(advice("workload", Severity::Ok, words, ""));
    };
    // Before the first load, tables are missing and nothing is wrong.
    let lacks_tables = |refused: &WorkloadError| refused.hint.starts_with(custom_workloads::LOAD_FIRST);
    let is_expected = !is_loaded && tried.refused.iter().all(lacks_tables);
    let severity = if is_expected { Severity::Note } else { Severity::Fail };
    let fault = WorkloadError { hint: String::new(), ..first.clone() };
    Ok(advice("workload", severity, fault.to_string(), first.hint.as_str()))
}

/// Checks that the target holds the tables that a custom workload describes.
fn check_tables(reached: &ReachedTarget, workload: &CustomWorkload) -> Option<Advice> {
    let target = reached.target.as_ref();
    if workload.tables().is_empty() {
        return None;
    }
    if target.capabilities().ephemeral {
        return Some(advice("data", Severity::Ok, "lives in memory: every run loads it first", ""));
    }
    Some(match described::require(target, workload) {
        Ok(()) => advice("data", Severity::Ok, format!("the tables of {} exist", workload.name()), ""),
        Err(error) => {
            let severity =
                if described::is_absent(target, workload) { Severity::Note } else { Severity::Fail };
            advice("data", severity, error.to_string(), error.hint)
        }
    })
}

/// Reports that tables without a primary key get one, if the server requires it; `None` if nothing changes.
fn check_primary_keys(
    reached: &ReachedTarget,
    workloads: &[Arc<CustomWorkload>],
) -> Result<Option<Advice>, Error> {
    let tables = workloads.iter().flat_map(|workload| workload.tables()).filter(|table| !table.has_key());
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
        "compare only with servers that have the same setting",
    )))
}

/// The plan for one target: its share of the sessions, rounded up to the same number per schema.
fn plan_for_target(plan: &Plan, at: usize) -> Plan {
    let mut target_plan = plan.of_target(at);
    target_plan.workload.beside = Vec::new();
    target_plan.run.sessions_per_schema = plan.sessions_of(at).div_ceil(plan.data.schemas.max(1));
    target_plan
}

/// Checks that the target holds the data that the plan describes.
fn check_data(ctx: &CampaignContext<'_>, plan: &Plan, target: &Arc<dyn Target>) -> Result<Advice, Error> {
    if target.capabilities().ephemeral {
        return Ok(advice("data", Severity::Ok, "lives in memory: every run loads it first", ""));
    }
    let spec = match data::spec(plan, target) {
        Ok(spec) => spec,
        Err(error) => {
            let way_out = match error.hint() {
                "" => "change data.* in the plan".to_owned(),
                hint => hint.to_owned(),
            };
            return Ok(advice("data", Severity::Fail, error.to_string(), way_out));
        }
    };
    ctx.emit(CampaignEvent::LookingAtData);
    Ok(match data::require(target, &spec, &ctx.cancel) {
        Ok(None) => advice("data", Severity::Ok, "the target contains the data that the plan describes", ""),
        Ok(Some(note)) => advice("data", Severity::Warn, note, data::SPREAD_AGAIN),
        Err(error) => {
            let empty = matches!(data::survey(target)?, DataState::Empty);
            let severity = if empty { Severity::Note } else { Severity::Fail };
            advice("data", severity, error.to_string(), error.hint)
        }
    })
}

/// Checks that runs can be stored.
fn check_repository(ctx: &CampaignContext<'_>) -> Advice {
    match ctx.repository() {
        Ok(repository) => advice(
            "repository",
            Severity::Ok,
            format!("runs are stored in {}", repository.path().display()),
            "",
        ),
        Err(error) => advice(
            "repository",
            Severity::Fail,
            error.to_string(),
            "choose another file with --repository, in a folder where you can write",
        ),
    }
}

/// Reports if the sessions share too few processors with the database on this machine.
fn check_processors(sessions: u32, same_host: bool) -> Vec<Advice> {
    let facts = dyno_host::facts(&[]);
    let mut all = Vec::new();
    let cpus = facts.cpus_allowed.max(1);
    if same_host && sessions > cpus * 4 {
        all.push(advice(
            "processors",
            Severity::Note,
            format!("{sessions} sessions share {cpus} processors with the database"),
            "expect queueing on processors; run Dyno on another host to keep the client's share separate",
        ));
    }
    all
}
