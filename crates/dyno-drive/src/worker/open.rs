//! Opens a session when it is its turn.

use dyno_engine::panics::caught;
use dyno_engine::{Session, TargetError, TargetErrorKind};
use dyno_plan::Connect;

use super::{SessionWorker, WorkerMessage};
use crate::descriptors;

impl SessionWorker {
    /// Opens the session when it is its turn; `None` if that failed or the run has ended.
    pub(crate) fn connect(&mut self) -> Option<Box<dyn Session>> {
        let session = match self.shared.begin_connect() {
            true => Some(caught(|| self.open())),
            false => None,
        };
        match session {
            Some(Ok(Ok(session))) => {
                self.recorder.served_by.note(session.instance());
                self.announce(session.as_ref());
                self.shared.end_connect(true);
                Some(session)
            }
            Some(Err(reason)) => {
                self.shared
                    .fail(format!("{}session {} cannot start: {reason}", self.label, self.setup.number));
                self.shared.end_connect(false);
                None
            }
            Some(Ok(Err(error))) => {
                let hint = way_out(&error);
                self.shared
                    .fail(format!("{}session {} cannot start: {error}{hint}", self.label, self.setup.number));
                self.shared.end_connect(false);
                None
            }
            None => {
                self.shared.end_connect(false);
                None
            }
        }
    }

    pub(super) fn open(&self) -> Result<Box<dyn Session>, TargetError> {
        let mut session = self.target.session(&self.setup)?;
        if self.setup.connect == Connect::Transaction {
            // Any problem with the statements has been reported by now; each transaction opens its own
            // connection.
            session.disconnect();
        }
        match &self.ack_ledger {
            Some(ledger) => ledger.witnessed(session, self.target.as_ref(), &self.setup),
            None => Ok(session),
        }
    }

    pub(super) fn announce(&self, session: &dyn Session) {
        let _ = self.messages.send(WorkerMessage::Connected(self.setup.number, session.interrupter()));
    }
}

/// The hint that follows the error of a session that cannot start.
fn way_out(error: &TargetError) -> String {
    // Errors about files and addresses do not always name a lack of descriptors as the cause.
    let used_up = || if error.kind == TargetErrorKind::Unreachable { descriptors::used_up() } else { None };
    let hint = descriptors::too_few(error).or_else(used_up).unwrap_or_else(|| error.hint.clone());
    if hint.is_empty() { hint } else { format!(" (hint: {hint})") }
}
