//! The instance's settings: those that shape a run, those that somebody set, and never a secret.

use std::collections::{BTreeMap, BTreeSet};

use super::super::connection::{Connection, Row};
use super::super::sql;
use dyno_engine::error::TargetError;

/// Beginnings of the names of settings that shape a run.
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

/// Further settings that shape a run, by their whole names.
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

/// Parts of the names of settings that can hold secrets.
const SECRET: [&str; 3] = ["password", "secret", "wallet"];

/// Shown in place of a secret.
const REDACTED: &str = "***";

/// All settings; none where this user may not read them.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    values: BTreeMap<String, String>,
    set: BTreeSet<String>,
}

/// Reads them.
pub(super) fn read(connection: &Connection) -> Result<Settings, TargetError> {
    let rows = connection.rows_if_allowed(&sql::SETTINGS.text(), &[])?;
    Ok(rows.map_or_else(Settings::default, |rows| Settings::of(&rows)))
}

/// The settings that shape a run and all that somebody set, from rows of name, value and whether it is the default.
pub(crate) fn shaping(rows: &[Row]) -> BTreeMap<String, String> {
    Settings::of(rows).shaping()
}

impl Settings {
    /// Settings from rows of name, value and whether it is the default.
    pub(super) fn of(rows: &[Row]) -> Self {
        let mut settings = Self::default();
        for row in rows {
            let Some(name) = row.get(0).map(str::to_ascii_lowercase) else { continue };
            let value = row.get(1).unwrap_or_default();
            let secret = SECRET.iter().any(|part| name.contains(part)) && !value.is_empty();
            if row.get(2) == Some("FALSE") {
                settings.set.insert(name.clone());
            }
            settings.values.insert(name, if secret { REDACTED } else { value }.to_owned());
        }
        settings
    }

    /// The value; `None` if it is empty or there is no such setting.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// A count, or a size in bytes.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.value(name)?.parse().ok()
    }

    /// The settings that shape a run and all that somebody set.
    pub(super) fn shaping(&self) -> BTreeMap<String, String> {
        let shapes =
            |name: &str| SHAPING.iter().any(|start| name.starts_with(start)) || SHAPING_TOO.contains(&name);
        let kept = self.values.iter().filter(|(name, _)| self.set.contains(*name) || shapes(name));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Names of the settings that somebody set.
    pub(super) fn non_default(&self) -> Vec<String> {
        self.set.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shapes_a_run_is_kept_and_secrets_are_not_shown() {
        let row = |name: &str, value: &str, default: &str| {
            Row([name, value, default].map(|text| Some(text.to_owned())).to_vec())
        };
        let settings = Settings::of(&[
            row("commit_wait", "", "TRUE"),
            row("sga_target", "1073741824", "FALSE"),
            row("nls_language", "AMERICAN", "TRUE"),
            row("some_password", "hunter2", "FALSE"),
        ]);
        let kept = settings.shaping();
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["commit_wait", "sga_target", "some_password"]);
        assert_eq!(kept["some_password"], REDACTED);
        assert_eq!((settings.number("sga_target"), settings.value("commit_wait")), (Some(1 << 30), None));
        assert_eq!(settings.non_default(), ["sga_target", "some_password"]);
    }
}
