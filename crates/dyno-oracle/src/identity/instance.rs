//! Identifies the instances and the container and whether they accept writes, to distinguish several targets
//! of one run.

use crate::grants::OracleGrants;
use dyno_record::Counter;

use super::super::connect::OracleConnectConfig;
use super::super::connection::OracleConnection;
use super::super::counters::OracleInstanceContext;
use super::super::sql;
use super::session_identity::{OracleSessionIdentity, read_session_identity};
use super::settings;
use dyno_engine::{CounterScope, TargetError};

/// Counters of background processes, which belong to no container:
/// `docs/reference/engines/oracle-counters.md`.
pub(super) const OF_THE_INSTANCE: &[Counter] = &[
    Counter::PhysicalWrites,
    Counter::PhysicalWriteRequests,
    Counter::PhysicalWriteBytes,
    Counter::PhysicalWriteTime,
    Counter::RedoWrites,
];

/// The instances whose counters are summed, and the container.
pub(crate) fn instance(
    connection: &OracleConnection,
    config: &OracleConnectConfig,
) -> Result<CounterScope, TargetError> {
    let session = read_session_identity(connection)?;
    if OracleInstanceContext::find(connection, config)?.rac {
        let rows = connection.rows(&sql::INSTANCES.text(), &[])?;
        let open: Vec<(&str, &str)> =
            rows.iter().filter_map(|row| Some((row.get(1)?, row.get(2)?))).collect();
        return Ok(instance_of(&session, &open));
    }
    let is_cluster = settings::read(connection)?.value("cluster_database") == Some("TRUE");
    if is_cluster && !config.one_instance && !sees_instances(connection)? {
        // Sessions and observer may be on different instances, and so may those of another target.
        return Err(TargetError::privilege(
            "this user cannot see which instances of the cluster serve the \
            target, so Dyno cannot distinguish it from other targets",
        )
        .hint(format!(
            "{} Or name one by ?instance=NAME",
            OracleGrants::new(&config.user).view("GV_$INSTANCE")
        )));
    }
    Ok(instance_of(&session, &[(&session.instance, &session.host)]))
}

fn sees_instances(connection: &OracleConnection) -> Result<bool, TargetError> {
    Ok(connection.rows_if_allowed(&sql::INSTANCES.text(), &[])?.is_some())
}

/// The counters of `open` instances (name, host) in the session's container.
///
/// Names alone do not identify a database: copies of an image or template have the same names on every host.
fn instance_of(session: &OracleSessionIdentity, open: &[(&str, &str)]) -> CounterScope {
    let server = |(name, host): &(&str, &str)| {
        let host = host.split('.').next().unwrap_or_default();
        format!("{} {name} on {host}", session.database).to_lowercase()
    };
    CounterScope {
        servers: open.iter().map(server).collect(),
        scope: session.container.clone().unwrap_or_default(),
        server_wide: OF_THE_INSTANCE,
    }
}

/// The reason if only reads are possible; absent if writes are.
pub(crate) fn reads_only(connection: &OracleConnection) -> Result<Option<String>, TargetError> {
    let first = |statement: sql::OracleSqlFile, index: usize| -> Result<Option<String>, TargetError> {
        let rows = connection.rows_if_allowed(&statement.text(), &[])?;
        Ok(rows.and_then(|rows| rows.first()?.get(index).map(str::to_owned)))
    };
    let (role, database, container) =
        (read_session_identity(connection)?.role, first(sql::DATABASE, 2)?, first(sql::PDB_MODE, 0)?);
    Ok(read_only_reason(&role, database.as_deref(), container.as_deref()))
}

/// The reason from the database's role and from the open modes of database and container, as far as they are
/// visible.
fn read_only_reason(role: &str, database: Option<&str>, container: Option<&str>) -> Option<String> {
    if role == "PHYSICAL STANDBY" {
        return Some("it is a physical standby".to_owned());
    }
    let is_closed = |mode: &&str| mode.starts_with("READ ONLY") || *mode == "MOUNTED";
    let mode = |what: &str, mode: Option<&str>| {
        mode.filter(is_closed).map(|mode| format!("the {what} is open {mode}"))
    };
    mode("database", database).or_else(|| mode("container", container))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(database: &str, container: Option<&str>, open: &[(&str, &str)]) -> CounterScope {
        let container = container.map(str::to_owned);
        instance_of(
            &OracleSessionIdentity {
                database: database.to_owned(),
                container,
                ..OracleSessionIdentity::default()
            },
            open,
        )
    }

    /// Whether both count identical work, and whether they share some.
    fn overlap(a: &CounterScope, b: &CounterScope) -> (bool, bool) {
        (a.shares_server(b) && a.scope == b.scope, a.shares_server(b))
    }

    #[test]
    fn services_of_one_database_share_counters() {
        let cluster = [("orcl1", "db1.example.com"), ("orcl2", "db2.example.com")];
        let [all, same] = [(); 2].map(|()| seen("ORCL", Some("BENCH"), &cluster));
        let [one, two] = [("orcl1", "db1"), ("orcl2", "DB2")].map(|at| seen("ORCL", Some("BENCH"), &[at]));
        let other_container = seen("ORCL", Some("OTHER"), &[("orcl1", "db1")]);
        let elsewhere = seen("ORCL", Some("BENCH"), &[("orcl1", "db9")]);
        assert_eq!(overlap(&all, &same), (true, true), "two services over all instances");
        assert_eq!(overlap(&all, &two), (true, true), "one of them over all, one on an instance");
        assert_eq!(overlap(&one, &two), (false, false), "each on an instance of its own");
        assert_eq!(overlap(&one, &one), (true, true));
        assert_eq!(overlap(&one, &other_container), (false, true), "two containers of one instance");
        assert_eq!(overlap(&one, &elsewhere), (false, false), "a database of the same name elsewhere");
        assert_eq!(overlap(&seen("A", None, &[("a", "h")]), &seen("B", None, &[("b", "h")])), (false, false));
    }

    #[test]
    fn standby_and_read_only_databases_accept_only_reads() {
        for (role, database, container, word) in [
            ("PRIMARY", Some("READ WRITE"), Some("READ WRITE"), None),
            ("PRIMARY", None, None, None),
            ("SNAPSHOT STANDBY", Some("READ WRITE"), None, None),
            ("PHYSICAL STANDBY", None, None, Some("standby")),
            ("PRIMARY", Some("READ ONLY"), None, Some("the database is open READ ONLY")),
            ("", Some("READ ONLY WITH APPLY"), None, Some("WITH APPLY")),
            ("PRIMARY", Some("READ WRITE"), Some("READ ONLY"), Some("the container is open READ ONLY")),
        ] {
            let why = read_only_reason(role, database, container);
            assert_eq!(why.is_some(), word.is_some(), "{role} {why:?}");
            assert!(why.unwrap_or_default().contains(word.unwrap_or_default()));
        }
    }
}
