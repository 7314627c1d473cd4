//! Runs one setting for hours, and checks whether throughput stays stable.

use dyno_analyze::conclusion::{self, Conclusion};
use dyno_engine::LockPurpose;
use dyno_plan::{Plan, SweepSettings};
use dyno_record::SweepKind;
use serde_json::json;

use crate::campaign::{self, CampaignOutcome, CampaignSpec, CampaignStrategy, PlannedRun};
use crate::campaign_context::CampaignContext;
use crate::error::Error;
use crate::event::{CampaignEvent, RunEnded};
use crate::ready::PreparedCampaign;
use crate::room::DataLoadPolicy;

/// Executes one long run of `plan`, and concludes whether throughput stayed stable.
///
/// # Errors
/// The plan or the target is unsuitable for a run, or the repository fails.
pub fn soak(ctx: &CampaignContext<'_>, plan: Plan) -> Result<CampaignOutcome, Error> {
    let plan = Plan { sweep: SweepSettings::default(), ..plan };
    let ready =
        PreparedCampaign::new(ctx, plan.clone(), LockPurpose::Run, DataLoadPolicy::Never, |_| Ok(()))?;
    let frame =
        CampaignSpec { planned: Some(1), ..CampaignSpec::new(SweepKind::Soak, json!({ "plan": plan })) };
    campaign::run_campaign(ready, frame, &mut Soak { plan, has_begun: false })
}

struct Soak {
    plan: Plan,
    has_begun: bool,
}

impl CampaignStrategy for Soak {
    fn next(&mut self) -> Result<Option<PlannedRun>, Error> {
        let turn =
            PlannedRun { plan: self.plan.clone(), point: 1, repeat: 1, side: None, settings: Vec::new() };
        Ok((!std::mem::replace(&mut self.has_begun, true)).then_some(turn))
    }

    fn remaining_plans(&self) -> Option<Vec<&Plan>> {
        None
    }

    fn on_run_ended(
        &mut self,
        _: &PlannedRun,
        finished_run: &RunEnded,
    ) -> Result<Option<CampaignEvent>, String> {
        finished_run.record.as_ref().map(|_| None).ok_or_else(|| "its run failed".to_owned())
    }

    fn can_skip_points(&self) -> bool {
        false
    }

    fn skip_point(&mut self, _: &PlannedRun) {}

    fn conclude(&mut self, outcome: &CampaignOutcome) -> (bool, Option<Conclusion>) {
        let stopped = outcome.stopped.is_some().then(|| "it was stopped".to_owned());
        let conclude = |record| conclusion::soak::conclusion(&outcome.id, stopped, record);
        (outcome.stopped.is_none(), outcome.records.last().map(conclude))
    }
}
