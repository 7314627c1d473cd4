//! Step 5: known operations of one quiet session, compared with the counters of the server to the unit.
//!
//! The server counts the work of others, too, and books some of it late. So counters are read until they agree, and the operations
//! are done again where they do not: a difference that comes back the same is the engine's, another one is not.

use std::time::{Duration, Instant};

use dyno_engine::{Observer, Op, Target, TargetError};
use dyno_plan::{Commit, DataSpec, Drive, Redo};
use dyno_record::{AcceptanceFinding, Counter, Counters, CountingRules, Snapshot};

use super::{AcceptanceScope, Findings, not_proved, proved, wrong};
use crate::conformance::{drives, failed, ops, session};
use dyno_engine::Extra;

/// How often the operations are done where the counters do not agree.
const ATTEMPTS: usize = 3;

/// The pause between two looks at the counters.
const PAUSE: Duration = Duration::from_millis(20);

/// Longest wait until the counters agree, beyond what the engine declares.
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) fn exact(scope: &AcceptanceScope<'_>, spec: &DataSpec) -> Findings {
    let mut findings = Vec::new();
    for &commit in scope.commits {
        for drive in [Drive::Client, Drive::Server] {
            if drive == Drive::Server && !scope.target.capabilities().server_drive {
                continue;
            }
            if scope.cancel.is_cancelled() {
                return Ok(findings);
            }
            findings.push(repeated(scope, spec, drive, commit)?);
        }
    }
    Ok(findings)
}

/// Operations of one session, as they were acknowledged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Acknowledged {
    reads: u64,
    commits: u64,
    /// Calls that ran operations inside the database; absent where each operation was a request.
    slices: Option<u64>,
    rows_read: u64,
    rows_updated: u64,
    rows_inserted: u64,
    rows_deleted: u64,
    /// Transactions of the session that were no operations.
    overhead: i64,
}

/// One counter against what was acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Comparison {
    name: &'static str,
    expected: i64,
    /// The server's figure, or why it has none.
    counted: Result<i64, String>,
    /// How much less the counter may show, because the platform loses some.
    missed: i64,
    /// How much more the counter may show.
    more: i64,
    /// Whether nothing is proved where the counter is absent.
    is_needed: bool,
}

impl Comparison {
    /// Counted without expected; 0 within what is allowed, and where nothing is counted.
    fn difference(&self) -> i64 {
        let Ok(counted) = self.counted else { return 0 };
        let difference = counted - self.expected;
        if (-self.missed..=self.more).contains(&difference) { 0 } else { difference }
    }
}

/// The result of one attempt.
struct Attempt {
    comparisons: Vec<Comparison>,
    delay: Duration,
}

impl Attempt {
    fn differences(&self) -> Vec<i64> {
        self.comparisons.iter().map(Comparison::difference).collect()
    }

    fn agrees(&self) -> bool {
        self.differences().iter().all(|by| *by == 0)
    }
}

