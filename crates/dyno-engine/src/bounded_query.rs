//! Runs queries on a database that may never answer, because of a lock or a hanging server.
//!
//! Sockets of a session under load have no deadline, because waiting for a lock is not an error there. Before
//! and after a run it is one, so each query gets its own thread and a time limit.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::error::{TargetError, TargetErrorKind};
use crate::load::Cancel;

/// How often a wait checks whether the user wants to stop.
const LOOK: Duration = Duration::from_millis(20);

/// A query whose answer is pending. Dropping it abandons the query's thread, with everything that was passed
/// to it.
#[derive(Debug)]
pub struct PendingAnswer<T>(Receiver<T>);

impl<T: Send + 'static> PendingAnswer<T> {
    /// Runs the query `question` on its own thread.
    ///
    /// # Errors
    /// The operating system cannot start a thread.
    pub fn start(question: impl FnOnce() -> T + Send + 'static) -> std::io::Result<Self> {
        let (answer, asked) = channel();
        std::thread::Builder::new().name("dyno-asks".into()).spawn(move || {
            // Sending fails if the caller has stopped waiting.
            let _ = answer.send(question());
        })?;
        Ok(Self(asked))
    }

    /// The answer, if it arrives within `limit` and before `cancel` is set. Waiting again later is possible.
    pub fn wait(&self, limit: Duration, cancel: &Cancel) -> Option<T> {
        let until = Instant::now() + limit;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.0.recv_timeout(left.min(LOOK)) {
                Ok(answer) => return Some(answer),
                Err(RecvTimeoutError::Timeout) if !left.is_zero() && !cancel.is_cancelled() => {}
                Err(_) => return None,
            }
        }
    }
}

/// The answer to `question` within `limit`; `doing` describes the question, as in "while `looking at the
/// data`".
///
/// # Errors
/// The error of `question`; `Cancelled` when `cancel` is set first, and `Unreachable` when the time is over.
pub fn within<T: Send + 'static>(
    limit: Duration,
    cancel: &Cancel,
    doing: &str,
    question: impl FnOnce() -> Result<T, TargetError> + Send + 'static,
) -> Result<T, TargetError> {
    let pending = PendingAnswer::start(question).map_err(|error| {
        TargetError::database(format!("no thread could be started: {error}"))
            .hint("a higher limit of processes (`ulimit -u`)")
            .cause(error)
    })?;
    match pending.wait(limit, cancel) {
        Some(answer) => answer,
        None if cancel.is_cancelled() => {
            Err(TargetError::new(TargetErrorKind::Cancelled, format!("stopped while {doing}")))
        }
        None => Err(TargetError::unreachable(format!(
            "the database did not answer within {} s while {doing}",
            limit.as_secs()
        ))
        .hint(
            "another session may hold a lock on the test tables, or the server hangs: check which \
            sessions are connected",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounded_query_returns_answer_or_error() {
        let (cancel, limit) = (Cancel::default(), Duration::from_secs(60));
        assert_eq!(within(limit, &cancel, "asking", || Ok(7)).ok(), Some(7));
        let refused = || Err::<(), _>(TargetError::denied("no"));
        assert_eq!(within(limit, &cancel, "asking", refused).unwrap_err().kind, TargetErrorKind::Denied);
    }

    #[test]
    fn query_without_answer_is_abandoned_after_timeout() {
        let (hold, held) = channel::<()>();
        let cancel = Cancel::default();
        let never = move || {
            let _ = held.recv();
            Ok(())
        };
        let error = within(Duration::from_millis(30), &cancel, "looking at the data", never).unwrap_err();
        assert!(error.kind == TargetErrorKind::Unreachable);
        assert!(error.message.contains("while looking at the data"));
        drop(hold);
    }

    #[test]
    fn cancelled_query_returns_without_waiting() {
        let (hold, held) = channel::<()>();
        let cancel = Cancel::default();
        cancel.cancel();
        let never = move || {
            let _ = held.recv();
            Ok(())
        };
        let error = within(Duration::from_secs(3_600), &cancel, "asking", never).unwrap_err();
        assert_eq!(error.kind, TargetErrorKind::Cancelled);
        drop(hold);
    }
}
