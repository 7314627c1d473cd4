//! Turns a job request from a form or JSON into a plan, a command line and the steps of a job.

use std::collections::BTreeMap;

use dyno_campaign::ab::AbSidePlan;
use dyno_plan::{EngineSpec, Engines, Length, Plan, PlanFile, PlanSource, READY, TargetUrl};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::allowed;
use crate::commands::ServeCommandList;
use crate::jobs::{JobKind, JobStart, MACHINE};
use crate::listed_host::ListedHost;
use crate::setup::Setup;
use crate::targets::NamedTarget;
use command::JobCommand;

mod args;
mod command;
mod form;
mod refused;
mod study;
#[cfg(test)]
mod tests;

/// The parts of a calibration.
pub(crate) const PARTS: [&str; 3] = ["memory", "device", "commit"];

/// The proofs, each with a description.
pub(crate) const PROOFS: [(&str, &str); 3] = [
    ("updates", "each update of a run is in the table exactly once"),
    ("window", "the measured work equals the work done; needs no database"),
    ("durability", "acknowledged commits survive a killed server (--allow-commands)"),
];

/// A request to start a job.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct JobRequest {
    /// Kind of the job, such as `run`.
    pub(crate) kind: JobKind,
    /// Name of a target in the server's list.
    pub(crate) target: String,
    /// Name of the ready plan to start with; empty for the default plan.
    pub(crate) ready: String,
    /// Name of the ready workload; empty for the block workload, or for that of the plan.
    pub(crate) workload: String,
    /// Plan keys that override the plan: `run.time`, `sweep.sessions`.
    pub(crate) set: BTreeMap<String, String>,
    /// Whether missing data is loaded first.
    pub(crate) load: bool,
    /// The variant of the platform; may be empty.
    pub(crate) variant: String,
    /// Tags for the runs of the job.
    pub(crate) tags: Vec<String>,
    /// Search only: limits, such as `p99 <= 2ms`.
    pub(crate) limits: Vec<String>,
    /// Search only: the setting that rises, `sessions` or `rate`.
    pub(crate) over: String,
    /// Search only: the highest load to try; empty for the default.
    pub(crate) max: String,
    /// Soak only: length of the run.
    pub(crate) time: String,
    /// A/B test only: settings of side A that override the plan, `KEY=VALUE[,KEY=VALUE…]`.
    pub(crate) a: String,
    /// A/B test only: settings of side B, in the same form.
    pub(crate) b: String,
    /// A/B test only: the most runs of each side.
    pub(crate) pairs: u32,
    /// A/B test only: settings of the database server, `NAME=A,B`; an empty value is the present one. Needs
    /// `--allow-commands` and consent.
    pub(crate) settings: Vec<String>,
    /// A/B test with settings only: the command that restarts the server; empty if none is needed.
    pub(crate) settings_restart: String,
    /// Suite only: whether it is the quick suite.
    pub(crate) quick: bool,
    /// Suite only: groups of tests; empty for all.
    pub(crate) groups: Vec<String>,
    /// Suite only: names of tests; empty for all.
    pub(crate) tests: Vec<String>,
    /// Watch only: how long the database is observed.
    pub(crate) watch_for: String,
    /// Calibration only: parts (memory, device, commit); empty for all.
    pub(crate) parts: Vec<String>,
    /// Proof only: `updates`, `window` or `durability`.
    pub(crate) proof: String,
    /// Proof of durability only: the command that kills the server.
    pub(crate) kill_command: String,
    /// Proof of durability only: the command that restarts the server; empty if it restarts by itself.
    pub(crate) restart_command: String,
    /// Study only: the name of a ready study.
    pub(crate) study: String,
    /// Study only: its parameters, by name.
    pub(crate) params: BTreeMap<String, String>,
    /// Study only: whether it uses the target above instead of the one that the study names.
    pub(crate) on_target: bool,
    /// The mark of the commands that the user has seen and confirmed.
    pub(crate) confirmed: String,
}

impl Default for JobRequest {
    fn default() -> Self {
        let (target, ready, workload, variant, a, b) = Default::default();
        Self {
            kind: JobKind::Run,
            target,
            ready,
            workload,
            set: BTreeMap::new(),
            load: true,
            variant,
            tags: Vec::new(),
            limits: Vec::new(),
            over: "sessions".into(),
            max: String::new(),
            time: "1h".into(),
            a,
            b,
            pairs: 10,
            settings: Vec::new(),
            settings_restart: String::new(),
            quick: true,
            groups: Vec::new(),
            tests: Vec::new(),
            watch_for: "10m".into(),
            parts: Vec::new(),
            proof: "updates".into(),
            kill_command: String::new(),
            restart_command: String::new(),
            study: String::new(),
            params: BTreeMap::new(),
            on_target: false,
            confirmed: String::new(),
        }
    }
}

