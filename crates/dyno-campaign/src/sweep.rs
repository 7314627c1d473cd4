//! `dyno sweep`: runs over a grid of settings.

use std::time::Duration;

use dyno_analyze::conclusion::{self, Conclusion};
use dyno_engine::Work;
use dyno_plan::sweep::{self, Done, Point, Schedule, Step};
use dyno_plan::{Plan, Until};
use dyno_record::{RunRecord, RunState, Status, SweepKind};
use dyno_report::number::span_s;
use dyno_report::{RunningTable, SweepRow};
use serde_json::json;

use super::campaign::{self, Campaign, Ended, Part};
use super::ready::Ready;
use super::room::Loading;
use crate::cli::{Common, Marks, Sweep};
use crate::consent;
use crate::context;
use crate::exit::{Exit, usage};
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &Sweep, talk: &Talk) -> anyhow::Result<Exit> {
    let order = match &args.resume {
        None => Order::new(context::plan(common)?, args.replace, args.marks.clone())?,
        Some(selector) => Order::resumed(common, selector, args)?,
    };
    if args.dry_run {
        consent::tell(&order.plan, talk);
        return order.show(talk);
    }
    let Some(first) = order.schedule.next(&order.done) else {
        talk.say("nothing is left to run: the sweep is done");
        return Ok(Exit::Done);
    };
    let own = order.layouts();
    let loading = Loading::AsNeeded { own: &own, replace: order.replace };
    let plan = order.point(first).plan.clone();
    let mut ready = Ready::loading(common, plan, Work::Run, &loading, talk, |_| Ok(()))?;
    ready.marks = order.marks.clone();
    let campaign = match &order.resumed {
        Some(id) => Campaign::resume(ready, id.clone(), SweepKind::Sweep, talk)?,
        None => {
            let planned =
                (order.plan.sweep.until == Until::End).then_some(order.schedule.steps().len() as u32);
            let definition = json!({ "plan": order.plan, "replace": order.replace, "marks": order.marks });
            Campaign::begin(ready, SweepKind::Sweep, planned, &definition, talk)?
        }
    };
    Driver { campaign, order, talk, number: 0, failed: 0 }.drive(&loading)
}

/// What is to be run, and what of it is done.
struct Order {
    plan: Plan,
    replace: bool,
    marks: Marks,
    points: Vec<Point>,
    schedule: Schedule,
    done: Done,
    /// The sweep that is gone on with, and its records.
    resumed: Option<String>,
    records: Vec<RunRecord>,
}

impl Order {
    fn new(plan: Plan, replace: bool, marks: Marks) -> anyhow::Result<Self> {
        if plan.sweep.axes.is_empty() {
            return Err(usage(
                "the plan has no axis to sweep over",
                "write sessions = [1, 2, 4, 8] under [sweep], or give --set sweep.sessions=1,2,4,8",
            ));
        }
        let points = sweep::points(&plan).map_err(|error| usage(error.problem, error.hint))?;
        let schedule = Schedule::new(&plan.sweep, &points);
        let (done, records) = (Done::new(), Vec::new());
        Ok(Self { plan, replace, marks, points, schedule, done, resumed: None, records })
    }

