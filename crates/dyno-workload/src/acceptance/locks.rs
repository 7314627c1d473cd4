//! Step 8: interrupts a session that waits for a lock; it must reconnect and must not have changed anything.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use dyno_engine::{BlockOp, ErrorClass, Isolation, OpError, SessionRequest, Target, TargetError};
use dyno_plan::{Commit, DataSpec, DriveMode, Redo};
use dyno_record::AcceptanceFinding;

use super::{AcceptanceScope, Findings, not_applicable, not_proved, proved, wrong};
use crate::blocks::Operated;
use crate::conformance::{WORK_UNIT, failed, session};

const CHECK: &str = "break-off";

/// How long a session must wait until the test assumes that it waits for a lock.
const WAITS: Duration = Duration::from_secs(1);

/// The longest time that the interruption may take.
const WITHIN: Duration = Duration::from_secs(30);

/// The first of the rows that both sessions change.
const FIRST: u64 = 1;

pub(super) fn broken_off(scope: &AcceptanceScope<'_>, spec: &DataSpec) -> Findings {
    let target = scope.target;
    if target.capabilities().ephemeral {
        return Ok(vec![not_applicable(
            CHECK,
            "sessions on memory of one process lock tables, and do not wait",
        )]);
    }
    let open = || session(target, spec, DriveMode::Client, Commit::Wait, Redo::Lite);
    let (mut holder, mut waiter) = (open()?, open()?);
    begin(&mut holder)?;
    let attempt = interrupted(target, &mut waiter);
    holder.session.ask(SessionRequest::Rollback).map_err(|error| failed(&error))?;
    let mut findings = judged(attempt);
    waiter.session.reconnect()?;
    findings.push(works_again(&mut waiter)?);
    holder.close();
    waiter.close();
    Ok(findings)
}

/// Changes rows in a transaction and leaves it open.
fn begin(holder: &mut Operated) -> Result<(), TargetError> {
    let mut act = || -> Result<(), Box<OpError>> {
        holder.session.ask(SessionRequest::Begin(Isolation::Platform))?;
        holder.execute(BlockOp::Update { first: FIRST, number: 80_001 }).map(|_| ())
    };
    act().map_err(|error| failed(&error))
}

/// The result of interrupting a waiting session.
struct InterruptAttempt {
    /// The wait event that the server reported, empty if it reports none; absent if the session did not wait.
    waits: Option<String>,
    /// The result that the session reported, and the time since the interruption.
    outcome: Option<(Result<u64, Box<OpError>>, Duration)>,
}

fn interrupted(target: &dyn Target, waiter: &mut Operated) -> InterruptAttempt {
    let interrupter = waiter.session.interrupter();
    let (sender, outcomes) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let outcome = waiter.execute(BlockOp::Update { first: FIRST, number: 80_002 });
            // If it took too long, nobody receives this.
            let _ = sender.send(outcome.map(|done| done.rows));
        });
        match outcomes.recv_timeout(WAITS) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(outcome) => return InterruptAttempt { waits: None, outcome: Some((outcome, Duration::ZERO)) },
            Err(RecvTimeoutError::Disconnected) => return InterruptAttempt { waits: None, outcome: None },
        }
        let waits = Some(waits(target));
        let since = Instant::now();
        interrupter.interrupt();
        let outcome = outcomes.recv_timeout(WITHIN).ok().map(|outcome| (outcome, since.elapsed()));
        InterruptAttempt { waits, outcome }
    })
}

/// The wait events that the server reports, in parentheses; empty if it reports none.
fn waits(target: &dyn Target) -> String {
    let mut samples = Vec::new();
    let sampled = target.sampler().and_then(|mut sampler| sampler.sample(&mut samples, &mut Vec::new()));
    match (sampled, samples.iter().find(|wait| wait.class != "CPU")) {
        (Ok(()), Some(wait)) => format!(" ({}: {})", wait.class, wait.event),
        _ => String::new(),
    }
}

fn judged(attempt: InterruptAttempt) -> Vec<AcceptanceFinding> {
    let InterruptAttempt { waits, outcome } = attempt;
    let Some(waits) = waits else {
        let words = match outcome {
            Some((Ok(rows), _)) => {
                return vec![wrong(
                    CHECK,
                    format!("{rows} rows that another session has locked were changed"),
                )];
            }
            Some((Err(error), _)) => format!("the session did not wait for the lock: {error}"),
            None => "the session ended without an answer".to_owned(),
        };
        return vec![not_proved(CHECK, words)];
    };
    let waited = proved("wait", format!("a session waited for rows that another has locked{waits}"));
    let broken_off = match outcome {
        None => wrong(CHECK, format!("the session was not interrupted within {} s", WITHIN.as_secs())),
        Some((Ok(rows), _)) => wrong(CHECK, format!("{rows} rows were changed instead")),
        Some((Err(error), after)) if error.class == ErrorClass::Connection => {
            let words =
                format!("the session was interrupted within {} ms: code {}", after.as_millis(), error.code);
            proved(CHECK, words).figure("within_ms", i64::try_from(after.as_millis()).unwrap_or(i64::MAX))
        }
        Some((Err(error), _)) => {
            wrong(CHECK, format!("the interrupted session reported another error: {error}"))
        }
    };
    vec![waited, broken_off]
}

/// Checks that the session changes the rows on a new connection once the lock is released.
fn works_again(waiter: &mut Operated) -> Result<AcceptanceFinding, TargetError> {
    let update = BlockOp::Update { first: FIRST, number: 80_003 };
    let rows = waiter.execute(update).map_err(|error| failed(&error))?.rows;
    let read_back = waiter.verify_last_update().map_err(|error| failed(&error))?;
    let unit = u64::from(WORK_UNIT);
    Ok(match (rows, read_back) {
        (rows, Some(found)) if rows == unit && found == (unit, unit) => {
            proved("reconnect", format!("on a new connection it changed the {rows} rows, and read them back"))
        }
        other => wrong("reconnect", format!("on a new connection an update of {unit} rows gave {other:?}")),
    })
}
