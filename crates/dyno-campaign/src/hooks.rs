//! Runs the user's commands (hooks) around a run.

use dyno_drive::RunListener;
use dyno_engine::Cancel;
use dyno_plan::{Plan, keys};
use dyno_record::{PartOf, RunRecord};

use crate::campaign_context::CampaignContext;
use crate::database_reports::WindowReporters;
use crate::error::HookError;
use crate::event::{CampaignEvent, HookEvent};
use crate::shell::{Shell, ShellExit, ShellOutcome};

/// The run that a hook is called for.
#[derive(Clone, Copy)]
pub(crate) struct HookRun<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) part: Option<&'a PartOf>,
    /// The run's name; absent before it is assigned.
    pub(crate) id: Option<&'a str>,
    /// The run's status; for the `end` hook the status of the last run. Absent if there is none yet.
    pub(crate) status: Option<&'a str>,
    /// Number of runs that have ended; only for the `end` hook.
    pub(crate) runs: Option<u32>,
}

impl<'a> HookRun<'a> {
    /// Creates the context for a run of `plan` without a name.
    pub(crate) fn of(plan: &'a Plan, part: Option<&'a PartOf>) -> Self {
        Self { plan, part, id: None, status: None, runs: None }
    }

    /// Creates the context for a finished run.
    pub(crate) fn ended(plan: &'a Plan, record: &'a RunRecord) -> Self {
        let (id, status) = (Some(record.id.as_str()), Some(record.status.name()));
        Self { id, status, ..Self::of(plan, record.part_of.as_ref()) }
    }
}

/// Forwards a run's events to the campaign's listener, and runs the hooks `pre` and `post` if there are any.
pub(crate) struct HookedRunWatch<'a> {
    pub(crate) ctx: &'a CampaignContext<'a>,
    pub(crate) hooked: Option<HookRun<'a>>,
    /// The database's own snapshots, taken around the window.
    pub(crate) reporters: Option<&'a WindowReporters>,
}

impl RunListener for HookedRunWatch<'_> {
    fn event(&self, event: &dyno_drive::RunEvent) {
        self.ctx.emit(CampaignEvent::Phase(event.clone()));
    }

    fn connected(&self) -> Result<(), String> {
        let Some(of) = &self.hooked else { return Ok(()) };
        let command = of.plan.hooks.pre.as_deref();
        run("pre", command, of, &self.ctx.cancel, self.ctx).map_err(|error| error.to_string())
    }

    fn window_begins(&self) {
        if let Some(reporters) = self.reporters {
            reporters.begin(self.ctx);
        }
    }

    fn window_ended(&self) {
        if let Some(reporters) = self.reporters {
            reporters.end(self.ctx);
        }
    }

    fn drained(&self) -> Result<(), String> {
        let Some(of) = &self.hooked else { return Ok(()) };
        let command = of.plan.hooks.post.as_deref();
        // What `pre` started must be ended even if the user cancelled the run; the time limit still applies.
        run("post", command, of, &Cancel::default(), self.ctx).map_err(|error| error.to_string())
    }
}

/// Runs the hook `name` if the plan has one, and waits until it ends.
pub(crate) fn run(
    name: &'static str,
    command: Option<&str>,
    run: &HookRun<'_>,
    cancel: &Cancel,
    ctx: &CampaignContext<'_>,
) -> Result<(), HookError> {
    let Some(command) = command else { return Ok(()) };
    ctx.emit(CampaignEvent::Hook(HookEvent::Started(name, command.to_owned())));
    let failed = |outcome: String, output: String, interrupted| HookError {
        name,
        outcome,
        command: command.to_owned(),
        output,
        interrupted,
    };
    let of_engines = ctx.engines.specs.0.iter().flat_map(|engine| engine.passwords.variables);
    let passwords = of_engines.copied().chain(run.plan.target.password_env.as_deref());
    let shell = Shell {
        arguments: vec!["-c".to_owned(), command.to_owned()],
        environment: environment(run),
        timeout: run.plan.hooks.timeout.0,
    };
    let ShellOutcome { exit: shell_exit, said: tail } = shell
        .run(passwords, cancel)
        .map_err(|error| failed(format!("could not be started ({error})"), String::new(), false))?;
    let (outcome, interrupted) = match shell_exit {
        ShellExit::By(status) if status.success() => {
            if !tail.is_empty() {
                ctx.emit(CampaignEvent::Hook(HookEvent::Said(name, tail)));
            }
            return Ok(());
        }
        ShellExit::By(status) => (format!("ended with {status}"), false),
        ShellExit::Late => (format!("did not end within {} (hooks.timeout)", run.plan.hooks.timeout), false),
        ShellExit::Stopped => ("was stopped".to_owned(), true),
        ShellExit::Lost(error) => (format!("could not be waited for ({error})"), false),
    };
    Err(failed(outcome, tail, interrupted))
}

/// Environment variables of a hook: all plan keys except those that locate passwords, and the run's place in
/// the campaign.
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
    let run_variables = [
        ("DYNO_RUN", run.id.map(str::to_owned)),
        ("DYNO_STATUS", run.status.map(str::to_owned)),
        ("DYNO_RUNS", run.runs.map(|runs| runs.to_string())),
    ];
    all.extend(run_variables.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    all
}
