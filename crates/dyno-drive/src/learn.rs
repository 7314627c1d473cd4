//! What one transaction of each class does to a database, learned while one session alone does some of each: before the others
//! come, and before anything counts.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dyno_engine::{
    Cancel, Clock, ErrorClass, Interrupter, Observer, OpError, Request, Session, SessionSetup, Target,
    TargetError,
};
use dyno_plan::{Commit, Connect, DataSpec, Protocol};
use dyno_record::{Counter, Learned, Mean, Reading, Snapshot, Touch};
use dyno_workload::Turn;
use dyno_workload::own::{Actor, Own};

use crate::prepared::pipelines;

/// Parts in which each class is measured: their differences say how sure the mean is.
const PARTS: usize = 5;
/// Transactions of a part at most.
const TRANSACTIONS_MAX: u64 = 1_000;
/// Transactions of a class after each of whose requests the server is asked what it has counted, where it counts each statement.
const SINGLY: usize = 4;
/// Requests of one transaction that are looked at so.
const SINGLY_REQUESTS_MAX: usize = 100;
/// Parts where one transaction takes longer than [`LONG`].
const PARTS_OF_LONG: usize = 2;
/// A transaction that is repeated as seldom as can be.
const LONG: Duration = Duration::from_secs(1);
/// Tries of a transaction that conflicts with somebody.
const TRIES_MAX: u32 = 10;

/// Those of them that polls which find nothing do not move.
const UNMOVED_BY_POLLS: [Counter; 2] = [Counter::Commits, Counter::RowsWritten];

/// What of a database a transaction is known by. Times and requests depend on what else goes on.
const COUNTERS: [Counter; 7] = [
    Counter::LogicalReads,
    Counter::RedoBytes,
    Counter::Commits,
    Counter::Rollbacks,
    Counter::Executions,
    Counter::RowsRead,
    Counter::RowsWritten,
];

/// Who learns, and where.
pub struct Lesson {
    /// The database.
    pub target: Arc<dyn Target>,
    /// The data of Dyno's on it: none.
    pub spec: DataSpec,
    /// What is learned.
    pub own: Arc<Own>,
    /// The run's seed.
    pub seed: u64,
    /// A number that no session of the run has: what counts, such as sequences, is apart for each.
    pub session: u32,
    /// How commits wait.
    pub commit: Commit,
    /// How statements come to the server.
    pub protocol: Protocol,
    /// How long a connection lasts.
    pub connect: Connect,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// How long all of it may take, about.
    pub time: Duration,
    /// Whether the server counts each statement as a transaction, so that a session has to know what each costs.
    pub singly: bool,
    /// The longest transaction that is learned.
    pub longest: Duration,
    /// Whether it is to end.
    pub stop: Stop,
}

/// Ends a lesson from outside, whatever its session waits for: a lock that somebody holds.
#[derive(Clone, Default)]
pub struct Stop {
    cancel: Cancel,
    session: Arc<OnceLock<Arc<dyn Interrupter>>>,
}

impl Stop {
    /// Ends it: nothing that it has begun is committed afterwards.
    pub fn now(&self) {
        self.cancel.cancel();
        if let Some(session) = self.session.get() {
            session.interrupt();
        }
    }
}

/// What one part of a class has moved.
struct Part {
    transactions: u64,
    busy_ns: u64,
    /// Rows that its statements returned or changed.
    rows: u64,
    /// Rows that its statements changed.
    rows_written: u64,
    moved: BTreeMap<Counter, f64>,
}

