//! Collects everything that the preflight check asks the server.

use super::super::connect::MySqlConnectConfig;
use super::super::layout::{named_bytes, page_size, survey};
use super::super::wire::{MySqlConnection, MySqlError};
use super::settings::{self, ServerSettings};
use super::{host, product};
use crate::grants::MySqlGrants;
use dyno_engine::disk;
use dyno_engine::{DataState, Refusal as _, TargetError, WorkloadNeeds};

/// The facts that the findings are based on.
#[derive(Debug)]
pub(super) struct MySqlPreflightFacts {
    pub(super) product: &'static str,
    pub(super) mariadb: bool,
    pub(super) version: String,
    pub(super) version_num: u32,
    pub(super) settings: ServerSettings,
    pub(super) block_size: u64,
    pub(super) user: String,
    pub(super) database: String,
    /// Privileges that loading, running and dropping need and that this user's grants do not include.
    pub(super) missing_rights: Vec<&'static str>,
    /// The statements with which an administrator grants them.
    pub(super) grants: MySqlGrants,
    /// Whether this user has all privileges on everything.
    pub(super) superuser: bool,
    /// Whether it can see other users' sessions and InnoDB's lists of tables (`PROCESS`).
    pub(super) process: bool,
    /// Whether exact counts of pages can be read.
    pub(super) index_stats: bool,
    /// Tables of `performance_schema` that this user may not read, where it is on.
    pub(super) unreadable: Vec<&'static str>,
    pub(super) encrypted: bool,
    /// Connections that are open now, without this one.
    pub(super) connections: u64,
    /// Other sessions that are visible: (all, active).
    pub(super) others: (u64, u64),
    pub(super) same_host: bool,
    /// Free bytes where the data is stored; absent if the directory is not visible from here.
    pub(super) free_bytes: Option<u64>,
    /// Bytes of the tables that custom workloads name, including indexes; absent if none exists.
    pub(super) named_bytes: Option<u64>,
    /// What is loaded, or why that cannot be determined.
    pub(super) data: Result<DataState, TargetError>,
}

/// Privileges on the database that loading, running and dropping need.
const NEEDED: [&str; 11] = [
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "DROP",
    "ALTER",
    "INDEX",
    "CREATE ROUTINE",
    "ALTER ROUTINE",
    "EXECUTE",
];

/// Tables of `performance_schema` that counters are read from.
const COUNTED_FROM: [&str; 4] = [
    "events_statements_summary_global_by_event_name",
    "events_waits_summary_global_by_event_name",
    "file_summary_by_event_name",
    "table_io_waits_summary_by_table",
];

/// Sessions other than this one and the server's own: all, and active.
const OTHERS: &str =
    "SELECT COUNT(*), COALESCE(SUM(COMMAND NOT IN ('Sleep')), 0) FROM information_schema.PROCESSLIST
     WHERE ID <> CONNECTION_ID() AND COMMAND NOT IN ('Daemon', 'Binlog Dump', 'Binlog Dump GTID')
       AND USER NOT IN ('system user', 'event_scheduler')";

