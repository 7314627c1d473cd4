//! What somebody asks to be started: from a form or from JSON to a plan, a command line and the steps of a job.

use std::collections::BTreeMap;
use std::str::FromStr as _;

use dyno_campaign::ab::Side;
use dyno_plan::{EngineSpec, Engines, Length, Plan, PlanFile, PlanSource, READY, TargetUrl};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::allowed;
use crate::commands::Commands;
use crate::jobs::{Kind, MACHINE, Start};
use crate::listed_host::ListedHost;
use crate::setup::Setup;
use crate::targets::NamedTarget;

mod args;
mod form;
mod platform;
mod refused;

/// Parts of a calibration.
pub(crate) const PARTS: [&str; 3] = ["memory", "device", "commit"];

/// Proofs, each with what it is of.
pub(crate) const PROOFS: [(&str, &str); 3] = [
    ("updates", "that a run's updates are in the table, each once"),
    ("window", "that what is measured is what was done; needs no database"),
    ("durability", "that acknowledged commits outlive a server that is killed (--allow-commands)"),
];

/// What is to be started.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Order {
    /// What it does: `run`.
    pub(crate) kind: Kind,
    /// The name of a target in the server's list.
    pub(crate) target: String,
    /// The ready plan that it begins with; empty for the usual one.
    pub(crate) ready: String,
    /// The ready workload that it runs; empty for the classic method, or what the plan says.
    pub(crate) workload: String,
    /// Keys of the plan over that: `run.time`, `sweep.sessions`.
    pub(crate) set: BTreeMap<String, String>,
    /// Whether data that is not there is loaded first.
    pub(crate) load: bool,
    /// The variant of the platform.
    pub(crate) variant: String,
    /// Tags.
    pub(crate) tags: Vec<String>,
    /// Of a search: limits, such as `p99 <= 2ms`.
    pub(crate) limits: Vec<String>,
    /// Of a search: what rises, `sessions` or `rate`.
    pub(crate) over: String,
    /// Of a search: the highest load to try; empty for the usual one.
    pub(crate) max: String,
    /// Of a soak: how long.
    pub(crate) time: String,
    /// Of a comparison: settings of side A over the plan, `KEY=VALUE[,KEY=VALUE…]`.
    pub(crate) a: String,
    /// Of side B.
    pub(crate) b: String,
    /// Of a comparison: how many runs of each side.
    pub(crate) pairs: u32,
    /// Of a suite: whether it is the quick one.
    pub(crate) quick: bool,
    /// Of a suite: groups of tests; none for all.
    pub(crate) groups: Vec<String>,
    /// Of a suite: names of tests; none for all.
    pub(crate) tests: Vec<String>,
    /// Of a watch: how long.
    pub(crate) watch_for: String,
    /// Of a calibration: parts (memory, device, commit); none for all.
    pub(crate) parts: Vec<String>,
    /// Of a proof: which, `updates`, `window` or `durability`.
    pub(crate) proof: String,
    /// Of a proof of durability: the command that kills the server.
    pub(crate) kill_command: String,
    /// Of a proof of durability: the command that starts it again; empty where it comes back by itself.
    pub(crate) restart_command: String,
    /// Of a study: the name of a ready one.
    pub(crate) study: String,
    /// Of a study: its parameters.
    pub(crate) params: BTreeMap<String, String>,
    /// Of a study: whether it is about the target above, and not about the one that the study itself names.
    pub(crate) on_target: bool,
    /// The mark of the commands that were shown and may run.
    pub(crate) confirmed: String,
}

