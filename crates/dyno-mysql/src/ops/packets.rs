//! The packets of requests that are not statements, built once.

use crate::own_connections::SESSION_STATUS_SQL;
use crate::wire::message::{self, command};
use dyno_engine::Isolation;

/// The packets for transaction control and window boundaries.
pub(super) struct MySqlControlPackets {
    begin: [Vec<u8>; 4],
    pub(super) commit: Vec<u8>,
    pub(super) rollback: Vec<u8>,
    /// The query for this connection's own share of the server's counters.
    pub(super) edge: Vec<u8>,
}

impl MySqlControlPackets {
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
        // In the order of the enum's declaration.
        let all = [
            Isolation::Platform,
            Isolation::ReadCommitted,
            Isolation::RepeatableRead,
            Isolation::Serializable,
        ];
        let (commit, rollback, edge) = (packet("COMMIT"), packet("ROLLBACK"), packet(SESSION_STATUS_SQL));
        Self { begin: all.map(begin), commit, rollback, edge }
    }

    /// The packet that begins a transaction; with an isolation level it contains two statements.
    #[inline]
    pub(super) fn begin(&self, isolation: Isolation) -> &[u8] {
        &self.begin[isolation as usize]
    }
}
