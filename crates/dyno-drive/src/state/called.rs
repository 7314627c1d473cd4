//! A session that is asked for an answer before the gate, so that its server's process comes near.

use std::time::Duration;

use dyno_engine::OpError;

use super::{Doing, Next, SessionState, duplex};
use crate::poll;

/// How long a wait before the gate lasts before the clock is looked at.
const PATIENCE: Duration = Duration::from_millis(1);

impl SessionState {
    /// Asks for an answer before the gate and waits for it, as long as it is not `late`. Whether it has come; what is wrong
    /// with a connection is noticed by its first operation, and told then.
    pub(crate) fn call(&mut self, late: &dyn Fn() -> bool) -> bool {
        if !matches!(self.show(Doing::Called), Next::Waits) {
            self.doing = Doing::Nothing;
            return false;
        }
        while !late() {
            if !poll::is_readable(self.socket(), PATIENCE) {
                continue;
            }
            match self.heard_call() {
                Ok(false) => {}
                Ok(true) => return true,
                Err(error) => {
                    self.doing = Doing::Lost(error);
                    return false;
                }
            }
        }
        false
    }

    fn heard_call(&mut self) -> Result<bool, Box<OpError>> {
        let answer = duplex(self.session.as_mut()).receive()?;
        if answer.is_some() {
            self.doing = Doing::Nothing;
        }
        Ok(answer.is_some())
    }
}
