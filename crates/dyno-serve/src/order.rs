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
use crate::setup::Setup;
use crate::targets::NamedTarget;

mod platform;

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
    /// An order out of the fields of a form.
    pub(crate) fn of_form(fields: &[(String, String)]) -> Result<Self, Wrong> {
        let mut order = Self { load: false, quick: false, ..Self::default() };
        for (name, value) in fields {
            let value = value.trim().replace("\r\n", "\n");
            match name.as_str() {
                "kind" => {
                    order.kind = Kind::from_name(&value)
                        .ok_or_else(|| wrong("kind", "there is nothing of that name to start", ""))?;
                }
                "target" => order.target = value,
                "ready" => order.ready = value,
                "workload" => order.workload = value,
                "load" => order.load = true,
                "variant" => order.variant = value,
                "tags" => order.tags = listed(&value, ','),
                "limits" => order.limits = listed(&value, '\n'),
                "over" => order.over = value,
                "max" => order.max = value,
                "groups" => order.groups = listed(&value, ','),
                "tests" => order.tests = listed(&value, ','),
                "time" => order.time = value,
                "a" => order.a = value,
                "b" => order.b = value,
                "pairs" => {
                    order.pairs =
                        value.parse().map_err(|_| wrong("pairs", "not a whole number", "1 to 1,000"))?;
                }
                "quick" => order.quick = true,
                "watch_for" => order.watch_for = value,
                "parts" => order.parts.push(value),
                "proof" => order.proof = value,
                "kill_command" => order.kill_command = value,
                "restart_command" => order.restart_command = value,
                "study" => order.study = value,
                "params" => {
                    for line in listed(&value, '\n') {
                        let (name, value) = line.split_once('=').ok_or_else(|| {
                            wrong("params", format!("{line:?} is no parameter"), "size = 4G")
                        })?;
                        order.params.insert(name.trim().to_owned(), value.trim().to_owned());
                    }
                }
                "on_target" => order.on_target = true,
                "confirmed" => order.confirmed = value,
                "axes" => {
                    for line in listed(&value, '\n') {
                        let (key, value) = line.split_once('=').ok_or_else(|| {
                            wrong("axes", format!("{line:?} is no axis"), "sessions = 1, 2, 4, 8")
                        })?;
                        order.set.insert(format!("sweep.{}", key.trim()), value.trim().to_owned());
                    }
                }
                "do" => {}
                name => match name.strip_prefix("set.") {
                    Some(key) if !value.is_empty() => {
                        order.set.insert(key.to_owned(), value);
                    }
                    Some(_) => {}
                    None => return Err(wrong("", format!("there is no field {name:?}"), "")),
                },
            }
        }
        Ok(order)
    }

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
        let mut options = PlanSource { target: Some(target.url.clone()), ..PlanSource::of(setup.engines) };
        options.sets = self.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let toml =
            dyno_plan::with_options("plan.toml", &text, &options).map_err(|errors| of_plan(&errors))?;
        let plan = read(&toml, setup.engines)?;
        if let Some(why) = allowed::of_plan(&plan, setup.allow_commands) {
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
        };
        let commands = self.commands(&start);
        Ok(Made { toml, command, seconds, runs, commands, start: StartMade(start) })
    }

    fn no_target(&self, setup: &Setup) -> Wrong {
        let names: Vec<&str> = setup.targets.all().map(|(name, _)| name).collect();
        let hint = if names.is_empty() {
            "start the server with --targets FILE or --target URL".to_owned()
        } else {
            format!("there are {}", names.join(", "))
        };
        wrong("target", "no target of that name is in the server's list", hint)
    }

    /// What no page may ask for, and what is no such value at all.
    fn refused(&self, setup: &Setup) -> Vec<Wrong> {
        let mut found: Vec<Wrong> = Vec::new();
        for (key, value) in &self.set {
            found.extend(allowed::refusal(key, value, setup.allow_commands).map(|why| wrong(key, why, "")));
        }
        if !self.workload.is_empty() && !setup.workloads.iter().any(|known| known.name == self.workload) {
            found.push(wrong("workload", "there is no such ready workload", ""));
        }
        for (name, mark) in
            std::iter::once(("variant", &self.variant)).chain(self.tags.iter().map(|tag| ("tags", tag)))
        {
            if mark.contains(',') || mark.chars().any(char::is_control) || mark.chars().count() > 100 {
                found.push(wrong(name, "not a name", "up to 100 characters and no comma"));
            }
        }
        match self.kind {
            Kind::Search if self.limits.is_empty() => {
                found.push(wrong("limits", "a search needs a limit", "write p99 <= 2ms"));
            }
            Kind::Search => {
                for limit in &self.limits {
                    let read = dyno_analyze::Limit::from_str(limit);
                    found.extend(
                        read.err().map(|error| wrong("limits", error.to_string(), "write p99 <= 2ms")),
                    );
                }
                if !matches!(self.over.as_str(), "sessions" | "rate") {
                    found.push(wrong("over", "nothing of that name rises", "sessions or rate"));
                }
                if !self.max.is_empty() && !self.max.parse::<f64>().is_ok_and(|max| max >= 1.0) {
                    found.push(wrong(
                        "max",
                        "not a number from 1",
                        "sessions per schema, or operations per second",
                    ));
                }
            }
            Kind::Suite => {
                let is_name = |name: &String| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
                for (field, names) in [("groups", &self.groups), ("tests", &self.tests)] {
                    let hint = "`dyno suite list` shows them";
                    found.extend(
                        names
                            .iter()
                            .filter(|name| !is_name(name))
                            .map(|name| wrong(field, format!("{name:?} is none"), hint)),
                    );
                }
            }
            Kind::Soak if dyno_plan::Span::from_str(&self.time).is_err() => {
                found.push(wrong("time", "not a duration", "write 8h, 20m or 90s"));
            }
            Kind::Watch if dyno_plan::Span::from_str(&self.watch_for).is_err() => {
                found.push(wrong("watch_for", "not a duration", "write 8h, 20m or 90s"));
            }
            Kind::Calibrate => {
                let unknown = self.parts.iter().filter(|part| !PARTS.contains(&part.as_str()));
                found.extend(
                    unknown.map(|part| wrong("parts", format!("{part:?} is none"), PARTS.join(", "))),
                );
            }
            Kind::Prove => found.extend(self.refused_proof(setup.allow_commands)),
            Kind::Study => found.extend(self.refused_study(setup.allow_commands)),
            Kind::Ab => {
                for (name, side) in [("a", &self.a), ("b", &self.b)] {
                    found.extend(refused_side(name, side, setup.allow_commands));
                }
                if !(1..=1_000).contains(&self.pairs) {
                    found.push(wrong("pairs", "out of range", "1 to 1,000"));
                }
            }
            _ => {}
        }
        found
    }

    /// The plan as the child reads it: it also says where the password is.
    fn with_secrets(&self, setup: &Setup, target: &NamedTarget, toml: &str) -> Result<String, Vec<Wrong>> {
        let mut options = PlanSource::of(setup.engines);
        options.sets = target.secrets().into_iter().map(|(key, value)| format!("{key}={value}")).collect();
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

    /// What the child of each step is given. Values stand behind `=`, so that none of them can be an option.
    fn steps(&self, setup: &Setup, target: &NamedTarget) -> Vec<Vec<String>> {
        let mut common =
            vec!["--plan=PLAN".to_owned(), format!("--repository={}", setup.repository.display())];
        if setup.allow_commands {
            common.push("--allow-hooks".to_owned());
        }
        let mut steps = Vec::new();
        if !self.workload.is_empty() {
            common.push(format!("--set=workload.folder=@{}", self.workload));
        }
        let with = |mut args: Vec<String>| {
            args.extend(common.iter().cloned());
            args
        };
        if self.loads_first() {
            steps.push(with(vec!["load".into()]));
        }
        let mut args = self.words();
        args.extend(self.own_args(target));
        steps.push(with(args));
        steps
    }

    /// The command's name, and that of the part of it that is meant.
    fn words(&self) -> Vec<String> {
        let of_proof = Some(self.proof.clone()).filter(|_| self.kind == Kind::Prove);
        std::iter::once(self.kind.name().to_owned()).chain(of_proof).collect()
    }

    /// Whether data is loaded by a step of its own: a sweep and a suite load what they need themselves.
    fn loads_first(&self) -> bool {
        let is_proof_with_data = self.kind == Kind::Prove && self.proof != "window";
        self.load
            && (is_proof_with_data || matches!(self.kind, Kind::Run | Kind::Search | Kind::Soak | Kind::Ab))
    }

    /// Options of the kind.
    fn own_args(&self, target: &NamedTarget) -> Vec<String> {
        let mut args = Vec::new();
        match self.kind {
            Kind::Search => {
                args.extend(self.limits.iter().map(|limit| format!("--limit={limit}")));
                args.push(format!("--over={}", self.over));
                args.extend(Some(&self.max).filter(|max| !max.is_empty()).map(|max| format!("--max={max}")));
            }
            Kind::Soak => args.push(format!("--time={}", self.time)),
            Kind::Ab => args.extend([
                format!("--a={}", self.a),
                format!("--b={}", self.b),
                format!("--pairs={}", self.pairs),
            ]),
            Kind::Suite => {
                args.push(if self.quick { "--quick" } else { "--full" }.to_owned());
                args.extend(self.groups.iter().map(|group| format!("--group={group}")));
                args.extend(self.tests.iter().map(|test| format!("--test={test}")));
            }
            Kind::Watch => {
                args.push(format!("--for={}", self.watch_for));
                let interval = self.set.get("observe.interval");
                args.extend(interval.map(|interval| format!("--interval={interval}")));
            }
            Kind::Calibrate => {
                args.extend(self.quick.then(|| "--quick".to_owned()));
                args.extend(self.parts.iter().map(|part| format!("--only={part}")));
            }
            Kind::Prove if self.proof == "durability" => {
                args.push(format!("--kill-command={}", self.kill_command));
                let restart = Some(&self.restart_command).filter(|command| !command.is_empty());
                args.extend(restart.map(|command| format!("--restart-command={command}")));
            }
            Kind::Run | Kind::Sweep | Kind::Load | Kind::Check | Kind::Prove | Kind::Study => {}
        }
        if !matches!(self.kind, Kind::Load | Kind::Check | Kind::Prove) {
            let variant = Some(&self.variant).filter(|name| !name.is_empty()).or(target.variant.as_ref());
            args.extend(variant.map(|name| format!("--variant={name}")));
            args.extend(self.tags.iter().map(|tag| format!("--tag={tag}")));
        }
        args
    }

    /// The command line that does the same at a terminal.
    fn command(&self, target: &NamedTarget, engine: &EngineSpec, setup: &Setup) -> String {
        let mut lines = Vec::new();
        let mut common: Vec<String> = Vec::new();
        if self.ready.is_empty() {
            common.push(format!("--target {}", quoted(&target.url)));
        } else {
            lines.push(format!(
                "dyno init --ready {} --engine {} --target {} --plan {}.toml",
                self.ready,
                engine.name,
                quoted(&target.url),
                self.ready
            ));
            common.push(format!("--plan {}.toml", self.ready));
        }
        if !self.workload.is_empty() {
            common.push(format!("--set workload.folder=@{}", self.workload));
        }
        common.extend(
            self.set.iter().map(|(key, value)| format!("--set {}", quoted(&format!("{key}={value}")))),
        );
        if dyno_record::repository::default_path().as_deref() != Some(setup.repository.as_path()) {
            common.push(format!("--repository {}", quoted(&setup.repository.display().to_string())));
        }
        let common = common.join(" ");
        if self.loads_first() {
            lines.push(format!("dyno load {common}"));
        }
        let own: Vec<String> = self.own_args(target).iter().map(|arg| format!(" {}", quoted(arg))).collect();
        lines.push(format!("dyno {}{} {common}", self.words().join(" "), own.concat()));
        lines.join("\n")
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

/// A side of a comparison is settings only: what looks like a file would be opened.
fn refused_side(name: &str, side: &str, allow_commands: bool) -> Option<Wrong> {
    let is_file = std::path::Path::new(side).extension().is_some_and(|ending| ending == "toml");
    if is_file {
        return Some(wrong(name, "a page names no file of the server", "write KEY=VALUE[,KEY=VALUE…]"));
    }
    side.split(',').map(str::trim).filter(|pair| !pair.is_empty()).find_map(|pair| {
        let Some((key, value)) = pair.split_once('=') else {
            return Some(wrong(name, format!("{pair:?} is no setting"), "write KEY=VALUE[,KEY=VALUE…]"));
        };
        allowed::refusal(key, value, allow_commands).map(|why| wrong(name, format!("{key}: {why}"), ""))
    })
}

fn listed(text: &str, mark: char) -> Vec<String> {
    text.split(mark).map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn wrong(field: &str, problem: impl Into<String>, hint: impl Into<String>) -> Wrong {
    Wrong { field: field.to_owned(), problem: problem.into(), hint: hint.into() }
}

/// A word of a shell's command line.
fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
