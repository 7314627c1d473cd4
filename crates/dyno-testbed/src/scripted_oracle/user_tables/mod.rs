//! Tables that a workload creates, on a MariaDB server with `sql_mode = ORACLE` behind the scripted server.
//!
//! [`ModelDatabase`](super::ModelDatabase) forwards each statement that it does not know, so that workloads of
//! any SQL run over Oracle's protocol with real rows, locks, deadlocks and transactions. A few words are
//! replaced ([`translation`]), and stored procedures have a body for MariaDB ([`UserTables::with_procedure`]).
//! This shows how Dyno and the protocol handle statements and values; it does not show that Oracle accepts or
//! executes them.

mod answers;
mod connection;
mod literals;
mod translation;

use std::collections::HashMap;
use std::sync::Arc;

use connection::Connection;
use parking_lot::Mutex;

use super::{ScriptedAnswer, ScriptedValue};
use crate::{MyProduct, MySql};

/// The result of a statement.
pub(super) struct Executed {
    pub(super) answer: ScriptedAnswer,
    /// Whether it changed rows, so that its transaction has something to commit.
    pub(super) has_changes: bool,
}

impl Executed {
    fn read(answer: ScriptedAnswer) -> Self {
        Self { answer, has_changes: false }
    }
}

/// Tables of users on a MariaDB server. Each session of the scripted server has a connection of its own.
pub struct UserTables {
    server: MySql,
    /// The bodies of procedures, by their lower-case names.
    procedures: HashMap<String, String>,
    connections: Mutex<HashMap<u64, Arc<Mutex<Connection>>>>,
}

impl UserTables {
    /// Starts a server without tables; absent if MariaDB is not installed.
    pub fn start() -> Option<Self> {
        let version = MySql::available().into_iter().find(|version| version.product == MyProduct::MariaDb)?;
        // The names of tables ignore case in Oracle.
        let settings = [("lower_case_table_names", "1"), ("innodb_flush_log_at_trx_commit", "0")];
        let server = MySql::start(&version, &settings);
        Some(Self { server, procedures: HashMap::new(), connections: Mutex::default() })
    }

    /// Uses `text`, a `CREATE OR REPLACE PROCEDURE` that MariaDB accepts, when a client creates the procedure
    /// `name`.
    #[must_use]
    pub fn with_procedure(mut self, name: &str, text: &str) -> Self {
        self.procedures.insert(name.to_ascii_lowercase(), text.to_owned());
        self
    }

    /// Executes a statement once, or with an array of values.
    pub(super) fn execute(&self, session: u64, sql: &str, executions: &[Vec<ScriptedValue>]) -> Executed {
        let connection = self.connection(session);
        let mut connection = connection.lock();
        connection
            .execute(&self.procedures, sql, executions)
            .unwrap_or_else(|error| Executed::read(answers::refusal(&error)))
    }

    /// The columns of a query, or its error.
    pub(super) fn describe(&self, session: u64, sql: &str) -> ScriptedAnswer {
        let connection = self.connection(session);
        let mut connection = connection.lock();
        connection.describe(sql).unwrap_or_else(|error| answers::refusal(&error))
    }

    /// Ends the transaction of a session, if it has one.
    pub(super) fn end_transaction(&self, session: u64, commits: bool) {
        let connection = self.connections.lock().get(&session).cloned();
        if let Some(connection) = connection {
            connection.lock().end_transaction(commits);
        }
    }

    /// Rolls back and ends the connection of a session.
    pub(super) fn log_off(&self, session: u64) {
        let connection = self.connections.lock().remove(&session);
        if let Some(connection) = connection {
            connection.lock().end_transaction(false);
        }
    }

    /// Bytes of the table `name` with its indexes; absent if there is no such table.
    pub(super) fn table_bytes(&self, session: u64, name: &str) -> Option<u64> {
        let query = "SELECT CAST(COALESCE(data_length + index_length, 0) AS UNSIGNED) FROM information_schema.tables \
                     WHERE table_schema = 'bench' AND table_name = :name";
        self.number(session, query, name)
    }

    /// Whether there is an index `name`.
    pub(super) fn has_index(&self, session: u64, name: &str) -> bool {
        let query = "SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = 'bench' AND index_name = :name";
        self.number(session, query, name).is_some_and(|count| count > 0)
    }

    fn number(&self, session: u64, query: &str, name: &str) -> Option<u64> {
        let name = ScriptedValue::Text(name.to_ascii_lowercase());
        match self.execute(session, query, &[vec![name]]).answer {
            ScriptedAnswer::Rows { rows, .. } => match rows.first()?.first()? {
                ScriptedValue::Int(number) => u64::try_from(*number).ok(),
                _ => None,
            },
            _ => None,
        }
    }

    fn connection(&self, session: u64) -> Arc<Mutex<Connection>> {
        let mut connections = self.connections.lock();
        let opened = connections
            .entry(session)
            .or_insert_with(|| Arc::new(Mutex::new(Connection::open(&self.server.socket()))));
        Arc::clone(opened)
    }
}

impl std::fmt::Debug for UserTables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserTables").field("server", &self.server).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
