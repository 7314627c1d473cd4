//! Reads PgBouncer's own settings if its administration console allows it.

use std::collections::BTreeMap;

use super::connections::PostgresConnections;
use dyno_engine::{StatementLimit, StatementScope};

/// The database name of the console.
const CONSOLE: &str = "pgbouncer";

/// Settings of PgBouncer by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PoolConfig(BTreeMap<String, String>);

impl PoolConfig {
    /// Reads the settings of the pooler that `sessions` leads to; `None` if it is not PgBouncer or does not
    /// allow this user to read them (`stats_users`).
    pub(super) fn read(sessions: &PostgresConnections) -> Option<Self> {
        let mut console = sessions.clone();
        CONSOLE.clone_into(&mut console.config.database);
        let mut connection = console.plain("dyno check").ok()?;
        let rows = connection.simple("SHOW CONFIG").ok()?;
        connection.close();
        let pair = |row: &dyno_engine::TextRow| Some((row.get(0)?.to_owned(), row.get(1)?.to_owned()));
        let settings: BTreeMap<String, String> = rows.iter().filter_map(pair).collect();
        (!settings.is_empty()).then_some(Self(settings))
    }

    /// The value of a numeric setting.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.parse().ok()
    }

    /// The number of statements that each server connection keeps prepared.
    pub(super) fn statement_limit(&self) -> Option<StatementLimit> {
        Some(StatementLimit {
            setting: "PgBouncer's max_prepared_statements",
            most: self.number("max_prepared_statements").filter(|&most| most > 0)?,
            open: 0,
            scope: StatementScope::PoolerConnection,
            way_out: "raise max_prepared_statements in pgbouncer.ini: statements beyond this limit are \
                prepared again and again",
        })
    }
}
