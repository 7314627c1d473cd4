//! What is to be run, and what of it is done.

use std::path::Path;

use dyno_analyze::conclusion::suite::{Page, is_of};
use dyno_analyze::{Limit, points};
use dyno_plan::{Engines, Plan, PlanErrors, Span, keys, sweep, usual};
use dyno_record::{Repository, RunRecord, Status, SweepId, SweepKind, SweepState};
use dyno_workload::own::suite::{self, Cache, Load, Test};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::steps::{self, Done};
use crate::campaign;
use crate::error::Error;
use crate::lead::Marks;

/// How deeply a suite goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    /// Two fixed steps of each test, short ones: nothing is said of saturation.
    Quick,
    /// Rising load until more brings nothing.
    #[default]
    Usual,
    /// The same with long windows, and the steps that count four times.
    Full,
}

dyno_plan::names! {
    /// The word in options and results: `quick`.
    Depth { Quick = "quick", Usual = "usual", Full = "full" }
}

impl Depth {
    /// The scale of the test's workload.
    fn scale(self, test: &Test) -> u32 {
        if self == Self::Full { test.full_scale } else { 1 }
    }

    /// Warm-up and window where the plan does not say others, ms.
    fn times(self) -> (u64, u64) {
        match self {
            Self::Quick => (500, 2_000),
            Self::Usual => (2_000, 5_000),
            Self::Full => (5_000, 20_000),
        }
    }
}

/// What is chosen of a suite.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// How deeply it goes.
    pub depth: Depth,
    /// Groups of tests; all where none is named.
    pub groups: Vec<String>,
    /// Tests by their names; all where none is named.
    pub tests: Vec<String>,
    /// A folder with tests, instead of those inside the program.
    pub from: Option<String>,
    /// Whether other data of Dyno's is dropped first.
    pub replace: bool,
    /// Whether the data of the tests stays.
    pub keep: bool,
}

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

/// A suite: its tests, and what of them is done.
pub struct Order {
    base: Plan,
    pub(super) choice: Choice,
    /// What the runs are marked with.
    pub(super) marks: Marks,
    pub(super) tests: Vec<Planned>,
    engines: Engines,
    /// The second step of a quick look.
    pub(super) wide: u32,
    /// The suite that is gone on with, and its records that count.
    pub(super) resumed: Option<(SweepId, Vec<RunRecord>)>,
}

/// The tests that `choice` names, in the order of the catalogue.
///
/// # Errors
/// A page is wrong, or there is no such test or group.
pub(super) fn chosen(choice: &Choice) -> Result<Vec<Test>, Error> {
    let all = match &choice.from {
        Some(folder) => suite::in_folder(Path::new(folder)),
        None => suite::catalogue(),
    };
    let mut all = all.map_err(PlanErrors::from)?;
    let known = |names: &[String], known: Vec<&str>, what: &str| match names
        .iter()
        .find(|name| !known.contains(&name.as_str()))
    {
        None => Ok(()),
        Some(name) => {
            let near = dyno_plan::similar::closest(name, known.iter().copied());
            let hint = near.map_or_else(
                || "`dyno suite list` shows all".to_owned(),
                |near| format!("did you mean {near}? `dyno suite list` shows all"),
            );
            Err(Error::usage(format!("there is no {what} {name}"), hint))
        }
    };
    known(&choice.groups, all.iter().map(|test| test.group.as_str()).collect(), "group")?;
    known(&choice.tests, all.iter().map(|test| test.id.as_str()).collect(), "test")?;
    let named = |names: &[String], name: &String| names.contains(name);
    let is_all = choice.groups.is_empty() && choice.tests.is_empty();
    all.retain(|test| is_all || named(&choice.groups, &test.group) || named(&choice.tests, &test.id));
    Ok(all)
}

/// A test as reports show it, for the engine of this name.
fn page(test: &Test, engine: &str, depth: Depth) -> Page {
    Page {
        id: test.id.clone(),
        group: test.group.clone(),
        title: test.title.clone(),
        stresses: test.stresses.clone(),
        unit: test.unit.clone(),
        units: test.units * u64::from(depth.scale(test)),
        metric: test.metric.clone(),
        limit: test.limit.clone(),
        cache: test.cache.map(|cache| cache.name().to_owned()),
        threads: test.threads,
        why_not: test.without.get(engine).cloned(),
        failed: None,
    }
}

