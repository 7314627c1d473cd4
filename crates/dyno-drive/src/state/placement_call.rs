//! Sends a request before the gate, so that the session's server process moves to this thread's processor.

use std::time::Duration;

use dyno_engine::OpError;

use super::{SessionAction, SessionActivity, SessionState, duplex};
use crate::poll;

/// Longest wait before the gate without reading the clock.
const PATIENCE: Duration = Duration::from_millis(1);

impl SessionState {
    /// Sends a request before the gate and waits for its answer, unless it is `late`. Returns whether the
    /// answer arrived. The first operation reports problems of the connection.
    pub(crate) fn ping(&mut self, late: &dyn Fn() -> bool) -> bool {
        if !matches!(self.request_visibility(SessionActivity::Called), SessionAction::Waits) {
            self.doing = SessionActivity::Nothing;
            return false;
        }
        while !late() {
            if !poll::is_readable(self.socket(), PATIENCE) {
                continue;
            }
            match self.receive_ping() {
                Ok(false) => {}
                Ok(true) => return true,
                Err(error) => {
                    self.doing = SessionActivity::Lost(error);
                    return false;
                }
            }
        }
        false
    }

    fn receive_ping(&mut self) -> Result<bool, Box<OpError>> {
        let answer = duplex(self.session.as_mut()).receive()?;
        if answer.is_some() {
            self.doing = SessionActivity::Nothing;
        }
        Ok(answer.is_some())
    }
}
