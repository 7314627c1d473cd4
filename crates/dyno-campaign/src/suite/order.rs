//! What is to be run, and what of it is done.

use dyno_analyze::conclusion::suite::{Page, is_of};
use dyno_plan::{Engines, Plan, sweep, usual};
use dyno_record::{Repository, RunRecord, Status, SweepId, SweepKind, SweepState};
use dyno_workload::own::suite::Test;
use serde_json::json;

use super::choice::{Choice, Depth, chosen};
use super::planned::{LOADED, check, nodes, on, page, planned};
use super::steps::{self, Done};
use crate::campaign;
use crate::error::Error;
use crate::lead::Marks;

/// A test with the plan of its runs.
pub(super) struct Planned {
    pub(super) test: Test,
    /// Of one session; nothing where it is not run, with the reason in its page.
    pub(super) plan: Option<Plan>,
    pub(super) page: Page,
    pub(super) done: Done,
    /// Why a run of it could not be made.
    pub(super) failed: Option<String>,
}

impl Planned {
    /// Whether its runs are measured loads.
    pub(super) fn is_load(&self) -> bool {
        self.test.metric.as_deref() == Some(LOADED)
    }
}

/// A suite: its tests, and what of them is done.
pub struct Order {
    pub(super) base: Plan,
    pub(super) choice: Choice,
    /// What the runs are marked with.
    pub(super) marks: Marks,
    pub(super) tests: Vec<Planned>,
    pub(super) engines: Engines,
    /// The second step of a quick look.
    pub(super) wide: u32,
    /// Folders whose data was there before it.
    pub(super) there_before: Vec<String>,
    /// Raw limits of machines, the newest first.
    pub(super) calibrations: Vec<RunRecord>,
    /// The suite that is gone on with, and its records that count.
    pub(super) resumed: Option<(SweepId, Vec<RunRecord>)>,
    /// Runs that may still be made this time; nothing where all of them may.
    pub(super) runs_left: Option<u32>,
}

impl Order {
    /// What all tests have in common.
    pub fn base(&self) -> &Plan {
        &self.base
    }

    /// The tests that are chosen, on the targets of `plan`.
    ///
    /// # Errors
    /// A page is wrong, which is named with its place before anything is run; or the plan says more than a suite leaves to it.
    pub fn new(plan: Plan, choice: Choice, engines: Engines, marks: Marks) -> Result<Self, Error> {
        refuse_load(&plan, engines)?;
        let targets = plan.target.all();
        let counts = nodes(targets.len());
        let tests = chosen(&choice)?
            .into_iter()
            .flat_map(|test| counts.iter().map(move |nodes| (on(test.clone(), *nodes), *nodes)))
            .map(|(test, nodes)| {
                let page = page(&test, targets, nodes, choice.depth, engines);
                check(&test)?;
                let plan = match page.why_not {
                    Some(_) => None,
                    None => Some(planned(&plan, &test, nodes, choice.depth, engines)?),
                };
                Ok(Planned { test, plan, page, done: Done::new(), failed: None })
            })
            .collect::<Result<_, Error>>()?;
        let wide = super::processors().saturating_mul(2);
        Ok(Self {
            base: plan,
            choice,
            marks,
            tests,
            engines,
            wide,
            there_before: Vec::new(),
            calibrations: Vec::new(),
            resumed: None,
            runs_left: None,
        })
    }

    /// The suite that `selector` names, or the latest that was cut off: as it was noted when it began, with what has been
    /// measured since.
    ///
    /// # Errors
    /// There is none, or what was noted cannot be read.
    pub fn resumed(repository: &Repository, selector: Option<&str>, engines: Engines) -> Result<Self, Error> {
        let id = match selector {
            Some(selector) => repository.resolve_sweep(selector)?,
            None => latest(repository)?,
        };
        let definition = repository.sweep_definition(&id)?;
        let unreadable = |error: serde_json::Error| {
            let problem = format!("{id} cannot be resumed: what it was to do cannot be read ({error})");
            Error::usage(problem, "begin another suite")
        };
        let read = |key: &str| definition[key].clone();
        let plan = serde_json::from_value(read("plan")).map_err(unreadable)?;
        let choice = serde_json::from_value(read("choice")).map_err(unreadable)?;
        let marks = serde_json::from_value(read("marks")).map_err(unreadable)?;
        let mut order = Self::new(plan, choice, engines, marks)?;
        order.wide = serde_json::from_value(read("wide")).map_err(unreadable)?;
        order.there_before = serde_json::from_value(read("there_before")).map_err(unreadable)?;
        let mut records = campaign::records(repository, &id)?;
        records.retain(|record| matches!(record.status, Status::Valid | Status::Invalid));
        for record in &records {
            let Some(test) = order.tests.iter_mut().find(|test| is_of(record, &test.test.id)) else {
                continue;
            };
            let sessions = record.plan.leading_sessions() / test.page.nodes.unwrap_or(1);
            test.done.entry(sessions).or_default().push(throughput(record));
        }
        order.resumed = Some((id, records));
        Ok(order)
    }

