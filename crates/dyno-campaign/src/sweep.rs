//! Runs a sweep over a grid of settings.

use dyno_analyze::conclusion::{self, Conclusion};
use dyno_engine::LockPurpose;
use dyno_plan::sweep::{self, SweepGridPoint, SweepSchedule, SweepStep, SweepStepResults};
use dyno_plan::{Engines, Plan, Until, all_without_effect};
use dyno_record::{PointSetting, Repository, RunRecord, Status, SweepId, SweepKind, SweepState};
use serde_json::json;

use crate::campaign::{self, CampaignOutcome, CampaignSpec, CampaignStrategy, PlannedRun};
use crate::campaign_context::{CampaignContext, RunLabels};
use crate::error::Error;
use crate::event::{CampaignEvent, RunEnded};
use crate::ready::PreparedCampaign;
use crate::room::DataLoadPolicy;

/// A sweep: its points, and which runs are done.
pub struct SweepCampaign {
    plan: Plan,
    replace: bool,
    marks: RunLabels,
    points: Vec<SweepGridPoint>,
    schedule: SweepSchedule,
    results: SweepStepResults,
    /// The interrupted sweep that is resumed, and its valid records; absent for a new sweep.
    resumed: Option<(SweepId, Vec<RunRecord>)>,
}

/// Executes the remaining runs of `order`; `None` if there is none.
///
/// # Errors
/// The first target is unsuitable for a run, or the repository fails.
pub fn sweep(ctx: &CampaignContext<'_>, mut order: SweepCampaign) -> Result<Option<CampaignOutcome>, Error> {
    let Some(first) = order.schedule.next(&order.results) else { return Ok(None) };
    let layout_plans = order.layouts();
    let loading = DataLoadPolicy::AsNeeded { replaceable: &layout_plans, replace: order.replace };
    let mut ready =
        PreparedCampaign::new(ctx, order.point(first).plan.clone(), LockPurpose::Run, loading, |_| Ok(()))?;
    ready.marks.clone_from(&order.marks);
    let definition = json!({ "plan": order.plan, "replace": order.replace, "marks": order.marks });
    let frame = CampaignSpec {
        planned: (order.plan.sweep.until == Until::End).then_some(order.schedule.steps().len() as u32),
        axes: order.axes(),
        points: order.points.iter().map(|point| (point.number, settings(point))).collect(),
        pause: order.plan.sweep.pause.0,
        resumed: order.resumed.take(),
        ..CampaignSpec::new(SweepKind::Sweep, definition)
    };
    campaign::run_campaign(ready, frame, &mut order).map(Some)
}

impl SweepCampaign {
    /// Creates the sweep that `plan` describes.
    ///
    /// # Errors
    /// The plan has no axis, or one of its points is an invalid plan.
    pub fn new(plan: Plan, engines: Engines, replace: bool, marks: RunLabels) -> Result<Self, Error> {
        if plan.sweep.axes.is_empty() {
            return Err(Error::usage(
                "the plan has no axis to sweep over",
                "write sessions = [1, 2, 4, 8] under [sweep], or give --set sweep.sessions=1,2,4,8",
            ));
        }
        let points = sweep::points(&plan, engines)?;
        let plans: Vec<&Plan> = points.iter().map(|point| &point.plan).collect();
        let idle = plan.sweep.axes.iter().find_map(|axis| all_without_effect(&plans, &[axis.key.as_str()]));
        if let Some(why) = idle {
            return Err(Error::usage(
                format!("all points of the sweep do the same: {why}"),
                "change the plan so that the key has an effect, or leave it out of [sweep]",
            ));
        }
        let schedule = SweepSchedule::new(&plan.sweep, &points);
        Ok(Self { plan, replace, marks, points, schedule, results: SweepStepResults::new(), resumed: None })
    }

    /// Loads the sweep that `selector` names, or the latest interrupted one: its stored definition, and what
    /// was measured since.
    ///
    /// # Errors
    /// There is no such sweep, or its definition cannot be read.
    pub fn resumed(
        repository: &Repository,
        selector: Option<&str>,
        engines: Engines,
        replace: bool,
    ) -> Result<Self, Error> {
        let id = match selector {
            Some(selector) => repository.resolve_sweep(selector)?,
            None => latest(repository)?,
        };
        let definition = repository.sweep_definition(&id)?;
        let plan = serde_json::from_value(definition["plan"].clone()).map_err(|error| {
            let problem = format!("{id} cannot be resumed: its plan cannot be read ({error})");
            Error::usage(problem, "start a new sweep")
        })?;
        // Sweeps of older versions have no labels.
        let marks = serde_json::from_value(definition["marks"].clone()).unwrap_or_default();
        let mut order = Self::new(plan, engines, replace || definition["replace"] == true, marks)?;
        let mut records = campaign::records(repository, &id)?;
        records.retain(|record| {
            let step =
                record.part_of.as_ref().map(|part| SweepStep { point: part.point, repeat: part.repeat });
            let counts = matches!(record.status, Status::Valid | Status::Invalid);
            if let (Some(step), true) = (step, counts) {
                order.results.insert(step, throughput(record));
            }
            counts
        });
        order.resumed = Some((id, records));
        Ok(order)
    }

