//! PgBouncer's own settings, where its administration console lets this user read them.

use std::collections::BTreeMap;

use super::connect::ConnectConfig;
use super::wire::Connection;
use dyno_engine::{StatementLimit, StatementScope};

/// The database name of the console.
const CONSOLE: &str = "pgbouncer";

/// Settings of PgBouncer by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PoolConfig(BTreeMap<String, String>);

impl PoolConfig {
    /// Asks the pooler that `sessions` leads to; `None` where it is another one, or lets this user not ask (`stats_users`).
    pub(super) fn read(sessions: &ConnectConfig) -> Option<Self> {
        let mut console = sessions.clone();
        CONSOLE.clone_into(&mut console.database);
        let mut connection = Connection::open(&console, "dyno check").ok()?;
        let rows = connection.simple("SHOW CONFIG").ok()?;
        connection.close();
        let pair = |row: &dyno_engine::Row| Some((row.get(0)?.to_owned(), row.get(1)?.to_owned()));
        let settings: BTreeMap<String, String> = rows.iter().filter_map(pair).collect();
        (!settings.is_empty()).then_some(Self(settings))
    }

    /// A setting that is a number.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.parse().ok()
    }

    /// How many statements each server connection keeps prepared.
    pub(super) fn statement_limit(&self) -> Option<StatementLimit> {
        Some(StatementLimit {
            setting: "PgBouncer's max_prepared_statements",
            most: self.number("max_prepared_statements").filter(|&most| most > 0)?,
            open: 0,
            scope: StatementScope::PoolerConnection,
            way_out: "raise max_prepared_statements in pgbouncer.ini: what it does not keep is prepared again and again",
        })
    }
}
