//! Measures what one transaction of each class does to a database. One session alone executes some of each,
//! before other sessions connect and before anything counts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dyno_engine::{
    Cancel, Clock, ErrorClass, Interrupter, Observer, OpError, Session, SessionRequest, SessionSetup, Target,
    TargetError,
};
use dyno_plan::{Commit, Connect, DataSpec, StatementProtocol};
use dyno_record::{Counter, CounterReading, Learned, Mean, RowEffect, Snapshot};
use dyno_workload::SessionTurn;
use dyno_workload::custom::{CustomActor, CustomWorkload};

use crate::prepared::pipelines;

/// Number of samples of each class; their differences give the error of the mean.
const PARTS: usize = 5;
/// The most transactions in a sample.
const TRANSACTIONS_MAX: u64 = 1_000;
/// Number of transactions of a class in which the session reads the server's counts after each request, where
/// the server counts each statement.
const SINGLY: usize = 4;
/// The most requests of one transaction that are examined this way.
const SINGLY_REQUESTS_MAX: usize = 100;
/// Number of samples where one transaction takes longer than [`LONG`].
const PARTS_OF_LONG: usize = 2;
/// Transactions that take longer are repeated as few times as possible.
const LONG: Duration = Duration::from_secs(1);
/// The most attempts of a transaction that conflicts with others.
const TRIES_MAX: u32 = 10;

/// Counters that do not move when a poll finds nothing.
const UNMOVED_BY_POLLS: [Counter; 2] = [Counter::Commits, Counter::RowsWritten];

/// The counters that characterize a transaction. Times and requests depend on other activity.
const COUNTERS: [Counter; 7] = [
    Counter::LogicalReads,
    Counter::RedoBytes,
    Counter::Commits,
    Counter::Rollbacks,
    Counter::Executions,
    Counter::RowsRead,
    Counter::RowsWritten,
];

/// Measures the cost of a custom workload's transactions on a target.
pub struct CostProfiler {
    pub target: Arc<dyn Target>,
    /// The spec of Dyno's test data on the target, which is empty.
    pub spec: DataSpec,
    /// The workload to be measured.
    pub workload: Arc<CustomWorkload>,
    /// The seed of the run.
    pub seed: u64,
    /// A session number that no session of the run has: counting generators such as sequences stay separate.
    pub session: u32,
    /// How commits wait for durability.
    pub commit: Commit,
    /// How statements are sent to the server.
    pub protocol: StatementProtocol,
    /// How long a connection lasts.
    pub connect: Connect,
    pub clock: Arc<dyn Clock>,
    /// Approximate time limit for the whole measurement.
    pub time: Duration,
    /// Whether the server counts each statement as a transaction, so that a session needs each one's cost.
    pub singly: bool,
    /// The longest transaction that is measured.
    pub longest: Duration,
    /// Observes the measurement from outside, and ends it early.
    pub handle: CostProfilerHandle,
}

/// Observes a measurement from outside, and ends it even while its session waits, for example for a foreign
/// lock.
#[derive(Clone, Default)]
pub struct CostProfilerHandle {
    cancel: Cancel,
    session: Arc<OnceLock<Arc<dyn Interrupter>>>,
    answered: Arc<AtomicU64>,
}

impl CostProfilerHandle {
    /// Number of requests that the server has answered so far.
    pub fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// Ends it: no transaction in progress is committed afterwards.
    pub fn cancel(&self) {
        self.cancel.cancel();
        if let Some(session) = self.session.get() {
            session.interrupt();
        }
    }
}

/// The deltas of one sample of a class.
struct CostSample {
    transactions: u64,
    busy_ns: u64,
    /// Rows that its statements returned or changed.
    rows: u64,
    /// Rows that its statements changed.
    rows_written: u64,
    deltas: BTreeMap<Counter, f64>,
}

