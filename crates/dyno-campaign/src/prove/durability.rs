//! Proves that commits which a server acknowledged still exist after the server was killed.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use dyno_analyze::number;
use dyno_drive::AckLedger;
use dyno_engine::{LockPurpose, ServerLife, Target, TargetError, TargetErrorKind};
use dyno_plan::{Plan, TimeSpan};
use dyno_prove::{RowComparison, RowVersionBaseline};
use dyno_record::{RunRecord, StartedRun, Status};

use super::kill::{self, KILL_WITHIN, KillOutcome, KillSettings, ServerKiller, Signal, WindowNotifier};
use super::with_updates;
use crate::campaign_context::CampaignContext;
use crate::error::Error;
use crate::event::{CampaignEvent, ProofEvent};
use crate::hooks::HookedRunWatch;
use crate::measure::run_stamp;
use crate::ready::PreparedCampaign;
use crate::room::DataLoadPolicy;

/// The result of a durability test.
#[derive(Debug, Clone)]
pub struct Durability {
    /// The record of the run.
    pub record: RunRecord,
    /// The verdict from the rows; absent if the run ended before the server was killed.
    pub verdict: Option<DurabilityVerdict>,
}

/// What the rows show after the server was killed.
#[derive(Debug, Clone)]
pub struct DurabilityVerdict {
    /// Whether the server crashed and everything it had acknowledged still exists.
    pub is_proved: bool,
    /// The verdict in one sentence.
    pub line: String,
    /// What explains the verdict, or limits it.
    pub reasons: Vec<String>,
    /// What happened to the server, as a phrase.
    pub server: &'static str,
    /// Settings that are off, so that the server may lose acknowledged commits.
    pub settings_off: Vec<&'static str>,
    /// The comparison of the rows with the ledger; absent if the rows cannot be read.
    pub account: Option<RowComparison>,
}

/// Runs updates of `plan`, kills the server during the run, and reads every row once the server is back.
///
/// # Errors
/// The plan or the target is unsuitable, a command cannot be run, or the server does not come back.
pub fn durability(
    ctx: &CampaignContext<'_>,
    plan: Plan,
    kill: KillSettings<'_>,
) -> Result<Durability, Error> {
    let plan = with_proof_window(with_updates(ctx, plan)?, kill.after);
    if plan.target.is_several() {
        return Err(Error::usage(
            "a durability proof kills one server, but the plan names several targets",
            "prove each target separately with --target URL; `dyno prove updates` accepts several",
        ));
    }
    let ready =
        PreparedCampaign::new(ctx, plan, LockPurpose::Prove, DataLoadPolicy::Never, refuse_unkillable)?;
    let (target, spec) = (ready.target().as_ref(), &ready.specs[0]);
    let before = target.life()?;
    ctx.emit(CampaignEvent::Proof(ProofEvent::Reading));
    let start = RowVersionBaseline::read(target, spec)?;
    let book = Arc::new(AckLedger::new(spec, ready.plan.workload.work_unit));
    let started_run = ready.begin(None)?;
    let (mut record, killed) = drive(&ready, &started_run, &book, &kill)?;
    if *killed.as_ref().unwrap_or(&KillOutcome::Unnoticed) != KillOutcome::Never {
        record.status = Status::Interrupted;
        record.reasons = vec!["the server was killed on purpose, to prove durability".to_owned()];
    }
    ready.store(&record)?;
    if killed? == KillOutcome::Never {
        return Ok(Durability { record, verdict: None });
    }
    if let Some(command) = kill.restart {
        ctx.emit(CampaignEvent::Proof(ProofEvent::Restarting));
        let status = kill::run_shell_command(ctx, command, kill.output)?;
        if !status.success() {
            ctx.emit(CampaignEvent::Proof(ProofEvent::CommandEnded("restart", status.to_string())));
        }
    }
    let after = kill::wait_for_server(ctx, target, kill.wait)?;
    let fate = ServerFate::of(before.as_ref(), after.as_ref(), book.lost_connections());
    ctx.emit(CampaignEvent::Proof(ProofEvent::ReadingAgain(None)));
    let comparison = match start.compare(target, &book, run_stamp(&started_run.id)) {
        Ok(account) => Ok(account),
        // A server that is back but cannot read its own tables has lost more than commits.
        Err(error) if error.kind == TargetErrorKind::Database => Err(error),
        Err(error) => return Err(error.into()),
    };
    Ok(Durability { record, verdict: Some(verdict_of(&ready, fate, comparison)) })
}

/// Extends the plan's window until after the kill, and until sessions have noticed it.
fn with_proof_window(mut plan: Plan, after: Duration) -> Plan {
    plan.run.warmup = TimeSpan(Duration::ZERO);
    plan.run.ops_per_session = None;
    plan.run.time = Some(TimeSpan(after + 2 * KILL_WITHIN));
    plan
}

fn refuse_unkillable(target: &dyn Target) -> Result<(), Error> {
    if target.life()?.is_some() {
        return Ok(());
    }
    Err(Error::usage(
        format!(
            "{} runs inside this process, so Dyno cannot kill it and keep its own records",
            target.engine()
        ),
        "prove durability on a server: --target postgres://USER@HOST/DATABASE; `dyno prove updates` works here",
    ))
}

