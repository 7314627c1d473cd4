//! Collects everything that the preflight check asks the database.

use std::collections::BTreeSet;

use super::super::connect::OracleConnectConfig;
use super::super::connection::OracleConnection;
use super::super::counters::{OracleInstanceContext, is_rac, unreadable};
use super::super::layout::{Tablespace, survey, tablespace};
use super::super::sql;
use super::session_identity::{OracleSessionIdentity, read_session_identity};
use super::settings::{self, ServerSettings};
use super::{host, profile, version};
use dyno_engine::{DataState, TargetError, WorkloadNeeds};

/// The facts that the findings are based on.
#[derive(Debug)]
pub(super) struct OraclePreflightFacts {
    pub(super) session: OracleSessionIdentity,
    pub(super) version: String,
    /// Release and update: (19, 21).
    pub(super) release: (usize, usize),
    pub(super) settings: ServerSettings,
    pub(super) tablespace: Tablespace,
    /// System privileges that the workload needs and that this session does not have.
    pub(super) missing_privileges: Vec<&'static str>,
    /// Views that cannot be read, under their names in grants: `V_$SYSSTAT`.
    pub(super) unreadable: Vec<String>,
    /// Current size of the buffer cache in bytes; absent if it cannot be read.
    pub(super) buffer_cache: Option<u64>,
    pub(super) rac: bool,
    /// Sessions of every kind on this instance; absent if they are not visible.
    pub(super) sessions: Option<u64>,
    /// Sessions of others: (all, active); absent if they are not visible.
    pub(super) others: Option<(u64, u64)>,
    /// The sessions that the user's profile allows; absent without a limit.
    pub(super) sessions_per_user: Option<u64>,
    /// Limits of the user's profile on time and work that are set.
    pub(super) profile_limits: Vec<(String, u64)>,
    /// Log mode, force logging, open mode, role and protection mode; absent if they cannot be read.
    pub(super) database: Option<[String; 5]>,
    /// Number of online redo log groups and bytes of the smallest; absent if they cannot be read.
    pub(super) redo: Option<(u64, u64)>,
    /// Number of redo log groups that have been used, and seconds since the oldest of these began; absent if
    /// that cannot be read.
    pub(super) redo_used: Option<(u64, u64)>,
    /// Mounts that direct NFS serves; absent if they cannot be read.
    pub(super) nfs_servers: Option<u64>,
    /// Bytes that the quota still allows; `None` means no limit.
    pub(super) quota_left: Option<u64>,
    /// Whether the user has any quota.
    pub(super) has_quota: bool,
    /// Free bytes in the files at their current size.
    pub(super) free_bytes: Option<u64>,
    pub(super) same_host: bool,
    /// Bytes of this user's tables that custom workloads name, including indexes; absent if none exists.
    pub(super) named_bytes: Option<u64>,
    /// What is loaded, or why that cannot be determined.
    pub(super) data: Result<DataState, TargetError>,
}

/// System privileges that every load, run and drop needs.
const NEEDED: [&str; 2] = ["CREATE SESSION", "CREATE TABLE"];

/// Types of objects that some workloads create, with the system privilege for each.
const NEEDED_TO_CREATE: [(&str, &str); 6] = [
    ("SEQUENCE", "CREATE SEQUENCE"),
    ("PROCEDURE", "CREATE PROCEDURE"),
    ("FUNCTION", "CREATE PROCEDURE"),
    ("TRIGGER", "CREATE TRIGGER"),
    ("TYPE", "CREATE TYPE"),
    ("VIEW", "CREATE VIEW"),
];

/// System privileges that the workload needs.
fn needed_privileges(needs: &WorkloadNeeds) -> BTreeSet<&'static str> {
    let custom = needs.custom.iter();
    let of_kinds = custom.clone().flat_map(|custom| &custom.created_kinds);
    let to_create = of_kinds
        .filter_map(|kind| NEEDED_TO_CREATE.iter().find(|(name, _)| name == kind).map(|(_, right)| *right));
    let checkpoint = custom.filter(|custom| custom.bulk).map(|_| "ALTER SYSTEM");
    NEEDED.into_iter().chain(to_create).chain(checkpoint).collect()
}