impl CostProfiler {
    /// The cost of each class, in the workload's order, or why it could not be measured.
    ///
    /// # Errors
    /// The target cannot be reached, or has no observer.
    pub fn learn(&self) -> Result<Vec<Result<Learned, String>>, TargetError> {
        let engine = self.target.engine();
        let unsupported =
            |fault: dyno_workload::custom::WorkloadError| TargetError::unsupported(fault.to_string());
        let statements = self.workload.statements(engine, self.target.dialect()).map_err(unsupported)?;
        let mut observer = self.target.observer(&self.spec)?;
        let setup = SessionSetup {
            number: self.session,
            statements,
            rehearsal: None,
            commit: self.commit,
            protocol: self.protocol,
            connect: self.connect,
            blocks: None,
            bulk: None,
            read_only: !self.workload.writes(),
            slices: false,
            clock: Arc::clone(&self.clock),
        };
        let mut session = self.target.session(&setup)?;
        // A later stop finds the session; an earlier stop is seen here.
        let _ = self.handle.session.set(session.interrupter());
        if self.connect == Connect::Transaction {
            session.disconnect();
        }
        let actor = CustomActor::new(&self.workload, engine, self.seed, self.session).map_err(unsupported)?;
        let mut actor = actor.pipelining(pipelines(self.target.as_ref(), self.protocol));
        let weighed: Vec<bool> = self.workload.weights().map(|weight| weight > 0).collect();
        let count = weighed.iter().filter(|weighed| **weighed).count().max(1);
        let part_ns = self.time.as_nanos() as u64 / (count * PARTS) as u64;
        let learned = self.measure_snapshot_cost(session.as_mut(), observer.as_mut()).and_then(|looks| {
            let class = |(place, is_weighed): (usize, bool)| match is_weighed {
                false => Ok(Err("its weight is 0".to_owned())),
                true => self.class(place, part_ns, &mut actor, session.as_mut(), observer.as_mut(), &looks),
            };
            weighed.iter().copied().enumerate().map(class).collect()
        });
        session.close();
        learned
    }

    /// Measures what reading the counters itself moves.
    fn measure_snapshot_cost(
        &self,
        session: &mut dyn Session,
        observer: &mut dyn Observer,
    ) -> Result<BTreeMap<Counter, f64>, TargetError> {
        let mut samples: BTreeMap<Counter, Vec<f64>> = BTreeMap::new();
        let mut before = self.read_counters(session, observer)?;
        for _ in 0..PARTS {
            let after = self.read_counters(session, observer)?;
            for (counter, moved) in counter_deltas(&before, &after) {
                samples.entry(counter).or_default().push(moved);
            }
            before = after;
        }
        // The median: other sessions' work affects few of the readings.
        let median = |mut moved: Vec<f64>| {
            moved.sort_by(f64::total_cmp);
            moved[moved.len() / 2]
        };
        Ok(samples.into_iter().map(|(counter, moved)| (counter, median(moved))).collect())
    }

    /// The counters after everything that the session has done so far.
    fn read_counters(
        &self,
        session: &mut dyn Session,
        observer: &mut dyn Observer,
    ) -> Result<Snapshot, TargetError> {
        if self.connect == Connect::Session {
            session
                .edge()
                .map_err(|error| TargetError::database(format!("measuring what transactions do: {error}")))?;
        }
        let mut snapshot = observer.snapshot()?;
        if let Some(CounterReading::Value(commits)) = snapshot.portable.get_mut(&Counter::Commits) {
            // The first readings may include one-time lookups of the server.
            *commits = commits.saturating_sub(observer.own_commits());
        }
        Ok(snapshot)
    }

    fn class(
        &self,
        place: usize,
        part_ns: u64,
        actor: &mut CustomActor,
        session: &mut dyn Session,
        observer: &mut dyn Observer,
        snapshot_cost: &BTreeMap<Counter, f64>,
    ) -> Result<Result<Learned, String>, TargetError> {
        let mut parts = Vec::with_capacity(PARTS);
        if self.handle.cancel.is_cancelled() {
            return Ok(Err("the run was stopped".to_owned()));
        }
        // The first transaction finds neither statements nor data in caches.
        let first_ns = self.clock.now_ns();
        if let Err(why) = self.transaction(place, actor, session, 0)? {
            return Ok(Err(why));
        }
        let seconds = (self.clock.now_ns() - first_ns) as f64 / 1e9;
        if seconds > self.longest.as_secs_f64() {
            return Ok(Err(format!(
                "one transaction took {seconds:.1} s, too long to measure several before the run"
            )));
        }
        for _ in 0..if self.singly { SINGLY } else { 0 } {
            if let Err(why) = self.transaction(place, actor, session, SINGLY_REQUESTS_MAX)? {
                return Ok(Err(why));
            }
        }
        let mut before = self.read_counters(session, observer)?;
        let part_count = if seconds > LONG.as_secs_f64() { PARTS_OF_LONG } else { PARTS };
        for _ in 0..part_count {
            let began_ns = self.clock.now_ns();
            let (mut transactions, mut empty_polls, mut busy_ns) = (0, 0, 0);
            let (mut rows, mut rows_written) = (0, 0);
            while transactions < TRANSACTIONS_MAX && (transactions + empty_polls == 0 || busy_ns < part_ns) {
                if self.handle.cancel.is_cancelled() {
                    return Ok(Err("the run was stopped".to_owned()));
                }
                if let Err(why) = self.transaction(place, actor, session, 0)? {
                    return Ok(Err(why));
                }
                let effect = actor.outcome().effect;
                if effect.empty_polls > 0 {
                    empty_polls += 1;
                    busy_ns = self.clock.now_ns() - began_ns;
                    continue;
                }
                transactions += 1;
                rows += effect.all_rows();
                rows_written += effect.all_rows() - effect.rows[RowEffect::Read as usize];
                busy_ns = self.clock.now_ns() - began_ns;
            }
            if transactions == 0 {
                return Ok(Err("it polls, and found no work".to_owned()));
            }
            let after = self.read_counters(session, observer)?;
            let moved = counter_deltas(&before, &after)
                .filter(|(counter, _)| empty_polls == 0 || UNMOVED_BY_POLLS.contains(counter))
                .map(|(counter, moved)| {
                    (counter, moved - snapshot_cost.get(&counter).copied().unwrap_or(0.0))
                })
                .collect();
            parts.push(CostSample { transactions, busy_ns, rows, rows_written, deltas: moved });
            before = after;
        }
        Ok(Ok(learned(&undisturbed_samples(parts))))
    }

