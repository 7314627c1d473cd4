//! Handles servers that require a primary key on every table: the column that Dyno adds.

use std::collections::BTreeMap;

use super::super::wire::MySqlConnection;
use dyno_engine::TargetError;
use dyno_engine::tables::RequiredKey;

/// An invisible column: statements with and without column lists ignore it.
const INVISIBLE: &str = "dyno_key BIGINT UNSIGNED NOT NULL AUTO_INCREMENT INVISIBLE, PRIMARY KEY (dyno_key)";
/// For servers without invisible columns.
const VISIBLE: &str = "dyno_key BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, PRIMARY KEY (dyno_key)";

/// First versions with invisible columns.
const INVISIBLE_MYSQL: u32 = 80_023;
const INVISIBLE_MARIADB: u32 = 100_300;

/// The settings that require a key, as far as the server has them.
const SETTINGS: &str = "SHOW VARIABLES WHERE Variable_name IN ('sql_require_primary_key',
    'sql_generate_invisible_primary_key', 'innodb_force_primary_key', 'wsrep_on', 'wsrep_provider',
    'group_replication_group_name')";

/// What the server requires of tables without a primary key; `None` if it accepts them.
pub(crate) fn required_key(connection: &mut MySqlConnection) -> Result<Option<RequiredKey>, TargetError> {
    let rows = connection.simple(SETTINGS)?;
    let settings: BTreeMap<String, String> = rows
        .iter()
        .filter_map(|row| Some((row.get(0)?.to_ascii_lowercase(), row.get(1)?.to_owned())))
        .collect();
    let oldest = if connection.is_mariadb() { INVISIBLE_MARIADB } else { INVISIBLE_MYSQL };
    let column = if connection.version_num() < oldest { VISIBLE } else { INVISIBLE };
    Ok(requiring(&settings).map(|setting| RequiredKey { setting, column }))
}

/// The setting that requires a key; `None` if the server adds a key itself.
fn requiring(settings: &BTreeMap<String, String>) -> Option<String> {
    let value = |name| settings.get(name).map_or("", String::as_str);
    let is_on = |name| value(name).eq_ignore_ascii_case("ON");
    if is_on("sql_generate_invisible_primary_key") {
        return None;
    }
    let has_galera = is_on("wsrep_on") && !matches!(value("wsrep_provider"), "" | "none");
    let required = [
        ("sql_require_primary_key", is_on("sql_require_primary_key")),
        ("innodb_force_primary_key", is_on("innodb_force_primary_key")),
        // Group replication rejects writes to tables without a key; Galera does not replicate all of them.
        ("group_replication_group_name", !value("group_replication_group_name").is_empty()),
        ("wsrep_on", has_galera),
    ];
    let (name, _) = required.into_iter().find(|(_, is_required)| *is_required)?;
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primary_key_is_required_by_server_or_replication_settings() {
        for (settings, required) in [
            (&[("sql_require_primary_key", "OFF")][..], None),
            (&[("sql_require_primary_key", "ON")], Some("sql_require_primary_key")),
            (&[("sql_require_primary_key", "ON"), ("sql_generate_invisible_primary_key", "ON")], None),
            (&[("innodb_force_primary_key", "ON")], Some("innodb_force_primary_key")),
            (&[("wsrep_on", "ON"), ("wsrep_provider", "none")], None),
            (&[("wsrep_on", "ON"), ("wsrep_provider", "/usr/lib/galera/libgalera_smm.so")], Some("wsrep_on")),
            (&[("group_replication_group_name", "")], None),
            (&[("group_replication_group_name", "a-b")], Some("group_replication_group_name")),
        ] {
            let settings =
                settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            assert_eq!(requiring(&settings).as_deref(), required, "{settings:?}");
        }
    }
}
