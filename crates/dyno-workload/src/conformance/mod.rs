//! The conformance suite: executes on a small scale what every engine must support and checks the results. It is used by the
//! tests of each engine and by `dyno check --deep`.
//!
//! It loads two small schemas, runs every operation in both drives and with every commit mode, and executes statements with all
//! types alone and in transactions. It reads the counters around them and drops what it created. It refuses a target with data
//! of Dyno, so that it cannot touch existing data.

mod counted;
pub(crate) mod data;
pub(crate) mod drives;
pub(crate) mod read_only;
pub(crate) mod statements;

use std::sync::Arc;

use dyno_engine::advice::advice;
use dyno_engine::data::mix;
use dyno_engine::{
    BlockOp, BlockSessionConfig, Cancel, DataState, Extra, MonotonicClock, OpError, Target, TargetError,
    TargetErrorKind, pool,
};
use dyno_plan::{Bytes, Commit, DataSpec, DriveMode, Redo, StatementProtocol};
use dyno_record::{Advice, Severity};

use crate::blocks::Operated;

/// Rows of each table: more than one chunk of any engine's reads, and loaded within seconds.
pub(crate) const ROWS: u64 = 500;

/// Number of rows that one operation touches.
pub(crate) const WORK_UNIT: u32 = 16;

/// Operations per class and drive.
pub(crate) const OPS: u64 = 20;

/// The findings that must be good on every engine.
pub const EVERYWHERE: [&str; 10] = [
    "load",
    "recognise",
    "client wait",
    "values",
    "transactions",
    "broken off",
    "left",
    "commits",
    "logical_reads",
    "drop",
];
/// The additional findings that must be good on servers.
pub const ON_SERVERS: [&str; 5] =
    ["server wait", "transactions in halves", "redo_bytes", "versions", "waits"];

/// The failed `findings`, and the `wanted` ones that are missing or not good.
pub fn failed_checks(findings: &[Advice], wanted: &[&str]) -> Vec<String> {
    let failed = findings.iter().filter(|found| found.severity == Severity::Fail);
    let is_well = |check: &str| findings.iter().any(|f| f.check == check && f.severity == Severity::Ok);
    let not_well = wanted.iter().filter(|check| !is_well(check)).map(|check| format!("{check} is not well"));
    failed.map(|found| format!("{}: {}", found.check, found.found)).chain(not_well).collect()
}

/// Totals of the work that the sessions executed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AcknowledgedWork {
    rows_read: u64,
    rows_updated: u64,
    commits: u64,
}

impl AcknowledgedWork {
    fn note(&mut self, op: BlockOp, rows: u64) {
        match op {
            BlockOp::Update { .. } => self.rows_updated += rows,
            BlockOp::Insert { .. } => {}
            // A deleted row must be found, like a row that is read.
            _ => self.rows_read += rows,
        }
        self.commits += u64::from(op.writes());
    }
}

/// Runs all checks for data with blocks of `wish`, with each of these commit modes, and with statements prepared and by each of
/// `protocols`. Returns the findings in the order of execution.
///
/// # Errors
/// The target contains data of Dyno or cannot be read; or the user stopped the check, after everything was dropped. Later
/// errors are findings.
pub fn check(
    target: &dyn Target,
    wish: Option<Bytes>,
    commits: &[Commit],
    protocols: &[StatementProtocol],
    cancel: &Cancel,
) -> Result<Vec<Advice>, TargetError> {
    require_empty(target, "the deep check")?;
    let spec = spec(target, wish)?;
    let mut findings = Vec::new();
    let mut add = |more: Vec<Advice>| {
        findings.extend(more);
        if cancel.is_cancelled() { Err(pool::cancelled()) } else { Ok(()) }
    };
    let mut run = || -> Result<(), TargetError> {
        add(vec![data::loaded(target, &spec, cancel)?])?;
        add(vec![data::recognised(target, &spec)?])?;
        add(vec![read_only::refused_writes(target)?])?;
        let before = target.observer(&spec)?.snapshot()?;
        let mut work = AcknowledgedWork::default();
        for &commit in commits {
            add(vec![drives::client_drive(target, &spec, commit, &mut work)?])?;
            add(drives::server_drive(target, &spec, commit, &mut work)?.into_iter().collect())?;
        }
        for &protocol in [StatementProtocol::Prepared].iter().chain(protocols) {
            add(vec![statements::values(target, protocol)?])?;
        }
        add(statements::transactions(target, &spec, &mut work)?)?;
        add(vec![statements::broken_off(target, &spec, &mut work)?])?;
        add(vec![data::check_leftover_rows(target, &spec, &mut work)?])?;
        add(data::growth(target, &spec, &mut work)?.into_iter().collect())?;
        add(counted::counted(target, &spec, &before, work)?)?;
        add(counted::versions(target, &spec, work).into_iter().collect())?;
        add(vec![counted::waits(target)])
    };
    let outcome = run();
    let dropped = data::dropped(target);
    if cancel.is_cancelled() {
        return Err(stopped("the deep check", dropped.severity == Severity::Ok));
    }
    if let Err(error) = outcome {
        findings.push(advice("deep", Severity::Fail, error.message, error.hint));
    }
    findings.push(dropped);
    Ok(findings)
}

