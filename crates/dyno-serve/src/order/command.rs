//! The command that a job executes, with its own values, all of them checked.

use std::collections::BTreeMap;
use std::str::FromStr as _;
use std::time::Duration;

use dyno_campaign::ab::ServerSettingSides;
use dyno_plan::TimeSpan;
use dyno_plan::study::{READY_STUDIES, ReadyStudy};

use super::{FieldError, JobRequest, PARTS, PROOFS, field_error};
use crate::allowed;
use crate::jobs::JobKind;

/// The reason why commands are refused.
const NO_COMMANDS: &str = "commands run only if the server was started with --allow-commands";

/// The command of a job.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum JobCommand {
    Run,
    Sweep,
    Soak { time: WrittenTime },
    Search { limits: Vec<String>, over: String, max: Option<String> },
    Ab { a: String, b: String, pairs: u32, settings: Option<AbServerSettings> },
    Suite { quick: bool, groups: Vec<String>, tests: Vec<String> },
    Load,
    Check,
    Watch { time: WrittenTime, interval: Option<String> },
    Calibrate { quick: bool, parts: Vec<String> },
    Prove(JobProof),
    Study(StudyRequest),
}

/// Settings of the database server that an A/B test changes and restores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AbServerSettings {
    settings: Vec<ServerSettingSides>,
    /// The settings as the command line takes them.
    texts: Vec<String>,
    /// The command that restarts the server; absent if none is needed.
    restart: Option<String>,
}

/// The proof of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum JobProof {
    Updates,
    Window,
    /// The command that kills the server, and the one that restarts it, unless it restarts by itself.
    Durability {
        kill: String,
        restart: Option<String>,
    },
}

/// A ready study with its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StudyRequest {
    pub(super) ready: &'static ReadyStudy,
    pub(super) params: BTreeMap<String, String>,
    /// Whether it uses the target of the request instead of its own.
    pub(super) on_target: bool,
}

/// A length of time with the user's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WrittenTime {
    text: String,
    pub(super) time: Duration,
}

impl JobCommand {
    /// Reads the command of a request; or returns all problems of its values.
    pub(super) fn read(request: &JobRequest, allow_commands: bool) -> Result<Self, Vec<FieldError>> {
        Ok(match request.kind {
            JobKind::Run => Self::Run,
            JobKind::Sweep => Self::Sweep,
            JobKind::Load => Self::Load,
            JobKind::Check => Self::Check,
            JobKind::Soak => Self::Soak { time: time("time", &request.time)? },
            JobKind::Watch => Self::Watch {
                time: time("watch_for", &request.watch_for)?,
                interval: request.set.get("observe.interval").cloned(),
            },
            JobKind::Search => search(request)?,
            JobKind::Ab => ab(request, allow_commands)?,
            JobKind::Suite => suite(request)?,
            JobKind::Calibrate => calibrate(request)?,
            JobKind::Prove => Self::Prove(proof(request, allow_commands).map_err(|problem| vec![problem])?),
            JobKind::Study => Self::Study(study(request, allow_commands).map_err(|problem| vec![problem])?),
        })
    }

