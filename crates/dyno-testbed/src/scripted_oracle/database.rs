//! The interface behind the wire protocol: a script of answers, or a database that remembers what its clients
//! did.

use super::{ScriptedAnswer, ScriptedCall};

/// How a client labels its session; other sessions see it in the session list. A part that it does not set
/// stays unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionLabels {
    /// The program or a part of it.
    pub module: Option<String>,
    /// What the program currently does, such as `session 7`.
    pub action: Option<String>,
    /// A text of up to 64 bytes for other sessions to read.
    pub client_info: Option<String>,
}

/// Answers the requests of clients. Each client is a session with a number, which
/// [`ScriptedDatabase::log_on`] assigns.
pub trait ScriptedDatabase: Send + Sync {
    /// A client has logged on. Returns the number of its session.
    fn log_on(&self) -> u64 {
        77
    }

    /// The name of the instance that serves a session, which the client learns at log-on.
    fn instance(&self, _session: u64) -> &'static str {
        "orcl1"
    }

    /// A session has sent a request of any kind.
    fn count_request(&self, _session: u64) {}

    /// A session has set its labels.
    fn label(&self, _session: u64, _labels: &SessionLabels) {}

    /// Answers a statement that is parsed but not executed. Only the columns of its rows, or its error, reach
    /// the client.
    fn describe(&self, session: u64, call: ScriptedCall<'_>) -> ScriptedAnswer {
        self.execute(session, call)
    }

    /// Answers a statement that is executed.
    fn execute(&self, session: u64, call: ScriptedCall<'_>) -> ScriptedAnswer;

    /// A session has ended its transaction with a separate request.
    fn end_transaction(&self, _session: u64, _commits: bool) {}

    /// A client has left, or its connection has broken. Its uncommitted changes must be rolled back.
    fn log_off(&self, _session: u64) {}
}

/// A script: its answers do not depend on the session.
impl<F: Fn(ScriptedCall<'_>) -> ScriptedAnswer + Send + Sync> ScriptedDatabase for F {
    fn execute(&self, _session: u64, call: ScriptedCall<'_>) -> ScriptedAnswer {
        self(call)
    }
}
