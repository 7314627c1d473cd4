//! Commands of the user's around a run.

use dyno_drive::Watch;
use dyno_engine::Cancel;
use dyno_plan::{Plan, keys};
use dyno_record::{PartOf, RunRecord};

use crate::error::HookError;
use crate::event::{Event, HookEvent};
use crate::lead::Lead;
use crate::shell::{Ended, Outcome, Shell};

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
    let failed = |outcome: String, output: String, interrupted| HookError {
        name,
        outcome,
        command: command.to_owned(),
        output,
        interrupted,
    };
    let of_engines = lead.engines.specs.0.iter().flat_map(|engine| engine.passwords.variables);
    let passwords = of_engines.copied().chain(run.plan.target.password_env.as_deref());
    let shell = Shell {
        arguments: vec!["-c".to_owned(), command.to_owned()],
        environment: environment(run),
        timeout: run.plan.hooks.timeout.0,
    };
    let Outcome { ended, said } = shell
        .run(passwords, cancel)
        .map_err(|error| failed(format!("could not be started ({error})"), String::new(), false))?;
    let (outcome, interrupted) = match ended {
        Ended::By(status) if status.success() => {
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
    Err(failed(outcome, said, interrupted))
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
