//! Runs over a grid of settings.

use dyno_analyze::conclusion::{self, Conclusion};
use dyno_engine::Work;
use dyno_plan::sweep::{self, Done, Point, Schedule, Step};
use dyno_plan::{Engines, Plan, Until};
use dyno_record::{Repository, RunRecord, Setting, Status, SweepId, SweepKind, SweepState};
use serde_json::json;

use crate::campaign::{self, Concluded, Course, Frame, Turn};
use crate::error::Error;
use crate::event::{Ended, Event};
use crate::lead::{Lead, Marks};
use crate::ready::Ready;
use crate::room::Loading;

/// What is to be run, and what of it is done.
pub struct Order {
    plan: Plan,
    replace: bool,
    marks: Marks,
    points: Vec<Point>,
    schedule: Schedule,
    done: Done,
    /// The sweep that is gone on with, and its records that count.
    resumed: Option<(SweepId, Vec<RunRecord>)>,
}

/// Does the runs of `order` that are left; nothing where none is.
///
/// # Errors
/// The first target is not fit for a run, or the repository fails.
pub fn sweep(lead: &Lead<'_>, mut order: Order) -> Result<Option<Concluded>, Error> {
    let Some(first) = order.schedule.next(&order.done) else { return Ok(None) };
    let own = order.layouts();
    let loading = Loading::AsNeeded { own: &own, replace: order.replace };
    let mut ready = Ready::new(lead, order.point(first).plan.clone(), Work::Run, loading, |_| Ok(()))?;
    ready.marks.clone_from(&order.marks);
    let definition = json!({ "plan": order.plan, "replace": order.replace, "marks": order.marks });
    let frame = Frame {
        planned: (order.plan.sweep.until == Until::End).then_some(order.schedule.steps().len() as u32),
        axes: order.axes(),
        points: order.points.iter().map(|point| (point.number, settings(point))).collect(),
        pause: order.plan.sweep.pause.0,
        resumed: order.resumed.take(),
        ..Frame::new(SweepKind::Sweep, definition)
    };
    campaign::follow(ready, frame, &mut order).map(Some)
}

impl Order {
    /// The sweep that `plan` describes.
    ///
    /// # Errors
    /// It has no axis, or a point of it is no plan.
    pub fn new(plan: Plan, engines: Engines, replace: bool, marks: Marks) -> Result<Self, Error> {
        if plan.sweep.axes.is_empty() {
            return Err(Error::usage(
                "the plan has no axis to sweep over",
                "write sessions = [1, 2, 4, 8] under [sweep], or give --set sweep.sessions=1,2,4,8",
            ));
        }
        let points = sweep::points(&plan, engines)?;
        let schedule = Schedule::new(&plan.sweep, &points);
        Ok(Self { plan, replace, marks, points, schedule, done: Done::new(), resumed: None })
    }

    /// The sweep that `selector` names, or the latest that was cut off: as it was noted when it began, with what has been
    /// measured since.
    ///
    /// # Errors
    /// There is none, or what was noted cannot be read.
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
            Error::usage(problem, "begin another sweep")
        })?;
        // Sweeps of older versions have none.
        let marks = serde_json::from_value(definition["marks"].clone()).unwrap_or_default();
        let mut order = Self::new(plan, engines, replace || definition["replace"] == true, marks)?;
        let mut records = campaign::records(repository, &id)?;
        records.retain(|record| {
            let step = record.part_of.as_ref().map(|part| Step { point: part.point, repeat: part.repeat });
            let counts = matches!(record.status, Status::Valid | Status::Invalid);
            if let (Some(step), true) = (step, counts) {
                order.done.insert(step, throughput(record));
            }
            counts
        });
        order.resumed = Some((id, records));
        Ok(order)
    }

    /// The plan that it began with.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many points it has.
    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// The steps that are left, in their order, each with its point.
    pub fn left(&self) -> Vec<(Step, &Point)> {
        self.schedule.remaining(&self.done).map(|step| (step, self.point(step))).collect()
    }

    /// How long warm-ups, windows and pauses of what is left take, s; nothing where windows end by operations.
    pub fn seconds(&self) -> Option<f64> {
        let pause_s = self.plan.sweep.pause.0.as_secs_f64();
        self.left().iter().map(|(_, point)| Some(campaign::nominal_s(&point.plan)? + pause_s)).sum()
    }

    fn point(&self, step: Step) -> &Point {
        &self.points[step.point as usize - 1]
    }

    /// One plan of each layout of data.
    fn layouts(&self) -> Vec<Plan> {
        let mut plans: Vec<&Point> = self.points.iter().collect();
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

fn settings(point: &Point) -> Vec<Setting> {
    let setting = |(key, value): &(String, String)| Setting { key: key.clone(), value: value.clone() };
    point.settings.iter().map(setting).collect()
}

/// The latest sweep that can be resumed.
fn latest(repository: &Repository) -> Result<SweepId, Error> {
    let all = repository.sweeps(Some(SweepKind::Sweep), usize::MAX)?;
    let open = all.into_iter().find(|sweep| sweep.status != SweepState::Done);
    open.map(|sweep| sweep.id).ok_or_else(|| {
        Error::usage("no sweep was cut off", "`dyno list --sweeps` shows all; `dyno sweep` begins one")
    })
}

/// The throughput that says whether a ramp still rises; an invalid run says nothing.
fn throughput(record: &RunRecord) -> Option<f64> {
    let all = record.leading_ops()?;
    (record.status == Status::Valid).then_some(all.rate_per_s)
}

impl Course for Order {
    fn next(&mut self) -> Result<Option<Turn>, Error> {
        let Some(step) = self.schedule.next(&self.done) else { return Ok(None) };
        let point = self.point(step);
        Ok(Some(Turn {
            plan: point.plan.clone(),
            point: step.point,
            repeat: step.repeat,
            side: None,
            settings: settings(point),
        }))
    }

    fn left(&self) -> Option<Vec<&Plan>> {
        Some(self.schedule.remaining(&self.done).map(|step| &self.point(step).plan).collect())
    }

    fn learn(&mut self, turn: &Turn, ended: &Ended) -> Result<Option<Event>, String> {
        let measured = ended.record.as_deref().and_then(throughput);
        self.done.insert(Step { point: turn.point, repeat: turn.repeat }, measured);
        Ok(None)
    }

    fn skips(&self) -> bool {
        true
    }

    fn skip(&mut self, turn: &Turn) {
        for step in self.schedule.steps().iter().filter(|step| step.point == turn.point) {
            self.done.entry(*step).or_insert(None);
        }
    }

    fn conclude(&mut self, ended: &Concluded) -> (bool, Option<Conclusion>) {
        let failed = (ended.failed > 0).then(|| format!("{} runs failed", ended.failed));
        let skipped = (ended.skipped > 0).then(|| format!("{} points were skipped", ended.skipped));
        let why = ended.stopped.clone().or(failed).or(skipped);
        let points = dyno_analyze::points(&ended.records);
        let conclusion = conclusion::sweep::conclusion(&ended.id, why, &points);
        (ended.stopped.is_none() && ended.failed == 0, Some(conclusion))
    }
}
