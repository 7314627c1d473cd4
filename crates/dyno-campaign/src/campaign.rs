//! Executes the runs of a campaign one after the other; sweep, search, soak, A/B test and suite share this
//! code.
//!
//! Each run is stored before the next begins, so an interruption loses no measured run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_analyze::Conclusion;
use dyno_plan::{Length, Plan};
use dyno_record::{
    PartOf, PointSetting, Repository, RepositoryError, RunRecord, StartedSweep, Status, SweepId, SweepKind,
    SweepState,
};

use crate::error::{Error, ErrorKind};
use crate::event::{CampaignBegun, CampaignEvent, HookEvent, NextRun, RunEnded};
use crate::names;
use crate::ready::PreparedCampaign;

/// Default number of consecutive failures after which a campaign gives up, because further runs would fail
/// too.
const FAILURES_MAX: u32 = 3;

/// How often a pause checks whether the campaign was cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// The definition of a campaign, before its first run.
pub(crate) struct CampaignSpec {
    pub(crate) kind: SweepKind,
    /// The stored definition, from which the campaign can be resumed.
    pub(crate) definition: serde_json::Value,
    /// The number of runs; absent if it is unknown in advance.
    pub(crate) planned: Option<u32>,
    /// The settings that vary between the runs, each with the length of its longest value.
    pub(crate) axes: Vec<(String, usize)>,
    /// The sides of an A/B test, and the description of each.
    pub(crate) sides: Vec<(&'static str, String)>,
    /// The points with their settings; empty if they are unknown in advance.
    pub(crate) points: Vec<(u32, Vec<PointSetting>)>,
    /// The pause before every run but the first.
    pub(crate) pause: Duration,
    /// The interrupted campaign that is resumed, and its valid runs; absent for a new campaign.
    pub(crate) resumed: Option<(SweepId, Vec<RunRecord>)>,
    /// Number of consecutive failures after which the campaign gives up.
    pub(crate) failures_max: u32,
}

/// Decides which run comes next, and concludes from all runs.
pub(crate) trait CampaignStrategy {
    /// Returns the next run; `None` at the end.
    fn next(&mut self) -> Result<Option<PlannedRun>, Error>;

    /// Prepares the platform for a run, before its targets and data are checked. An error fails the run.
    fn prepare(&mut self, _ready: &mut PreparedCampaign<'_>, _turn: &PlannedRun) -> Result<(), Error> {
        Ok(())
    }

    /// Returns the plans of the remaining runs, next one first; `None` if they are unknown.
    fn remaining_plans(&self) -> Option<Vec<&Plan>>;

    /// Handles a finished run, with or without a record, and returns the event to report. An error ends the
    /// campaign with this message.
    fn on_run_ended(
        &mut self,
        turn: &PlannedRun,
        finished_run: &RunEnded,
    ) -> Result<Option<CampaignEvent>, String>;

    /// Whether points can be skipped.
    fn can_skip_points(&self) -> bool;

    /// Skips the remaining runs of the point of `turn`.
    fn skip_point(&mut self, turn: &PlannedRun);

    /// Concludes from the campaign's runs, and returns whether the campaign is complete.
    fn conclude(&mut self, outcome: &CampaignOutcome) -> (bool, Option<Conclusion>);
}

/// A run that a campaign is to execute next.
#[derive(Debug, Clone)]
pub(crate) struct PlannedRun {
    pub(crate) plan: Plan,
    pub(crate) point: u32,
    pub(crate) repeat: u32,
    pub(crate) side: Option<&'static str>,
    pub(crate) settings: Vec<PointSetting>,
}

/// How a campaign ended, with its runs and its conclusion.
#[derive(Debug, Clone)]
pub struct CampaignOutcome {
    /// The campaign's name, which all its runs share.
    pub id: SweepId,
    /// Whether the campaign is complete, so that it cannot be resumed.
    pub done: bool,
    /// Why the campaign ended early; absent if it did not.
    pub stopped: Option<String>,
    /// Number of runs that failed.
    pub failed: u32,
    /// Number of points that were skipped.
    pub skipped: u32,
    /// The worst status of a run; valid if there was none.
    pub worst: Status,
    /// The records of all runs in order of time; of several runs with the same point, repeat and side, the
    /// last.
    pub records: Vec<RunRecord>,
    /// The conclusion; absent if nothing was measured.
    pub conclusion: Option<Conclusion>,
}

struct Campaign<'a> {
    ready: PreparedCampaign<'a>,
    durations: DurationEstimator,
    failures_in_row: u32,
    outcome: CampaignOutcome,
}