pub(super) fn ask(
    connection: &mut MySqlConnection,
    config: &MySqlConnectConfig,
    needs: &WorkloadNeeds,
) -> Result<MySqlPreflightFacts, TargetError> {
    let settings = settings::read(connection)?;
    let grants = grants(connection)?;
    let has = |right: &str| grants.iter().any(|grant| grant.gives(right, &config.database));
    let missing_rights = NEEDED.into_iter().filter(|right| !has(right)).collect();
    let superuser = grants.iter().any(|grant| grant.all && grant.on.starts_with("*.*"));
    let process =
        grants.iter().any(|grant| grant.on.starts_with("*.*") && (grant.all || grant.names("PROCESS")));
    let stats = connection.simple("SELECT 1 FROM mysql.innodb_index_stats LIMIT 1");
    let index_stats = match stats {
        Ok(_) => true,
        Err(error) if MySqlError::of(&error).is_some() => false,
        Err(error) => return Err(error),
    };
    let mut unreadable = Vec::new();
    for table in COUNTED_FROM.into_iter().filter(|_| settings.is_on("performance_schema")) {
        match connection.simple(&format!("SELECT 1 FROM performance_schema.{table} LIMIT 1")) {
            Ok(_) => {}
            Err(error) if MySqlError::of(&error).is_some() => unreadable.push(table),
            Err(error) => return Err(error),
        }
    }
    let session_counts = connection.simple(OTHERS)?;
    let number = |i| session_counts.first().and_then(|row| row.parse::<u64>(i)).unwrap_or(0);
    let status = connection.simple("SHOW GLOBAL STATUS LIKE 'Threads_connected'")?;
    let connected = status.first().and_then(|row| row.parse::<u64>(1)).unwrap_or(1);
    let same_host = host::is_local_server(connection)?;
    let free_bytes = settings.value("datadir").filter(|_| same_host).and_then(disk::free_bytes);
    Ok(MySqlPreflightFacts {
        product: product(connection),
        mariadb: connection.is_mariadb(),
        version: connection.server_version().to_owned(),
        version_num: connection.version_num(),
        block_size: page_size(connection)?,
        user: config.user.clone(),
        database: config.database.clone(),
        missing_rights,
        grants: MySqlGrants::new(&config.user, &config.database),
        superuser,
        process,
        index_stats,
        unreadable,
        encrypted: connection.is_encrypted(),
        connections: connected.saturating_sub(1),
        others: (number(0), number(1)),
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

/// One line of `SHOW GRANTS`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Grant {
    rights: Vec<String>,
    all: bool,
    /// The object after ON: `*.*`, `` `bench`.* ``.
    on: String,
}

impl Grant {
    /// Parses `GRANT SELECT, INSERT (a) ON `bench`.* TO …`; `None` if the line grants a role.
    pub(super) fn read(line: &str) -> Option<Self> {
        let (rights, rest) = line.strip_prefix("GRANT ")?.split_once(" ON ")?;
        let rights: Vec<String> = rights.split(',').map(|right| right.trim().to_ascii_uppercase()).collect();
        let all = rights.iter().any(|right| right == "ALL PRIVILEGES" || right == "ALL");
        Some(Self { rights, all, on: rest.split(" TO ").next()?.to_owned() })
    }

    fn names(&self, right: &str) -> bool {
        self.rights.iter().any(|own| own == right)
    }

    /// Whether it grants `right` on all of `database`. Names in grants are patterns, in which `\_` is a
    /// literal `_`.
    pub(super) fn gives(&self, right: &str, database: &str) -> bool {
        let scope = self.on.replace("\\_", "_");
        let on_it = scope == "*.*" || scope == format!("`{database}`.*") || scope == "`%`.*";
        on_it && (self.all || self.names(right))
    }
}

/// This user's grants. Privileges from a role are included if the server lists them together with the others.
fn grants(connection: &mut MySqlConnection) -> Result<Vec<Grant>, TargetError> {
    let rows = connection.simple("SHOW GRANTS")?;
    Ok(rows.iter().filter_map(|row| Grant::read(row.get(0)?)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mysql_grants_are_read() {
        let grant = Grant::read("GRANT SELECT, CREATE ROUTINE ON `my\\_bench`.* TO `me`@`%`").unwrap();
        assert!(grant.gives("SELECT", "my_bench"));
        assert!(grant.gives("CREATE ROUTINE", "my_bench"));
        assert!(!grant.gives("INSERT", "my_bench"));
        assert!(!grant.gives("SELECT", "other"));
        let all = Grant::read("GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION").unwrap();
        assert!(all.gives("INSERT", "anything"));
        assert_eq!(Grant::read("GRANT `role`@`%` TO `me`@`%`"), None);
    }
}