/// A problem with a field of a job request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct FieldError {
    /// The form field or plan key; empty if it concerns no single one.
    pub(crate) field: String,
    /// A description of the problem.
    pub(crate) problem: String,
    /// What the user can do; may be empty.
    pub(crate) hint: String,
}

/// A valid job request, ready to start.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PreparedJob {
    /// The plan as a file, without the place of the password.
    pub(crate) toml: String,
    /// The equivalent command line for a terminal.
    pub(crate) command: String,
    /// Total time of warm-ups, windows and pauses, s; absent if unknown.
    pub(crate) seconds: Option<f64>,
    /// Number of runs; absent if it is unknown.
    pub(crate) runs: Option<u32>,
    /// The commands that the job runs on this machine, in order; absent if there are none.
    pub(crate) commands: Option<ServeCommandList>,
    #[serde(skip)]
    start: StartMade,
}

/// The job to be started.
#[derive(Debug, Clone)]
struct StartMade(JobStart);

impl PreparedJob {
    /// Returns the job for the queue, if the user has confirmed exactly the commands that it runs.
    pub(crate) fn confirmed(&self, order: &JobRequest) -> Result<JobStart, FieldError> {
        match &self.commands {
            Some(commands) if commands.mark != order.confirmed => {
                let problem = match order.confirmed.is_empty() {
                    true => "its commands run as the server's user and are not confirmed",
                    false => "the commands differ from those that were confirmed",
                };
                Err(field_error("confirmed", problem, "read the commands, confirm them, and start the job"))
            }
            _ => Ok(self.start.0.clone()),
        }
    }
}

impl JobRequest {
    /// Creates the plan, the command line and the steps; or returns all problems.
    pub(crate) fn prepare(&self, setup: &Setup) -> Result<PreparedJob, Vec<FieldError>> {
        let target = setup.targets.get(&self.target).ok_or_else(|| vec![self.no_target(setup)])?;
        let engine = engine(target, setup.engines).map_err(|wrong| vec![wrong])?;
        let mut refused = self.refused(setup);
        let job = JobCommand::read(self, setup.allow_commands);
        refused.extend(job.as_ref().err().into_iter().flatten().cloned());
        let job = job.ok().filter(|_| refused.is_empty()).ok_or(refused)?;
        if let JobCommand::Study(request) = &job {
            return self.study(setup, target, request);
        }
        let text = match READY.iter().find(|ready| ready.name == self.ready) {
            Some(ready) => ready.for_engine(engine),
            None if self.ready.is_empty() => dyno_plan::template(engine),
            None => return Err(vec![field_error("ready", "unknown ready plan", "")]),
        };
        let options = PlanSource { target: Some(target.url.clone()), ..PlanSource::of(setup.engines) };
        let written = |options: &PlanSource| {
            dyno_plan::with_options("plan.toml", &text, options).map_err(|errors| plan_field_errors(&errors))
        };
        let base = read(&written(&options)?, setup.engines)?;
        let toml = written(&PlanSource { sets: self.values(), ..options })?;
        let plan = read(&toml, setup.engines)?;
        if let Some(why) = allowed::plan_refusal(&plan, &base, setup.allow_commands) {
            return Err(vec![field_error("", why, "")]);
        }
        let with_secrets = self.with_secrets(setup, target, &toml)?;
        let (seconds, runs) = expected(&job, setup, &plan, &toml)?;
        let command = self.command(&job, target, engine, setup);
        let own_commands = job.commands();
        let start = JobStart {
            kind: self.kind,
            target: self.target.clone(),
            place: match job {
                JobCommand::Calibrate { .. } => MACHINE.to_owned(),
                _ => target.url.clone(),
            },
            plan: Some(with_secrets),
            command: command.clone(),
            steps: self.steps(&job, setup, target),
            runs_commands: plan.hooks != base.hooks || !own_commands.is_empty(),
        };
        let commands = (!own_commands.is_empty()).then(|| ServeCommandList::of(&own_commands, &start.steps));
        Ok(PreparedJob { toml, command, seconds, runs, commands, start: StartMade(start) })
    }

    /// Plan keys with values set by the request, as command-line options.
    fn values(&self) -> Vec<String> {
        let values = self.set.iter().filter(|(key, _)| !allowed::is_listed_host(key));
        values.map(|(key, value)| format!("{key}={value}")).collect()
    }

    /// The hosts of the server's list that the request names.
    fn listed_hosts<'s>(&'s self, setup: &'s Setup) -> impl Iterator<Item = &'s ListedHost> {
        let names = self.set.iter().filter(|(key, _)| allowed::is_listed_host(key));
        names.flat_map(|(_, names)| names.split(',')).filter_map(|name| setup.targets.host(name.trim()))
    }

    /// The hosts as an option for the child process, with the places of their passwords. Absent if the
    /// request names none.
    fn observed(&self, setup: &Setup) -> Option<String> {
        let specs: Vec<String> =
            self.listed_hosts(setup).filter_map(|host| Some(host.spec().ok()?.to_string())).collect();
        (!specs.is_empty()).then(|| format!("observe.hosts={}", specs.join(", ")))
    }