impl CampaignSpec {
    /// Creates a campaign of this kind with default settings.
    pub(crate) fn new(kind: SweepKind, definition: serde_json::Value) -> Self {
        let (axes, sides, points, pause) = (Vec::new(), Vec::new(), Vec::new(), Duration::ZERO);
        let failures_max = FAILURES_MAX;
        Self { kind, definition, planned: None, axes, sides, points, pause, resumed: None, failures_max }
    }
}

/// Executes the runs of `course` until its end, or until the campaign is cancelled.
///
/// # Errors
/// The repository fails. A run that fails ends only its own point.
pub(crate) fn run_campaign(
    ready: PreparedCampaign<'_>,
    frame: CampaignSpec,
    course: &mut dyn CampaignStrategy,
) -> Result<CampaignOutcome, Error> {
    let id = match &frame.resumed {
        Some((id, _)) => ready.repository.resume_sweep(id).map(|()| id.clone())?,
        None => begin(&ready, &frame)?,
    };
    let (stopped, worst, conclusion) = (None, Status::Valid, None);
    let (failed, skipped, records) = (0, 0, Vec::new());
    let so_far = CampaignOutcome { id, done: false, stopped, failed, skipped, worst, records, conclusion };
    let mut campaign =
        Campaign { ready, durations: DurationEstimator::default(), failures_in_row: 0, outcome: so_far };
    campaign.outcome.stopped = campaign.run_all(frame, course)?;
    campaign.conclude(course)
}

