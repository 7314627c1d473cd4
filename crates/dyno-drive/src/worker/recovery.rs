//! Handles a failed operation: counts it, and makes the session ready again if possible.

use std::borrow::Cow;

use dyno_engine::{ErrorClass, OpError, Session, SessionRequest};
use dyno_workload::{ClassId, FailureRecovery};

use super::{NO_OPERATION, SessionWorker, WorkerExit};
use crate::counts::ThreadCounts;
use crate::shared::DrivePhase;

/// The message of operations that were in progress when Dyno closed their connection.
const CLOSED_BY_DYNO: &str = "Dyno closed the connection because the operation did not end with the run";

/// How long a session without a connection tries to reconnect.
const RECONNECT_NS_MAX: u64 = 30_000_000_000;
/// First and longest pause between two attempts.
const BACKOFF_NS: (u64, u64) = (50_000_000, 2_000_000_000);
/// The same when outages are measured: the longest pause is the longest delay of a session's recovery.
const PAUSE_NS: (u64, u64) = (10_000_000, 250_000_000);

/// A random pause between half of `pause_ns` and all of it, so that sessions do not reconnect at the same
/// time.
fn jittered_ns(pause_ns: u64, seed: u64) -> u64 {
    // Fibonacci hashing: neighboring seeds give values far apart.
    let share = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    pause_ns / 2 + (((pause_ns / 2) * share) >> 32)
}

impl SessionWorker {
    /// What remains to be done after the operation failed with `error`; at the run's end nothing is retried.
    #[cold]
    pub(crate) fn failed_op(&mut self, error: &OpError) -> FailureRecovery {
        let failed = self.actor.failed(error.class);
        FailureRecovery { may_again: failed.may_again && self.shared.phase() != DrivePhase::Stop, ..failed }
    }

    /// Rolls back the operation that failed with `error`; returns whether it is retried.
    #[cold]
    pub(super) fn give_up(
        &mut self,
        counts: &mut ThreadCounts,
        session: &mut dyn Session,
        error: &OpError,
    ) -> Result<bool, WorkerExit> {
        let FailureRecovery { is_open, may_again, in_doubt } = self.failed_op(error);
        if in_doubt {
            self.recorder.in_doubt(counts, self.doing, error);
        }
        match may_again {
            true => self.recorder.retried(counts, self.doing, error),
            false => self.recover(counts, session, self.doing, error)?,
        }
        if is_open && let Err(error) = session.ask(SessionRequest::Rollback) {
            return self.recover(counts, session, NO_OPERATION, &error).map(|()| false);
        }
        if may_again {
            self.actor.retry();
        }
        Ok(may_again)
    }

    /// Pauses after consecutive failures. If the run ends by operations, nothing else may end it, so the
    /// session gives up eventually.
    #[cold]
    pub(crate) fn check_recovery(&mut self, error: &OpError, now_ns: u64) -> Result<(), WorkerExit> {
        self.rest.failed(now_ns);
        match self.rest.failure_reason(now_ns) {
            Some(why) if self.ops_wanted.is_some() => {
                Err(WorkerExit::Failed(format!("{why}; the last error: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// The error with its true cause: a connection that Dyno closed at the run's end looks as if the server
    /// had closed it.
    #[cold]
    pub(crate) fn name_closer<'a>(&self, error: &'a OpError) -> Cow<'a, OpError> {
        match error.class == ErrorClass::Connection && self.shared.is_broken_off() {
            true => Cow::Owned(OpError { message: CLOSED_BY_DYNO.to_owned(), ..error.clone() }),
            false => Cow::Borrowed(error),
        }
    }

    /// Counts a failure and makes the session ready again, if possible.
    pub(super) fn recover(
        &mut self,
        counts: &mut ThreadCounts,
        session: &mut dyn Session,
        class: ClassId,
        error: &OpError,
    ) -> Result<(), WorkerExit> {
        let error = &*self.name_closer(error);
        let now_ns = self.clock.now_ns();
        self.recorder.failed(counts, class, error, now_ns);
        self.check_recovery(error, now_ns)?;
        match error.class {
            ErrorClass::Retryable => Ok(()),
            ErrorClass::Fatal if self.recorder.is_disconnected() => self.reconnect(session, error),
            ErrorClass::Fatal => Err(WorkerExit::Failed(error.to_string())),
            ErrorClass::Connection => self.reconnect(session, error),
        }
    }

    /// Reconnects; tries for a limited time.
    pub(crate) fn reconnect(&mut self, session: &mut dyn Session, lost: &OpError) -> Result<(), WorkerExit> {
        let patience_ns = if self.reconnects { u64::MAX } else { RECONNECT_NS_MAX };
        let until_ns = self.clock.now_ns().saturating_add(patience_ns);
        let mut backoff_ns = if self.reconnects { PAUSE_NS.0 } else { BACKOFF_NS.0 };
        loop {
            if self.shared.phase() == DrivePhase::Stop {
                return Err(WorkerExit::Stop);
            }
            let refused = match session.reconnect() {
                Ok(()) => {
                    self.recorder.reconnected();
                    self.recorder.served_by.note(session.instance());
                    self.announce(session);
                    return Ok(());
                }
                Err(error) => error,
            };
            self.recorder.refused(&refused);
            let now_ns = self.clock.now_ns();
            if now_ns >= until_ns {
                let seconds = RECONNECT_NS_MAX / 1_000_000_000;
                return Err(WorkerExit::Failed(format!(
                    "the connection was lost ({lost}) and could not be opened again within {seconds} s: {refused}"
                )));
            }
            if self.reconnects {
                self.clock
                    .park_until(now_ns + jittered_ns(backoff_ns, now_ns ^ u64::from(self.setup.number)));
                backoff_ns = (backoff_ns * 2).min(PAUSE_NS.1);
                continue;
            }
            self.clock.park_until(now_ns + backoff_ns);
            backoff_ns = (backoff_ns * 2).min(BACKOFF_NS.1);
        }
    }
}