    /// The plan for the child process, which includes the place of the password.
    fn with_secrets(
        &self,
        setup: &Setup,
        target: &NamedTarget,
        toml: &str,
    ) -> Result<String, Vec<FieldError>> {
        let mut options = PlanSource::of(setup.engines);
        options.sets = target.secrets().into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        options.sets.extend(self.observed(setup));
        dyno_plan::with_options("plan.toml", toml, &options).map_err(|errors| plan_field_errors(&errors))
    }
}

/// Returns the expected duration, s, and number of runs.
fn expected(
    job: &JobCommand,
    setup: &Setup,
    plan: &Plan,
    toml: &str,
) -> Result<(Option<f64>, Option<u32>), Vec<FieldError>> {
    let campaign = |error: dyno_campaign::Error| match &error {
        dyno_campaign::Error::Plan(errors) => plan_field_errors(errors),
        error => vec![field_error("", error.to_string(), error.hint())],
    };
    Ok(match job {
        JobCommand::Run => (nominal_s(plan), Some(1)),
        JobCommand::Soak { time } => (Some((time.time + plan.run.warmup.0).as_secs_f64()), Some(1)),
        JobCommand::Sweep => {
            let labels = dyno_campaign::RunLabels::default();
            let sweep = dyno_campaign::sweep::SweepCampaign::new(plan.clone(), setup.engines, false, labels);
            let sweep = sweep.map_err(campaign)?;
            (sweep.seconds(), u32::try_from(sweep.left().len()).ok())
        }
        JobCommand::Ab { a, b, pairs, .. } => {
            let file = || Ok(Some(PlanFile { name: "plan.toml".into(), text: toml.to_owned() }));
            for (name, side) in [("a", a), ("b", b)] {
                AbSidePlan::read(name, side, PlanSource::of(setup.engines), file).map_err(campaign)?;
            }
            (nominal_s(plan).map(|run| run * 2.0 * f64::from(*pairs)), Some(2 * pairs))
        }
        JobCommand::Watch { time, .. } => (Some(time.time.as_secs_f64()), None),
        JobCommand::Search { .. } | JobCommand::Suite { .. } | JobCommand::Load => (None, None),
        JobCommand::Check | JobCommand::Calibrate { .. } => (None, None),
        JobCommand::Prove(_) | JobCommand::Study(_) => (None, None),
    })
}

impl JobKind {
    /// Describes what the job does, in a few words.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Run => "one run",
            Self::Sweep => "runs over a grid of settings",
            Self::Soak => "one setting for hours",
            Self::Search => "the highest load within limits",
            Self::Ab => "two sides, interleaved",
            Self::Suite => "a catalogue of tests, each about one component",
            Self::Load => "the data only",
            Self::Check => {
                "checks for everything that would prevent a run or distort its figures, without running one"
            }
            Self::Watch => "what a running database does by itself, without any load",
            Self::Calibrate => "raw limits of the machine that the data is on",
            Self::Prove => "proof that no work is lost or invented",
            Self::Study => "variants of the platform, interleaved",
        }
    }
}

/// Warm-up and window, s; absent if the window ends after a number of operations.
fn nominal_s(plan: &Plan) -> Option<f64> {
    match plan.run.length() {
        Length::Time(time) => Some((plan.run.warmup.0 + time.0).as_secs_f64()),
        _ => None,
    }
}

fn engine(target: &NamedTarget, engines: Engines) -> Result<&'static EngineSpec, FieldError> {
    let url = TargetUrl::read(&target.url, engines).ok();
    let spec = url.and_then(|url| engines.spec_of(&url));
    spec.ok_or_else(|| field_error("target", "this program was built without its engine", ""))
}

fn read(toml: &str, engines: Engines) -> Result<Plan, Vec<FieldError>> {
    let file = PlanFile { name: "plan.toml".into(), text: toml.to_owned() };
    dyno_plan::read(&PlanSource { file: Some(file), ..PlanSource::of(engines) })
        .map_err(|errors| plan_field_errors(&errors))
}

fn plan_field_errors(errors: &dyno_plan::PlanErrors) -> Vec<FieldError> {
    let to_field_error = |error: &dyno_plan::PlanError| FieldError {
        field: error.key.clone().unwrap_or_default(),
        problem: match &error.value {
            Some(value) => format!("{value}: {}", error.problem),
            None => error.problem.clone(),
        },
        hint: error.hint.clone(),
    };
    errors.errors.iter().map(to_field_error).collect()
}

fn listed(text: &str, mark: char) -> Vec<String> {
    text.split(mark).map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn field_error(field: &str, problem: impl Into<String>, hint: impl Into<String>) -> FieldError {
    FieldError { field: field.to_owned(), problem: problem.into(), hint: hint.into() }
}
