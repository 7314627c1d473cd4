//! The acceptance of an engine on one server: ten short steps that say what is proved there, what is not, and what is wrong.
//!
//! It is made of the parts of the [conformance suite](crate::conformance), compared with exact counts where that compares with
//! bounds. It needs a target without data of Dyno's, loads two schemas of 500 rows, and drops what it made, whatever the steps
//! show, and also where the user stops it.

mod comparison;
mod counts;
mod dropped;
mod errors;
mod facts;
mod load;
mod locks;
mod plans;
mod reports;
mod rights;
mod scratch;
mod types;

use std::sync::Arc;

use dyno_engine::{
    Cancel, MonotonicClock, Session, SessionSetup, Statement, Target, TargetError, TargetErrorKind,
};
use dyno_plan::{Blocks, Commit, Connect, DataSpec, Plan, Protocol, Size};
use dyno_record::{AcceptanceFinding, AcceptanceStep, AcceptanceVerdict, Advice, Identity, Severity};

use crate::conformance;

/// What a user does about a step that is wrong.
const REPORT_IT: &str = "report it with the file that `dyno check --accept --record FILE` writes";

/// What is accepted, and by which of its ways.
#[derive(Clone, Copy)]
pub struct AcceptanceScope<'a> {
    /// The target, which holds no data of Dyno's.
    pub target: &'a dyn Target,
    /// Its product, version and settings.
    pub identity: &'a Identity,
    /// The plan, which decides on the block size and on the database's own reports.
    pub plan: &'a Plan,
    /// Ways to commit that sessions can choose between.
    pub commits: &'a [Commit],
    /// Ways in which statements can come to the engine, beside being prepared.
    pub protocols: &'a [Protocol],
    /// Whether the database is a server, which sessions log on to.
    pub is_server: bool,
    /// Whether the engine makes reports of its own (AWR, STATSPACK).
    pub has_own_reports: bool,
    /// Everything that an administrator grants to a user of Dyno on this target.
    pub all_grants: &'a str,
    /// The user's wish to stop.
    pub cancel: &'a Cancel,
    /// Hears the number and the title of each step when it begins.
    pub began: &'a dyn Fn(u32, &str),
}

/// The result of an acceptance.
#[derive(Debug, Clone)]
pub struct AcceptanceOutcome {
    /// The steps, in their order.
    pub steps: Vec<AcceptanceStep>,
    /// Statements that give the user the rights that it lacks, one each line; empty where it lacks none.
    pub grants: String,
}

type Findings = Result<Vec<AcceptanceFinding>, TargetError>;

