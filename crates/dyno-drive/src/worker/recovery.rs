//! A session whose operation has failed: counted, and able to go on if that can be.

use dyno_engine::{ErrorClass, OpError, Request, Session};
use dyno_workload::{ClassId, Failed};

use super::{Ended, NO_OPERATION, Worker};
use crate::counts::Counts;
use crate::shared::Phase;

/// How long a session whose connection was lost tries to get a new one.
const RECONNECT_NS_MAX: u64 = 30_000_000_000;
/// First and longest pause between two tries.
const BACKOFF_NS: (u64, u64) = (50_000_000, 2_000_000_000);
/// The same where outages are measured: the longest is as much as a session may come back too late.
const PAUSE_NS: (u64, u64) = (10_000_000, 250_000_000);

/// Between half of `pause_ns` and all of it, so that sessions do not come back at the same moment.
fn jittered_ns(pause_ns: u64, seed: u64) -> u64 {
    // Fibonacci hashing: neighboring seeds give values far apart.
    let share = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    pause_ns / 2 + (((pause_ns / 2) * share) >> 32)
}

impl Worker {
    /// What the operation that has failed with `error` leaves to be done; at the run's end nothing begins anew.
    #[cold]
    pub(crate) fn failed_op(&mut self, error: &OpError) -> Failed {
        let failed = self.actor.failed(error.class);
        Failed { may_again: failed.may_again && self.shared.phase() != Phase::Stop, ..failed }
    }

    /// Rolls back what the operation has begun that has failed with `error`; whether it begins anew.
    #[cold]
    pub(super) fn give_up(
        &mut self,
        counts: &mut Counts,
        session: &mut dyn Session,
        error: &OpError,
    ) -> Result<bool, Ended> {
        let Failed { is_open, may_again, in_doubt } = self.failed_op(error);
        if in_doubt {
            self.recorder.in_doubt(counts, self.doing, error);
        }
        match may_again {
            true => self.recorder.retried(counts, self.doing, error),
            false => self.recover(counts, session, self.doing, error)?,
        }
        if is_open && let Err(error) = session.ask(Request::Rollback) {
            return self.recover(counts, session, NO_OPERATION, &error).map(|()| false);
        }
        if may_again {
            self.actor.again();
        }
        Ok(may_again)
    }

    /// Rests after failures in a row. Where the run ends by operations, nothing else may end it: there it gives up.
    #[cold]
    pub(crate) fn hope(&mut self, error: &OpError, now_ns: u64) -> Result<(), Ended> {
        self.rest.failed(now_ns);
        match self.rest.hopeless(now_ns) {
            Some(why) if self.ops_wanted.is_some() => {
                Err(Ended::Failed(format!("{why}, the last with: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// Counts a failure and makes the session able to go on, if that can be.
    pub(super) fn recover(
        &mut self,
        counts: &mut Counts,
        session: &mut dyn Session,
        class: ClassId,
        error: &OpError,
    ) -> Result<(), Ended> {
        let now_ns = self.clock.now_ns();
        self.recorder.failed(counts, class, error, now_ns);
        self.hope(error, now_ns)?;
        match error.class {
            ErrorClass::Retryable => Ok(()),
            ErrorClass::Fatal if self.recorder.is_out() => self.reconnect(session, error),
            ErrorClass::Fatal => Err(Ended::Failed(error.to_string())),
            ErrorClass::Connection => self.reconnect(session, error),
        }
    }

    /// Opens the connection anew, for as long as that may take.
    pub(crate) fn reconnect(&mut self, session: &mut dyn Session, lost: &OpError) -> Result<(), Ended> {
        let patience_ns = if self.reconnects { u64::MAX } else { RECONNECT_NS_MAX };
        let until_ns = self.clock.now_ns().saturating_add(patience_ns);
        let mut backoff_ns = if self.reconnects { PAUSE_NS.0 } else { BACKOFF_NS.0 };
        loop {
            if self.shared.phase() == Phase::Stop {
                return Err(Ended::Stop);
            }
            let refused = match session.reconnect() {
                Ok(()) => {
                    self.recorder.reconnected();
                    self.announce(session);
                    return Ok(());
                }
                Err(error) => error,
            };
            self.recorder.refused(&refused);
            let now_ns = self.clock.now_ns();
            if now_ns >= until_ns {
                let seconds = RECONNECT_NS_MAX / 1_000_000_000;
                return Err(Ended::Failed(format!(
                    "the connection was lost ({lost}) and could not be opened anew within {seconds} s: {refused}"
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
