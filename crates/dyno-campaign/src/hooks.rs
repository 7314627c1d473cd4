//! Commands of the user's around a run.
//!
//! A command may hang, flood its output or leave something behind; none of that may hang Dyno. It runs in a process
//! group of its own, so that a time-out ends all of it and Ctrl-C is ours to pass on.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dyno_drive::Watch;
use dyno_engine::Cancel;
use dyno_plan::{Plan, keys, terminal};
use dyno_record::{PartOf, RunRecord};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::HookError;
use crate::event::{Event, HookEvent};
use crate::lead::Lead;

/// How often a command is looked at.
const LOOK: Duration = Duration::from_millis(5);
/// The end of a command's output that is kept for messages, bytes.
const OUTPUT_MAX: usize = 8 << 10;
/// How long output that is still on its way is waited for.
const OUTPUT_WAIT: Duration = Duration::from_millis(200);

/// Characters of a line that are kept.
const LINE_CHARS_MAX: usize = 2_000;

/// What a command sees of its run.
#[derive(Clone, Copy)]
pub(crate) struct HookRun<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) part: Option<&'a PartOf>,
    /// The run's name, once it has one.
    pub(crate) id: Option<&'a str>,
    /// Its status, once it has one; after all runs of a command, that of the last.
    pub(crate) status: Option<&'a str>,
    /// How many runs have ended, after all runs of a command.
    pub(crate) runs: Option<u32>,
}

impl<'a> HookRun<'a> {
    /// A run of `plan` that has no name yet.
    pub(crate) fn of(plan: &'a Plan, part: Option<&'a PartOf>) -> Self {
        Self { plan, part, id: None, status: None, runs: None }
    }

    /// A run that has ended.
    pub(crate) fn ended(plan: &'a Plan, record: &'a RunRecord) -> Self {
        let (id, status) = (Some(record.id.as_str()), Some(record.status.name()));
        Self { id, status, ..Self::of(plan, record.part_of.as_ref()) }
    }
}

/// Watches a run for whoever leads it, and runs the commands between its phases, if it has any.
pub(crate) struct Watched<'a> {
    pub(crate) lead: &'a Lead<'a>,
    pub(crate) hooked: Option<HookRun<'a>>,
}

impl Watch for Watched<'_> {
    fn event(&self, event: &dyno_drive::Event) {
        self.lead.tell(Event::Phase(event.clone()));
    }

    fn connected(&self) -> Result<(), String> {
        let Some(of) = &self.hooked else { return Ok(()) };
        let command = of.plan.hooks.pre.as_deref();
        run("pre", command, of, &self.lead.cancel, self.lead).map_err(|error| error.to_string())
    }

    fn drained(&self) -> Result<(), String> {
        let Some(of) = &self.hooked else { return Ok(()) };
        let command = of.plan.hooks.post.as_deref();
        // What `pre` has started is to be ended even where the user has stopped the run; the time-out holds for this, too.
        run("post", command, of, &Cancel::default(), self.lead).map_err(|error| error.to_string())
    }
}

/// Runs `command`, the hook called `name`, if there is one, and waits for its end.
pub(crate) fn run(
    name: &'static str,
    command: Option<&str>,
    run: &HookRun<'_>,
    cancel: &Cancel,
    lead: &Lead<'_>,
) -> Result<(), HookError> {
    let Some(command) = command else { return Ok(()) };
    lead.tell(Event::Hook(HookEvent::Started(name, command.to_owned())));
    let output = Arc::new(Mutex::new(Vec::new()));
    let failed = |outcome: String, output: &Mutex<Vec<u8>>, interrupted| HookError {
        name,
        outcome,
        command: command.to_owned(),
        output: tail(output),
        interrupted,
    };
    let of_engines = lead.engines.specs.0.iter().flat_map(|engine| engine.passwords.variables);
    let passwords = of_engines.copied().chain(run.plan.target.password_env.as_deref());
    let (mut child, reader) = start(command, environment(run), passwords, &output)
        .map_err(|error| failed(format!("could not be started ({error})"), &output, false))?;
    let ended = wait(&mut child, run.plan.hooks.timeout.0, cancel);
    let until = Instant::now() + OUTPUT_WAIT;
    // Something that the command left behind may keep its output open; it is not waited for.
    while !reader.is_finished() && Instant::now() < until {
        std::thread::sleep(LOOK);
    }
    let (outcome, interrupted) = match ended {
        Ended::By(status) if status.success() => {
            let said = tail(&output);
            if !said.is_empty() {
                lead.tell(Event::Hook(HookEvent::Said(name, said)));
            }
            return Ok(());
        }
        Ended::By(status) => (format!("ended with {status}"), false),
        Ended::Late => (format!("did not end within {} (hooks.timeout)", run.plan.hooks.timeout), false),
        Ended::Stopped => ("was stopped".to_owned(), true),
        Ended::Lost(error) => (format!("could not be waited for ({error})"), false),
    };
    Err(failed(outcome, &output, interrupted))
}

