//! The server's settings: those that shape a run, those that differ from the defaults, and never a secret.

use std::collections::BTreeMap;

use super::super::wire::{Connection, Row};
use dyno_engine::error::TargetError;

/// Beginnings of the names of settings that shape a run.
const SHAPING: [&str; 17] = [
    "autovacuum",
    "backend_flush_after",
    "bgwriter_",
    "block_size",
    "checkpoint_",
    "commit_",
    "data_checksums",
    "data_sync_retry",
    "debug_io_direct",
    "effective_",
    "full_page_writes",
    "io_",
    "jit",
    "shared_",
    "track_",
    "vacuum_",
    "wal_",
];

/// Further settings that shape a run, by their whole names.
const SHAPING_TOO: [&str; 25] = [
    "archive_mode",
    "dynamic_shared_memory_type",
    "fsync",
    "hash_mem_multiplier",
    "hot_standby",
    "huge_page_size",
    "huge_pages",
    "huge_pages_status",
    "maintenance_io_concurrency",
    "maintenance_work_mem",
    "max_connections",
    "max_parallel_workers",
    "max_parallel_workers_per_gather",
    "max_wal_size",
    "max_worker_processes",
    "min_dynamic_shared_memory",
    "min_wal_size",
    "random_page_cost",
    "seq_page_cost",
    "server_version",
    "synchronous_commit",
    "synchronous_standby_names",
    "temp_buffers",
    "work_mem",
    "default_transaction_isolation",
];

/// Parts of the names of settings that can hold passwords: connection strings, and commands with arguments.
const SECRET: [&str; 5] = ["conninfo", "passphrase", "password_", "secret", "_command"];

/// Shown in place of a secret.
const REDACTED: &str = "***";

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    /// With its unit, as `SHOW` prints it.
    value: String,
    /// The raw number or word, in `unit`.
    raw: String,
    /// `8kB`, `ms`, or empty.
    unit: String,
    /// Whether it differs from the product's own default.
    differs: bool,
}

/// All settings that this user may see.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings(BTreeMap<String, Setting>);

/// A setting differs if somebody set it: values from the environment, from the connection, or computed by the server are
/// no choices of the site.
const READ: &str = "SELECT name, current_setting(name, true), setting, coalesce(unit, ''),
        setting IS DISTINCT FROM boot_val AND context <> 'internal'
            AND source NOT IN ('default', 'client', 'session', 'environment variable', 'override')
     FROM pg_settings";

/// Reads them.
pub(super) fn read(connection: &mut Connection) -> Result<Settings, TargetError> {
    let rows = connection.simple(READ)?;
    Ok(Settings(rows.iter().filter_map(setting).collect()))
}

fn setting(row: &Row) -> Option<(String, Setting)> {
    let name = row.get(0)?.to_owned();
    let setting = Setting {
        value: shown(&name, row.get(1)?).to_owned(),
        raw: shown(&name, row.get(2)?).to_owned(),
        unit: row.get(3)?.to_owned(),
        differs: row.get(4) == Some("t"),
    };
    Some((name, setting))
}

/// The value of a setting as it may be shown.
pub(crate) fn shown<'a>(name: &str, value: &'a str) -> &'a str {
    if is_secret(name, value) { REDACTED } else { value }
}

/// Whether the value of a setting must not be shown; an empty one, or one that only says yes or no, holds no secret.
fn is_secret(name: &str, value: &str) -> bool {
    let suspicious =
        SECRET.iter().any(|part| name.contains(part)) || value.to_ascii_lowercase().contains("password=");
    suspicious && !matches!(value, "" | "on" | "off" | "(disabled)" | "scram-sha-256" | "md5")
}

impl Settings {
    /// The value as `SHOW` prints it; `None` if there is no such setting, or this user may not see it.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|setting| setting.value.as_str()).filter(|value| !value.is_empty())
    }

    /// Whether a switch is on.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.value(name) == Some("on")
    }

    /// A count.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.raw.parse().ok()
    }

    /// A size in bytes.
    pub(super) fn bytes(&self, name: &str) -> Option<u64> {
        let setting = self.0.get(name)?;
        let digits = setting.unit.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let times: u64 = if digits.is_empty() { 1 } else { digits.parse().ok()? };
        let unit = match setting.unit.trim_start_matches(|c: char| c.is_ascii_digit()) {
            "B" | "" => 1,
            "kB" => 1 << 10,
            "MB" => 1 << 20,
            "GB" => 1 << 30,
            _ => return None,
        };
        Some(setting.raw.parse::<u64>().ok()? * times * unit)
    }

    /// A span in seconds.
    pub(super) fn seconds(&self, name: &str) -> Option<f64> {
        let setting = self.0.get(name)?;
        let raw: f64 = setting.raw.parse().ok()?;
        match setting.unit.as_str() {
            "ms" => Some(raw / 1_000.0),
            "s" => Some(raw),
            "min" => Some(raw * 60.0),
            _ => None,
        }
    }

    /// The settings that shape a run and all that differ from the defaults.
    pub(super) fn shaping(&self) -> BTreeMap<String, String> {
        let shapes =
            |name: &str| SHAPING.iter().any(|start| name.starts_with(start)) || SHAPING_TOO.contains(&name);
        let kept = self.0.iter().filter(|(name, setting)| setting.differs || shapes(name));
        kept.map(|(name, setting)| (name.clone(), setting.value.clone())).collect()
    }

    /// Names of the settings that differ from the defaults.
    pub(super) fn non_default(&self) -> Vec<String> {
        self.0.iter().filter(|(_, setting)| setting.differs).map(|(name, _)| name.clone()).collect()
    }

    #[cfg(test)]
    pub(super) fn of(values: &[(&str, &str, &str)]) -> Self {
        let setting = |raw: &str, unit: &str| Setting {
            value: format!("{raw}{unit}"),
            raw: raw.to_owned(),
            unit: unit.to_owned(),
            differs: true,
        };
        Self(values.iter().map(|(name, raw, unit)| ((*name).to_owned(), setting(raw, unit))).collect())
    }
}

/// The command that changes a server setting and makes it count; `postmaster` settings need a restart.
pub(super) fn alter(name: &str, value: &str) -> String {
    format!("ALTER SYSTEM SET {name} = {value}; SELECT pg_reload_conf();")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        for (name, value) in [
            ("primary_conninfo", "host=a user=b"),
            ("ssl_passphrase_command", "echo s3cret"),
            ("archive_command", "curl -u me:pw"),
            ("some.extension", "host=a PASSWORD=b"),
        ] {
            assert!(is_secret(name, value), "{name}");
        }
        assert!(!is_secret("password_encryption", "scram-sha-256"));
        assert!(!is_secret("archive_command", "(disabled)"));
        assert!(!is_secret("shared_buffers", "128MB"));
    }

    #[test]
    fn units_are_understood() {
        let settings = Settings::of(&[
            ("shared_buffers", "16384", "8kB"),
            ("max_wal_size", "1024", "MB"),
            ("checkpoint_timeout", "300", "s"),
            ("wal_writer_delay", "200", "ms"),
            ("wal_segment_size", "16777216", "B"),
        ]);
        assert_eq!(settings.bytes("shared_buffers"), Some(128 << 20));
        assert_eq!(settings.bytes("max_wal_size"), Some(1 << 30));
        assert_eq!(settings.bytes("wal_segment_size"), Some(16 << 20));
        assert_eq!(settings.seconds("checkpoint_timeout"), Some(300.0));
        assert_eq!(settings.seconds("wal_writer_delay"), Some(0.2));
        assert_eq!(settings.bytes("checkpoint_timeout"), None);
    }
}