/// Executes the run while another thread waits for the moment of the kill.
fn drive(
    ready: &PreparedCampaign<'_>,
    started_run: &StartedRun,
    book: &Arc<AckLedger>,
    kill: &KillSettings<'_>,
) -> Result<(RunRecord, Result<KillOutcome, Error>), Error> {
    let (send, signals) = channel();
    let killer = ServerKiller { ctx: ready.ctx, kill, book };
    let watched = HookedRunWatch { ctx: ready.ctx, hooked: None, reporters: None };
    std::thread::scope(|scope| {
        let killing = scope.spawn(move || killer.run(&signals));
        let watch = WindowNotifier { inner: &watched, killer: send.clone() };
        let driven = ready.drive(started_run, vec![Some(Arc::clone(book))], &watch);
        // If the killing thread has ended, it needs no signal.
        let _ = send.send(Signal::Over);
        let panicked = |_| Err(Error::Other { what: "the killing thread panicked".to_owned(), source: None });
        let killed = killing.join().unwrap_or_else(panicked);
        // The server may have lost the rows that sessions left in its tables; the next run checks.
        Ok((driven?.0, killed))
    })
}

/// What happened to the server during the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServerFate {
    /// The server recovered from a crash.
    Crashed,
    /// The server was shut down in an orderly way and started again.
    Restarted,
    /// The server never stopped during the test.
    Untouched,
}

impl ServerFate {
    fn of(before: Option<&ServerLife>, after: Option<&ServerLife>, lost_connections: u64) -> Self {
        let differs = |what: fn(&ServerLife) -> &String| before.map(what) != after.map(what);
        if lost_connections > 0 && differs(|life| &life.statistics_since) {
            Self::Crashed
        } else if differs(|life| &life.started) {
            Self::Restarted
        } else {
            Self::Untouched
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Crashed => "crashed and recovered",
            Self::Restarted => "shut down cleanly",
            Self::Untouched => "never went down",
        }
    }
}

/// Settings that let a server lose acknowledged commits when they are off, and the effect of each.
const UNSAFE_SETTINGS: [(&str, &str); 3] = [
    ("synchronous_commit", "commits are acknowledged before the log that makes them durable is written"),
    ("fsync", "written data stays in the operating system's cache and is lost with the machine"),
    ("full_page_writes", "a page torn by a power failure cannot be repaired"),
];

/// Returns the [`UNSAFE_SETTINGS`] that are off on this server.
fn unsafe_settings(ready: &PreparedCampaign<'_>) -> Vec<(&'static str, &'static str)> {
    let is_off =
        |name: &str| ready.targets.first().identity.settings.get(name).is_some_and(|value| value == "off");
    UNSAFE_SETTINGS.into_iter().filter(|(name, _)| is_off(name)).collect()
}

fn verdict_of(
    ready: &PreparedCampaign<'_>,
    fate: ServerFate,
    comparison: Result<RowComparison, TargetError>,
) -> DurabilityVerdict {
    let lies = unsafe_settings(ready);
    let is_proved = fate == ServerFate::Crashed
        && comparison.as_ref().is_ok_and(|account| account.is_whole() && account.commits_acknowledged > 0);
    DurabilityVerdict {
        is_proved,
        line: verdict_line(fate, &comparison, is_proved),
        reasons: reasons(fate, &comparison, is_proved, &lies),
        server: fate.name(),
        settings_off: lies.iter().map(|(name, _)| *name).collect(),
        account: comparison.ok(),
    }
}

fn verdict_line(
    fate: ServerFate,
    comparison: &Result<RowComparison, TargetError>,
    is_proved: bool,
) -> String {
    let account = match comparison {
        Ok(account) => account,
        Err(error) => return format!("not proved: the server restarted but cannot read its data: {error}"),
    };
    let acknowledged = number::count(account.commits_acknowledged);
    let unknown = match account.commits_unknown {
        0 => String::new(),
        unknown => format!("; the outcome of {} in progress at the kill is unknown", number::count(unknown)),
    };
    if account.rows_lost > 0 {
        let lost = number::count(account.commits_lost());
        return format!(
            "not proved: at least {lost} of {acknowledged} acknowledged commits are lost{unknown}"
        );
    }
    match fate {
        _ if account.commits_acknowledged == 0 => {
            "not proved: no commit was acknowledged before the server went down".to_owned()
        }
        ServerFate::Untouched => "not proved: the server never went down, so nothing was tested".to_owned(),
        ServerFate::Restarted => {
            "not proved: the server was shut down cleanly, which loses nothing; use a kill command that ends \
             it at once"
                .to_owned()
        }
        ServerFate::Crashed if is_proved => format!(
            "proved: all {acknowledged} acknowledged commits are present after the server crashed{unknown}"
        ),
        ServerFate::Crashed => {
            "not proved: the rows contain changes that no acknowledged commit of this run made".to_owned()
        }
    }
}

/// Explains the verdict, or its limits.
fn reasons(
    fate: ServerFate,
    comparison: &Result<RowComparison, TargetError>,
    is_proved: bool,
    lies: &[(&str, &str)],
) -> Vec<String> {
    let is_lost = comparison.as_ref().map_or(true, |account| account.rows_lost > 0);
    let mut reasons: Vec<String> = Vec::new();
    if is_lost && lies.is_empty() {
        reasons.push(
            "synchronous_commit, fsync and full_page_writes are on: check the layers below (a write cache \
             without its own power, a file system without barriers) and commands that touch the server's \
             files"
                .to_owned(),
        );
    }
    for (name, what) in lies {
        let word = if is_lost { "likely cause" } else { "warning" };
        reasons.push(format!("{word}: {name} = off: {what}"));
    }
    if is_proved && lies.iter().any(|(name, _)| *name == "synchronous_commit") {
        reasons.push(
            "nothing was lost this time; the next kill may lose commits that are not yet written".to_owned(),
        );
    }
    if is_proved && fate == ServerFate::Crashed {
        reasons.push(
            "proved only for the process that the kill command ended: the operating system's cache survives \
             it; to test the loss of a machine, cut its power or reset it"
                .to_owned(),
        );
    }
    reasons
}
