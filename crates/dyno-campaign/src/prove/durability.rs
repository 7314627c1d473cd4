//! What a server acknowledged must be there after it was killed.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use dyno_analyze::number;
use dyno_drive::prove::{Account, Book, Start};
use dyno_engine::{ServerLife, Target, TargetError, TargetErrorKind, Work};
use dyno_plan::{Plan, Span};
use dyno_record::{RunRecord, StartedRun, Status};

use super::kill::{self, KILL_WITHIN, Kill, Killed, Killer, Signal, Tell};
use super::with_updates;
use crate::error::Error;
use crate::event::{Event, ProofEvent};
use crate::hooks::Watched;
use crate::lead::Lead;
use crate::measure::run_stamp;
use crate::ready::Ready;
use crate::room::Loading;

/// What became of a server that was to be killed.
#[derive(Debug, Clone)]
pub struct Durability {
    /// The run.
    pub record: RunRecord,
    /// What the rows say; nothing where the run ended before the server was killed.
    pub verdict: Option<Verdict>,
}

/// What the rows say of a server that was killed.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Whether it crashed and everything that it had acknowledged is there.
    pub is_proved: bool,
    /// The answer in one sentence.
    pub line: String,
    /// What explains it, or limits it.
    pub reasons: Vec<String>,
    /// What happened to the server.
    pub server: &'static str,
    /// Settings that are off, and let a server lose what it has acknowledged.
    pub settings_off: Vec<&'static str>,
    /// What the rows hold; nothing where they cannot be read.
    pub account: Option<Account>,
}

/// Does a run of `plan`'s updates, in the middle of which the server is killed, and reads every row when it is back.
///
/// # Errors
/// The plan or the target is not fit for that, a command cannot be run, or the server does not come back.
pub fn durability(lead: &Lead<'_>, plan: Plan, kill: Kill<'_>) -> Result<Durability, Error> {
    let plan = timed(with_updates(lead, plan)?, kill.after);
    if plan.target.is_several() {
        return Err(Error::usage(
            "one server is killed and must come back with all that it acknowledged, and the plan names several targets",
            "prove each of them: --target URL; `dyno prove updates` takes several together",
        ));
    }
    let ready = Ready::new(lead, plan, Work::Prove, Loading::Never, refuse_unkillable)?;
    let (target, spec) = (ready.target().as_ref(), &ready.specs[0]);
    let before = target.life()?;
    lead.tell(Event::Proof(ProofEvent::Reading));
    let start = Start::read(target, spec)?;
    let book = Arc::new(Book::new(spec, ready.plan.workload.work_unit));
    let begun = ready.begin(None)?;
    let (mut record, killed) = drive(&ready, &begun, &book, &kill)?;
    if *killed.as_ref().unwrap_or(&Killed::Unnoticed) != Killed::Never {
        record.status = Status::Interrupted;
        record.reasons = vec!["the server was killed on purpose, to prove durability".to_owned()];
    }
    ready.store(&record)?;
    if killed? == Killed::Never {
        return Ok(Durability { record, verdict: None });
    }
    if let Some(command) = kill.restart {
        lead.tell(Event::Proof(ProofEvent::Restarting));
        let status = kill::shell(lead, command, kill.output)?;
        if !status.success() {
            lead.tell(Event::Proof(ProofEvent::CommandEnded("restart", status.to_string())));
        }
    }
    let after = kill::wait_back(lead, target, kill.wait)?;
    let fate = Fate::of(before.as_ref(), after.as_ref(), book.lost_connections());
    lead.tell(Event::Proof(ProofEvent::ReadingAgain(None)));
    let found = match start.compare(target, &book, run_stamp(&begun.id)) {
        Ok(account) => Ok(account),
        // A server that is back and cannot read its own tables has lost more than commits.
        Err(error) if error.kind == TargetErrorKind::Database => Err(error),
        Err(error) => return Err(error.into()),
    };
    Ok(Durability { record, verdict: Some(judged(&ready, fate, found)) })
}

/// A plan whose window lasts until the kill, and until it was noticed.
fn timed(mut plan: Plan, after: Duration) -> Plan {
    plan.run.warmup = Span(Duration::ZERO);
    plan.run.ops_per_session = None;
    plan.run.time = Some(Span(after + 2 * KILL_WITHIN));
    plan
}

fn refuse_unkillable(target: &dyn Target) -> Result<(), Error> {
    if target.life()?.is_some() {
        return Ok(());
    }
    Err(Error::usage(
        format!(
            "{} runs inside this process, so it cannot be killed apart from the one that keeps account",
            target.engine()
        ),
        "prove durability on a server: --target postgres://USER@HOST/DATABASE; `dyno prove updates` works here",
    ))
}

/// Drives the run while a killer waits for its moment.
fn drive(
    ready: &Ready<'_>,
    begun: &StartedRun,
    book: &Arc<Book>,
    kill: &Kill<'_>,
) -> Result<(RunRecord, Result<Killed, Error>), Error> {
    let (send, signals) = channel();
    let killer = Killer { lead: ready.lead, kill, book };
    let watched = Watched { lead: ready.lead, hooked: None };
    std::thread::scope(|scope| {
        let killing = scope.spawn(move || killer.run(&signals));
        let watch = Tell { inner: &watched, killer: send.clone() };
        let driven = ready.drive(begun, vec![Some(Arc::clone(book))], &watch);
        // A killer that has ended needs no telling.
        let _ = send.send(Signal::Over);
        let panicked = |_| Err(Error::Other { what: "the killing thread panicked".to_owned(), source: None });
        let killed = killing.join().unwrap_or_else(panicked);
        // The server is gone, and with it may be what sessions left in its tables: the next run looks.
        Ok((driven?.0, killed))
    })
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
fn lies(ready: &Ready<'_>) -> Vec<(&'static str, &'static str)> {
    let is_off =
        |name: &str| ready.targets.first().identity.settings.get(name).is_some_and(|value| value == "off");
    LIES.into_iter().filter(|(name, _)| is_off(name)).collect()
}

fn judged(ready: &Ready<'_>, fate: Fate, found: Result<Account, TargetError>) -> Verdict {
    let lies = lies(ready);
    let is_proved = fate == Fate::Crashed
        && found.as_ref().is_ok_and(|account| account.is_whole() && account.commits_acknowledged > 0);
    Verdict {
        is_proved,
        line: line(fate, &found, is_proved),
        reasons: reasons(fate, &found, is_proved, &lies),
        server: fate.name(),
        settings_off: lies.iter().map(|(name, _)| *name).collect(),
        account: found.ok(),
    }
}

fn line(fate: Fate, found: &Result<Account, TargetError>, is_proved: bool) -> String {
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
