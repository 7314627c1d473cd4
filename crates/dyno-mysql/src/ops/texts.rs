//! The packets of requests that are no statements, made once.

use crate::own::OWN_STATUS;
use crate::wire::message::{self, command};
use dyno_engine::Isolation;

/// Packets of the requests that are no statements.
pub(super) struct Texts {
    begin: [Vec<u8>; 4],
    pub(super) commit: Vec<u8>,
    pub(super) rollback: Vec<u8>,
    /// The question for this connection's own share of the server's counters.
    pub(super) edge: Vec<u8>,
}

impl Texts {
    pub(super) fn new() -> Self {
        let packet = |sql: &str| {
            let mut packet = Vec::new();
            message::command(&mut packet, command::QUERY, sql);
            packet
        };
        let begin = |isolation: Isolation| {
            let set = isolation.words().map(|words| format!("SET TRANSACTION ISOLATION LEVEL {words}; "));
            packet(&format!("{}START TRANSACTION", set.unwrap_or_default()))
        };
        // In the order in which they are declared.
        let all = [
            Isolation::Platform,
            Isolation::ReadCommitted,
            Isolation::RepeatableRead,
            Isolation::Serializable,
        ];
        let (commit, rollback, edge) = (packet("COMMIT"), packet("ROLLBACK"), packet(OWN_STATUS));
        Self { begin: all.map(begin), commit, rollback, edge }
    }

    /// What begins a transaction: with an isolation two statements in one packet.
    #[inline]
    pub(super) fn begin(&self, isolation: Isolation) -> &[u8] {
        &self.begin[isolation as usize]
    }
}