enum Ended {
    By(ExitStatus),
    Late,
    Stopped,
    Lost(std::io::Error),
}

fn start<'a>(
    command: &str,
    environment: Vec<(String, String)>,
    passwords: impl Iterator<Item = &'a str>,
    output: &Arc<Mutex<Vec<u8>>>,
) -> std::io::Result<(Child, std::thread::JoinHandle<()>)> {
    let (mut said, writer) = std::io::pipe()?;
    let mut shell = Command::new("sh");
    // A password is for this program, and not for whatever a plan starts.
    for name in passwords {
        shell.env_remove(name);
    }
    let child = shell
        .args(["-c", command])
        .envs(environment)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()?;
    let kept = Arc::clone(output);
    let reader = std::thread::Builder::new().name("dyno-hook".into()).spawn(move || {
        let mut part = [0; 4 << 10];
        while let Ok(bytes @ 1..) = said.read(&mut part) {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&part[..bytes]);
            let excess = kept.len().saturating_sub(OUTPUT_MAX);
            kept.drain(..excess);
        }
    })?;
    Ok((child, reader))
}

fn wait(child: &mut Child, timeout: Duration, cancel: &Cancel) -> Ended {
    let until = Instant::now() + timeout;
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ended::By(status),
            Ok(None) if cancel.is_cancelled() => break Ended::Stopped,
            Ok(None) if Instant::now() >= until => break Ended::Late,
            Ok(None) => std::thread::sleep(LOOK),
            Err(error) => break Ended::Lost(error),
        }
    };
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended by itself just now.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
    ended
}

/// The last lines of a command's output, each on a line of its own and set off.
fn tail(output: &Mutex<Vec<u8>>) -> String {
    const LINES_MAX: usize = 10;
    let kept = output.lock().unwrap_or_else(PoisonError::into_inner);
    let text = String::from_utf8_lossy(&kept);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(LINES_MAX)..];
    last.iter().map(|line| format!("\n  | {}", terminal::spelled(line, LINE_CHARS_MAX))).collect()
}

/// The run in a command's environment: every key of the plan but where the password is, and its place in a sweep.
fn environment(run: &HookRun<'_>) -> Vec<(String, String)> {
    let variable = |key: &str| format!("DYNO_{}", key.replace('.', "_").to_ascii_uppercase());
    let mut all: Vec<(String, String)> = keys::all()
        .filter(|key| {
            !key.path.starts_with("target.password") && !matches!(key.section(), "hooks" | "sweep" | "")
        })
        .filter_map(|key| Some((variable(key.path), key.get(run.plan)?)))
        .collect();
    let urls: Vec<String> = run.plan.target.all().iter().map(ToString::to_string).collect();
    all.push(("DYNO_TARGET".into(), urls.join(" ")));
    all.push(("DYNO_SESSIONS".into(), run.plan.sessions().to_string()));
    if let Some(part) = run.part {
        all.push(("DYNO_SWEEP".into(), part.id.clone()));
        all.push(("DYNO_POINT".into(), part.point.to_string()));
        all.push(("DYNO_REPEAT".into(), part.repeat.to_string()));
        all.extend(part.side.iter().map(|side| ("DYNO_SIDE".into(), side.clone())));
    }
    let told = [
        ("DYNO_RUN", run.id.map(str::to_owned)),
        ("DYNO_STATUS", run.status.map(str::to_owned)),
        ("DYNO_RUNS", run.runs.map(|runs| runs.to_string())),
    ];
    all.extend(told.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    all
}
