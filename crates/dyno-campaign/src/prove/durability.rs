//! `dyno prove durability`: what a server acknowledged must be there after it was killed.

use std::sync::Arc;
use std::sync::mpsc::channel;

use dyno_drive::prove::{Account, Book, Start, Witness};
use dyno_engine::{ServerLife, Target, TargetError, TargetErrorKind, Work};
use dyno_plan::{Plan, Span};
use dyno_record::{RunRecord, Status};
use dyno_report::number;
use serde_json::json;

use super::account;
use super::kill::{self, KILL_WITHIN, Killed, Killer, Signal, Tell};
use crate::cli::{Common, ProveDurability};
use crate::commands::ready::{Begun, Ready, store};
use crate::exit::{Exit, usage};
use crate::progress::RunProgress;
use crate::talk::Talk;

pub(super) fn run(common: &Common, args: &ProveDurability, talk: &Talk) -> anyhow::Result<Exit> {
    let plan = timed(super::plan::plan_with_updates(common, talk)?, args.after);
    if plan.target.is_several() {
        return Err(usage(
            "one server is killed and must come back with all that it acknowledged, and the plan names several targets",
            "prove each of them: --target URL; `dyno prove updates` takes several together",
        ));
    }
    let ready = Ready::new(common, plan, Work::Prove, talk, refuse_unkillable)?;
    let before = ready.target().life()?;
    talk.say("reading the version of every row");
    let start = Start::read(ready.target().as_ref(), ready.spec())?;
    let book = Arc::new(Book::new(ready.spec(), ready.plan.workload.work_unit));
    let begun = ready.begin(talk)?;
    let (mut record, killed) = drive(&ready, &begun, &book, args, talk)?;
    if *killed.as_ref().unwrap_or(&Killed::Unnoticed) != Killed::Never {
        record.status = Status::Interrupted;
        record.reasons = vec!["the server was killed on purpose, to prove durability".to_owned()];
    }
    store(&ready.repository, &record, talk)?;
    if killed? == Killed::Never {
        return Ok(told_early_end(&record, talk));
    }
    if let Some(command) = &args.restart_command {
        talk.say("starting the server again");
        let status = kill::shell(command, talk)?;
        if !status.success() {
            talk.say(&format!("warning: the restart command ended with {status}"));
        }
    }
    let after = kill::wait_back(ready.target().as_ref(), args.restart_wait.0, talk)?;
    let fate = Fate::of(before.as_ref(), after.as_ref(), book.lost_connections());
    talk.say("reading every row again");
    let found = match start.compare(ready.target().as_ref(), &book, begun.run_stamp) {
        Ok(account) => Ok(account),
        // A server that is back and cannot read its own tables has lost more than commits.
        Err(error) if error.kind == TargetErrorKind::Database => Err(error),
        Err(error) => return Err(error.into()),
    };
    conclude(&ready, &record, fate, &found, talk)
}

/// A plan whose window lasts until the kill, and until it was noticed.
fn timed(mut plan: Plan, after: Span) -> Plan {
    plan.run.warmup = Span(std::time::Duration::ZERO);
    plan.run.ops_per_session = None;
    plan.run.time = Some(Span(after.0 + 2 * KILL_WITHIN));
    plan
}

fn refuse_unkillable(target: &dyn Target) -> anyhow::Result<()> {
    if target.life()?.is_some() {
        return Ok(());
    }
    Err(usage(
        format!(
            "{} runs inside this process, so it cannot be killed apart from the one that keeps account",
            target.engine()
        ),
        "prove durability on a server: --target postgres://USER@HOST/DATABASE; `dyno prove updates` works here",
    ))
}

/// Drives the run while a killer waits for its moment.
fn drive(
    ready: &Ready,
    begun: &Begun,
    book: &Arc<Book>,
    args: &ProveDurability,
    talk: &Talk,
) -> anyhow::Result<(RunRecord, anyhow::Result<Killed>)> {
    let (send, signals) = channel();
    let killer =
        Killer { command: &args.kill_command, after: args.after.0, book, cancel: &ready.cancel, talk };
    let progress = RunProgress::new(talk);
    std::thread::scope(|scope| {
        let killing = scope.spawn(move || killer.run(&signals));
        let watch = Tell { inner: &progress, killer: send.clone() };
        let witness: Arc<dyn Target> = Arc::new(Witness::new(Arc::clone(ready.target()), Arc::clone(book)));
        let driven = ready.drive(begun, vec![witness], &watch, talk);
        progress.finish();
        // A killer that has ended needs no telling.
        let _ = send.send(Signal::Over);
        let killed = killing.join().unwrap_or_else(|_| Err(anyhow::anyhow!("the killing thread panicked")));
        // The server is gone, and with it may be what sessions left in its tables: the next run looks.
        Ok((driven?.0, killed))
    })
}