    /// Executes one transaction of the class at `place` to its end, and publishes the work of each of its
    /// first `singly` requests. An error in words if it never completes although it retries conflicts.
    ///
    /// # Errors
    /// The session is unusable: a transaction may be open.
    fn transaction(
        &self,
        place: usize,
        actor: &mut CustomActor,
        session: &mut dyn Session,
        singly: usize,
    ) -> Result<Result<(), String>, TargetError> {
        if self.connect == Connect::Session {
            return self.steps(place, actor, session, singly);
        }
        session.reconnect()?;
        let outcome = self.steps(place, actor, session, singly);
        session.disconnect();
        outcome
    }

    fn steps(
        &self,
        place: usize,
        actor: &mut CustomActor,
        session: &mut dyn Session,
        mut singly: usize,
    ) -> Result<Result<(), String>, TargetError> {
        actor.draw_of(place);
        let (mut last, mut tries) = (None, 1);
        if singly > 0 {
            session.edge().map_err(|error| request_error(&error))?;
        }
        loop {
            let turn = actor.advance(last, |request| session.ask(request)).and_then(|done| match done {
                SessionTurn::Asked(done) => {
                    actor.queued(session.queued());
                    actor.read(|column| session.answered(column)).map(|()| SessionTurn::Asked(done))
                }
                other => Ok(other),
            });
            let error = match turn {
                Ok(SessionTurn::Over) => return Ok(Ok(())),
                Ok(SessionTurn::Asked(done)) => {
                    self.handle.answered.fetch_add(1, Ordering::Relaxed);
                    if singly > 0 {
                        singly -= 1;
                        session.edge().map_err(|error| request_error(&error))?;
                    }
                    last = Some(done);
                    continue;
                }
                // A pause costs the database nothing.
                Ok(SessionTurn::Rests(_)) => {
                    last = None;
                    continue;
                }
                Err(error) => error,
            };
            let failed = actor.failed(error.class);
            if error.class != ErrorClass::Retryable {
                return Err(request_error(&error));
            }
            if failed.is_open {
                session.ask(SessionRequest::Rollback).map_err(|error| request_error(&error))?;
            }
            if tries == TRIES_MAX || !actor.retry() {
                return Ok(Err(error.to_string()));
            }
            (last, tries) = (None, tries + 1);
        }
    }
}

fn request_error(error: &OpError) -> TargetError {
    TargetError::database(error.to_string())
}

/// The deltas of the counters that both snapshots have.
fn counter_deltas(before: &Snapshot, after: &Snapshot) -> impl Iterator<Item = (Counter, f64)> {
    let value = |snapshot: &Snapshot, counter| match snapshot.portable.get(&counter) {
        Some(CounterReading::Value(value)) => Some(*value as f64),
        _ => None,
    };
    COUNTERS
        .into_iter()
        .filter_map(move |counter| Some((counter, value(after, counter)? - value(before, counter)?)))
}

/// Fewer samples than this have no error estimate.
const PARTS_MIN: usize = 2;

/// Rows of a sample beyond its own from which foreign writes are assumed: this many, and this share.
const OTHERS_ROWS: f64 = 2.0;
const OTHERS_SHARE: f64 = 0.02;

