//! Cancels one statement with a request on a separate connection.

use std::fmt;

use super::error::PostgresWireError;
use super::protocol::PostgresProtocol;
use super::{Breaker, message};
use crate::connect::{self, PostgresConnectConfig};
use dyno_engine::TargetError;
use dyno_engine::net::{Inbound, Sink as _};

/// Cancels the statement of one connection, from any thread.
#[derive(Clone)]
pub struct CancelToken {
    config: PostgresConnectConfig,
    pid: i32,
    key: Vec<u8>,
}

impl CancelToken {
    /// A token for the connection whose server process is `pid` and whose secret is `key`.
    pub(super) fn new(config: &PostgresConnectConfig, pid: i32, key: &[u8]) -> Self {
        Self { config: config.clone(), pid, key: key.to_vec() }
    }

    /// Asks the server to cancel the current statement, which then fails with SQLSTATE 57014. Without a
    /// current statement this has no effect.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub fn cancel(&self) -> Result<(), TargetError> {
        let mut stream = connect::open_unauthenticated(&self.config, &Breaker::default())?;
        let mut out = Vec::new();
        message::cancel_request(&mut out, self.pid, &self.key);
        stream.send(&out).map_err(PostgresWireError::Io)?;
        // The server closes the connection after it has forwarded the request.
        let _ = Inbound::<PostgresProtocol>::new().fill(&mut stream);
        Ok(())
    }
}

// The key grants the right to cancel and is never shown.
impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CancelToken({})", self.pid)
    }
}