impl Lesson {
    /// What was learned of each class, in the workload's order; why nothing was of one is in words.
    ///
    /// # Errors
    /// The target cannot be reached, or has nobody who counts.
    pub fn learn(&self) -> Result<Vec<Result<Learned, String>>, TargetError> {
        let engine = self.target.engine();
        let unsupported = |fault: dyno_workload::own::Fault| TargetError::unsupported(fault.to_string());
        let statements = self.own.statements(engine, self.target.dialect()).map_err(unsupported)?;
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
            read_only: !self.own.writes(),
            slices: false,
            clock: Arc::clone(&self.clock),
        };
        let mut session = self.target.session(&setup)?;
        // Whoever stops it from here on finds the session, and whoever has stopped it before is seen.
        let _ = self.stop.session.set(session.interrupter());
        if self.connect == Connect::Transaction {
            session.disconnect();
        }
        let actor = Actor::new(&self.own, engine, self.seed, self.session).map_err(unsupported)?;
        let mut actor = actor.pipelining(pipelines(self.target.as_ref(), self.protocol));
        let weighed: Vec<bool> = self.own.weights().map(|weight| weight > 0).collect();
        let count = weighed.iter().filter(|weighed| **weighed).count().max(1);
        let part_ns = self.time.as_nanos() as u64 / (count * PARTS) as u64;
        let learned = self.looks(session.as_mut(), observer.as_mut()).and_then(|looks| {
            let class = |(place, is_weighed): (usize, bool)| match is_weighed {
                false => Ok(Err("its weight is 0".to_owned())),
                true => self.class(place, part_ns, &mut actor, session.as_mut(), observer.as_mut(), &looks),
            };
            weighed.iter().copied().enumerate().map(class).collect()
        });
        session.close();
        learned
    }

    /// What looking itself moves.
    fn looks(
        &self,
        session: &mut dyn Session,
        observer: &mut dyn Observer,
    ) -> Result<BTreeMap<Counter, f64>, TargetError> {
        let mut samples: BTreeMap<Counter, Vec<f64>> = BTreeMap::new();
        let mut before = self.look(session, observer)?;
        for _ in 0..PARTS {
            let after = self.look(session, observer)?;
            for (counter, moved) in moved(&before, &after) {
                samples.entry(counter).or_default().push(moved);
            }
            before = after;
        }
        // The median: what others did meanwhile is in few of them.
        let median = |mut moved: Vec<f64>| {
            moved.sort_by(f64::total_cmp);
            moved[moved.len() / 2]
        };
        Ok(samples.into_iter().map(|(counter, moved)| (counter, median(moved))).collect())
    }

    /// All that the session has done by now.
    fn look(&self, session: &mut dyn Session, observer: &mut dyn Observer) -> Result<Snapshot, TargetError> {
        if self.connect == Connect::Session {
            session
                .edge()
                .map_err(|error| TargetError::database(format!("learning what transactions do: {error}")))?;
        }
        let mut snapshot = observer.snapshot()?;
        if let Some(Reading::Value(commits)) = snapshot.portable.get_mut(&Counter::Commits) {
            // The first looks may meet things for the first time, and look them up.
            *commits = commits.saturating_sub(observer.own_commits());
        }
        Ok(snapshot)
    }

    fn class(
        &self,
        place: usize,
        part_ns: u64,
        actor: &mut Actor,
        session: &mut dyn Session,
        observer: &mut dyn Observer,
        looks: &BTreeMap<Counter, f64>,
    ) -> Result<Result<Learned, String>, TargetError> {
        let mut parts = Vec::with_capacity(PARTS);
        if self.stop.cancel.is_cancelled() {
            return Ok(Err("the run was stopped".to_owned()));
        }
        // The first one finds nothing in the caches: not of the statements, and not of the data.
        let first_ns = self.clock.now_ns();
        if let Err(why) = self.transaction(place, actor, session, 0)? {
            return Ok(Err(why));
        }
        let seconds = (self.clock.now_ns() - first_ns) as f64 / 1e9;
        if seconds > self.longest.as_secs_f64() {
            return Ok(Err(format!(
                "one transaction took {seconds:.1} s, too long to do several of them first"
            )));
        }
        for _ in 0..if self.singly { SINGLY } else { 0 } {
            if let Err(why) = self.transaction(place, actor, session, SINGLY_REQUESTS_MAX)? {
                return Ok(Err(why));
            }
        }
        let mut before = self.look(session, observer)?;
        let part_count = if seconds > LONG.as_secs_f64() { PARTS_OF_LONG } else { PARTS };
        for _ in 0..part_count {
            let began_ns = self.clock.now_ns();
            let (mut transactions, mut empty_polls, mut busy_ns) = (0, 0, 0);
            let (mut rows, mut rows_written) = (0, 0);
            while transactions < TRANSACTIONS_MAX && (transactions + empty_polls == 0 || busy_ns < part_ns) {
                if self.stop.cancel.is_cancelled() {
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
                rows_written += effect.all_rows() - effect.rows[Touch::Read as usize];
                busy_ns = self.clock.now_ns() - began_ns;
            }
            if transactions == 0 {
                return Ok(Err("it polls, and found nothing to do".to_owned()));
            }
            let after = self.look(session, observer)?;
            let moved = moved(&before, &after)
                .filter(|(counter, _)| empty_polls == 0 || UNMOVED_BY_POLLS.contains(counter))
                .map(|(counter, moved)| (counter, moved - looks.get(&counter).copied().unwrap_or(0.0)))
                .collect();
            parts.push(Part { transactions, busy_ns, rows, rows_written, moved });
            before = after;
        }
        Ok(Ok(learned(&undisturbed(parts))))
    }

    /// Does one transaction of the class at `place` to its end, and shows what each of its first requests has done, so many; why it does not come to one, though it conflicts with nobody for long.
    ///
    /// # Errors
    /// The session is of no more use: a transaction may be open.
    fn transaction(
        &self,
        place: usize,
        actor: &mut Actor,
        session: &mut dyn Session,
        singly: usize,
    ) -> Result<Result<(), String>, TargetError> {
        if self.connect == Connect::Session {
            return Self::steps(place, actor, session, singly);
        }
        session.reconnect()?;
        let done = Self::steps(place, actor, session, singly);
        session.disconnect();
        done
    }

    fn steps(
        place: usize,
        actor: &mut Actor,
        session: &mut dyn Session,
        mut singly: usize,
    ) -> Result<Result<(), String>, TargetError> {
        actor.draw_of(place);
        let (mut last, mut tries) = (None, 1);
        if singly > 0 {
            session.edge().map_err(|error| unable(&error))?;
        }
        loop {
            let asked = actor.advance(last, |request| session.ask(request)).and_then(|done| match done {
                Turn::Asked(done) => {
                    actor.queued(session.queued());
                    actor.read(|column| session.answered(column)).map(|()| Turn::Asked(done))
                }
                other => Ok(other),
            });
            let error = match asked {
                Ok(Turn::Over) => return Ok(Ok(())),
                Ok(Turn::Asked(done)) => {
                    if singly > 0 {
                        singly -= 1;
                        session.edge().map_err(|error| unable(&error))?;
                    }
                    last = Some(done);
                    continue;
                }
                // A rest costs the database nothing.
                Ok(Turn::Rests(_)) => {
                    last = None;
                    continue;
                }
                Err(error) => error,
            };
            let failed = actor.failed(error.class);
            if error.class != ErrorClass::Retryable {
                return Err(unable(&error));
            }
            if failed.is_open {
                session.ask(Request::Rollback).map_err(|error| unable(&error))?;
            }
            if tries == TRIES_MAX || !actor.again() {
                return Ok(Err(error.to_string()));
            }
            (last, tries) = (None, tries + 1);
        }
    }
}