    /// Ends after so many runs that came to something, to be gone on with later: a suite of another platform can be between them.
    #[must_use]
    pub fn at_most(mut self, runs: Option<u32>) -> Self {
        self.runs_left = runs;
        self
    }

    /// What is noted of it, for those who go on with it.
    pub(super) fn definition(&self) -> serde_json::Value {
        json!({ "plan": self.base, "choice": self.choice, "marks": self.marks, "wide": self.wide,
            "there_before": self.there_before })
    }

    /// The plan of the first run that is left.
    pub(super) fn first(&self) -> Option<Plan> {
        let (at, sessions, _) = self.next_step()?;
        self.plan(at, sessions).ok()
    }

    /// The test that is next, its sessions (of several targets, those of each), and the number of the repeat.
    pub(super) fn next_step(&self) -> Option<(usize, u32, u32)> {
        let step = |(at, planned): (usize, &Planned)| {
            planned.plan.as_ref().filter(|_| planned.failed.is_none())?;
            let (sessions, repeat) =
                steps::next(&planned.test.load, self.choice.depth, self.wide, &planned.done)?;
            Some((at, sessions, repeat))
        };
        self.tests.iter().enumerate().find_map(step)
    }

    /// Sessions on all targets of a test that has so many on each.
    pub(super) fn on_all(&self, at: usize, sessions: u32) -> u32 {
        sessions * self.tests[at].page.nodes.unwrap_or(1)
    }

    /// The plan of a test with so many sessions on each target.
    pub(super) fn plan(&self, at: usize, sessions: u32) -> Result<Plan, Error> {
        let mut plan = self.tests[at].plan.clone().unwrap_or_else(|| self.base.clone());
        let sessions = self.on_all(at, sessions);
        sweep::set(&mut plan, sweep::SESSIONS, &sessions.to_string(), self.engines)?;
        Ok(plan)
    }

    /// One plan of each test that is run, those of the most targets first.
    pub(super) fn plans(&self) -> Vec<Plan> {
        let mut plans: Vec<Plan> = self.tests.iter().filter_map(|test| test.plan.clone()).collect();
        plans.sort_by_key(|plan| std::cmp::Reverse(plan.target.all().len()));
        plans
    }

    /// The tests, as they are shown.
    pub fn pages(&self) -> impl Iterator<Item = &Page> {
        self.tests.iter().map(|test| &test.page)
    }

    /// How deeply it goes.
    pub fn depth(&self) -> Depth {
        self.choice.depth
    }

    /// Letters of the longest name of a test.
    pub(super) fn widest(&self) -> usize {
        self.tests.iter().map(|test| test.test.id.len()).max().unwrap_or_default()
    }

    /// Whether load rises until more brings nothing.
    pub(super) fn looks_for_end(&self) -> bool {
        self.choice.depth != Depth::Quick
    }
}

/// A suite brings its own load.
fn refuse_load(plan: &Plan, engines: Engines) -> Result<(), Error> {
    let usual = usual(plan.target.clone(), engines);
    let given = [("[workload]", plan.workload != usual.workload), ("[sweep]", plan.sweep != usual.sweep)];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((section, _)) => Err(Error::usage(
            format!("the plan says something in {section}, and the tests of a suite bring that themselves"),
            "leave it out; a test of your own is a folder: `dyno suite --from DIR`",
        )),
    }
}

/// The latest suite that can be resumed.
fn latest(repository: &Repository) -> Result<SweepId, Error> {
    let all = repository.sweeps(Some(SweepKind::Suite), usize::MAX)?;
    let open = all.into_iter().find(|suite| suite.status != SweepState::Done);
    open.map(|suite| suite.id).ok_or_else(|| {
        Error::usage("no suite was cut off", "`dyno list --sweeps` shows all; `dyno suite` begins one")
    })
}

/// The throughput that says whether load still pays; an invalid run says nothing.
pub(super) fn throughput(record: &RunRecord) -> Option<f64> {
    let all = record.leading_ops()?;
    (record.status == Status::Valid).then_some(all.rate_per_s)
}
