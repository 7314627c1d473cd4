//! Runs the acceptance tests of an engine on the servers of a plan.

use dyno_engine::LockPurpose;
use dyno_plan::{Plan, TargetUrl};
use dyno_record::{Acceptance, AcceptanceVerdict};
use dyno_workload::acceptance::{self, AcceptanceScope};

use crate::accept_mask::AcceptanceMask;
use crate::campaign_context::CampaignContext;
use crate::check::{commits, protocols};
use crate::consent;
use crate::error::Error;
use crate::event::CampaignEvent;
use crate::targets::{ReachedTarget, ReachedTargets};

/// The acceptance report of one target.
#[derive(Debug, Clone)]
pub struct TargetAcceptance {
    /// The target's URL, without a password.
    pub url: String,
    /// The acceptance steps and their verdicts.
    pub acceptance: Acceptance,
    /// The report without names of hosts, users, databases and files, to be attached to an issue.
    pub masked: Acceptance,
}

/// Tests the engine on each target of `plan` that holds its own data: loads, runs and drops two small
/// schemas.
///
/// # Errors
/// A target cannot be reached or already holds Dyno's data; or the user cancelled, after the schemas were
/// dropped.
pub fn accept(ctx: &CampaignContext<'_>, plan: &Plan) -> Result<Vec<TargetAcceptance>, Error> {
    consent::tell(ctx, plan);
    let targets = ReachedTargets::reach(ctx, plan)?;
    ctx.emit(CampaignEvent::Reached);
    let _locks = targets.lock(LockPurpose::Load, ctx)?;
    let urls = plan.target.all();
    let own_url = |reached: &ReachedTarget| {
        let place = targets.all.iter().position(|one| std::ptr::eq(one, reached));
        place.and_then(|place| urls.get(place)).unwrap_or(&urls[0])
    };
    targets
        .holders()?
        .into_iter()
        .map(|reached| accept_target(ctx, plan, reached, own_url(reached)))
        .collect()
}

fn accept_target(
    ctx: &CampaignContext<'_>,
    plan: &Plan,
    reached: &ReachedTarget,
    url: &TargetUrl,
) -> Result<TargetAcceptance, Error> {
    let plan = acceptance::small_plan(plan);
    let target = reached.target.as_ref();
    // Behind a connection pooler, the server's own names count.
    let server_url = plan.target.observe_url.as_ref().unwrap_or(url);
    let engine = ctx.engines.of(server_url)?;
    let scope = AcceptanceScope {
        target,
        identity: &reached.identity,
        plan: &plan,
        commits: &commits(ctx, target),
        protocols: protocols(ctx, target),
        is_server: engine.spec.is_server(),
        has_own_reports: engine.spec.awr,
        all_grants: &(engine.grants)(server_url),
        cancel: &ctx.cancel,
        began: &|number, title| ctx.emit(CampaignEvent::AcceptanceStep(number, title.to_owned())),
    };
    let outcome = reached.named(acceptance::accept(&scope))?;
    let verdict = outcome.steps.iter().map(|step| step.verdict).max();
    let acceptance = Acceptance {
        dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
        engine: target.engine().to_owned(),
        product: reached.identity.product.clone(),
        version: reached.identity.version.clone(),
        verdict: verdict.unwrap_or(AcceptanceVerdict::NotProved),
        steps: outcome.steps,
        settings: reached.identity.settings.clone(),
        grants: outcome.grants,
    };
    let names = [Some(url), plan.target.observe_url.as_ref()];
    let mask = AcceptanceMask::new(names.into_iter().flatten(), &reached.identity);
    let masked = mask.apply(&acceptance);
    Ok(TargetAcceptance { url: target.url(), acceptance, masked })
}