impl Default for Order {
    fn default() -> Self {
        let (target, ready, workload, variant, a, b) = Default::default();
        Self {
            kind: Kind::Run,
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
            pairs: 5,
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

/// What is wrong with an order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Wrong {
    /// The field or the plan's key; empty where it is of no one.
    pub(crate) field: String,
    /// What is wrong.
    pub(crate) problem: String,
    /// The way out.
    pub(crate) hint: String,
}

/// An order that can be started.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Made {
    /// The plan as a file, without where the password is.
    pub(crate) toml: String,
    /// The command line that does the same.
    pub(crate) command: String,
    /// How long warm-ups, windows and pauses take, s; absent where that is not known.
    pub(crate) seconds: Option<f64>,
    /// How many runs it has, where that is known.
    pub(crate) runs: Option<u32>,
    /// Commands that it runs on this machine, in their order; nothing where it runs none.
    pub(crate) commands: Option<Commands>,
    #[serde(skip)]
    start: StartMade,
}

/// What is started.
#[derive(Debug, Clone)]
struct StartMade(Start);

impl Made {
    /// What is handed to the queue, once the commands that it runs are those that somebody has seen.
    pub(crate) fn confirmed(&self, order: &Order) -> Result<Start, Wrong> {
        match &self.commands {
            Some(commands) if commands.mark != order.confirmed => {
                let problem = match order.confirmed.is_empty() {
                    true => "its commands run as the server's user, and nobody has agreed to them",
                    false => "these are other commands than those that were agreed to",
                };
                Err(wrong("confirmed", problem, "look at them, agree, and start it"))
            }
            _ => Ok(self.start.0.clone()),
        }
    }
}

impl Order {
    /// The plan, the command line and the steps; or everything that is wrong.
    pub(crate) fn make(&self, setup: &Setup) -> Result<Made, Vec<Wrong>> {
        let target = setup.targets.get(&self.target).ok_or_else(|| vec![self.no_target(setup)])?;
        let engine = engine(target, setup.engines).map_err(|wrong| vec![wrong])?;
        let refused = self.refused(setup);
        if !refused.is_empty() {
            return Err(refused);
        }
        if self.kind == Kind::Study {
            return self.study(setup, target);
        }
        let text = match READY.iter().find(|ready| ready.name == self.ready) {
            Some(ready) => ready.for_engine(engine),
            None if self.ready.is_empty() => dyno_plan::template(engine),
            None => return Err(vec![wrong("ready", "there is no such ready plan", "")]),
        };
        let options = PlanSource { target: Some(target.url.clone()), ..PlanSource::of(setup.engines) };
        let written = |options: &PlanSource| {
            dyno_plan::with_options("plan.toml", &text, options).map_err(|errors| of_plan(&errors))
        };
        let base = read(&written(&options)?, setup.engines)?;
        let toml = written(&PlanSource { sets: self.values(), ..options })?;
        let plan = read(&toml, setup.engines)?;
        if let Some(why) = allowed::of_plan(&plan, &base, setup.allow_commands) {
            return Err(vec![wrong("", why, "")]);
        }
        let with_secrets = self.with_secrets(setup, target, &toml)?;
        let (seconds, runs) = self.expected(setup, &plan, &toml)?;
        let command = self.command(target, engine, setup);
        let start = Start {
            kind: self.kind,
            target: self.target.clone(),
            place: if self.kind == Kind::Calibrate { MACHINE.to_owned() } else { target.url.clone() },
            plan: Some(with_secrets),
            command: command.clone(),
            steps: self.steps(setup, target),
            runs_commands: plan.hooks != base.hooks || self.runs_commands(),
        };
        let commands = self.commands(&start);
        Ok(Made { toml, command, seconds, runs, commands, start: StartMade(start) })
    }

    /// Settings of the plan with values of their own, as options.
    fn values(&self) -> Vec<String> {
        let values = self.set.iter().filter(|(key, _)| !allowed::is_listed_host(key));
        values.map(|(key, value)| format!("{key}={value}")).collect()
    }

    /// The hosts that the order names, from the server's list.
    fn listed_hosts<'s>(&'s self, setup: &'s Setup) -> impl Iterator<Item = &'s ListedHost> {
        let names = self.set.iter().filter(|(key, _)| allowed::is_listed_host(key));
        names.flat_map(|(_, names)| names.split(',')).filter_map(|name| setup.targets.host(name.trim()))
    }

    /// The hosts as an option of the child: with where their passwords are. Absent where the order names none.
    fn observed(&self, setup: &Setup) -> Option<String> {
        let specs: Vec<String> =
            self.listed_hosts(setup).filter_map(|host| Some(host.spec().ok()?.to_string())).collect();
        (!specs.is_empty()).then(|| format!("observe.hosts={}", specs.join(", ")))
    }

    /// The plan as the child reads it: it also says where the password is.
    fn with_secrets(&self, setup: &Setup, target: &NamedTarget, toml: &str) -> Result<String, Vec<Wrong>> {
        let mut options = PlanSource::of(setup.engines);
        options.sets = target.secrets().into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        options.sets.extend(self.observed(setup));
        dyno_plan::with_options("plan.toml", toml, &options).map_err(|errors| of_plan(&errors))
    }

