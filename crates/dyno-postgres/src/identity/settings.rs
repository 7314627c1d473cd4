//! Selects the settings that affect a run or differ from the defaults, and hides secrets.

use std::collections::BTreeMap;

use super::super::wire::PostgresConnection;
use dyno_engine::TargetError;
use dyno_engine::settings::REDACTED;
pub(super) use dyno_engine::settings::ServerSettings;

/// Prefixes of settings that affect a run.
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

/// Further settings that affect a run, by full name.
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

/// Parts of the names of settings that can contain passwords: connection strings, and commands with
/// arguments.
const SECRET: [&str; 5] = ["conninfo", "passphrase", "password_", "secret", "_command"];

/// Reads settings. A setting differs from its default if it was set explicitly; values from the environment,
/// from the connection, or computed by the server do not count.
const READ: &str = "SELECT name, current_setting(name, true),
        setting IS DISTINCT FROM boot_val AND context <> 'internal'
            AND source NOT IN ('default', 'client', 'session', 'environment variable', 'override')
     FROM pg_settings";

/// Reads the settings that this user may see, in the format of `SHOW`.
pub(super) fn read(connection: &mut PostgresConnection) -> Result<ServerSettings, TargetError> {
    let mut settings = ServerSettings::default();
    for row in &connection.simple(READ)? {
        let (Some(name), Some(value)) = (row.get(0), row.get(1)) else { continue };
        if row.get(2) == Some("t") {
            settings.set.insert(name.to_owned());
        }
        settings.values.insert(name.to_owned(), shown(name, value).to_owned());
    }
    Ok(settings)
}

/// The value of a setting for output, without secrets.
pub(crate) fn shown<'a>(name: &str, value: &'a str) -> &'a str {
    if is_secret(name, value) { REDACTED } else { value }
}

/// Whether the value of a setting must not be shown. An empty or boolean value is never a secret.
fn is_secret(name: &str, value: &str) -> bool {
    let suspicious =
        SECRET.iter().any(|part| name.contains(part)) || value.to_ascii_lowercase().contains("password=");
    suspicious && !matches!(value, "" | "on" | "off" | "(disabled)" | "scram-sha-256" | "md5")
}

/// Settings that affect a run and all that differ from the defaults.
pub(super) fn shaping(settings: &ServerSettings) -> BTreeMap<String, String> {
    settings.shaping(&SHAPING, &SHAPING_TOO)
}

/// Whether PostgreSQL bypasses the page cache when it reads data files (`debug_io_direct`, since 16).
pub(super) fn uses_direct_io(settings: &ServerSettings) -> bool {
    settings.value("debug_io_direct").is_some_and(|files| files.split(',').any(|name| name.trim() == "data"))
}

/// A size setting in bytes, from text such as `128MB`.
pub(super) fn bytes(settings: &ServerSettings, name: &str) -> Option<u64> {
    let (number, unit) = quantity(settings, name)?;
    let shift = ["B", "kB", "MB", "GB", "TB"].iter().position(|known| *known == unit)?;
    Some(number << (10 * shift))
}

/// A time setting in seconds, from text such as `5min`.
pub(super) fn seconds(settings: &ServerSettings, name: &str) -> Option<f64> {
    let (number, unit) = quantity(settings, name)?;
    let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3_600.0), ("d", 86_400.0)];
    let (_, seconds) = units.into_iter().find(|(known, _)| *known == unit)?;
    Some(number as f64 * seconds)
}

fn quantity<'s>(settings: &'s ServerSettings, name: &str) -> Option<(u64, &'s str)> {
    let value = settings.value(name)?;
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    Some((value[..digits].parse().ok()?, &value[digits..]))
}

/// The statements that change a server setting and activate it; `postmaster` settings need a restart.
pub(super) fn alter(name: &str, value: &str) -> String {
    format!("ALTER SYSTEM SET {name} = {value}; SELECT pg_reload_conf();")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_postgres_settings_are_recognized() {
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
    fn setting_units_are_parsed() {
        let settings = ServerSettings::of(&[
            ("shared_buffers", "128MB"),
            ("max_wal_size", "1GB"),
            ("io_combine_limit", "128kB"),
            ("checkpoint_timeout", "5min"),
            ("wal_writer_delay", "200ms"),
            ("wal_level", "replica"),
        ]);
        assert_eq!(bytes(&settings, "shared_buffers"), Some(128 << 20));
        assert_eq!(bytes(&settings, "max_wal_size"), Some(1 << 30));
        assert_eq!(bytes(&settings, "io_combine_limit"), Some(128 << 10));
        assert_eq!(seconds(&settings, "checkpoint_timeout"), Some(300.0));
        assert_eq!(seconds(&settings, "wal_writer_delay"), Some(0.2));
        assert_eq!(bytes(&settings, "checkpoint_timeout"), None);
        assert_eq!(bytes(&settings, "wal_level"), None);
    }
}
