//! Breaking off one statement, by a request on a connection of its own.

use std::fmt;

use super::error::WireError;
use super::protocol::Pg;
use super::{Breaker, message};
use crate::connect::{self, ConnectConfig};
use dyno_engine::TargetError;
use dyno_engine::net::{Inbound, Sink as _};

/// Breaks off the statement of one connection, from any thread.
#[derive(Clone)]
pub struct CancelToken {
    config: ConnectConfig,
    pid: i32,
    key: Vec<u8>,
}

impl CancelToken {
    /// For the connection whose server process is `pid` and whose secret is `key`.
    pub(super) fn new(config: &ConnectConfig, pid: i32, key: &[u8]) -> Self {
        Self { config: config.clone(), pid, key: key.to_vec() }
    }

    /// Asks the server to break off the statement that runs now; it then fails with SQLSTATE 57014. Without a statement
    /// nothing happens.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub fn cancel(&self) -> Result<(), TargetError> {
        let mut stream = connect::reach(&self.config, &Breaker::default())?;
        let mut out = Vec::new();
        message::cancel_request(&mut out, self.pid, &self.key);
        stream.send(&out).map_err(WireError::Io)?;
        // The server closes when it has passed the request on.
        let _ = Inbound::<Pg>::new().fill(&mut stream);
        Ok(())
    }
}

// The key is the right to cancel: it is shown nowhere.
impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CancelToken({})", self.pid)
    }
}