impl Campaign<'_> {
    /// Executes the runs; returns why it stopped before the last one.
    fn run_all(
        &mut self,
        frame: CampaignSpec,
        course: &mut dyn CampaignStrategy,
    ) -> Result<Option<String>, Error> {
        let CampaignSpec { kind, axes, sides, points, pause, resumed, failures_max, .. } = frame;
        let (ctx, id, plan) = (self.ready.ctx, self.outcome.id.clone(), self.ready.plan.clone());
        let skips = course.can_skip_points();
        ctx.emit(CampaignEvent::Begun(Box::new(CampaignBegun {
            id,
            kind,
            plan,
            axes,
            sides,
            points,
            skips,
        })));
        let mut number = 0;
        for record in resumed.map(|(_, earlier)| earlier).unwrap_or_default() {
            let Some(part) = record.part_of.clone() else { continue };
            number += 1;
            let record = Some(Arc::new(record));
            ctx.emit(CampaignEvent::Ended(RunEnded { number, part, record, failed: None, skipped: false }));
        }
        let earlier = number;
        while let Some(turn) = course.next()? {
            if self.failures_in_row >= failures_max {
                let failures = dyno_analyze::number::count(failures_max.into());
                return Ok(Some(format!("given up after {failures} failures in a row")));
            }
            if !self.wait_while_paused()
                || !self.rest_unless_cancelled(if number > earlier { pause } else { Duration::ZERO })
            {
                self.outcome.worst = worse(self.outcome.worst, Status::Interrupted);
                return Ok(Some("stopped".to_owned()));
            }
            let part = self.part(kind, &turn);
            let left = course.remaining_plans();
            let seconds = |from: usize| self.durations.estimate_s(left.as_deref()?.get(from..)?, pause);
            let (all_s, rest_s) = (seconds(0), seconds(1));
            let total_runs = left.as_ref().map(|left| number + left.len() as u32);
            number += 1;
            ctx.emit(CampaignEvent::Next(NextRun {
                number,
                total: total_runs,
                part: part.clone(),
                all_s,
                rest_s,
            }));
            ctx.steer.begin();
            let mut finished_run = self.run(number, &turn, part, course)?;
            finished_run.skipped = skips && ctx.steer.is_skipping() && !ctx.cancel.is_cancelled();
            ctx.emit(CampaignEvent::Ended(finished_run.clone()));
            let learnt = match finished_run.is_stopped() {
                true => Err("stopped".to_owned()),
                false => course.on_run_ended(&turn, &finished_run),
            };
            if finished_run.skipped {
                self.outcome.skipped += 1;
                course.skip_point(&turn);
            }
            match learnt {
                Ok(event) => event.into_iter().for_each(|event| ctx.emit(event)),
                Err(why) => return Ok(Some(why)),
            }
        }
        Ok(None)
    }

    fn part(&self, kind: SweepKind, turn: &PlannedRun) -> PartOf {
        PartOf {
            id: self.outcome.id.clone(),
            kind,
            point: turn.point,
            repeat: turn.repeat,
            side: turn.side.map(str::to_owned),
            settings: turn.settings.clone(),
        }
    }

    fn run(
        &mut self,
        number: u32,
        turn: &PlannedRun,
        part: PartOf,
        course: &mut dyn CampaignStrategy,
    ) -> Result<RunEnded, Error> {
        let began = Instant::now();
        let (ready, plan) = (&mut self.ready, &turn.plan);
        let prepared = ready.switch_to(plan.clone()).and_then(|()| course.prepare(ready, turn));
        let measured = prepared.and_then(|()| ready.measure(Some(&part)));
        let measured = measured.map(|record| {
            let hook = ready.after_run(&record).err();
            (record, hook)
        });
        self.durations.note(plan, began.elapsed());
        let mut finished_run = RunEnded { number, part, record: None, failed: None, skipped: false };
        let run_status = match measured {
            Ok((record, hook)) => {
                let status = record.status;
                finished_run.record = Some(record);
                hook.map_or(status, |error| {
                    ready.ctx.emit(CampaignEvent::Hook(HookEvent::FailedAfterRun(error.to_string())));
                    Status::Failed
                })
            }
            Err(error) if ready.ctx.cancel.is_cancelled() || error.kind() == ErrorKind::Interrupted => {
                Status::Interrupted
            }
            // The repository would refuse later runs, too.
            Err(error @ Error::Repository(_)) => return Err(error),
            Err(error) => {
                finished_run.failed = Some(error.words());
                Status::Failed
            }
        };
        let run_status = match run_status {
            // The user skipped this point; the campaign continues.
            Status::Interrupted if !ready.ctx.cancel.is_cancelled() && ready.ctx.steer.is_skipping() => {
                Status::Valid
            }
            run_status => run_status,
        };
        let is_failure =
            finished_run.record.as_ref().map_or(run_status, |record| record.status) == Status::Failed;
        self.outcome.failed += u32::from(is_failure);
        self.failures_in_row = if run_status == Status::Failed { self.failures_in_row + 1 } else { 0 };
        self.outcome.worst = worse(self.outcome.worst, run_status);
        Ok(finished_run)
    }

    /// Waits while the campaign is paused; returns false if it was cancelled.
    fn wait_while_paused(&self) -> bool {
        let ctx = self.ready.ctx;
        if ctx.steer.is_paused() && !ctx.cancel.is_cancelled() {
            ctx.emit(CampaignEvent::Paused(true));
            while ctx.steer.is_paused() && !ctx.cancel.is_cancelled() {
                std::thread::sleep(LOOK);
            }
            ctx.emit(CampaignEvent::Paused(false));
        }
        !ctx.cancel.is_cancelled()
    }

    /// Waits for `pause`; returns false if the campaign was cancelled.
    fn rest_unless_cancelled(&self, pause: Duration) -> bool {
        let (until, cancel) = (Instant::now() + pause, &self.ready.ctx.cancel);
        while !cancel.is_cancelled() && Instant::now() < until {
            std::thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
        }
        !cancel.is_cancelled()
    }

    /// Stores the conclusion and runs the `end` hook. An incomplete campaign can be resumed.
    fn conclude(self, course: &mut dyn CampaignStrategy) -> Result<CampaignOutcome, Error> {
        let Self { ready, outcome: mut ended, .. } = self;
        ended.records = records(&ready.repository, &ended.id)?;
        (ended.done, ended.conclusion) = course.conclude(&ended);
        let options = &ready.marks.options;
        ended.conclusion = ended.conclusion.map(|conclusion| conclusion.with_options(options));
        ended.done &= ended.skipped == 0;
        if let Some(conclusion) = &ended.conclusion {
            ready.repository.conclude(&ended.id, &serde_json::to_value(conclusion)?)?;
        }
        let state = if ended.done { SweepState::Done } else { SweepState::Interrupted };
        ready.repository.end_sweep(&ended.id, state)?;
        if let Err(error) = ready.after_all() {
            ready.ctx.emit(CampaignEvent::Hook(HookEvent::FailedAtEnd(error.to_string())));
            if ended.worst == Status::Valid {
                ended.worst = Status::Failed;
            }
        }
        Ok(ended)
    }
}