    /// Returns the command's name, and its subcommand if it has one.
    pub(super) fn words(&self) -> Vec<&'static str> {
        match self {
            Self::Run => vec!["run"],
            Self::Sweep => vec!["sweep"],
            Self::Soak { .. } => vec!["soak"],
            Self::Search { .. } => vec!["search"],
            Self::Ab { .. } => vec!["ab"],
            Self::Suite { .. } => vec!["suite"],
            Self::Load => vec!["load"],
            Self::Check => vec!["check"],
            Self::Watch { .. } => vec!["watch"],
            Self::Calibrate { .. } => vec!["calibrate"],
            Self::Prove(JobProof::Updates) => vec!["prove", "updates"],
            Self::Prove(JobProof::Window) => vec!["prove", "window"],
            Self::Prove(JobProof::Durability { .. }) => vec!["prove", "durability"],
            Self::Study(study) => vec!["study", "run", study.ready.name],
        }
    }

    /// Returns the command's own options. Values follow `=`, so none of them can be taken for an option.
    pub(super) fn options(&self) -> Vec<String> {
        match self {
            Self::Run | Self::Sweep | Self::Load | Self::Check => Vec::new(),
            Self::Prove(JobProof::Updates | JobProof::Window) => Vec::new(),
            Self::Soak { time } => vec![format!("--time={}", time.text)],
            Self::Search { limits, over, max } => {
                let limits = limits.iter().map(|limit| format!("--limit={limit}"));
                let max = max.iter().map(|max| format!("--max={max}"));
                limits.chain([format!("--over={over}")]).chain(max).collect()
            }
            Self::Ab { a, b, pairs, settings } => {
                let sides = [format!("--a={a}"), format!("--b={b}"), format!("--pairs={pairs}")];
                let texts = settings.iter().flat_map(|changed| &changed.texts);
                let restart = settings.iter().filter_map(|changed| changed.restart.as_ref());
                let restart = restart.map(|command| format!("--restart-command={command}"));
                sides
                    .into_iter()
                    .chain(texts.map(|text| format!("--setting={text}")))
                    .chain(restart)
                    .collect()
            }
            Self::Suite { quick, groups, tests } => {
                let length = if *quick { "--quick" } else { "--full" }.to_owned();
                let groups = groups.iter().map(|group| format!("--group={group}"));
                let tests = tests.iter().map(|test| format!("--test={test}"));
                std::iter::once(length).chain(groups).chain(tests).collect()
            }
            Self::Watch { time, interval } => {
                let interval = interval.iter().map(|interval| format!("--interval={interval}"));
                std::iter::once(format!("--time={}", time.text)).chain(interval).collect()
            }
            Self::Calibrate { quick, parts } => {
                let quick = quick.then(|| "--quick".to_owned());
                quick.into_iter().chain(parts.iter().map(|part| format!("--only={part}"))).collect()
            }
            Self::Prove(JobProof::Durability { kill, restart }) => {
                let restart = restart.iter().map(|command| format!("--restart-command={command}"));
                std::iter::once(format!("--kill-command={kill}")).chain(restart).collect()
            }
            Self::Study(study) => {
                study.params.iter().map(|(name, value)| format!("--param={name}={value}")).collect()
            }
        }
    }

    /// Whether it needs loaded data and does not load it itself.
    pub(super) fn needs_load(&self) -> bool {
        match self {
            Self::Run | Self::Search { .. } | Self::Soak { .. } | Self::Ab { .. } => true,
            Self::Prove(JobProof::Updates | JobProof::Durability { .. }) => true,
            Self::Prove(JobProof::Window) | Self::Sweep | Self::Suite { .. } | Self::Load => false,
            Self::Check | Self::Watch { .. } | Self::Calibrate { .. } | Self::Study(_) => false,
        }
    }

    /// Whether it stores records, which have a variant and tags.
    pub(super) fn stores_records(&self) -> bool {
        match self {
            Self::Load | Self::Check | Self::Prove(_) => false,
            Self::Run | Self::Sweep | Self::Soak { .. } | Self::Search { .. } | Self::Ab { .. } => true,
            Self::Suite { .. } | Self::Watch { .. } | Self::Calibrate { .. } | Self::Study(_) => true,
        }
    }

    /// The commands that it runs on this machine and the changes that it makes to the database server,
    /// independently of its plan: when, and what.
    pub(super) fn commands(&self) -> Vec<(String, String)> {
        match self {
            Self::Prove(JobProof::Durability { kill, restart }) => {
                let restart = restart.iter().map(|command| ("restart".to_owned(), command.clone()));
                std::iter::once(("after 10 s".to_owned(), kill.clone())).chain(restart).collect()
            }
            Self::Ab { settings: Some(changed), .. } => changed.commands(),
            _ => Vec::new(),
        }
    }
}

