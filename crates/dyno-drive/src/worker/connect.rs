//! Executes an operation on a connection of its own.

use dyno_engine::{ErrorClass, OpError, Session, TargetError};

use super::{SessionWorker, WorkerExit};
use crate::counts::ThreadCounts;

impl SessionWorker {
    /// Opens a connection, executes the operation's steps on it, and closes it. Opening counts in the
    /// operation's time. The server counts the operation's work afterwards.
    pub(super) fn connected(
        &mut self,
        counts: &mut ThreadCounts,
        session: &mut dyn Session,
        due_ns: Option<u64>,
        began_ns: u64,
    ) -> Result<(), WorkerExit> {
        let outcome = match session.reconnect() {
            Ok(()) => {
                let ended_ns = self.clock.now_ns();
                self.recorder.connected(counts, ended_ns, ended_ns - began_ns);
                self.steps(counts, session, due_ns, began_ns)
            }
            Err(error) => self.give_up(counts, session, &not_connected(&error)).map(|_| ()),
        };
        let closes_ns = self.clock.now_ns();
        session.disconnect();
        self.recorder.closed(counts, closes_ns, self.clock.now_ns());
        outcome
    }
}

/// The error of an operation that could not get a connection.
#[cold]
fn not_connected(error: &TargetError) -> OpError {
    let message = format!("no connection could be opened: {error}");
    OpError { class: ErrorClass::Connection, code: "connect".to_owned(), message }
}
