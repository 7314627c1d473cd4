//! Selects the settings that affect a run or differ from the defaults, and hides secrets.

use std::collections::{BTreeMap, BTreeSet};

use super::super::wire::{MySqlConnection, MySqlError};
use dyno_engine::settings::REDACTED;
pub(super) use dyno_engine::settings::ServerSettings;
use dyno_engine::{Refusal as _, TargetError};

/// Prefixes of settings that affect a run.
const SHAPING: [&str; 9] = [
    "aria_",
    "binlog_",
    "innodb_",
    "performance_schema",
    "query_cache",
    "sync_",
    "table_",
    "thread_",
    "wsrep_",
];

/// Further settings that affect a run, by full name.
const SHAPING_TOO: [&str; 21] = [
    "autocommit",
    "big_tables",
    "character_set_server",
    "flush",
    "general_log",
    "large_pages",
    "log_bin",
    "log_output",
    "max_connections",
    "max_user_connections",
    "open_files_limit",
    "optimizer_switch",
    "read_only",
    "slow_query_log",
    "sql_generate_invisible_primary_key",
    "sql_require_primary_key",
    "super_read_only",
    "transaction_isolation",
    "tx_isolation",
    "userstat",
    "version_comment",
];

/// Parts of the names of settings that can contain secrets or reveal where they are.
const SECRET: [&str; 5] = ["password", "secret", "sst_auth", "private_key", "passphrase"];

/// Names of the settings that were set explicitly. MySQL records a setting's source, MariaDB its origin.
const SET_MYSQL: &str = "SELECT VARIABLE_NAME FROM performance_schema.variables_info
     WHERE VARIABLE_SOURCE NOT IN ('COMPILED', 'DYNAMIC') OR (VARIABLE_SOURCE = 'DYNAMIC' AND SET_USER IS NOT NULL)";
const SET_MARIADB: &str = "SELECT LOWER(VARIABLE_NAME) FROM information_schema.SYSTEM_VARIABLES
     WHERE GLOBAL_VALUE_ORIGIN IN ('CONFIG', 'SQL') AND NOT (GLOBAL_VALUE <=> DEFAULT_VALUE)";

pub(super) fn read(connection: &mut MySqlConnection) -> Result<ServerSettings, TargetError> {
    let rows = connection.simple("SHOW GLOBAL VARIABLES")?;
    let values = rows.iter().filter_map(|row| {
        let (name, value) = (row.get(0)?.to_ascii_lowercase(), row.get(1)?);
        let value = shown(&name, value).to_owned();
        Some((name, value))
    });
    let values = values.collect();
    let set = match connection.simple(if connection.is_mariadb() { SET_MARIADB } else { SET_MYSQL }) {
        Ok(rows) => rows.iter().filter_map(|row| row.get(0).map(str::to_owned)).collect(),
        Err(error) if MySqlError::of(&error).is_some() => BTreeSet::new(),
        Err(error) => return Err(error),
    };
    Ok(ServerSettings { values, set })
}

/// The value of a setting for output, without secrets.
pub(crate) fn shown<'a>(name: &str, value: &'a str) -> &'a str {
    if is_secret(name, value) { REDACTED } else { value }
}

/// Whether the value of a setting must not be shown. An empty or boolean value is never a secret.
fn is_secret(name: &str, value: &str) -> bool {
    SECRET.iter().any(|part| name.contains(part))
        && !matches!(value, "" | "ON" | "OFF")
        && value.parse::<f64>().is_err()
}

/// Settings that affect a run and all that were set explicitly.
pub(super) fn shaping(settings: &ServerSettings) -> BTreeMap<String, String> {
    settings.shaping(&SHAPING, &SHAPING_TOO)
}

/// The statement that changes a setting of the running server.
pub(super) fn set_global(name: &str, value: &str) -> String {
    format!("SET GLOBAL {name} = {value};")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_postgres_settings_are_recognized() {
        assert!(is_secret("wsrep_sst_auth", "me:pw"));
        assert!(is_secret("some_password", "x"));
        assert!(!is_secret("old_passwords", "0"));
        assert!(!is_secret("disconnect_on_expired_password", "ON"));
        assert!(!is_secret("innodb_page_size", "16384"));
    }
}
