//! Collects everything that the preflight check asks the server.

use super::super::connect::PostgresConnectConfig;
use super::super::layout::{SCHEMA, named_bytes, survey};
use super::super::pool::PostgresRoute;
use super::super::pool_config::PoolConfig;
use super::super::wire::PostgresConnection;
use super::block::block_size;
use super::settings::{self, ServerSettings};
use super::{host, limits_set};
use dyno_engine::disk;
use dyno_engine::{DataState, TargetError, TimeLimit, WorkloadNeeds};

/// The facts that the findings are based on.
#[derive(Debug)]
pub(super) struct PostgresPreflightFacts {
    pub(super) version: String,
    pub(super) version_num: u32,
    pub(super) settings: ServerSettings,
    pub(super) block_size: u64,
    pub(super) user: String,
    pub(super) database: String,
    pub(super) superuser: bool,
    /// Whether this user can read all rows of pg_stat_activity and all settings.
    pub(super) monitor: bool,
    pub(super) can_create_schema: bool,
    /// Whether this user may create in schema `dyno`; absent if the schema does not exist.
    pub(super) schema: Option<bool>,
    /// The first schema of the search path; absent if this user may not create tables in it.
    pub(super) creates_tables_in: Option<String>,
    pub(super) in_recovery: bool,
    pub(super) read_only: bool,
    pub(super) encrypted: bool,
    /// Connections that are open now, without this one, and the number reserved for superusers.
    pub(super) connections: u64,
    /// Other sessions in this database: (all, active).
    pub(super) others: (u64, u64),
    /// The limits of this role and of this database; -1 means no limit.
    pub(super) role_limit: i64,
    pub(super) database_limit: i64,
    pub(super) prepared_transactions: u64,
    /// Autovacuum workers that are running now.
    pub(super) vacuuming: u64,
    /// How the connection reveals a pooler; absent for a direct connection.
    pub(super) pooler: Option<String>,
    /// The route of the sessions if they have their own URL.
    pub(super) through: Option<PostgresRoute>,
    /// The pooler's own settings; absent if it does not show them.
    pub(super) pool_config: Option<PoolConfig>,
    /// Time limits that apply to sessions of this user.
    pub(super) time_limits: Vec<TimeLimit>,
    pub(super) same_host: bool,
    /// Free bytes where the data is stored; absent if the directory is not visible from here.
    pub(super) free_bytes: Option<u64>,
    /// Bytes of the tables that custom workloads name, including indexes; absent if none exists.
    pub(super) named_bytes: Option<u64>,
    /// What is loaded, or why that cannot be determined.
    pub(super) data: Result<DataState, TargetError>,
}

/// A query that returns one row of booleans and numbers.
const QUESTION: &str = include_str!("../sql/preflight.sql");

pub(super) fn ask(
    connection: &mut PostgresConnection,
    config: &PostgresConnectConfig,
    needs: &WorkloadNeeds,
) -> Result<PostgresPreflightFacts, TargetError> {
    let settings = settings::read(connection)?;
    let rows = connection.simple(&QUESTION.replace("{schema}", SCHEMA))?;
    let row = rows.first().cloned();
    let flag = |i: usize| row.as_ref().and_then(|row| row.get(i)) == Some("t");
    let number = |i: usize| row.as_ref().and_then(|row| row.parse::<u64>(i)).unwrap_or(0);
    let limit = |i: usize| row.as_ref().and_then(|row| row.parse::<i64>(i)).unwrap_or(-1);
    let schema = flag(3).then(|| flag(4));
    let same_host = host::is_local_server(connection)?;
    let free_bytes = settings.value("data_directory").filter(|_| same_host).and_then(disk::free_bytes);
    Ok(PostgresPreflightFacts {
        version: connection.parameter("server_version").unwrap_or("of unknown version").to_owned(),
        version_num: connection.server_version_num(),
        block_size: block_size(connection)?.0,
        user: config.user.clone(),
        database: config.database.clone(),
        superuser: flag(0),
        monitor: flag(1),
        can_create_schema: flag(2),
        schema,
        creates_tables_in: row.as_ref().and_then(|row| row.get(14)).map(str::to_owned),
        in_recovery: flag(5),
        read_only: flag(6),
        encrypted: connection.is_encrypted(),
        connections: number(7),
        others: (number(8), number(9)),
        role_limit: limit(10),
        database_limit: limit(11),
        prepared_transactions: number(12),
        vacuuming: number(13),
        pooler: pooler(connection)?,
        through: None,
        pool_config: None,
        time_limits: limits_set::read(connection)?,
        same_host,
        free_bytes,
        named_bytes: match &needs.custom {
            Some(custom) => named_bytes(connection, &custom.names)?,
            None => None,
        },
        data: survey(connection),
        settings,
    })
}

/// What reveals a pooler: the process id in the start-up message differs from the server's, or the server's
/// changes.
fn pooler(connection: &mut PostgresConnection) -> Result<Option<String>, TargetError> {
    let initial_pid = connection.backend_pid();
    let mut serving_pids = Vec::new();
    for _ in 0..2 {
        let rows = connection.simple("SELECT pg_backend_pid()")?;
        serving_pids.extend(rows.first().and_then(|row| row.parse::<i32>(0)));
    }
    let other = serving_pids.iter().find(|&&pid| pid != initial_pid);
    Ok(other.map(|pid| {
        format!("the connection was opened as process {initial_pid} but is served by process {pid}")
    }))
}