fn unable(error: &OpError) -> TargetError {
    TargetError::database(error.to_string())
}

/// How far those counters moved that both snapshots have.
fn moved(before: &Snapshot, after: &Snapshot) -> impl Iterator<Item = (Counter, f64)> {
    let value = |snapshot: &Snapshot, counter| match snapshot.portable.get(&counter) {
        Some(Reading::Value(value)) => Some(*value as f64),
        _ => None,
    };
    COUNTERS
        .into_iter()
        .filter_map(move |counter| Some((counter, value(after, counter)? - value(before, counter)?)))
}

/// Fewer parts than this have no error.
const PARTS_MIN: usize = 2;

/// Rows of a part, beyond those of its own, from which on others wrote some: so many, and this share.
const OTHERS_ROWS: f64 = 2.0;
const OTHERS_SHARE: f64 = 0.02;

/// The parts in which nobody else wrote: those in which the database counted as few rows for each that the session wrote as in
/// any. What others do only adds. All of them where too few are left, or where the session does not know what it wrote.
fn undisturbed(parts: Vec<Part>) -> Vec<Part> {
    let ratio = |part: &Part| {
        let counted = *part.moved.get(&Counter::RowsWritten)?;
        (part.rows_written > 0).then(|| counted / part.rows_written as f64)
    };
    let Some(least) = parts.iter().map(ratio).try_fold(f64::INFINITY, |least, next| Some(least.min(next?)))
    else {
        return parts;
    };
    let is_alone = |part: &Part| {
        let expected = least * part.rows_written as f64;
        let counted = part.moved.get(&Counter::RowsWritten).copied().unwrap_or(expected);
        counted - expected <= OTHERS_ROWS.max(OTHERS_SHARE * expected)
    };
    if parts.iter().filter(|part| is_alone(part)).count() < PARTS_MIN {
        return parts;
    }
    parts.into_iter().filter(is_alone).collect()
}