/// The samples without foreign writes: those in which the database counted the fewest rows per row that the
/// session wrote. Foreign work only adds rows. All samples if too few remain, or if the session does not know
/// what it wrote.
fn undisturbed_samples(parts: Vec<CostSample>) -> Vec<CostSample> {
    let ratio = |part: &CostSample| {
        let counted = *part.deltas.get(&Counter::RowsWritten)?;
        (part.rows_written > 0).then(|| counted / part.rows_written as f64)
    };
    let Some(least) = parts.iter().map(ratio).try_fold(f64::INFINITY, |least, next| Some(least.min(next?)))
    else {
        return parts;
    };
    let is_alone = |part: &CostSample| {
        let expected = least * part.rows_written as f64;
        let counted = part.deltas.get(&Counter::RowsWritten).copied().unwrap_or(expected);
        counted - expected <= OTHERS_ROWS.max(OTHERS_SHARE * expected)
    };
    if parts.iter().filter(|part| is_alone(part)).count() < PARTS_MIN {
        return parts;
    }
    parts.into_iter().filter(is_alone).collect()
}

/// Means over `parts` of different lengths: the ratio estimator and its standard error (Cochran, Sampling
/// Techniques, 3rd ed., 6.3), for every counter that all samples have.
fn learned(parts: &[CostSample]) -> Learned {
    let transactions: u64 = parts.iter().map(|part| part.transactions).sum();
    let busy_ns: u64 = parts.iter().map(|part| part.busy_ns).sum();
    let count = parts.len() as f64;
    let mean_length = transactions as f64 / count;
    let mean_of = |counter: Counter| {
        let moved: Vec<(f64, f64)> = parts
            .iter()
            .map(|part| Some((part.deltas.get(&counter).copied()?, part.transactions as f64)))
            .collect::<Option<_>>()?;
        let mean = moved.iter().map(|(moved, _)| moved).sum::<f64>() / transactions as f64;
        let squares: f64 = moved.iter().map(|(moved, length)| (moved - mean * length).powi(2)).sum();
        let error = (squares / (count * (count - 1.0))).sqrt() / mean_length;
        Some((counter, Mean { mean: mean.max(0.0), error }))
    };
    Learned {
        transactions,
        alone_us: busy_ns as f64 / transactions as f64 / 1_000.0,
        rows: Some(parts.iter().map(|part| part.rows).sum::<u64>() as f64 / transactions as f64),
        counters: COUNTERS.into_iter().filter_map(mean_of).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_mean_covers_all_transactions_and_error_comes_from_samples() {
        let part = |transactions, rows: f64| CostSample {
            transactions,
            busy_ns: transactions * 2_000,
            rows: 3 * transactions,
            rows_written: 3 * transactions,
            deltas: BTreeMap::from([(Counter::RowsWritten, rows)]),
        };
        let exact = learned(&[part(10, 30.0), part(20, 60.0), part(5, 15.0)]);
        assert_eq!((exact.transactions, exact.alone_us, exact.rows), (35, 2.0, Some(3.0)));
        assert_eq!(exact.counters[&Counter::RowsWritten], Mean { mean: 3.0, error: 0.0 });
        let spread =
            learned(&[part(10, 20.0), part(10, 30.0), part(10, 40.0)]).counters[&Counter::RowsWritten];
        // Rows per transaction are 2, 3 and 4: a deviation of 1, divided by the square root of 3.
        assert!((spread.mean - 3.0).abs() < 1e-12);
        assert!((spread.error - 1.0 / 3.0_f64.sqrt()).abs() < 1e-12);
        assert!(!exact.counters.contains_key(&Counter::RowsRead), "nobody counted these");
    }

    #[test]
    fn cost_samples_with_foreign_rows_are_discarded() {
        let part = |written: u64, foreign_rows: f64| CostSample {
            transactions: 40,
            busy_ns: 1,
            rows: written,
            rows_written: written,
            // A trigger writes one more row for each.
            deltas: BTreeMap::from([(Counter::RowsWritten, 2.0 * written as f64 + foreign_rows)]),
        };
        let mean = |parts| learned(&undisturbed_samples(parts)).counters[&Counter::RowsWritten].mean;
        assert_eq!(mean(vec![part(40, 0.0), part(40, 50.0), part(40, 0.0), part(40, 100.0)]), 2.0);
        assert_eq!(
            undisturbed_samples(vec![part(20, 0.0), part(60, 0.0), part(40, 0.0)]).len(),
            3,
            "chance stays"
        );
        assert_eq!(
            undisturbed_samples(vec![part(40, 0.0), part(40, 50.0), part(40, 90.0)]).len(),
            3,
            "too few are left"
        );
        assert_eq!(
            undisturbed_samples(vec![part(0, 0.0), part(0, 50.0)]).len(),
            2,
            "the session does not know"
        );
    }
}
