//! What every engine must do, done once on a small scale and compared with what must come of it: the tests of each engine, and
//! `dyno check --deep`.
//!
//! It loads two small schemas, runs every operation in both drives and every way of committing, executes statements of all
//! types alone and in transactions, reads the counters around them, and drops what it made. It needs a target without data of
//! Dyno's, so that it can never touch data of yours.

mod counted;
pub(crate) mod data;
pub(crate) mod drives;
pub(crate) mod read_only;
pub(crate) mod statements;

use std::sync::Arc;

use dyno_engine::advice::advice;
use dyno_engine::data::mix;
use dyno_engine::{
    Blocks, DataState, Extra, MonotonicClock, Op, OpError, Target, TargetError, TargetErrorKind,
};
use dyno_plan::{Bytes, Commit, DataSpec, Drive, Protocol, Redo};
use dyno_record::{Advice, Severity};

use crate::blocks::Operated;

/// Rows of each table: more than one chunk of the look of every engine, and loaded in seconds.
pub(crate) const ROWS: u64 = 500;

/// Rows of one operation.
pub(crate) const WORK_UNIT: u32 = 16;

/// Operations of each class and drive.
pub(crate) const OPS: u64 = 20;

/// What has to be found well of every engine, and of those that are servers.
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
/// See [`EVERYWHERE`].
pub const ON_SERVERS: [&str; 5] =
    ["server wait", "transactions in halves", "redo_bytes", "versions", "waits"];

/// What of `findings` is amiss where those of `wanted` have to be well.
pub fn amiss(findings: &[Advice], wanted: &[&str]) -> Vec<String> {
    let failed = findings.iter().filter(|found| found.severity == Severity::Fail);
    let is_well = |check: &str| findings.iter().any(|f| f.check == check && f.severity == Severity::Ok);
    let not_well = wanted.iter().filter(|check| !is_well(check)).map(|check| format!("{check} is not well"));
    failed.map(|found| format!("{}: {}", found.check, found.found)).chain(not_well).collect()
}

/// What the sessions did.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Work {
    rows_read: u64,
    rows_updated: u64,
    commits: u64,
}

impl Work {
    fn note(&mut self, op: Op, rows: u64) {
        match op {
            Op::Update { .. } => self.rows_updated += rows,
            Op::Insert { .. } => {}
            // A row that is deleted, like one that is read, has to be found.
            _ => self.rows_read += rows,
        }
        self.commits += u64::from(op.writes());
    }
}

/// The findings in the order in which they were made, for data with blocks of `wish`, with each of these ways to commit, and
/// statements prepared and by each of these `protocols`.
///
/// # Errors
/// The target holds data of Dyno's, or cannot be looked at; what fails on the way is a finding.
pub fn check(
    target: &dyn Target,
    wish: Option<Bytes>,
    commits: &[Commit],
    protocols: &[Protocol],
) -> Result<Vec<Advice>, TargetError> {
    require_empty(target, "the deep check")?;
    let spec = spec(target, wish)?;
    let mut findings = Vec::new();
    let mut run = || -> Result<(), TargetError> {
        findings.push(data::loaded(target, &spec)?);
        findings.push(data::recognised(target, &spec)?);
        findings.push(read_only::refused_writes(target)?);
        let before = target.observer(&spec)?.snapshot()?;
        let mut work = Work::default();
        for &commit in commits {
            findings.push(drives::client_drive(target, &spec, commit, &mut work)?);
            findings.extend(drives::server_drive(target, &spec, commit, &mut work)?);
        }
        for &protocol in [Protocol::Prepared].iter().chain(protocols) {
            findings.push(statements::values(target, protocol)?);
        }
        findings.extend(statements::transactions(target, &spec, &mut work)?);
        findings.push(statements::broken_off(target, &spec, &mut work)?);
        findings.push(data::left(target, &spec, &mut work)?);
        findings.extend(data::growth(target, &spec, &mut work)?);
        findings.extend(counted::counted(target, &spec, &before, work)?);
        findings.extend(counted::versions(target, &spec, work));
        findings.push(counted::waits(target));
        Ok(())
    };
    let outcome = run();
    if let Err(error) = outcome {
        findings.push(advice("deep", Severity::Fail, error.message, error.hint));
    }
    findings.push(data::dropped(target));
    Ok(findings)
}

/// Fails where `target` holds data of Dyno's; `subject` needs a target without any.
pub(crate) fn require_empty(target: &dyn Target, subject: &str) -> Result<(), TargetError> {
    match target.survey()? {
        DataState::Empty => Ok(()),
        DataState::Partial { .. } | DataState::Loaded { .. } => {
            let message =
                format!("{subject} needs a target without data of Dyno's, for it loads and drops its own");
            Err(TargetError::new(TargetErrorKind::Data, message)
                .hint("give another database, file or user by --target, or drop the data first: dyno drop"))
        }
    }
}

/// The data that is loaded: two schemas, in blocks of `wish` where the engine can choose.
pub(crate) fn spec(target: &dyn Target, wish: Option<Bytes>) -> Result<DataSpec, TargetError> {
    Ok(DataSpec {
        schemas: 2,
        rows: ROWS,
        scan_rows: ROWS,
        block_size: target.block_size(wish)?.0,
        compressible: 0,
        seed: 42,
        secondary: true,
    })
}

fn good(check: &str, found: String) -> Advice {
    advice(check, Severity::Ok, found, "")
}

fn bad(check: &str, found: String) -> Advice {
    advice(check, Severity::Fail, found, "report it with the output of `dyno check --deep --json`")
}

pub(crate) fn session(
    target: &dyn Target,
    spec: &DataSpec,
    drive: Drive,
    commit: Commit,
    redo: Redo,
) -> Result<Operated, TargetError> {
    let run_stamp =
        u64::from(std::process::id()) ^ commit as u64 ^ ((redo as u64) << 8) ^ ((drive as u64) << 16);
    let blocks = Blocks {
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

/// What each operation of a class must read, update, insert or delete.
pub(crate) fn ops(extra: Extra, spec: &DataSpec) -> Vec<(Op, u64)> {
    let unit = u64::from(WORK_UNIT);
    (0..OPS)
        .flat_map(|number| {
            let first = first_key(number);
            let value = 1 + number % spec.groups();
            let key = ROWS + 1 + number;
            let common = [
                (Op::Select { first }, unit),
                (Op::Lookup { key: first }, 1),
                (Op::Scan, ROWS),
                (Op::Update { first, number }, unit),
            ];
            let secondary = extra.secondary.then(|| (Op::Secondary { value }, spec.group_rows(value)));
            let churn = [(Op::Insert { key, number }, 1), (Op::Delete { key }, 1)];
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