impl AbServerSettings {
    /// What an A/B test does to the database server, for all its users: when, and what.
    fn commands(&self) -> Vec<(String, String)> {
        let title = "Settings of the database server, for all its users".to_owned();
        let sides = [("side a", 0), ("side b", 1)].into_iter().flat_map(|(when, side)| {
            self.settings.iter().map(move |setting| (when.to_owned(), setting.words(side)))
        });
        let undo = ("afterwards".to_owned(), "the values from before the test".to_owned());
        let restart = self.restart.iter().map(|command| ("each run".to_owned(), command.clone()));
        std::iter::once((title, String::new())).chain(sides).chain(restart).chain([undo]).collect()
    }
}

fn time(field: &str, text: &str) -> Result<WrittenTime, Vec<FieldError>> {
    match TimeSpan::from_str(text) {
        Ok(TimeSpan(time)) => Ok(WrittenTime { text: text.to_owned(), time }),
        Err(_) => Err(vec![field_error(field, "not a duration", "write 8h, 20m or 90s")]),
    }
}

/// Returns the value, unless there are problems.
fn without<T>(problems: Vec<FieldError>, value: T) -> Result<T, Vec<FieldError>> {
    if problems.is_empty() { Ok(value) } else { Err(problems) }
}

fn search(request: &JobRequest) -> Result<JobCommand, Vec<FieldError>> {
    let JobRequest { limits, over, max, .. } = request;
    if limits.is_empty() {
        return Err(vec![field_error("limits", "a search needs a limit", "write p99 <= 2ms")]);
    }
    let mut problems: Vec<FieldError> = limits
        .iter()
        .filter_map(|limit| dyno_analyze::Limit::from_str(limit).err())
        .map(|error| field_error("limits", error.to_string(), "write p99 <= 2ms"))
        .collect();
    if !matches!(over.as_str(), "sessions" | "rate") {
        problems.push(field_error("over", "a search cannot raise this", "sessions or rate"));
    }
    let max = Some(max).filter(|max| !max.is_empty()).cloned();
    if max.as_ref().is_some_and(|max| !max.parse::<f64>().is_ok_and(|max| max >= 1.0)) {
        let hint = "sessions per schema, or operations per second";
        problems.push(field_error("max", "not a number from 1", hint));
    }
    without(problems, JobCommand::Search { limits: limits.clone(), over: over.clone(), max })
}

fn ab(request: &JobRequest, allow_commands: bool) -> Result<JobCommand, Vec<FieldError>> {
    let JobRequest { a, b, pairs, .. } = request;
    let sides = [("a", a), ("b", b)];
    let mut problems: Vec<FieldError> =
        sides.into_iter().filter_map(|(name, side)| refused_side(name, side, allow_commands)).collect();
    if !(1..=1_000).contains(pairs) {
        problems.push(field_error("pairs", "out of range", "1 to 1,000"));
    }
    let settings = match server_settings(request, allow_commands) {
        Ok(settings) => settings,
        Err(wrong) => {
            problems.extend(wrong);
            None
        }
    };
    without(problems, JobCommand::Ab { a: a.clone(), b: b.clone(), pairs: *pairs, settings })
}

/// The settings of the database server in an A/B test; absent without any.
fn server_settings(
    request: &JobRequest,
    allow_commands: bool,
) -> Result<Option<AbServerSettings>, Vec<FieldError>> {
    let JobRequest { settings: texts, settings_restart: restart, .. } = request;
    if texts.is_empty() && restart.is_empty() {
        return Ok(None);
    }
    if !allow_commands {
        return Err(vec![field_error("settings", NO_COMMANDS, "")]);
    }
    let mut problems = Vec::new();
    let read = texts.iter().filter_map(|text| {
        let setting = ServerSettingSides::read(text);
        setting.map_err(|error| problems.push(field_error("settings", error.to_string(), error.hint()))).ok()
    });
    let settings: Vec<ServerSettingSides> = read.collect();
    if texts.is_empty() {
        problems.push(field_error("settings_restart", "only a test with settings restarts the server", ""));
    }
    if !is_line(restart) {
        problems.push(field_error("settings_restart", "a command must be one line", ""));
    }
    let restart = Some(restart).filter(|command| !command.is_empty()).cloned();
    without(problems, Some(AbServerSettings { settings, texts: texts.clone(), restart }))
}

