//! The definition of a suite, and which of its runs are done.

use dyno_analyze::conclusion::suite::{SuiteTestInfo, is_of};
use dyno_plan::{Engines, Plan, sweep, usual};
use dyno_record::{Repository, RunRecord, Status, SweepId, SweepKind, SweepState};
use dyno_workload::custom::suite::Test;
use serde_json::json;

use super::choice::{Depth, SuiteSelection, selected_tests};
use super::steps::{self, SuiteStepResults};
use super::test_plan::{LOADED, check_page, node_counts, test_for_nodes, test_page, test_plan};
use crate::campaign;
use crate::campaign_context::RunLabels;
use crate::error::Error;

/// A test with the plan of its runs.
pub(super) struct PlannedSuiteTest {
    pub(super) test: Test,
    /// The plan with one session; absent if the test is not run, for the reason on its page.
    pub(super) plan: Option<Plan>,
    pub(super) page: SuiteTestInfo,
    pub(super) done: SuiteStepResults,
    /// Why a run of the test failed; absent if none did.
    pub(super) failed: Option<String>,
}

impl PlannedSuiteTest {
    /// Whether the test's runs are measured loads.
    pub(super) fn is_load(&self) -> bool {
        self.test.metric.as_deref() == Some(LOADED)
    }
}

/// A suite with its tests, and which of their runs are done.
pub struct SuiteCampaign {
    pub(super) base: Plan,
    pub(super) choice: SuiteSelection,
    /// The labels of the runs.
    pub(super) marks: RunLabels,
    pub(super) tests: Vec<PlannedSuiteTest>,
    pub(super) engines: Engines,
    /// Number of sessions of the second step of a quick suite.
    pub(super) wide: u32,
    /// Folders whose data existed before the suite.
    pub(super) there_before: Vec<String>,
    /// Calibrations of machines, newest first.
    pub(super) calibrations: Vec<RunRecord>,
    /// The interrupted suite that is resumed, and its valid records; absent for a new suite.
    pub(super) resumed: Option<(SweepId, Vec<RunRecord>)>,
    /// Number of runs that may still be executed this time; absent if there is no limit.
    pub(super) runs_left: Option<u32>,
}

impl SuiteCampaign {
    /// The settings that all tests share.
    pub fn base(&self) -> &Plan {
        &self.base
    }

