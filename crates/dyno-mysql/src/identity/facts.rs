//! What the preflight check asks the server, in one place.

use super::super::connect::ConnectConfig;
use super::super::layout::{named_bytes, page_size, survey};
use super::super::wire::{Connection, MyError};
use super::settings::{self, Settings};
use super::{host, product};
use dyno_engine::disk;
use dyno_engine::{DataState, Refusal as _, TargetError, WorkloadNeeds};

/// Everything that findings are made of.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) product: &'static str,
    pub(super) mariadb: bool,
    pub(super) version: String,
    pub(super) version_num: u32,
    pub(super) settings: Settings,
    pub(super) block_size: u64,
    pub(super) user: String,
    pub(super) database: String,
    /// Rights that loading, running and dropping need and that this user's grants do not show.
    pub(super) missing_rights: Vec<&'static str>,
    /// What an administrator runs to give them.
    pub(super) grants: String,
    /// Whether this user has all rights on everything.
    pub(super) superuser: bool,
    /// Whether it sees other users' sessions and InnoDB's lists of tables (`PROCESS`).
    pub(super) process: bool,
    /// Whether exact counts of pages can be read.
    pub(super) index_stats: bool,
    /// Tables of `performance_schema` that this user may not read, where it is on.
    pub(super) unreadable: Vec<&'static str>,
    pub(super) encrypted: bool,
    /// Connections that are open now, this one not counted.
    pub(super) connections: u64,
    /// Other sessions that can be seen: (all, at work).
    pub(super) others: (u64, u64),
    pub(super) same_host: bool,
    /// Free bytes where the data lies, if that can be seen from here.
    pub(super) free_bytes: Option<u64>,
    /// Bytes of the tables that custom workloads name, indexes included; absent where none is there.
    pub(super) named_bytes: Option<u64>,
    /// What is loaded, or why that cannot be told.
    pub(super) data: Result<DataState, TargetError>,
}

/// Rights on the database that loading, running and dropping need.
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

/// Sessions beside this one and the server's own: all, and at work.
const OTHERS: &str =
    "SELECT COUNT(*), COALESCE(SUM(COMMAND NOT IN ('Sleep')), 0) FROM information_schema.PROCESSLIST
     WHERE ID <> CONNECTION_ID() AND COMMAND NOT IN ('Daemon', 'Binlog Dump', 'Binlog Dump GTID')
       AND USER NOT IN ('system user', 'event_scheduler')";

/// Asks.
pub(super) fn ask(
    connection: &mut Connection,
    config: &ConnectConfig,
    needs: &WorkloadNeeds,
) -> Result<Facts, TargetError> {
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
        Err(error) if MyError::of(&error).is_some() => false,
        Err(error) => return Err(error),
    };
    let mut unreadable = Vec::new();
    for table in COUNTED_FROM.into_iter().filter(|_| settings.is_on("performance_schema")) {
        match connection.simple(&format!("SELECT 1 FROM performance_schema.{table} LIMIT 1")) {
            Ok(_) => {}
            Err(error) if MyError::of(&error).is_some() => unreadable.push(table),
            Err(error) => return Err(error),
        }
    }
    let others = connection.simple(OTHERS)?;
    let number = |i| others.first().and_then(|row| row.parse::<u64>(i)).unwrap_or(0);
    let status = connection.simple("SHOW GLOBAL STATUS LIKE 'Threads_connected'")?;
    let connected = status.first().and_then(|row| row.parse::<u64>(1)).unwrap_or(1);
    let same_host = host::is_this_one(connection)?;
    let free_bytes = settings.value("datadir").filter(|_| same_host).and_then(disk::free_bytes);
    Ok(Facts {
        product: product(connection),
        mariadb: connection.is_mariadb(),
        version: connection.server_version().to_owned(),
        version_num: connection.version_num(),
        block_size: page_size(connection)?,
        user: config.user.clone(),
        database: config.database.clone(),
        missing_rights,
        grants: super::super::layout::grants(config),
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
    /// What stands behind ON: `*.*`, `` `bench`.* ``.
    on: String,
}

impl Grant {
    /// Reads `GRANT SELECT, INSERT (a) ON `bench`.* TO …`; `None` where a role is granted.
    pub(super) fn read(line: &str) -> Option<Self> {
        let (rights, rest) = line.strip_prefix("GRANT ")?.split_once(" ON ")?;
        let rights: Vec<String> = rights.split(',').map(|right| right.trim().to_ascii_uppercase()).collect();
        let all = rights.iter().any(|right| right == "ALL PRIVILEGES" || right == "ALL");
        Some(Self { rights, all, on: rest.split(" TO ").next()?.to_owned() })
    }

    fn names(&self, right: &str) -> bool {
        self.rights.iter().any(|own| own == right)
    }

    /// Whether it gives `right` on all of `database`. Names in grants are patterns in which `\_` is a plain `_`.
    pub(super) fn gives(&self, right: &str, database: &str) -> bool {
        let own = self.on.replace("\\_", "_");
        let on_it = own == "*.*" || own == format!("`{database}`.*") || own == "`%`.*";
        on_it && (self.all || self.names(right))
    }
}

/// What this user may do. Rights that come by a role are listed where the server lists them with the others.
fn grants(connection: &mut Connection) -> Result<Vec<Grant>, TargetError> {
    let rows = connection.simple("SHOW GRANTS")?;
    Ok(rows.iter().filter_map(|row| Grant::read(row.get(0)?)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grants_are_read() {
        let grant = Grant::read("GRANT SELECT, CREATE ROUTINE ON `my\\_bench`.* TO `me`@`%`").unwrap();
        assert!(grant.gives("SELECT", "my_bench") && grant.gives("CREATE ROUTINE", "my_bench"));
        assert!(!grant.gives("INSERT", "my_bench") && !grant.gives("SELECT", "other"));
        let all = Grant::read("GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION").unwrap();
        assert!(all.gives("INSERT", "anything"));
        assert_eq!(Grant::read("GRANT `role`@`%` TO `me`@`%`"), None);
    }
}