/// Sides of an A/B test must consist of settings, because a name of a file would be opened.
fn refused_side(name: &str, side: &str, allow_commands: bool) -> Option<FieldError> {
    let form = "write KEY=VALUE[,KEY=VALUE…]";
    let is_file = std::path::Path::new(side).extension().is_some_and(|ending| ending == "toml");
    if is_file {
        return Some(field_error(name, "a page cannot name a file of the server", form));
    }
    side.split(',').map(str::trim).filter(|pair| !pair.is_empty()).find_map(|pair| {
        let Some((key, value)) = pair.split_once('=') else {
            return Some(field_error(name, format!("{pair:?} is not a setting"), form));
        };
        allowed::refusal(key, value, allow_commands).map(|why| field_error(name, format!("{key}: {why}"), ""))
    })
}

fn suite(request: &JobRequest) -> Result<JobCommand, Vec<FieldError>> {
    let JobRequest { quick, groups, tests, .. } = request;
    let is_name = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let fields = groups.iter().map(|name| ("groups", name)).chain(tests.iter().map(|name| ("tests", name)));
    let problems = fields.filter(|(_, name)| !is_name(name)).map(|(field, name)| {
        field_error(field, format!("{name:?} is not a name"), "`dyno suite list` shows the names")
    });
    let command = JobCommand::Suite { quick: *quick, groups: groups.clone(), tests: tests.clone() };
    without(problems.collect(), command)
}

fn calibrate(request: &JobRequest) -> Result<JobCommand, Vec<FieldError>> {
    let unknown = request.parts.iter().filter(|part| !PARTS.contains(&part.as_str()));
    let problems =
        unknown.map(|part| field_error("parts", format!("{part:?} is not a part"), PARTS.join(", ")));
    without(problems.collect(), JobCommand::Calibrate { quick: request.quick, parts: request.parts.clone() })
}

fn proof(request: &JobRequest, allow_commands: bool) -> Result<JobProof, FieldError> {
    let (kill, restart) = (&request.kill_command, &request.restart_command);
    let proof = match request.proof.as_str() {
        "updates" => JobProof::Updates,
        "window" => JobProof::Window,
        "durability" => {
            let restart = Some(restart).filter(|command| !command.is_empty()).cloned();
            JobProof::Durability { kill: kill.clone(), restart }
        }
        _ => {
            let names = PROOFS.map(|(name, _)| name).join(", ");
            return Err(field_error("proof", "unknown proof", format!("available: {names}")));
        }
    };
    let is_durability = matches!(proof, JobProof::Durability { .. });
    let has_commands = !kill.is_empty() || !restart.is_empty();
    let problem = if (is_durability || has_commands) && !allow_commands {
        NO_COMMANDS
    } else if is_durability && kill.is_empty() {
        "a command that kills the server is required"
    } else if !is_line(kill) || !is_line(restart) {
        "a command must be one line"
    } else {
        return Ok(proof);
    };
    Err(field_error("kill_command", problem, ""))
}

fn study(request: &JobRequest, allow_commands: bool) -> Result<StudyRequest, FieldError> {
    if !allow_commands {
        return Err(field_error("study", NO_COMMANDS, ""));
    }
    let Some(ready) = ReadyStudy::find(&request.study) else {
        let names: Vec<&str> = READY_STUDIES.iter().map(|study| study.name).collect();
        return Err(field_error("study", "unknown ready study", format!("available: {}", names.join(", "))));
    };
    match request.params.iter().find(|(name, value)| !is_line(name) || !is_line(value)) {
        Some((name, _)) => Err(field_error("params", format!("{name:?} has control characters"), "")),
        None => Ok(StudyRequest { ready, params: request.params.clone(), on_target: request.on_target }),
    }
}

fn is_line(text: &str) -> bool {
    !text.chars().any(char::is_control)
}