    /// Creates a suite of the selected tests on the targets of `plan`.
    ///
    /// # Errors
    /// A test description is invalid, which is detected before anything runs; or the plan sets keys that the
    /// suite itself decides.
    pub fn new(
        plan: Plan,
        choice: SuiteSelection,
        engines: Engines,
        marks: RunLabels,
    ) -> Result<Self, Error> {
        refuse_load(&plan, engines)?;
        let targets = plan.target.all();
        let counts = node_counts(targets.len());
        let tests = selected_tests(&choice)?
            .into_iter()
            .flat_map(|test| counts.iter().map(move |nodes| (test_for_nodes(test.clone(), *nodes), *nodes)))
            .map(|(test, nodes)| {
                let page = test_page(&test, targets, nodes, choice.depth, engines);
                check_page(&test)?;
                let plan = match page.why_not {
                    Some(_) => None,
                    None => Some(test_plan(&plan, &test, nodes, choice.depth, engines)?),
                };
                Ok(PlannedSuiteTest { test, plan, page, done: SuiteStepResults::new(), failed: None })
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

    /// Loads the suite that `selector` names, or the latest interrupted one: its stored definition, and what
    /// was measured since.
    ///
    /// # Errors
    /// There is no such suite, or its definition cannot be read.
    pub fn resumed(repository: &Repository, selector: Option<&str>, engines: Engines) -> Result<Self, Error> {
        let id = match selector {
            Some(selector) => repository.resolve_sweep(selector)?,
            None => latest(repository)?,
        };
        let definition = repository.sweep_definition(&id)?;
        let unreadable = |error: serde_json::Error| {
            let problem = format!("{id} cannot be resumed: its definition cannot be read ({error})");
            Error::usage(problem, "start a new suite")
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

    /// Ends after this many runs with a result; a later call can resume the suite. So suites of two platforms
    /// can be interleaved.
    #[must_use]
    pub fn at_most(mut self, runs: Option<u32>) -> Self {
        self.runs_left = runs;
        self
    }

    /// The definition that is stored for a resume.
    pub(super) fn definition(&self) -> serde_json::Value {
        json!({ "plan": self.base, "choice": self.choice, "marks": self.marks, "wide": self.wide,
            "there_before": self.there_before })
    }

    /// Returns the plan of the first remaining run.
    pub(super) fn first(&self) -> Option<Plan> {
        let (at, sessions, _) = self.next_step()?;
        self.plan(at, sessions).ok()
    }

    /// Returns the next test, its sessions (with several targets, on each), and the number of the repeat.
    pub(super) fn next_step(&self) -> Option<(usize, u32, u32)> {
        let step = |(at, planned): (usize, &PlannedSuiteTest)| {
            planned.plan.as_ref().filter(|_| planned.failed.is_none())?;
            let (sessions, repeat) =
                steps::next_suite_step(&planned.test.load, self.choice.depth, self.wide, &planned.done)?;
            Some((at, sessions, repeat))
        };
        self.tests.iter().enumerate().find_map(step)
    }

    /// Number of sessions over all targets of a test, if each target has `sessions`.
    pub(super) fn total_sessions(&self, at: usize, sessions: u32) -> u32 {
        sessions * self.tests[at].page.nodes.unwrap_or(1)
    }

    /// Returns the plan of a test with this many sessions on each target.
    pub(super) fn plan(&self, at: usize, sessions: u32) -> Result<Plan, Error> {
        let mut plan = self.tests[at].plan.clone().unwrap_or_else(|| self.base.clone());
        let sessions = self.total_sessions(at, sessions);
        sweep::set(&mut plan, sweep::SESSIONS, &sessions.to_string(), self.engines)?;
        Ok(plan)
    }

    /// Returns one plan for each executed test; those with the most targets come first.
    pub(super) fn plans(&self) -> Vec<Plan> {
        let mut plans: Vec<Plan> = self.tests.iter().filter_map(|test| test.plan.clone()).collect();
        plans.sort_by_key(|plan| std::cmp::Reverse(plan.target.all().len()));
        plans
    }

    /// The tests that remain, each with the least and the greatest number of its runs, and the time of one
    /// run, s. The time is absent where windows end by operations, or when all rows are loaded.
    pub fn forecast(&self) -> Vec<(&SuiteTestInfo, (usize, usize), Option<f64>)> {
        // Throughput that never rises ends a ramp as early as possible, one that doubles never.
        let runs = |planned: &PlannedSuiteTest, throughput: fn(u32) -> f64| {
            let mut results = planned.done.clone();
            let mut runs = 0;
            while let Some((sessions, _)) =
                steps::next_suite_step(&planned.test.load, self.choice.depth, self.wide, &results)
            {
                results.entry(sessions).or_default().push(Some(throughput(sessions)));
                runs += 1;
            }
            runs
        };
        let remaining = self.tests.iter().filter(|planned| planned.failed.is_none());
        let forecast = |planned: &'_ PlannedSuiteTest| {
            let plan = planned.plan.as_ref()?;
            let seconds = campaign::nominal_s(plan).filter(|_| !planned.is_load());
            Some(((runs(planned, |_| 1.0), runs(planned, f64::from)), seconds))
        };
        remaining
            .filter_map(|planned| forecast(planned).map(|(runs, seconds)| (&planned.page, runs, seconds)))
            .filter(|(_, (_, most), _)| *most > 0)
            .collect()
    }

    /// Returns the tests as reports show them.
    pub fn pages(&self) -> impl Iterator<Item = &SuiteTestInfo> {
        self.tests.iter().map(|test| &test.page)
    }

    pub fn depth(&self) -> Depth {
        self.choice.depth
    }

    /// Length of the longest name of a test.
    pub(super) fn widest(&self) -> usize {
        self.tests.iter().map(|test| test.test.id.len()).max().unwrap_or_default()
    }

    /// Whether the load rises until more sessions add no throughput.
    pub(super) fn looks_for_end(&self) -> bool {
        self.choice.depth != Depth::Quick
    }
}

/// Refuses plans that set the load, because the tests define it.
fn refuse_load(plan: &Plan, engines: Engines) -> Result<(), Error> {
    let usual = usual(plan.target.clone(), engines);
    let overrides = [("[workload]", plan.workload != usual.workload), ("[sweep]", plan.sweep != usual.sweep)];
    match overrides.into_iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((section, _)) => Err(Error::usage(
            format!("the plan sets {section}, but the tests of a suite set it themselves"),
            "leave it out; a test of your own is a folder: `dyno suite --from DIR`",
        )),
    }
}

/// Returns the latest suite that can be resumed.
fn latest(repository: &Repository) -> Result<SweepId, Error> {
    let all = repository.sweeps(Some(SweepKind::Suite), usize::MAX)?;
    let open = all.into_iter().find(|suite| suite.status != SweepState::Done);
    open.map(|suite| suite.id).ok_or_else(|| {
        Error::usage("no suite was interrupted", "`dyno list --sweeps` shows all; `dyno suite` starts one")
    })
}

/// The throughput that decides whether the load rises further; an invalid run has none.
pub(super) fn throughput(record: &RunRecord) -> Option<f64> {
    let all = record.leading_ops()?;
    (record.status == Status::Valid).then_some(all.rate_per_s)
}