    /// A sweep as it was noted when it began, with what has been measured since.
    fn resumed(common: &Common, selector: &Option<String>, args: &Sweep) -> anyhow::Result<Self> {
        if !common.set.is_empty() || !common.target.is_empty() || args.marks != Marks::default() {
            return Err(usage(
                "a sweep goes on with the plan that it began with",
                "leave --set, --target, --variant and --tag out, or begin another sweep",
            ));
        }
        let repository = context::repository_to_read(common)?;
        let id = match selector {
            Some(selector) => repository.resolve_sweep(selector)?,
            None => latest(&repository)?,
        };
        let definition = repository.sweep_definition(&id)?;
        let plan = serde_json::from_value(definition["plan"].clone()).map_err(|error| {
            usage(format!("{id} cannot be resumed: its plan cannot be read ({error})"), "begin another sweep")
        })?;
        // Sweeps of older versions have none.
        let marks = serde_json::from_value(definition["marks"].clone()).unwrap_or_default();
        let mut order = Self::new(plan, args.replace || definition["replace"] == true, marks)?;
        order.records = campaign::records(&repository, &id)?;
        for record in &order.records {
            let step = record.part_of.as_ref().map(|part| Step { point: part.point, repeat: part.repeat });
            if let (Some(step), Status::Valid | Status::Invalid) = (step, record.status) {
                order.done.insert(step, throughput(record));
            }
        }
        order.resumed = Some(id);
        Ok(order)
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

    /// `--dry-run`: every step in order, with the time that all will take at least.
    fn show(&self, talk: &Talk) -> anyhow::Result<Exit> {
        let steps: Vec<Step> = self.schedule.remaining(&self.done).collect();
        let pause = self.plan.sweep.pause.0.as_secs_f64();
        let seconds: Option<f64> =
            steps.iter().map(|step| Some(campaign::nominal_s(&self.point(*step).plan)? + pause)).sum();
        let mut layout = None;
        for (i, step) in steps.iter().enumerate() {
            let point = self.point(*step);
            let load = if layout.replace(point.layout) == Some(point.layout) {
                ""
            } else {
                "  (its data first, if not there)"
            };
            talk.show(&format!("{:>5}  {}  repeat {}{load}", i + 1, settings(point), step.repeat))?;
        }
        let runs: Vec<_> = steps
            .iter()
            .map(|step| json!({ "point": step.point, "repeat": step.repeat, "settings": pairs(self.point(*step)) }))
            .collect();
        talk.json(&json!({ "runs": runs, "seconds": seconds }))?;
        let most = if self.plan.sweep.until == Until::Saturation { "at most " } else { "" };
        let time = seconds.map_or_else(
            || "windows end by operations, so the time is not known".to_owned(),
            |seconds| format!("warm-ups, windows and pauses take {}", span_s(seconds)),
        );
        talk.say(&format!("{most}{} runs of {} points; {time}", steps.len(), self.points.len()));
        Ok(Exit::Done)
    }
}

/// The latest sweep that can be resumed.
fn latest(repository: &dyno_record::Repository) -> anyhow::Result<String> {
    let all = repository.sweeps(Some(SweepKind::Sweep), usize::MAX)?;
    let open = all.into_iter().find(|sweep| sweep.status != dyno_record::SweepState::Done);
    open.map(|sweep| sweep.id).ok_or_else(|| {
        usage("no sweep was cut off", "`dyno list --sweeps` shows all; `dyno sweep` begins one")
    })
}

/// The throughput that says whether a ramp still rises; an invalid run says nothing.
fn throughput(record: &RunRecord) -> Option<f64> {
    let all = record.ops.get("all")?;
    (record.status == Status::Valid).then_some(all.rate_per_s)
}

/// `update_pct 20, sessions 4`.
fn settings(point: &Point) -> String {
    let own = |key: &str| key.rsplit_once('.').map_or(key, |(_, own)| own).to_owned();
    let shown: Vec<_> = point.settings.iter().map(|(key, value)| format!("{} {value}", own(key))).collect();
    shown.join(", ")
}

fn pairs(point: &Point) -> serde_json::Value {
    point
        .settings
        .iter()
        .map(|(key, value)| (key.clone(), json!(value)))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// A sweep under way.
struct Driver<'a> {
    campaign: Campaign<'a>,
    order: Order,
    talk: &'a Talk,
    /// Runs shown so far.
    number: u32,
    failed: u32,
}

impl Driver<'_> {
    fn drive(mut self, loading: &Loading<'_>) -> anyhow::Result<Exit> {
        let table = self.table();
        self.talk.show(&table.heads(&self.talk.style()))?;
        for record in std::mem::take(&mut self.order.records) {
            if matches!(record.status, Status::Valid | Status::Invalid) {
                self.line(&table, Some(&record), None, None)?;
            }
        }
        let pause = self.order.plan.sweep.pause.0;
        let mut done = self.order.done.clone();
        let mut begun = false;
        let stopped = loop {
            let Some(step) = self.order.schedule.next(&done) else { break None };
            if !self.campaign.rest(if begun { pause } else { Duration::ZERO }) {
                break Some("stopped");
            }
            begun = true;
            let (place, rest_s) = self.place(step, &done, pause);
            let point = self.order.point(step);
            let part = Part {
                plan: &point.plan,
                point: step.point,
                repeat: step.repeat,
                side: None,
                settings: &point.settings,
            };
            match self.campaign.run(&part, loading, &place, rest_s)? {
                Ended::Stored(record) => {
                    self.failed += u32::from(record.status == Status::Failed);
                    done.insert(step, throughput(&record));
                    self.line(&table, Some(&record), None, None)?;
                }
                Ended::Failed(reason) => {
                    self.failed += 1;
                    done.insert(step, None);
                    self.line(&table, None, Some(step), Some(&reason))?;
                    self.talk.error(&format!("{}: {reason}", settings(self.order.point(step))), "");
                }
                Ended::Interrupted(record) => {
                    if let Some(record) = record {
                        self.line(&table, Some(&record), None, None)?;
                    }
                    break Some("stopped");
                }
            }
            if self.campaign.is_hopeless() {
                break Some("given up after three failures in a row");
            }
        };
        self.end(stopped)
    }