fn repeated(
    scope: &AcceptanceScope<'_>,
    spec: &DataSpec,
    drive: Drive,
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

/// The finding about all attempts, of which only the last may agree.
fn judged(name: &str, attempts: &[Attempt]) -> AcceptanceFinding {
    let Some(last) = attempts.last() else { return not_proved(name, "nothing was tried") };
    let absent = |is_needed: bool| {
        let all = last.comparisons.iter().filter(move |one| one.is_needed == is_needed);
        let reasons = all.filter_map(|one| Some(format!("{}: {}", one.name, one.counted.as_ref().err()?)));
        reasons.collect::<Vec<_>>().join("; ")
    };
    let (lacks, misses) = (absent(true), absent(false));
    let words: Vec<String> = last.comparisons.iter().filter_map(words).collect();
    let words = format!("{} ({} ms until they agree)", words.join(", "), last.delay.as_millis());
    let is_below = |attempt: &Attempt| attempt.differences().iter().any(|by| *by < 0);
    let is_same = attempts.windows(2).all(|pair| pair[0].differences() == pair[1].differences());
    let finding = match last.agrees() {
        true if lacks.is_empty() && misses.is_empty() => proved(name, words),
        true if lacks.is_empty() => proved(name, format!("{words}; not counted: {misses}")),
        true => not_proved(name, format!("{words}; not counted: {lacks}")),
        false if attempts.iter().all(is_below) || (attempts.len() > 1 && is_same) => {
            wrong(name, format!("{}, in each of {} attempts", unequal(last), attempts.len()))
        }
        false => not_proved(name, format!("{}; others work on this server, too", unequal(last)))
            .way_out("repeat it while nobody else works on the server"),
    };
    let finding = finding
        .figure("attempts", attempts.len() as i64)
        .figure("delay_ms", i64::try_from(last.delay.as_millis()).unwrap_or(i64::MAX));
    last.comparisons.iter().fold(finding, |finding, one| {
        let finding = finding.figure(&format!("{}_expected", one.name), one.expected);
        match one.counted {
            Ok(counted) => finding.figure(&format!("{}_counted", one.name), counted),
            Err(_) => finding,
        }
    })
}

fn words(one: &Comparison) -> Option<String> {
    let counted = one.counted.as_ref().ok()?;
    Some(match one.more {
        i64::MAX => format!("{} {counted} for at least {}", one.name, one.expected),
        _ => format!("{} {counted} = {}", one.name, one.expected),
    })
}

fn unequal(attempt: &Attempt) -> String {
    let unequal = attempt.comparisons.iter().filter(|one| one.difference() != 0);
    let words = unequal.filter_map(|one| {
        let counted = one.counted.as_ref().ok()?;
        Some(format!("{} {counted} counted, {} acknowledged", one.name, one.expected))
    });
    words.collect::<Vec<_>>().join(", ")
}

/// Does the operations in a new session, and reads the counters until they agree or the patience ends.
fn once(
    scope: &AcceptanceScope<'_>,
    spec: &DataSpec,
    drive: Drive,
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

/// Every operation of the method 20 times, in a session of its own.
fn operate(
    target: &dyn Target,
    spec: &DataSpec,
    drive: Drive,
    commit: Commit,
    attempt: u64,
) -> Result<Acknowledged, TargetError> {
    let mut session = session(target, spec, drive, commit, Redo::Lite)?;
    let mut acknowledged = Acknowledged::default();
    let all: Vec<(Op, u64)> =
        ops(Extra::ALL, spec).into_iter().map(|(op, rows)| (renumbered(op, attempt), rows)).collect();
    match drive {
        Drive::Client => {
            for &(op, rows) in &all {
                let answer = session.execute(op).map_err(|error| failed(&error))?;
                require(rows, answer.rows, op)?;
                acknowledged.note(op, rows);
            }
        }
        Drive::Server => {
            let slices = drives::by_class(&all);
            for slice in &slices {
                let ops: Vec<Op> = slice.iter().map(|(op, _)| *op).collect();
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

/// The same operation with another number, so that an update of a further attempt writes other values.
fn renumbered(op: Op, attempt: u64) -> Op {
    let number = |number: u64| number + 10_000 * (attempt + 1);
    match op {
        Op::Update { first, number: old } => Op::Update { first, number: number(old) },
        Op::Insert { key, number: old } => Op::Insert { key, number: number(old) },
        other => other,
    }
}

fn require(expected: u64, rows: u64, op: Op) -> Result<(), TargetError> {
    match rows == expected {
        true => Ok(()),
        false => Err(TargetError::database(format!("{op:?} did {rows} rows and not {expected}"))),
    }
}

impl Acknowledged {
    fn note(&mut self, op: Op, rows: u64) {
        match op {
            Op::Update { .. } => self.rows_updated += rows,
            Op::Insert { .. } => self.rows_inserted += rows,
            Op::Delete { .. } => self.rows_deleted += rows,
            _ => self.rows_read += rows,
        }
        match op.writes() {
            true => self.commits += 1,
            false => self.reads += 1,
        }
    }
}

/// The counters since `before` against what was acknowledged.
fn compared(
    rules: &CountingRules,
    acknowledged: &Acknowledged,
    (before, commits_before): &(Snapshot, u64),
    observer: &mut dyn Observer,
) -> Result<Vec<Comparison>, TargetError> {
    let after = observer.snapshot()?;
    let observer_commits = (observer.own_commits() - commits_before) as i64;
    let counters = Counters::between(before, &after);
    let mut all = vec![commits(rules, acknowledged, observer_commits, &counters)];
    all.extend(rows(rules, acknowledged, &counters));
    let touched = acknowledged.rows_read + acknowledged.rows_updated + acknowledged.rows_deleted;
    all.push(at_least("logical_reads", touched, counters.get(Counter::LogicalReads), true));
    // Databases without redo, as in memory, say so.
    all.push(at_least("redo_bytes", acknowledged.rows_updated, counters.get(Counter::RedoBytes), false));
    Ok(all)
}

fn commits(
    rules: &CountingRules,
    acknowledged: &Acknowledged,
    observer_commits: i64,
    counters: &Counters,
) -> Comparison {
    let transactions =
        rules.transactions.counted(acknowledged.reads, acknowledged.commits, acknowledged.slices);
    let counted = match transactions {
        Some(_) => counters.get(Counter::Commits).map_err(str::to_owned),
        None => Err("how the engine counts commits is not known".to_owned()),
    };
    Comparison {
        name: "commits",
        expected: transactions.unwrap_or(0) as i64 + acknowledged.overhead + observer_commits,
        counted,
        missed: 0,
        more: rules.commits_per_session_max as i64,
        is_needed: true,
    }
}

/// Rows changed, apart by kind where the platform tells them apart.
fn rows(rules: &CountingRules, acknowledged: &Acknowledged, counters: &Counters) -> Vec<Comparison> {
    let records = rules.rows.records as i64;
    let (updated, inserted, deleted) = (
        acknowledged.rows_updated as i64,
        acknowledged.rows_inserted as i64 * records,
        acknowledged.rows_deleted as i64 * records,
    );
    let portable = counters.get(Counter::RowsWritten).map_err(str::to_owned);
    let missed = |rows: i64| (rows as f64 * rules.rows.missed_share).ceil() as i64;
    let exact = |name, expected, counted| Comparison {
        name,
        expected,
        counted,
        missed: missed(expected),
        more: 0,
        is_needed: true,
    };
    let Some(names) = &rules.rows.by_kind else {
        return match &rules.rows.not_by_kind {
            // The platform has no such counter at all: that is declared, and nothing to prove.
            Some(_) => Vec::new(),
            None => vec![exact("rows_written", updated + inserted + deleted, portable)],
        };
    };
    // What did not move is left out of the difference; whether it is counted at all the portable counter says.
    let native = |name: &str| match (&portable, counters.native.get(name)) {
        (_, Some(rows)) => Ok(rows.round() as i64),
        (Ok(_), None) => Ok(0),
        (Err(reason), None) => Err(reason.clone()),
    };
    let more_inserted = if rules.rows.more_inserted.is_some() { i64::MAX } else { 0 };
    vec![
        exact("rows_updated", updated, native(&names.updated)),
        Comparison { more: more_inserted, ..exact("rows_inserted", inserted, native(&names.inserted)) },
        exact("rows_deleted", deleted, native(&names.deleted)),
    ]
}

fn at_least(name: &'static str, least: u64, counted: Result<i64, &str>, is_needed: bool) -> Comparison {
    let counted = counted.map_err(str::to_owned);
    Comparison { name, expected: least as i64, counted, missed: 0, more: i64::MAX, is_needed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_record::AcceptanceVerdict::{self, NotProved, Proved, Wrong};

    fn verdict(counted: &[i64]) -> AcceptanceVerdict {
        let attempt = |&counted: &i64| Attempt {
            comparisons: vec![Comparison {
                name: "commits",
                expected: 60,
                counted: Ok(counted),
                missed: 0,
                more: 0,
                is_needed: true,
            }],
            delay: Duration::ZERO,
        };
        judged("client wait", &counted.iter().map(attempt).collect::<Vec<_>>()).verdict
    }

    #[test]
    fn differences_that_come_back_are_wrong_and_others_are_not_proved() {
        assert_eq!(verdict(&[60]), Proved);
        assert_eq!(verdict(&[64, 60]), Proved);
        assert_eq!(verdict(&[64, 64, 64]), Wrong);
        assert_eq!(verdict(&[64, 71, 66]), NotProved);
        // Nobody else makes a counter miss what was acknowledged.
        assert_eq!(verdict(&[58, 59, 57]), Wrong);
        assert_eq!(verdict(&[58, 70, 62]), NotProved);
    }

    #[test]
    fn a_counter_that_is_absent_proves_nothing_where_it_is_needed() {
        let finding = |is_needed| {
            let counted = Err("off".to_owned());
            let one = Comparison { name: "rows", expected: 1, counted, missed: 0, more: 0, is_needed };
            judged("client wait", &[Attempt { comparisons: vec![one], delay: Duration::ZERO }])
        };
        assert_eq!((finding(true).verdict, finding(false).verdict), (NotProved, Proved));
        assert!(finding(true).observed.contains("not counted: rows: off"), "{}", finding(true).observed);
    }
}