fn told_early_end(record: &RunRecord, talk: &Talk) -> Exit {
    for reason in &record.reasons {
        talk.error(&format!("the run ended before the server was killed: {reason}"), "");
    }
    match record.status {
        Status::Interrupted => Exit::Interrupted,
        _ => Exit::Failed,
    }
}

/// What happened to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It recovered from a crash.
    Crashed,
    /// It was shut down in good order and started again.
    Restarted,
    /// It was never down.
    Untouched,
}

impl Fate {
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
            Self::Restarted => "shut down in good order",
            Self::Untouched => "never down",
        }
    }
}

/// Settings with which a server may lose what it has acknowledged, and what each does.
const LIES: [(&str, &str); 3] = [
    ("synchronous_commit", "commits are acknowledged before the log that makes them durable is written"),
    ("fsync", "what is written stays in the operating system's cache and is gone with the machine"),
    ("full_page_writes", "a page torn by a loss of power cannot be mended"),
];

/// Those of [`LIES`] that this server tells.
fn lies(ready: &Ready) -> Vec<(&'static str, &'static str)> {
    let is_off =
        |name: &str| ready.targets.first().identity.settings.get(name).is_some_and(|value| value == "off");
    LIES.into_iter().filter(|(name, _)| is_off(name)).collect()
}

fn conclude(
    ready: &Ready,
    record: &RunRecord,
    fate: Fate,
    found: &Result<Account, TargetError>,
    talk: &Talk,
) -> anyhow::Result<Exit> {
    let lies = lies(ready);
    let is_proved = fate == Fate::Crashed
        && found.as_ref().is_ok_and(|account| account.is_whole() && account.commits_acknowledged > 0);
    let words = verdict(fate, found, is_proved);
    let reasons = reasons(fate, found, is_proved, &lies);
    talk.json(&json!({
        "proof": "durability", "proved": is_proved, "verdict": words, "reasons": reasons, "run": record.id,
        "server": fate.name(), "settings_off": lies.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "account": found.as_ref().ok().map(account::as_json),
    }))?;
    if let Ok(account) = found {
        talk.show(&account::table(account, None, &talk.style()))?;
    }
    talk.show("\n")?;
    crate::commands::words::show_words(&words, 0, talk)?;
    for reason in &reasons {
        crate::commands::words::show_words(reason, 2, talk)?;
    }
    talk.say(&format!("the run is stored as {}", record.id));
    Ok(if is_proved { Exit::Done } else { Exit::Invalid })
}

fn verdict(fate: Fate, found: &Result<Account, TargetError>, is_proved: bool) -> String {
    let account = match found {
        Ok(account) => account,
        Err(error) => return format!("not proved: the server is back and cannot read its data: {error}"),
    };
    let acknowledged = number::count(account.commits_acknowledged);
    let unknown = match account.commits_unknown {
        0 => String::new(),
        unknown => format!("; {} under way at the kill have an unknown end", number::count(unknown)),
    };
    if account.rows_lost > 0 {
        let lost = number::count(account.commits_lost());
        return format!(
            "not proved: at least {lost} of {acknowledged} acknowledged commits are lost{unknown}"
        );
    }
    match fate {
        _ if account.commits_acknowledged == 0 => {
            "not proved: no commit was acknowledged before the server went".to_owned()
        }
        Fate::Untouched => "not proved: the server was never down, so nothing was put to the test".to_owned(),
        Fate::Restarted => {
            "not proved: the server was shut down in good order, which loses nothing; kill it harder"
                .to_owned()
        }
        Fate::Crashed if is_proved => format!(
            "proved: all of {acknowledged} acknowledged commits are there after the server crashed{unknown}"
        ),
        Fate::Crashed => "not proved: the rows hold what no acknowledged commit of this run did".to_owned(),
    }
}

/// What explains the verdict, or limits it.
fn reasons(
    fate: Fate,
    found: &Result<Account, TargetError>,
    is_proved: bool,
    lies: &[(&str, &str)],
) -> Vec<String> {
    let is_lost = found.as_ref().map_or(true, |account| account.rows_lost > 0);
    let mut reasons: Vec<String> = Vec::new();
    if is_lost && lies.is_empty() {
        reasons.push(
            "synchronous_commit, fsync and full_page_writes are on: look at what lies below (a write cache without \
             its own power, a file system without barriers), and at commands that touch the server's files"
                .to_owned(),
        );
    }
    for (name, what) in lies {
        let word = if is_lost { "the lie" } else { "warning" };
        reasons.push(format!("{word}: {name} = off: {what}"));
    }
    if is_proved && lies.iter().any(|(name, _)| *name == "synchronous_commit") {
        reasons.push("nothing was lost this time; the next kill may find commits not yet written".to_owned());
    }
    if is_proved && fate == Fate::Crashed {
        reasons.push(
            "proved only for what the kill command ended: a killed server keeps the operating system's cache; \
             for a lost machine, cut its power or reset it"
                .to_owned(),
        );
    }
    reasons
}