impl Order {
    /// The tests that are chosen, on the targets of `plan`.
    ///
    /// # Errors
    /// A page is wrong, which is named with its place before anything is run; or the plan says more than a suite leaves to it.
    pub fn new(plan: Plan, choice: Choice, engines: Engines, marks: Marks) -> Result<Self, Error> {
        refuse_load(&plan, engines)?;
        let spec = engines.of(&plan.target.url);
        let engine = spec.map_or("", |spec| spec.name);
        let tests = chosen(&choice)?
            .into_iter()
            .map(|test| {
                let page = page(&test, engine, choice.depth);
                check(&test)?;
                let plan = match page.why_not {
                    Some(_) => None,
                    None => Some(planned(&plan, &test, choice.depth, engines)?),
                };
                Ok(Planned { test, plan, page, done: Done::new(), failed: None })
            })
            .collect::<Result<_, Error>>()?;
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let wide = u32::try_from(processors * 2).unwrap_or(2);
        Ok(Self { base: plan, choice, marks, tests, engines, wide, resumed: None })
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
        let mut records = campaign::records(repository, &id)?;
        records.retain(|record| matches!(record.status, Status::Valid | Status::Invalid));
        for record in &records {
            let Some(test) = order.tests.iter_mut().find(|test| is_of(record, &test.test.id)) else {
                continue;
            };
            test.done.entry(record.plan.leading_sessions()).or_default().push(throughput(record));
        }
        order.resumed = Some((id, records));
        Ok(order)
    }

    /// What is noted of it, for those who go on with it.
    pub(super) fn definition(&self) -> serde_json::Value {
        json!({ "plan": self.base, "choice": self.choice, "marks": self.marks, "wide": self.wide })
    }

    /// The plan of the first run that is left.
    pub(super) fn first(&self) -> Option<Plan> {
        let (at, sessions, _) = self.next_step()?;
        self.plan(at, sessions).ok()
    }

    /// The test that is next, its sessions, and the number of the repeat.
    pub(super) fn next_step(&self) -> Option<(usize, u32, u32)> {
        let step = |(at, planned): (usize, &Planned)| {
            planned.plan.as_ref().filter(|_| planned.failed.is_none())?;
            let (sessions, repeat) =
                steps::next(&planned.test.load, self.choice.depth, self.wide, &planned.done)?;
            Some((at, sessions, repeat))
        };
        self.tests.iter().enumerate().find_map(step)
    }

    /// The plan of a test with so many sessions.
    pub(super) fn plan(&self, at: usize, sessions: u32) -> Result<Plan, Error> {
        let mut plan = self.tests[at].plan.clone().unwrap_or_else(|| self.base.clone());
        sweep::set(&mut plan, sweep::SESSIONS, &sessions.to_string(), self.engines)?;
        Ok(plan)
    }

    /// One plan of each test that is run.
    pub(super) fn plans(&self) -> Vec<Plan> {
        self.tests.iter().filter_map(|test| test.plan.clone()).collect()
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

fn refused(test: &Test, problem: &str, hint: impl Into<String>) -> Error {
    Error::usage(format!("{}: test.{}: {problem}", test.place, test.id), hint)
}

/// What a page says that only the analysis can read.
fn check(test: &Test) -> Result<(), Error> {
    let limit: Result<Limit, _> = test.limit.parse();
    if limit.map_err(|error| refused(test, &error.to_string(), ""))?.measure().is_none() {
        return Err(refused(test, "the limit is of one class", "write one of all: p95 <= 10ms"));
    }
    match &test.metric {
        Some(metric) if points::Measure::find(metric).is_none() => {
            let known = points::MEASURES.iter().map(|measure| measure.name);
            let near = dyno_plan::similar::closest(metric, known);
            let hint = near.map_or_else(String::new, |near| format!("did you mean {near}?"));
            Err(refused(test, &format!("there is no measure {metric}"), hint))
        }
        _ => Ok(()),
    }
}

/// The plan of a test with one session.
fn planned(base: &Plan, test: &Test, depth: Depth, engines: Engines) -> Result<Plan, Error> {
    let usual = usual(base.target.clone(), engines);
    let mut plan = base.clone();
    let (warmup, time) = depth.times();
    let span = |ms| Span(std::time::Duration::from_millis(ms));
    if plan.run.warmup == usual.run.warmup {
        plan.run.warmup = span(warmup);
    }
    if plan.run.time == usual.run.time && plan.run.ops_per_session.is_none() {
        plan.run.time = Some(span(time * u64::from(test.stretch)));
    }
    let first = match &test.load {
        Load::Ramp(_) => 1,
        Load::Fixed(sessions) => sessions[0],
    };
    let sessions = (sweep::SESSIONS.to_owned(), first.to_string());
    if depth.scale(test) > 1 {
        plan.workload.scale = Some(depth.scale(test));
    }
    if let (Some(cache), Some(spec)) = (test.cache, engines.of(&plan.target.url)) {
        let params = if cache == Cache::In { spec.cached } else { spec.uncached };
        plan.target.url = std::mem::take(&mut plan.target.url).with(params);
    }
    for (key, value) in test.plan.iter().chain([&sessions]) {
        // What the user says of data goes before: nobody else knows how much is more than a cache holds.
        let of = |plan: &Plan| keys::find(key).and_then(|known| known.get(plan));
        if key.starts_with("data.") && of(base) != of(&usual) {
            continue;
        }
        let set = sweep::set(&mut plan, key, value, engines);
        set.map_err(|error| refused(test, &error.problem, error.hint))?;
    }
    Ok(plan)
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