    /// How long it takes and how many runs it has.
    fn expected(
        &self,
        setup: &Setup,
        plan: &Plan,
        toml: &str,
    ) -> Result<(Option<f64>, Option<u32>), Vec<Wrong>> {
        let campaign = |error: dyno_campaign::Error| match &error {
            dyno_campaign::Error::Plan(errors) => of_plan(errors),
            error => vec![wrong("", error.to_string(), error.hint())],
        };
        Ok(match self.kind {
            Kind::Run => (nominal_s(plan), Some(1)),
            Kind::Soak => {
                let time = dyno_plan::Span::from_str(&self.time).ok().map(|time| time.0.as_secs_f64());
                (time.map(|time| time + plan.run.warmup.0.as_secs_f64()), Some(1))
            }
            Kind::Sweep => {
                let marks = dyno_campaign::Marks::default();
                let order = dyno_campaign::sweep::Order::new(plan.clone(), setup.engines, false, marks);
                let order = order.map_err(campaign)?;
                (order.seconds(), u32::try_from(order.left().len()).ok())
            }
            Kind::Ab => {
                let file = || Ok(Some(PlanFile { name: "plan.toml".into(), text: toml.to_owned() }));
                for (name, side) in [("a", &self.a), ("b", &self.b)] {
                    Side::read(name, side, PlanSource::of(setup.engines), file).map_err(campaign)?;
                }
                (nominal_s(plan).map(|run| run * 2.0 * f64::from(self.pairs)), Some(2 * self.pairs))
            }
            Kind::Watch => {
                (dyno_plan::Span::from_str(&self.watch_for).ok().map(|time| time.0.as_secs_f64()), None)
            }
            Kind::Search | Kind::Suite | Kind::Load | Kind::Check => (None, None),
            Kind::Calibrate | Kind::Prove | Kind::Study => (None, None),
        })
    }
}

impl Kind {
    /// What it does, in a few words.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Self::Run => "one run",
            Self::Sweep => "runs over a grid of settings",
            Self::Soak => "one setting for hours",
            Self::Search => "the highest load within limits",
            Self::Ab => "two sides by turns",
            Self::Suite => "a catalogue of tests, each about one component",
            Self::Load => "the data only",
            Self::Check => "what would prevent or falsify it: nothing is run",
            Self::Watch => "what a running database does by itself, without any load",
            Self::Calibrate => "raw limits of the machine that the data is on",
            Self::Prove => "that nothing is lost, and nothing made up",
            Self::Study => "variants of the platform by turns",
        }
    }
}

/// Warm-up and window, s; nothing where the window ends by operations.
fn nominal_s(plan: &Plan) -> Option<f64> {
    match plan.run.length() {
        Length::Time(time) => Some((plan.run.warmup.0 + time.0).as_secs_f64()),
        _ => None,
    }
}

fn engine(target: &NamedTarget, engines: Engines) -> Result<&'static EngineSpec, Wrong> {
    let url = TargetUrl::read(&target.url, engines).ok();
    let found = url.and_then(|url| engines.of(&url));
    found.ok_or_else(|| wrong("target", "this program was built without its engine", ""))
}

fn read(toml: &str, engines: Engines) -> Result<Plan, Vec<Wrong>> {
    let file = PlanFile { name: "plan.toml".into(), text: toml.to_owned() };
    dyno_plan::read(&PlanSource { file: Some(file), ..PlanSource::of(engines) })
        .map_err(|errors| of_plan(&errors))
}

fn of_plan(errors: &dyno_plan::PlanErrors) -> Vec<Wrong> {
    let one = |error: &dyno_plan::PlanError| Wrong {
        field: error.key.clone().unwrap_or_default(),
        problem: match &error.value {
            Some(value) => format!("{value}: {}", error.problem),
            None => error.problem.clone(),
        },
        hint: error.hint.clone(),
    };
    errors.errors.iter().map(one).collect()
}

fn listed(text: &str, mark: char) -> Vec<String> {
    text.split(mark).map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn wrong(field: &str, problem: impl Into<String>, hint: impl Into<String>) -> Wrong {
    Wrong { field: field.to_owned(), problem: problem.into(), hint: hint.into() }
}