/// A step in front of the last.
struct Step {
    name: &'static str,
    title: &'static str,
    /// Whether it needs the data of the step `load`.
    needs_data: bool,
    act: fn(&AcceptanceScope<'_>, &DataSpec) -> Findings,
}

const fn step(
    name: &'static str,
    title: &'static str,
    needs_data: bool,
    act: fn(&AcceptanceScope<'_>, &DataSpec) -> Findings,
) -> Step {
    Step { name, title, needs_data, act }
}

const LOAD: &str = "load";

const STEPS: [Step; 9] = [
    step("logon", "log on, and say what the server is", false, facts::logon),
    step(
        "rights",
        "read every view of counters, and name the rights that are missing",
        false,
        rights::rights,
    ),
    step(LOAD, "load 2 × 500 rows, break the load off, and resume it", false, load::resumed),
    step("types", "write and read values of every type", true, types::types),
    step("exactness", "count known operations of a quiet session", true, counts::exact),
    step("plans", "reach rows by an index, and read whole tables", true, plans::plans),
    step("errors", "provoke errors, and class them", true, errors::classed),
    step("break-off", "break off a session that waits for a lock", true, locks::broken_off),
    step("reports", "take a report that the database makes of itself", false, reports::report),
];

/// The name and the title of the last step.
const DROP: (&str, &str) = ("drop", "drop what the acceptance made, and nothing else");

/// `plan` with the data and the sessions of the acceptance, and without custom workloads: the preflight checks ask about these.
pub fn small_plan(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    (plan.workload.folder, plan.workload.beside) = (None, Vec::new());
    plan.data.schemas = 2;
    plan.data.scale = Size::Blocks(Blocks(conformance::ROWS));
    plan.data.scan_scale = Size::Blocks(Blocks(conformance::ROWS));
    plan.run.sessions_per_schema = 1;
    plan
}

/// Does all steps on the target of `scope`, and drops what they made.
///
/// # Errors
/// The target holds data of Dyno's, or cannot be looked at; or the user stopped it, after everything was dropped. What
/// fails on the way is a finding of its step.
pub fn accept(scope: &AcceptanceScope<'_>) -> Result<AcceptanceOutcome, TargetError> {
    conformance::require_empty(scope.target, "the acceptance")?;
    scratch::require_free(scope.target)?;
    let spec = conformance::spec(scope.target, scope.plan.data.block_size)?;
    let foreign = scope.target.foreign()?;
    let mut steps: Vec<AcceptanceStep> = Vec::new();
    for (number, Step { name, title, needs_data, act }) in (1..).zip(&STEPS) {
        if scope.cancel.is_cancelled() {
            break;
        }
        (scope.began)(number, title);
        let is_loaded = || steps.iter().any(|step| step.name == LOAD && is_loaded(step));
        let findings = match *needs_data && !is_loaded() {
            true => vec![not_proved("data", "the step needs the data that could not be loaded")],
            false => act(scope, &spec).unwrap_or_else(|error| vec![of_error("step", &error)]),
        };
        steps.push(AcceptanceStep::new(number, name, title, findings));
    }
    let number = STEPS.len() as u32 + 1;
    let (name, title) = DROP;
    (scope.began)(number, title);
    let findings = dropped::dropped(scope.target, &foreign);
    let dropped = AcceptanceStep::new(number, name, title, findings);
    if scope.cancel.is_cancelled() {
        return Err(stopped(&dropped));
    }
    steps.push(dropped);
    let grants = rights::missing_grants(scope).unwrap_or_default();
    Ok(AcceptanceOutcome { steps, grants })
}

/// Whether the data is there, whatever the step says of how it came.
fn is_loaded(step: &AcceptanceStep) -> bool {
    step.findings
        .iter()
        .any(|finding| finding.name == load::LOADED && finding.verdict != AcceptanceVerdict::Wrong)
}

/// The error of an acceptance that the user stopped.
fn stopped(dropped: &AcceptanceStep) -> TargetError {
    let left = match dropped.verdict {
        AcceptanceVerdict::Proved => "what it had made was dropped",
        _ => "what it had made could not be dropped",
    };
    let error = TargetError::new(TargetErrorKind::Cancelled, format!("the acceptance was stopped; {left}"));
    match dropped.verdict {
        AcceptanceVerdict::Proved => error,
        _ => error.hint("dyno drop"),
    }
}

fn proved(name: &str, observation: impl Into<String>) -> AcceptanceFinding {
    AcceptanceFinding::new(name, AcceptanceVerdict::Proved, observation)
}

fn not_proved(name: &str, observation: impl Into<String>) -> AcceptanceFinding {
    AcceptanceFinding::new(name, AcceptanceVerdict::NotProved, observation)
}

fn wrong(name: &str, observation: impl Into<String>) -> AcceptanceFinding {
    AcceptanceFinding::new(name, AcceptanceVerdict::Wrong, observation).way_out(REPORT_IT)
}

fn not_applicable(name: &str, reason: impl Into<String>) -> AcceptanceFinding {
    AcceptanceFinding::new(name, AcceptanceVerdict::NotApplicable, reason)
}

/// A finding of the conformance suite.
fn of_advice(advice: Advice) -> AcceptanceFinding {
    let Advice { check, severity, found, way_out } = advice;
    match severity {
        Severity::Ok => proved(&check, found),
        Severity::Note => not_applicable(&check, found),
        Severity::Warn => not_proved(&check, found).way_out(way_out),
        Severity::Fail => wrong(&check, found),
    }
}

/// What an error of the target means for what was tried: rights, room and the network say nothing about the engine.
fn of_error(name: &str, error: &TargetError) -> AcceptanceFinding {
    use TargetErrorKind::{
        Busy, Cancelled, Denied, Full, PasswordNeeded, Privilege, Unreachable, Unsupported,
    };
    match error.kind {
        Unsupported => not_applicable(name, error.message.as_str()),
        Busy | Cancelled | Denied | Full | PasswordNeeded | Privilege | Unreachable => {
            not_proved(name, error.message.as_str()).way_out(error.hint.as_str())
        }
        TargetErrorKind::Data | TargetErrorKind::Database => wrong(name, error.message.as_str()),
    }
}

/// Opens a session that has prepared `statements`, and nothing of the classic method.
fn session_of(target: &dyn Target, statements: Vec<Statement>) -> Result<Box<dyn Session>, TargetError> {
    target.session(&SessionSetup {
        number: 0,
        statements: statements.into(),
        rehearsal: None,
        commit: Commit::Wait,
        protocol: Protocol::Prepared,
        connect: Connect::Session,
        blocks: None,
        bulk: None,
        read_only: false,
        slices: false,
        clock: Arc::new(MonotonicClock::default()),
    })
}
