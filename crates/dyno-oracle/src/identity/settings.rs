//! Selects the instance's settings that affect a run or were set explicitly, and hides secrets.

use std::collections::BTreeMap;

use super::super::connection::{OracleConnection, TextRow};
use super::super::sql;
use dyno_engine::TargetError;
use dyno_engine::settings::REDACTED;
pub(super) use dyno_engine::settings::ServerSettings;

/// Prefixes of settings that affect a run.
const SHAPING: [&str; 14] = [
    "commit_",
    "db_block_",
    "db_cache_",
    "db_flash_cache_",
    "db_file_multiblock",
    "db_writer_",
    "filesystemio_",
    "inmemory_",
    "log_buffer",
    "log_checkpoint",
    "optimizer_",
    "parallel_",
    "resource_",
    "result_cache_",
];

/// Further settings that affect a run, by full name.
const SHAPING_TOO: [&str; 28] = [
    "cluster_database",
    "compatible",
    "control_management_pack_access",
    "cpu_count",
    "cursor_sharing",
    "db_lost_write_protect",
    "db_name",
    "db_unique_name",
    "disk_asynch_io",
    "enable_pluggable_database",
    "fast_start_mttr_target",
    "memory_target",
    "open_cursors",
    "pga_aggregate_limit",
    "pga_aggregate_target",
    "pre_page_sga",
    "processes",
    "recyclebin",
    "session_cached_cursors",
    "sessions",
    "sga_max_size",
    "sga_target",
    "shared_pool_size",
    "statistics_level",
    "timed_statistics",
    "undo_management",
    "undo_retention",
    "use_large_pages",
];

/// Parts of the names of settings that can contain secrets.
const SECRET: [&str; 3] = ["password", "secret", "wallet"];

pub(super) fn read(connection: &OracleConnection) -> Result<ServerSettings, TargetError> {
    let rows = connection.rows_if_allowed(&sql::SETTINGS.text(), &[])?;
    Ok(rows.map_or_else(ServerSettings::default, |rows| of(&rows)))
}

/// Settings that affect a run and all that were set explicitly, from rows of name, value and whether it is
/// the default.
pub(crate) fn shaping_of(rows: &[TextRow]) -> BTreeMap<String, String> {
    shaping(&of(rows))
}

/// Settings that affect a run and all that were set explicitly.
pub(super) fn shaping(settings: &ServerSettings) -> BTreeMap<String, String> {
    settings.shaping(&SHAPING, &SHAPING_TOO)
}

/// Parses settings from rows of name, value and whether it is the default.
fn of(rows: &[TextRow]) -> ServerSettings {
    let mut settings = ServerSettings::default();
    for row in rows {
        let Some(name) = row.get(0).map(str::to_ascii_lowercase) else { continue };
        let value = row.text(1);
        let secret = SECRET.iter().any(|part| name.contains(part)) && !value.is_empty();
        if row.get(2) == Some("FALSE") {
            settings.set.insert(name.clone());
        }
        settings.values.insert(name, if secret { REDACTED } else { value }.to_owned());
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relevant_settings_are_kept_and_secrets_hidden() {
        let row = |name: &str, value: &str, default: &str| {
            TextRow([name, value, default].map(|text| Some(text.to_owned())).to_vec())
        };
        let settings = of(&[
            row("commit_wait", "", "TRUE"),
            row("sga_target", "1073741824", "FALSE"),
            row("nls_language", "AMERICAN", "TRUE"),
            row("some_password", "hunter2", "FALSE"),
        ]);
        let selected = shaping(&settings);
        assert_eq!(selected.keys().collect::<Vec<_>>(), ["commit_wait", "sga_target", "some_password"]);
        assert_eq!(selected["some_password"], REDACTED);
        assert_eq!((settings.number("sga_target"), settings.value("commit_wait")), (Some(1 << 30), None));
        assert_eq!(settings.non_default(), ["sga_target", "some_password"]);
    }
}
