//! Step 5: compares known operations of one session exactly with the counters of the server.
//!
//! The server also counts the work of others, and counts some work late. This step therefore reads the counters until they
//! agree, and repeats the operations if they do not. A difference that repeats is the engine's; any other difference is not.

use std::time::{Duration, Instant};

use dyno_engine::{BlockOp, Extra, Observer, Target, TargetError};
use dyno_plan::{Commit, DataSpec, DriveMode, Redo};
use dyno_record::{AcceptanceFinding, Counter, Counters, CountingRules, Snapshot, Transactions};

use super::comparison::{Attempt, CounterComparison, judged};
use super::{AcceptanceScope, Findings, not_proved, proved};
use crate::conformance::{drives, failed, ops, session};

/// How often the operations are repeated at most if counters do not agree.
const ATTEMPTS: usize = 3;

/// The pause between two readings of the counters.
const PAUSE: Duration = Duration::from_millis(20);

/// The longest wait for counters to agree, beyond the delay that the engine declares.
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) fn exact(scope: &AcceptanceScope<'_>, spec: &DataSpec) -> Findings {
    let mut findings = Vec::new();
    for &commit in scope.commits {
        for drive in [DriveMode::Client, DriveMode::Server] {
            if drive == DriveMode::Server && !scope.target.capabilities().server_drive {
                continue;
            }
            if scope.cancel.is_cancelled() {
                return Ok(findings);
            }
            findings.push(repeated(scope, spec, drive, commit)?);
        }
    }
    findings.extend(empty_commits(&scope.identity.counting));
    Ok(findings)
}

/// Whether the database counts commits that changed nothing; absent where each call of a session counts.
fn empty_commits(rules: &CountingRules) -> Option<AcceptanceFinding> {
    const NAME: &str = "empty commits";
    if rules.transactions != Transactions::Commits {
        return None;
    }
    Some(match rules.empty_commits {
        Some(true) => proved(NAME, "the database counts commits that changed nothing").figure("counted", 1),
        Some(false) => {
            proved(NAME, "the database does not count commits that changed nothing").figure("counted", 0)
        }
        None => {
            not_proved(NAME, "this user cannot see whether the database counts commits that changed nothing")
        }
    })
}

/// Operations of one session that the server acknowledged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Acknowledged {
    reads: u64,
    commits: u64,
    /// Calls that ran operations inside the database; absent if each operation was a separate request.
    slices: Option<u64>,
    rows_read: u64,
    rows_updated: u64,
    rows_inserted: u64,
    rows_deleted: u64,
    /// Transactions of the session that are not operations.
    overhead: i64,
}

fn repeated(
    scope: &AcceptanceScope<'_>,
    spec: &DataSpec,
    drive: DriveMode,
    commit: Commit,
) -> Result<AcceptanceFinding, TargetError> {
    let name = format!("{} {}", drive.name(), commit.name());
    let mut attempts = Vec::new();
    for number in 0..ATTEMPTS {
        let attempt = once(scope, spec, drive, commit, number as u64)?;
        let agrees = attempt.agrees();
        attempts.push(attempt);
        if agrees || scope.cancel.is_cancelled() {
            break;
        }
    }
    Ok(judged(&name, &attempts))
}

/// Runs the operations in a new session, then reads the counters until they agree or the wait ends.
fn once(
    scope: &AcceptanceScope<'_>,
    spec: &DataSpec,
    drive: DriveMode,
    commit: Commit,
    attempt: u64,
) -> Result<Attempt, TargetError> {
    let rules = &scope.identity.counting;
    let mut observer = scope.target.observer(spec)?;
    let before = (observer.snapshot()?, observer.own_commits());
    let acknowledged = operate(scope.target, spec, drive, commit, attempt)?;
    let since = Instant::now();
    let patience = PATIENCE + Duration::from_secs_f64(rules.unseen_s.max(rules.unseen_after_end_s).max(0.0));
    loop {
        let comparisons = compared(rules, &acknowledged, &before, observer.as_mut())?;
        let attempt = Attempt { comparisons, delay: since.elapsed() };
        if attempt.agrees() || attempt.delay >= patience || scope.cancel.is_cancelled() {
            return Ok(attempt);
        }
        std::thread::park_timeout(PAUSE);
    }
}

/// Every operation of the block workload 20 times, in a new session.
fn operate(
    target: &dyn Target,
    spec: &DataSpec,
    drive: DriveMode,
    commit: Commit,
    attempt: u64,
) -> Result<Acknowledged, TargetError> {
    let mut session = session(target, spec, drive, commit, Redo::Lite)?;
    let mut acknowledged = Acknowledged::default();
    let all: Vec<(BlockOp, u64)> =
        ops(Extra::ALL, spec).into_iter().map(|(op, rows)| (renumbered(op, attempt), rows)).collect();
    match drive {
        DriveMode::Client => {
            for &(op, rows) in &all {
                let answer = session.execute(op).map_err(|error| failed(&error))?;
                require(rows, answer.rows, op)?;
                acknowledged.note(op, rows);
            }
        }
        DriveMode::Server => {
            let slices = drives::by_class(&all);
            for slice in &slices {
                let ops: Vec<BlockOp> = slice.iter().map(|(op, _)| *op).collect();
                let answer = session.slice(&ops).map_err(|error| failed(&error))?;
                if answer != drives::whole(slice) {
                    let message = format!("a slice of {} operations did {answer:?}", ops.len());
                    return Err(TargetError::database(message));
                }
                slice.iter().for_each(|&(op, rows)| acknowledged.note(op, rows));
            }
            acknowledged.slices = Some(slices.len() as u64);
        }
    }
    session.edge().map_err(|error| failed(&error))?;
    acknowledged.overhead = session.overhead_commits();
    session.close();
    Ok(acknowledged)
}

