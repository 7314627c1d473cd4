//! What stands behind the wire: a script of answers, or a database that remembers what its clients did.

use super::{ScriptedAnswer, ScriptedCall};

/// What a client says of itself; others see it in the list of sessions. A part that it does not name stays as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionLabels {
    /// The program or its part.
    pub module: Option<String>,
    /// What the program does now, such as `session 7`.
    pub action: Option<String>,
    /// A text of up to 64 bytes for others to read.
    pub client_info: Option<String>,
}

/// Answers what clients send. Each client is a session with a number, which [`ScriptedDatabase::log_on`] gives.
pub trait ScriptedDatabase: Send + Sync {
    /// A client has logged on. Returns the number of its session.
    fn log_on(&self) -> u64 {
        77
    }

    /// A session has sent a request of any kind.
    fn count_request(&self, _session: u64) {}

    /// A session has said what it is.
    fn label(&self, _session: u64, _labels: &SessionLabels) {}

    /// The answer to a statement that is parsed and not executed. Only the columns of its rows, or its refusal, reach the client.
    fn describe(&self, session: u64, call: ScriptedCall<'_>) -> ScriptedAnswer {
        self.execute(session, call)
    }

    /// The answer to a statement that is executed.
    fn execute(&self, session: u64, call: ScriptedCall<'_>) -> ScriptedAnswer;

    /// A session has ended its transaction by a request of its own.
    fn end_transaction(&self, _session: u64, _commits: bool) {}

    /// A client has left, or its connection has broken. What it did not commit is to be taken back.
    fn log_off(&self, _session: u64) {}
}

/// A script: it answers without knowing who asks.
impl<F: Fn(ScriptedCall<'_>) -> ScriptedAnswer + Send + Sync> ScriptedDatabase for F {
    fn execute(&self, _session: u64, call: ScriptedCall<'_>) -> ScriptedAnswer {
        self(call)
    }
}