/// Means over `parts` of different lengths: the ratio estimator and its standard error (Cochran, Sampling Techniques, 3rd ed.,
/// 6.3), for all that all parts know.
fn learned(parts: &[Part]) -> Learned {
    let transactions: u64 = parts.iter().map(|part| part.transactions).sum();
    let busy_ns: u64 = parts.iter().map(|part| part.busy_ns).sum();
    let count = parts.len() as f64;
    let mean_length = transactions as f64 / count;
    let of = |counter: Counter| {
        let moved: Vec<(f64, f64)> = parts
            .iter()
            .map(|part| Some((part.moved.get(&counter).copied()?, part.transactions as f64)))
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
        counters: COUNTERS.into_iter().filter_map(of).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_of_all_transactions_and_their_errors_of_the_parts() {
        let part = |transactions, rows: f64| Part {
            transactions,
            busy_ns: transactions * 2_000,
            rows: 3 * transactions,
            rows_written: 3 * transactions,
            moved: BTreeMap::from([(Counter::RowsWritten, rows)]),
        };
        let exact = learned(&[part(10, 30.0), part(20, 60.0), part(5, 15.0)]);
        assert_eq!((exact.transactions, exact.alone_us, exact.rows), (35, 2.0, Some(3.0)));
        assert_eq!(exact.counters[&Counter::RowsWritten], Mean { mean: 3.0, error: 0.0 });
        let spread =
            learned(&[part(10, 20.0), part(10, 30.0), part(10, 40.0)]).counters[&Counter::RowsWritten];
        // Rows per transaction are 2, 3 and 4: a deviation of 1, over the root of 3.
        assert!((spread.mean - 3.0).abs() < 1e-12 && (spread.error - 1.0 / 3.0_f64.sqrt()).abs() < 1e-12);
        assert!(!exact.counters.contains_key(&Counter::RowsRead), "nobody counted these");
    }

    #[test]
    fn parts_with_rows_of_others_are_discarded() {
        let part = |written: u64, foreign_rows: f64| Part {
            transactions: 40,
            busy_ns: 1,
            rows: written,
            rows_written: written,
            // A trigger writes one row more for each.
            moved: BTreeMap::from([(Counter::RowsWritten, 2.0 * written as f64 + foreign_rows)]),
        };
        let mean = |parts| learned(&undisturbed(parts)).counters[&Counter::RowsWritten].mean;
        assert_eq!(mean(vec![part(40, 0.0), part(40, 50.0), part(40, 0.0), part(40, 100.0)]), 2.0);
        assert_eq!(undisturbed(vec![part(20, 0.0), part(60, 0.0), part(40, 0.0)]).len(), 3, "chance stays");
        assert_eq!(
            undisturbed(vec![part(40, 0.0), part(40, 50.0), part(40, 90.0)]).len(),
            3,
            "too few are left"
        );
        assert_eq!(undisturbed(vec![part(0, 0.0), part(0, 50.0)]).len(), 2, "the session does not know");
    }
}