/// The error of a test that the user stopped; `is_dropped` if nothing of it is left in the target.
pub(crate) fn stopped(subject: &str, is_dropped: bool) -> TargetError {
    let left = if is_dropped { "were dropped" } else { "could not be dropped" };
    let message = format!("{subject} was stopped; the objects it created {left}");
    let error = TargetError::new(TargetErrorKind::Cancelled, message);
    if is_dropped { error } else { error.hint("dyno drop") }
}

/// Fails if `target` contains data of Dyno; `subject` names the caller in the message.
pub(crate) fn require_empty(target: &dyn Target, subject: &str) -> Result<(), TargetError> {
    match target.block_data()?.survey()? {
        DataState::Empty => Ok(()),
        DataState::Partial { .. } | DataState::Loaded { .. } => {
            let message = format!(
                "{subject} needs a target that contains no Dyno data, because it loads and drops its own"
            );
            Err(TargetError::new(TargetErrorKind::Data, message)
                .hint("give another database, file or user with --target, or drop the data first: dyno drop"))
        }
    }
}

/// The data to load: two schemas, with blocks of `wish` if the engine lets Dyno choose.
pub(crate) fn spec(target: &dyn Target, wish: Option<Bytes>) -> Result<DataSpec, TargetError> {
    Ok(DataSpec {
        schemas: 2,
        rows: ROWS,
        scan_rows: ROWS,
        block_size: target.block_data()?.block_size(wish)?.0,
        compressible: 0,
        seed: 42,
        secondary: true,
        copied: false,
    })
}

fn passed(check: &str, observation: String) -> Advice {
    advice(check, Severity::Ok, observation, "")
}

fn failed_check(check: &str, observation: String) -> Advice {
    advice(check, Severity::Fail, observation, "report it with the output of `dyno check --deep --json`")
}

pub(crate) fn session(
    target: &dyn Target,
    spec: &DataSpec,
    drive: DriveMode,
    commit: Commit,
    redo: Redo,
) -> Result<Operated, TargetError> {
    let run_stamp =
        u64::from(std::process::id()) ^ commit as u64 ^ ((redo as u64) << 8) ^ ((drive as u64) << 16);
    let blocks = BlockSessionConfig {
        schema: 2,
        spec: spec.clone(),
        work_unit: WORK_UNIT,
        redo,
        extra: Extra::ALL,
        seed: 3,
        run_stamp: mix(run_stamp),
        session: 0,
    };
    Operated::open(target, &blocks, drive, commit, Arc::new(MonotonicClock::default()))
}

/// The first key of operation `number`.
pub(crate) fn first_key(number: u64) -> u64 {
    1 + mix(number) % (ROWS - u64::from(WORK_UNIT))
}

/// The number of rows that one operation of each class must read, update, insert or delete.
pub(crate) fn ops(extra: Extra, spec: &DataSpec) -> Vec<(BlockOp, u64)> {
    let unit = u64::from(WORK_UNIT);
    (0..OPS)
        .flat_map(|number| {
            let first = first_key(number);
            let value = 1 + number % spec.groups();
            let key = ROWS + 1 + number;
            let common = [
                (BlockOp::Select { first }, unit),
                (BlockOp::Lookup { key: first }, 1),
                (BlockOp::Scan, ROWS),
                (BlockOp::Update { first, number }, unit),
            ];
            let secondary = extra.secondary.then(|| (BlockOp::Secondary { value }, spec.group_rows(value)));
            let churn = [(BlockOp::Insert { key, number }, 1), (BlockOp::Delete { key }, 1)];
            common
                .into_iter()
                .chain(secondary)
                .chain(churn.into_iter().filter(move |_| extra.churn))
                .collect::<Vec<_>>()
        })
        .collect()
}

pub(crate) fn failed(error: &OpError) -> TargetError {
    TargetError::new(TargetErrorKind::Database, error.to_string())
}
