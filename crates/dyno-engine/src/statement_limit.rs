//! Limits of servers on prepared statements that are open at the same time.

/// A limit on prepared statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementLimit {
    /// The setting that limits them: `max_prepared_stmt_count`.
    pub setting: &'static str,
    /// The most statements that it allows.
    pub most: u64,
    /// Statements that are open now, including other programs'.
    pub open: u64,
    /// Which statements count towards the limit.
    pub scope: StatementScope,
    /// What to do if it is too low.
    pub way_out: &'static str,
}

/// Which statements a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementScope {
    /// The statements of all sessions of the server.
    Server,
    /// The statements of each session.
    Session,
    /// The different statements of all sessions, on each connection of a pooler. Above the limit, statements
    /// are prepared again each time.
    PoolerConnection,
}

impl StatementLimit {
    /// Statements that count towards this limit, where sessions have `of_sessions` each and `different` ones
    /// together.
    pub fn needed(&self, of_sessions: &[u64], different: u64) -> u64 {
        match self.scope {
            StatementScope::Server => of_sessions.iter().sum(),
            StatementScope::Session => of_sessions.iter().copied().max().unwrap_or(0),
            StatementScope::PoolerConnection => different,
        }
    }

    /// Statements that can still be prepared; 0 where the limit is exceeded.
    pub fn free(&self) -> u64 {
        self.most.saturating_sub(self.open)
    }
}
