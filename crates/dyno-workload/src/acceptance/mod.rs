//! The acceptance test of an engine on one server: ten short steps with verdicts.
//!
//! It uses parts of the [conformance suite](crate::conformance), but compares with exact counts instead of bounds. It needs a
//! target without data of Dyno and loads two schemas of 500 rows. It always drops what it created, even if the user stops it.

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
use dyno_plan::{BlockCount, BlocksOrBytes, Commit, Connect, DataSpec, Plan, StatementProtocol};
use dyno_record::{AcceptanceFinding, AcceptanceStep, AcceptanceVerdict, Advice, Identity, Severity};

use crate::conformance;

/// What a user can do about a wrong step.
const REPORT_IT: &str = "report it with the file that `dyno check --accept --record FILE` writes";

/// The target to test, and its features.
#[derive(Clone, Copy)]
pub struct AcceptanceScope<'a> {
    /// The target, without data of Dyno.
    pub target: &'a dyn Target,
    /// Product, version and settings of the server.
    pub identity: &'a Identity,
    /// The plan; it sets the block size and the database's own reports.
    pub plan: &'a Plan,
    /// Commit modes that sessions can choose.
    pub commits: &'a [Commit],
    /// Protocols that the engine supports besides prepared statements.
    pub protocols: &'a [StatementProtocol],
    /// Whether the database is a server to which sessions log on.
    pub is_server: bool,
    /// Whether the engine has its own reports (AWR, STATSPACK).
    pub has_own_reports: bool,
    /// All statements with which an administrator grants rights to a user of Dyno on this target.
    pub all_grants: &'a str,
    /// Signals that the user wants to stop.
    pub cancel: &'a Cancel,
    /// Receives the number and title of each step at its start.
    pub began: &'a dyn Fn(u32, &str),
}

/// The result of an acceptance test.
#[derive(Debug, Clone)]
pub struct AcceptanceOutcome {
    /// The steps, in order of execution.
    pub steps: Vec<AcceptanceStep>,
    /// Statements that grant the user its missing rights, one per line; empty if none are missing.
    pub grants: String,
}

type Findings = Result<Vec<AcceptanceFinding>, TargetError>;

/// A step before the last one.
struct AcceptanceStage {
    name: &'static str,
    title: &'static str,
    /// Whether it needs the data from the step `load`.
    needs_data: bool,
    act: fn(&AcceptanceScope<'_>, &DataSpec) -> Findings,
}

const fn step(
    name: &'static str,
    title: &'static str,
    needs_data: bool,
    act: fn(&AcceptanceScope<'_>, &DataSpec) -> Findings,
) -> AcceptanceStage {
    AcceptanceStage { name, title, needs_data, act }
}

const LOAD: &str = "load";

const STEPS: [AcceptanceStage; 9] = [
    step("logon", "log on, and identify the server", false, facts::logon),
    step("rights", "read every view of counters, and list missing privileges", false, rights::rights),
    step(LOAD, "load 2 × 500 rows, interrupt the load, and resume it", false, load::resumed),
    step("types", "write and read values of every type", true, types::types),
    step("exactness", "count known operations of a quiet session", true, counts::exact),
    step("plans", "reach rows by an index, and read whole tables", true, plans::plans),
    step("errors", "provoke errors, and classify them", true, errors::classed),
    step("break-off", "interrupt a session that waits for a lock", true, locks::broken_off),
    step("reports", "create one of the database's own reports", false, reports::report),
];

/// Name and title of the last step.
const DROP: (&str, &str) = ("drop", "drop only the objects that the acceptance created");

/// `plan` with the data and sessions of the acceptance test and without custom workloads, for the preflight checks.
pub fn small_plan(plan: &Plan) -> Plan {
    let mut plan = plan.clone();
    (plan.workload.folder, plan.workload.beside) = (None, Vec::new());
    plan.data.schemas = 2;
    plan.data.scale = BlocksOrBytes::Blocks(BlockCount(conformance::ROWS));
    plan.data.scan_scale = BlocksOrBytes::Blocks(BlockCount(conformance::ROWS));
    plan.run.sessions_per_schema = 1;
    plan
}

/// Runs all steps on the target of `scope`, then drops what they created.
///
/// # Errors
/// The target contains data of Dyno or cannot be read; or the user stopped the test, after everything was dropped. Errors
/// within a step are findings of that step.
pub fn accept(scope: &AcceptanceScope<'_>) -> Result<AcceptanceOutcome, TargetError> {
    conformance::require_empty(scope.target, "the acceptance")?;
    scratch::require_free(scope.target)?;
    let spec = conformance::spec(scope.target, scope.plan.data.block_size)?;
    let foreign = scope.target.block_data()?.foreign()?;
    let mut steps: Vec<AcceptanceStep> = Vec::new();
    for (number, AcceptanceStage { name, title, needs_data, act }) in (1..).zip(&STEPS) {
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
        let is_dropped = dropped.verdict == AcceptanceVerdict::Proved;
        return Err(conformance::stopped("the acceptance", is_dropped));
    }
    steps.push(dropped);
    let grants = rights::missing_grants(scope).unwrap_or_default();
    Ok(AcceptanceOutcome { steps, grants })
}

/// Whether the data is complete, independent of the step's verdict.
fn is_loaded(step: &AcceptanceStep) -> bool {
    step.findings
        .iter()
        .any(|finding| finding.name == load::LOADED && finding.verdict != AcceptanceVerdict::Wrong)
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

/// Converts a finding of the conformance suite.
fn of_advice(advice: Advice) -> AcceptanceFinding {
    let Advice { check, severity, found, way_out } = advice;
    match severity {
        Severity::Ok => proved(&check, found),
        Severity::Note => not_applicable(&check, found),
        Severity::Warn => not_proved(&check, found).way_out(way_out),
        Severity::Fail => wrong(&check, found),
    }
}

/// Converts an error of the target into a finding: missing rights, space and network problems say nothing about the engine.
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

/// Opens a session with `statements` prepared, and none of the block workload.
fn session_of(target: &dyn Target, statements: Vec<Statement>) -> Result<Box<dyn Session>, TargetError> {
    target.session(&SessionSetup {
        number: 0,
        statements: statements.into(),
        rehearsal: None,
        commit: Commit::Wait,
        protocol: StatementProtocol::Prepared,
        connect: Connect::Session,
        blocks: None,
        bulk: None,
        read_only: false,
        slices: false,
        clock: Arc::new(MonotonicClock::default()),
    })
}