pub(super) fn ask(
    connection: &OracleConnection,
    config: &OracleConnectConfig,
    needs: &WorkloadNeeds,
) -> Result<OraclePreflightFacts, TargetError> {
    let session = read_session_identity(connection)?;
    let tablespace = tablespace(connection, config)?;
    let privileges = connection.rows(&sql::PRIVILEGES.text(), &[])?;
    let has = |name: &str| privileges.iter().any(|row| row.get(0) == Some(name));
    let surroundings = OracleInstanceContext::find(connection, config)?;
    let number = |statement: sql::OracleSqlFile, index: usize| -> Result<Option<u64>, TargetError> {
        let rows = connection.rows_if_allowed(&statement.text(), &[])?;
        Ok(rows.and_then(|rows| rows.first()?.parse(index)))
    };
    let quota = connection.rows(&sql::QUOTA.text(), &[("tablespace", &tablespace.name)])?;
    let quota = quota.first().and_then(|row| Some((row.parse::<u64>(0)?, row.parse::<i64>(1)?)));
    let unlimited = has("UNLIMITED TABLESPACE");
    let free = connection.rows_if_allowed(&sql::FREE_SPACE.text(), &[("tablespace", &tablespace.name)])?;
    let database = connection.rows_if_allowed(&sql::DATABASE.text(), &[])?;
    let redo = connection.rows_if_allowed(&sql::REDO_LOGS.text(), &[])?;
    let of_redo = |first, second| {
        let row = redo.as_ref()?.first()?;
        Some((row.parse(first)?, row.parse(second)?))
    };
    let sessions = connection.rows_if_allowed(&surroundings.sessions(sql::SESSION_COUNTS), &[])?;
    let others_sql = surroundings.sessions(sql::OTHERS);
    let other_rows = connection.rows_if_allowed(&others_sql, &[("con_id", &surroundings.con_id)])?;
    Ok(OraclePreflightFacts {
        version: version(connection)?,
        release: connection.version(),
        settings: settings::read(connection)?,
        missing_privileges: needed_privileges(needs).into_iter().filter(|name| !has(name)).collect(),
        unreadable: unreadable(connection, surroundings)?,
        buffer_cache: number(sql::BUFFER_CACHE, 0)?,
        rac: is_rac(connection)?,
        sessions: sessions.and_then(|rows| rows.first()?.parse(0)),
        others: other_rows.and_then(|rows| Some((rows.first()?.parse(0)?, rows.first()?.parse(1)?))),
        sessions_per_user: number(sql::SESSIONS_PER_USER, 0)?,
        profile_limits: profile::read(connection)?,
        database: database.and_then(|rows| {
            let row = rows.first()?;
            Some([0, 1, 2, 3, 4].map(|index| row.get(index).unwrap_or_default().to_owned()))
        }),
        redo: of_redo(0, 1),
        redo_used: of_redo(3, 4),
        nfs_servers: number(sql::NFS_SERVERS, 0)?,
        quota_left: match quota {
            Some((used, most)) if !unlimited => {
                u64::try_from(most).ok().map(|most| most.saturating_sub(used))
            }
            _ => None,
        },
        has_quota: unlimited || quota.is_some_and(|(_, most)| most != 0),
        free_bytes: free.and_then(|rows| rows.first()?.parse(0)),
        same_host: host::is_local_server(&session.host, &session.instance),
        named_bytes: match &needs.custom {
            Some(custom) => named_bytes(connection, &custom.names)?,
            None => None,
        },
        data: survey(connection),
        session,
        tablespace,
    })
}

/// Bytes of this user's tables in `names`, which are in lower case.
fn named_bytes(connection: &OracleConnection, names: &BTreeSet<String>) -> Result<Option<u64>, TargetError> {
    let tables = connection.rows_if_allowed(&sql::TABLE_SIZES.text(), &[])?.unwrap_or_default();
    let is_named = |name: &str| names.contains(&name.to_lowercase());
    let named = tables.iter().filter(|row| row.get(0).is_some_and(is_named));
    Ok(named.filter_map(|row| row.parse::<u64>(1)).reduce(u64::saturating_add))
}

#[cfg(test)]
mod tests {
    use dyno_engine::CustomNeeds;

    use super::*;

    #[test]
    fn oracle_privileges_depend_on_created_object_kinds() {
        let needed = |created_kinds: &[&'static str], bulk| {
            let custom = CustomNeeds {
                created_kinds: created_kinds.iter().copied().collect(),
                bulk,
                ..Default::default()
            };
            needed_privileges(&WorkloadNeeds::of_custom_workloads(custom, true))
                .into_iter()
                .collect::<Vec<_>>()
        };
        assert_eq!(needed(&["TABLE", "INDEX"], false), ["CREATE SESSION", "CREATE TABLE"]);
        let of_procedures = ["CREATE PROCEDURE", "CREATE SEQUENCE", "CREATE SESSION", "CREATE TABLE"];
        assert_eq!(needed(&["SEQUENCE", "PROCEDURE", "FUNCTION"], false), of_procedures);
        assert_eq!(needed(&[], true), ["ALTER SYSTEM", "CREATE SESSION", "CREATE TABLE"]);
    }
}
