//! Executes a single run, from plan to stored record.

use std::sync::Arc;

use dyno_engine::LockPurpose;
use dyno_plan::Plan;
use dyno_record::RunRecord;

use crate::campaign_context::CampaignContext;
use crate::error::Error;
use crate::ready::PreparedCampaign;
use crate::room::DataLoadPolicy;

/// Executes one run of `plan`, with its hooks.
///
/// # Errors
/// The plan or the target is unsuitable for a run, or a hook failed; a measured run is stored in any case.
pub fn run(ctx: &CampaignContext<'_>, plan: Plan) -> Result<Arc<RunRecord>, Error> {
    let mut ready = PreparedCampaign::new(ctx, plan, LockPurpose::Run, DataLoadPolicy::Never, |_| Ok(()))?;
    let measured = ready.measure(None).and_then(|record| ready.after_run(&record).map(|()| record));
    let end_hook_result = ready.after_all();
    let record = measured?;
    end_hook_result?;
    Ok(record)
}
