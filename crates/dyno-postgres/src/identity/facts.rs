//! What the preflight check asks the server, in one place.

use super::super::connect::ConnectConfig;
use super::super::layout::{SCHEMA, named_bytes, survey};
use super::super::pool::Way;
use super::super::pool_config::PoolConfig;
use super::super::wire::Connection;
use super::block::block_size;
use super::settings::{self, Settings};
use super::{host, limits_set};
use dyno_engine::disk;
use dyno_engine::{DataState, TargetError, TimeLimit, WorkloadNeeds};

/// Everything that findings are made of.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) version: String,
    pub(super) version_num: u32,
    pub(super) settings: Settings,
    pub(super) block_size: u64,
    pub(super) user: String,
    pub(super) database: String,
    pub(super) superuser: bool,
    /// Whether all rows of pg_stat_activity and all settings can be read.
    pub(super) monitor: bool,
    pub(super) can_create_schema: bool,
    /// Whether schema `dyno` is there, and whether this user may create in it.
    pub(super) schema: Option<bool>,
    /// The first schema of the search path, if this user may create tables in it.
    pub(super) creates_tables_in: Option<String>,
    pub(super) in_recovery: bool,
    pub(super) read_only: bool,
    pub(super) encrypted: bool,
    /// Connections that are open now, this one not counted, and those of them kept for superusers.
    pub(super) connections: u64,
    /// Sessions of other users of this database: (all, active).
    pub(super) others: (u64, u64),
    /// The limit of this role and of this database, -1 is none.
    pub(super) role_limit: i64,
    pub(super) database_limit: i64,
    pub(super) prepared_transactions: u64,
    /// Autovacuum workers that are at work now.
    pub(super) vacuuming: u64,
    /// How the connection differs from one to a server, if it does: a pooler.
    pub(super) pooler: Option<String>,
    /// The way of the sessions, where it is one of their own.
    pub(super) through: Option<Way>,
    /// The pooler's own settings, where it shows them.
    pub(super) pool_config: Option<PoolConfig>,
    /// Time limits as sessions of this user have them.
    pub(super) time_limits: Vec<TimeLimit>,
    pub(super) same_host: bool,
    /// Free bytes where the data lies, if that can be seen from here.
    pub(super) free_bytes: Option<u64>,
    /// Bytes of the tables that custom workloads name, indexes included; absent where none is there.
    pub(super) named_bytes: Option<u64>,
    /// What is loaded, or why that cannot be told.
    pub(super) data: Result<DataState, TargetError>,
}

/// One row of booleans and numbers.
const QUESTION: &str = include_str!("../sql/preflight.sql");

/// Asks.
pub(super) fn ask(
    connection: &mut Connection,
    config: &ConnectConfig,
    needs: &WorkloadNeeds,
) -> Result<Facts, TargetError> {
    let settings = settings::read(connection)?;
    let rows = connection.simple(&QUESTION.replace("{schema}", SCHEMA))?;
    let row = rows.first().cloned();
    let flag = |i: usize| row.as_ref().and_then(|row| row.get(i)) == Some("t");
    let number = |i: usize| row.as_ref().and_then(|row| row.parse::<u64>(i)).unwrap_or(0);
    let limit = |i: usize| row.as_ref().and_then(|row| row.parse::<i64>(i)).unwrap_or(-1);
    let schema = flag(3).then(|| flag(4));
    let same_host = host::is_this_one(connection)?;
    let free_bytes = settings.value("data_directory").filter(|_| same_host).and_then(disk::free_bytes);
    Ok(Facts {
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

/// What gives a pooler away: the process number of the start-up message is not the server's, or it changes.
fn pooler(connection: &mut Connection) -> Result<Option<String>, TargetError> {
    let told = connection.backend_pid();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let rows = connection.simple("SELECT pg_backend_pid()")?;
        seen.extend(rows.first().and_then(|row| row.parse::<i32>(0)));
    }
    let other = seen.iter().find(|&&pid| pid != told);
    Ok(other.map(|pid| format!("the connection was opened as process {told} and is served by process {pid}")))
}