/// The same operation with another number, so that updates of another attempt write other values.
fn renumbered(op: BlockOp, attempt: u64) -> BlockOp {
    let number = |number: u64| number + 10_000 * (attempt + 1);
    match op {
        BlockOp::Update { first, number: old } => BlockOp::Update { first, number: number(old) },
        BlockOp::Insert { key, number: old } => BlockOp::Insert { key, number: number(old) },
        other => other,
    }
}

fn require(expected: u64, rows: u64, op: BlockOp) -> Result<(), TargetError> {
    match rows == expected {
        true => Ok(()),
        false => Err(TargetError::database(format!("{op:?} affected {rows} rows instead of {expected}"))),
    }
}

impl Acknowledged {
    fn note(&mut self, op: BlockOp, rows: u64) {
        match op {
            BlockOp::Update { .. } => self.rows_updated += rows,
            BlockOp::Insert { .. } => self.rows_inserted += rows,
            BlockOp::Delete { .. } => self.rows_deleted += rows,
            _ => self.rows_read += rows,
        }
        match op.writes() {
            true => self.commits += 1,
            false => self.reads += 1,
        }
    }
}

/// Compares the counters since `before` with the acknowledged work.
fn compared(
    rules: &CountingRules,
    acknowledged: &Acknowledged,
    (before, commits_before): &(Snapshot, u64),
    observer: &mut dyn Observer,
) -> Result<Vec<CounterComparison>, TargetError> {
    let after = observer.snapshot()?;
    let observer_commits = (observer.own_commits() - commits_before) as i64;
    let counters = Counters::between(before, &after);
    let mut all = vec![commits(rules, acknowledged, observer_commits, &counters)];
    all.extend(rows(rules, acknowledged, &counters));
    let touched = acknowledged.rows_read + acknowledged.rows_updated + acknowledged.rows_deleted;
    all.push(at_least("logical_reads", touched, counters.get(Counter::LogicalReads), true));
    // A database without redo, such as one in memory, reports that.
    all.push(at_least("redo_bytes", acknowledged.rows_updated, counters.get(Counter::RedoBytes), false));
    Ok(all)
}

fn commits(
    rules: &CountingRules,
    acknowledged: &Acknowledged,
    observer_commits: i64,
    counters: &Counters,
) -> CounterComparison {
    let transactions =
        rules.transactions.counted(acknowledged.reads, acknowledged.commits, acknowledged.slices);
    let counted = match transactions {
        Some(_) => counters.get(Counter::Commits).map_err(str::to_owned),
        None => Err("it is unknown how the engine counts commits".to_owned()),
    };
    CounterComparison {
        name: "commits",
        expected: transactions.unwrap_or(0) as i64 + acknowledged.overhead + observer_commits,
        counted,
        missed: 0,
        more: rules.commits_per_session_max as i64,
        is_needed: true,
    }
}

/// Compares changed rows, by kind of change if the platform counts them separately.
fn rows(rules: &CountingRules, acknowledged: &Acknowledged, counters: &Counters) -> Vec<CounterComparison> {
    let records = rules.rows.records as i64;
    let (updated, inserted, deleted) = (
        acknowledged.rows_updated as i64,
        acknowledged.rows_inserted as i64 * records,
        acknowledged.rows_deleted as i64 * records,
    );
    let portable = counters.get(Counter::RowsWritten).map_err(str::to_owned);
    let missed = |rows: i64| (rows as f64 * rules.rows.missed_share).ceil() as i64;
    let exact = |name, expected, counted| CounterComparison {
        name,
        expected,
        counted,
        missed: missed(expected),
        more: 0,
        is_needed: true,
    };
    let Some(names) = &rules.rows.by_kind else {
        return match &rules.rows.not_by_kind {
            // The engine declares that the platform has no such counter, so there is nothing to prove.
            Some(_) => Vec::new(),
            None => vec![exact("rows_written", updated + inserted + deleted, portable)],
        };
    };
    // Unchanged counters are left out of the difference; the portable counter shows whether the engine has them at all.
    let native = |name: &str| match (&portable, counters.native.get(name)) {
        (_, Some(rows)) => Ok(rows.round() as i64),
        (Ok(_), None) => Ok(0),
        (Err(reason), None) => Err(reason.clone()),
    };
    let more_inserted = if rules.rows.more_inserted.is_some() { i64::MAX } else { 0 };
    vec![
        exact("rows_updated", updated, native(&names.updated)),
        CounterComparison {
            more: more_inserted,
            ..exact("rows_inserted", inserted, native(&names.inserted))
        },
        exact("rows_deleted", deleted, native(&names.deleted)),
    ]
}

fn at_least(
    name: &'static str,
    least: u64,
    counted: Result<i64, &str>,
    is_needed: bool,
) -> CounterComparison {
    let counted = counted.map_err(str::to_owned);
    CounterComparison { name, expected: least as i64, counted, missed: 0, more: i64::MAX, is_needed }
}
