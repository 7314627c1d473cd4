//! Constant facts of the model: version, container, settings, privileges, space.

use super::answers::{int, number, rows, text};
use super::dictionary::FREE_BYTES;
use super::views::CONTAINER;
use crate::scripted_oracle::RecordedServer;
use crate::{ScriptedAnswer, ScriptedRelease, ScriptedValue};

/// Names and values of settings; a setting without a value is not set.
const SETTINGS: [(&str, Option<&str>); 22] = [
    ("cluster_database", Some("FALSE")),
    ("commit_logging", None),
    ("commit_wait", None),
    ("compatible", Some("19.0.0")),
    ("control_management_pack_access", Some("NONE")),
    ("cpu_count", Some("2")),
    ("cursor_sharing", Some("EXACT")),
    ("db_block_size", Some("8192")),
    ("db_name", Some("ORCL")),
    ("db_unique_name", Some("ORCL")),
    ("disk_asynch_io", Some("TRUE")),
    ("enable_pluggable_database", Some("TRUE")),
    ("filesystemio_options", Some("SETALL")),
    ("open_cursors", Some("300")),
    ("processes", Some("300")),
    ("result_cache_mode", Some("MANUAL")),
    ("session_cached_cursors", Some("50")),
    ("sessions", Some("472")),
    ("sga_target", Some("1073741824")),
    ("statistics_level", Some("TYPICAL")),
    ("undo_retention", Some("900")),
    ("use_large_pages", Some("TRUE")),
];

/// Start time of the model's instance that clients see.
pub(super) const STARTED: &str = "2026-01-01T00:00:00";

/// Answers a query about the database itself; absent for any other statement.
pub(super) fn answer(
    release: ScriptedRelease,
    recorded: Option<&RecordedServer>,
    session: u64,
    words: &str,
) -> Option<ScriptedAnswer> {
    let (begins, says) = (|start: &str| words.starts_with(start), |part: &str| words.contains(part));
    let texts = |columns: &[&'static str], values: &[&str]| {
        rows(columns, vec![values.iter().map(|value| text(*value)).collect()])
    };
    let no_rows = |column: &'static str| rows(&[column], Vec::new());
    let setting = |(name, value): &(&str, Option<&str>)| {
        let recorded = recorded.and_then(|recorded| recorded.setting(name));
        vec![text(*name), recorded.or(*value).map_or(ScriptedValue::Null, text), text("TRUE")]
    };
    Some(if begins("ALTER SESSION SET NLS_") || begins("DECLARE long_text VARCHAR2(32767)") {
        ScriptedAnswer::Done
    } else if says("SYS_CONTEXT('USERENV', 'SESSION_USER') AS session_user") {
        let columns = [
            "SESSION_USER",
            "CURRENT_SCHEMA",
            "DB_NAME",
            "DB_UNIQUE_NAME",
            "CDB_NAME",
            "CON_NAME",
            "CON_ID",
            "SERVICE_NAME",
            "INSTANCE_NAME",
            "SERVER_HOST",
            "NETWORK_PROTOCOL",
            "DATABASE_ROLE",
            "SID",
        ];
        let (container, session) = (CONTAINER.to_string(), session.to_string());
        let values = [
            "DYNO", "DYNO", "ORCL", "ORCL", "ORCL", "BENCH", &container, "bench", "orcl1", "model", "tcp",
            "PRIMARY", &session,
        ];
        texts(&columns, &values)
    } else if says("FROM v$version") {
        let banner = match release {
            ScriptedRelease::R19c => {
                "Oracle Database 19c Model Edition Release 19.0.0.0.0 - Test double\nVersion 19.21.0.0.0"
            }
            ScriptedRelease::R23ai => {
                "Oracle Database 23ai Model Edition Release 23.0.0.0.0 - Test double\nVersion 23.9.0.0.0"
            }
        };
        let recorded = recorded.map(RecordedServer::banner);
        texts(&["BANNER_FULL"], &[recorded.as_deref().unwrap_or(banner)])
    } else if says("FROM v$parameter WHERE name = 'control_management_pack_access'") {
        texts(&["VALUE"], &["NONE"])
    } else if says("FROM v$parameter") {
        rows(&["NAME", "VALUE", "ISDEFAULT"], SETTINGS.iter().map(setting).collect())
    } else if says("FROM v$database") {
        let columns =
            ["LOG_MODE", "FORCE_LOGGING", "OPEN_MODE", "DATABASE_ROLE", "PROTECTION_MODE", "FLASHBACK_ON"];
        texts(&columns, &["NOARCHIVELOG", "NO", "READ WRITE", "PRIMARY", "MAXIMUM PERFORMANCE", "NO"])
    } else if says("FROM v$pdbs ") {
        texts(&["OPEN_MODE"], &["READ WRITE"])
    } else if says("FROM session_privs") {
        let privileges = ["CREATE SESSION", "CREATE TABLE"];
        rows(&["PRIVILEGE"], privileges.into_iter().map(|name| vec![text(name)]).collect())
    } else if says("FROM user_tablespaces t") {
        let columns = ["NAME", "block_size", "SPACE_MANAGEMENT", "COMPRESSION", "LOGGING", "STATUS"];
        let block_bytes = int(super::catalog::BLOCK_BYTES);
        let values =
            [text("USERS"), block_bytes, text("AUTO"), text("DISABLED"), text("LOGGING"), text("ONLINE")];
        rows(&columns, vec![values.to_vec()])
    } else if says("FROM user_free_space ") {
        number(FREE_BYTES)
    } else if says("FROM v$sgainfo ") {
        texts(&["BYTES"], &["805306368"])
    } else if says("FROM v$log") {
        // All three were used within the last hour.
        let columns = ["log_groups", "smallest", "all_bytes", "used_groups", "used_seconds"];
        rows(&columns, vec![vec![int(3), int(200 << 20), int(600 << 20), int(3), int(3_600)]])
    } else if says("FROM v$dnfs_servers") {
        rows(&["nfs_servers"], vec![vec![int(0)]])
    } else if says("WHERE resource_name = 'SESSIONS_PER_USER'") {
        texts(&["LIMIT"], &["UNLIMITED"])
    } else if says("FROM user_resource_limits ") {
        rows(&["RESOURCE_NAME", "LIMIT"], Vec::new())
    } else if says("FROM dba_rsrc_io_calibrate") {
        no_rows("max_iops")
    } else if says("FROM all_procedures WHERE owner = 'PERFSTAT'") {
        no_rows("there")
    } else {
        return None;
    })
}