/// Returns the records of a campaign's runs in order of time; of several runs with the same point, repeat and
/// side, the last.
pub(crate) fn records(repository: &Repository, id: &str) -> Result<Vec<RunRecord>, Error> {
    let mut records: Vec<RunRecord> = Vec::new();
    for run in repository.runs_of_sweep(id)? {
        let record = match repository.load(&run.id) {
            Err(RepositoryError::NoRecord { .. }) => continue,
            loaded => loaded?,
        };
        let same = |part: &PartOf| (part.point, part.repeat, part.side.clone());
        let place = record.part_of.as_ref().map(same);
        records.retain(|before| before.part_of.as_ref().map(same) != place);
        records.push(record);
    }
    Ok(records)
}

/// Stores the campaign in the repository under a new unique name.
fn begin(ready: &PreparedCampaign<'_>, frame: &CampaignSpec) -> Result<SweepId, Error> {
    let sweep_id = names::with_unique_name(|now, random| {
        let sweep = StartedSweep {
            id: dyno_record::new_sweep_id(frame.kind, now, random),
            kind: frame.kind,
            started_at: dyno_record::rfc3339(now),
            target: ready.targets.urls(),
            runs_planned: frame.planned,
            definition: frame.definition.clone(),
        };
        ready.repository.begin_sweep(&sweep).map(|()| sweep.id)
    });
    sweep_id.map_err(|error| Error::because("the sweep could not be stored", error))
}

/// Returns the worse of two statuses: interrupted, then failed, then invalid, then valid.
fn worse(a: Status, b: Status) -> Status {
    let weight = |status: &Status| match status {
        Status::Valid | Status::Imported => 0,
        Status::Invalid => 1,
        Status::Failed => 2,
        Status::Interrupted => 3,
    };
    std::cmp::max_by_key(b, a, weight)
}

/// Estimates how long runs take, from the runs that ended.
#[derive(Debug, Default)]
struct DurationEstimator {
    runs: u32,
    /// Time spent outside warm-up and window, summed over all runs, s.
    overhead_s: f64,
    total_s: f64,
}

/// Warm-up and window of a plan, s; absent if the window ends after a number of operations.
pub fn nominal_s(plan: &Plan) -> Option<f64> {
    match plan.run.length() {
        Length::Time(time) => Some(plan.run.warmup.0.as_secs_f64() + time.0.as_secs_f64()),
        Length::Ops(_) => None,
    }
}

impl DurationEstimator {
    fn note(&mut self, plan: &Plan, took: Duration) {
        self.runs += 1;
        self.total_s += took.as_secs_f64();
        self.overhead_s += (took.as_secs_f64() - nominal_s(plan).unwrap_or_default()).max(0.0);
    }

    /// Estimates how long runs of these plans take, with a pause for each, s; absent if one cannot be
    /// estimated.
    fn estimate_s(&self, plans: &[&Plan], pause: Duration) -> Option<f64> {
        let runs = f64::from(self.runs.max(1));
        let run_estimate_s = |plan| match nominal_s(plan) {
            Some(nominal_s) => Some(nominal_s + self.overhead_s / runs),
            None => (self.runs > 0).then(|| self.total_s / runs),
        };
        plans.iter().map(|plan| Some(run_estimate_s(plan)? + pause.as_secs_f64())).sum()
    }
}