    fn table(&self) -> RunningTable {
        let first = &self.order.points[0].settings;
        let widest = |i: usize| self.order.points.iter().map(|p| p.settings[i].1.len()).max().unwrap_or(0);
        RunningTable::new(first.iter().enumerate().map(|(i, (key, _))| (key.as_str(), widest(i))))
    }

    /// Says which step comes next; returns its place for the moving line and how long those after it take.
    fn place(&self, step: Step, done: &Done, pause: Duration) -> (String, Option<f64>) {
        let left: Vec<Step> = self.order.schedule.remaining(done).collect();
        let plans = |from: usize| left[from..].iter().map(|step| &self.order.point(*step).plan);
        let all_s = self.campaign.seconds(plans(0), pause);
        let rest_s = self.campaign.seconds(plans(1), pause);
        let (number, of) = (done.len() + 1, done.len() + left.len());
        let time = all_s.map_or_else(String::new, |seconds| format!("  ETA {}", span_s(seconds.round())));
        let point = settings(self.order.point(step));
        self.talk.say(&format!("run {number} of {of}: {point} (repeat {}){time}", step.repeat));
        (format!("{number}/{of}"), rest_s)
    }

    fn line(
        &mut self,
        table: &RunningTable,
        record: Option<&RunRecord>,
        step: Option<Step>,
        reason: Option<&str>,
    ) -> anyhow::Result<()> {
        self.number += 1;
        let part = record.and_then(|record| record.part_of.as_ref());
        let step = step.or(part.map(|part| Step { point: part.point, repeat: part.repeat }));
        let Some(step) = step else { return Ok(()) };
        let values = self.order.point(step).settings.iter().map(|(_, value)| value.as_str()).collect();
        let row = SweepRow { number: self.number, values, repeat: step.repeat, record, reason };
        Ok(self.talk.show(&table.line(&row, &self.talk.style()))?)
    }

    /// The points, and how it ended.
    fn end(self, stopped: Option<&str>) -> anyhow::Result<Exit> {
        let (id, talk) = (&self.campaign.id, self.talk);
        let records = self.campaign.records()?;
        let done = stopped.is_none() && self.failed == 0;
        let points = dyno_analyze::points(&records);
        let why = match self.failed {
            0 => stopped.map(str::to_owned),
            failed => Some(stopped.map_or_else(|| format!("{failed} runs failed"), str::to_owned)),
        };
        let conclusion = conclusion::sweep::conclusion(id, why, &points);
        self.campaign.conclude(&conclusion)?;
        let exit = self.campaign.end(done)?;
        if !points.points.is_empty() {
            talk.show("\n")?;
            talk.show(&dyno_report::point_table(&points, &talk.style()))?;
            let curves = dyno_report::text_curves(&points, talk.glyphs(), &talk.style());
            talk.show(&format!("\n{curves}\n"))?;
            for finding in conclusion.sentences() {
                super::words::show_words(&finding, 2, talk)?;
            }
        }
        talk.json(&as_json(id, done, &points, &records, &conclusion))?;
        talk.say(&match stopped {
            Some(why) => {
                format!("{why}; every finished run is kept, and `dyno sweep --resume {id}` goes on")
            }
            None if self.failed > 0 => {
                format!("{} runs failed; `dyno sweep --resume {id}` tries them again", self.failed)
            }
            None => format!("stored as {id}; `dyno show {id}` shows all of it"),
        });
        Ok(exit)
    }
}

fn as_json(
    id: &str,
    done: bool,
    points: &dyno_analyze::Points<'_>,
    records: &[RunRecord],
    conclusion: &Conclusion,
) -> serde_json::Value {
    let axes: Vec<_> = points.axes.iter().map(|axis| axis.path.as_str()).collect();
    let points: Vec<_> = points
        .points
        .iter()
        .map(|point| {
            let settings: serde_json::Map<_, _> = axes
                .iter()
                .zip(&point.values)
                .map(|(axis, value)| ((*axis).to_owned(), json!(value.text)))
                .collect();
            let measured: serde_json::Map<_, _> = point
                .estimates
                .iter()
                .map(|(name, estimate)| (name.clone(), json!(estimate.value)))
                .collect();
            let runs: Vec<_> = point.runs.iter().map(|run| run.id.as_str()).collect();
            json!({ "settings": settings, "sessions": point.sessions, "runs": runs, "measured": measured })
        })
        .collect();
    let runs: Vec<_> = records
        .iter()
        .map(|run| json!({ "id": run.id, "status": RunState::from(run.status), "part_of": run.part_of }))
        .collect();
    json!({
        "sweep": id, "done": done, "axes": axes, "points": points, "runs": runs, "line": conclusion.line,
        "findings": conclusion.words,
    })
}