    /// The plan that the sweep started with.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Number of points of the sweep.
    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// Returns the remaining steps in their order, each with its point.
    pub fn left(&self) -> Vec<(SweepStep, &SweepGridPoint)> {
        self.schedule.remaining(&self.results).map(|step| (step, self.point(step))).collect()
    }

    /// Duration of the remaining warm-ups, windows and pauses, s; absent if windows end after a number of
    /// operations.
    pub fn seconds(&self) -> Option<f64> {
        let pause_s = self.plan.sweep.pause.0.as_secs_f64();
        self.left().iter().map(|(_, point)| Some(campaign::nominal_s(&point.plan)? + pause_s)).sum()
    }

    fn point(&self, step: SweepStep) -> &SweepGridPoint {
        &self.points[step.point as usize - 1]
    }

    /// Returns one plan for each data layout.
    fn layouts(&self) -> Vec<Plan> {
        let mut plans: Vec<&SweepGridPoint> = self.points.iter().collect();
        plans.sort_by_key(|point| point.layout);
        plans.dedup_by_key(|point| point.layout);
        plans.into_iter().map(|point| point.plan.clone()).collect()
    }

    fn axes(&self) -> Vec<(String, usize)> {
        let widest = |i: usize| self.points.iter().map(|point| point.settings[i].1.len()).max();
        let axes = self.points[0].settings.iter().enumerate();
        axes.map(|(i, (key, _))| (key.clone(), widest(i).unwrap_or(0))).collect()
    }
}

fn settings(point: &SweepGridPoint) -> Vec<PointSetting> {
    let setting = |(key, value): &(String, String)| PointSetting { key: key.clone(), value: value.clone() };
    point.settings.iter().map(setting).collect()
}

/// Returns the latest sweep that can be resumed.
fn latest(repository: &Repository) -> Result<SweepId, Error> {
    let all = repository.sweeps(Some(SweepKind::Sweep), usize::MAX)?;
    let open = all.into_iter().find(|sweep| sweep.status != SweepState::Done);
    open.map(|sweep| sweep.id).ok_or_else(|| {
        Error::usage("no sweep was interrupted", "`dyno list --sweeps` shows all; `dyno sweep` starts one")
    })
}

/// The throughput that decides whether a ramp still rises; an invalid run has none.
fn throughput(record: &RunRecord) -> Option<f64> {
    let all = record.leading_ops()?;
    (record.status == Status::Valid).then_some(all.rate_per_s)
}

impl CampaignStrategy for SweepCampaign {
    fn next(&mut self) -> Result<Option<PlannedRun>, Error> {
        let Some(step) = self.schedule.next(&self.results) else { return Ok(None) };
        let point = self.point(step);
        Ok(Some(PlannedRun {
            plan: point.plan.clone(),
            point: step.point,
            repeat: step.repeat,
            side: None,
            settings: settings(point),
        }))
    }

    fn remaining_plans(&self) -> Option<Vec<&Plan>> {
        Some(self.schedule.remaining(&self.results).map(|step| &self.point(step).plan).collect())
    }

    fn on_run_ended(
        &mut self,
        turn: &PlannedRun,
        finished_run: &RunEnded,
    ) -> Result<Option<CampaignEvent>, String> {
        let measured = finished_run.record.as_deref().and_then(throughput);
        self.results.insert(SweepStep { point: turn.point, repeat: turn.repeat }, measured);
        Ok(None)
    }

    fn can_skip_points(&self) -> bool {
        true
    }

    fn skip_point(&mut self, turn: &PlannedRun) {
        for step in self.schedule.steps().iter().filter(|step| step.point == turn.point) {
            self.results.entry(*step).or_insert(None);
        }
    }

    fn conclude(&mut self, outcome: &CampaignOutcome) -> (bool, Option<Conclusion>) {
        let failed = (outcome.failed > 0).then(|| format!("{} runs failed", outcome.failed));
        let skipped = (outcome.skipped > 0).then(|| format!("{} points were skipped", outcome.skipped));
        let why = outcome.stopped.clone().or(failed).or(skipped);
        let points = dyno_analyze::points(&outcome.records);
        let conclusion = conclusion::sweep::conclusion(&outcome.id, why, &points);
        (outcome.stopped.is_none() && outcome.failed == 0, Some(conclusion))
    }
}
