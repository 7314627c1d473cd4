//! Selects the view that each source of counters reads in the session's environment.

use super::super::connect::OracleConnectConfig;
use super::super::connection::{Bind, OracleConnection};
use super::super::sql::{self, OracleSqlFile};
use dyno_engine::TargetError;

/// Where the session is: on RAC or not, and in which container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OracleInstanceContext {
    /// Whether several instances are open and may work for this target.
    pub(crate) rac: bool,
    /// The container's number; 0 without containers.
    pub(crate) con_id: u32,
}

/// Whose work a source counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum OracleCounterScope {
    /// That of the container if there is one, otherwise that of the instance.
    Container,
    /// That of the whole instance, including background processes.
    Instance,
}

/// One query for counters.
#[derive(Debug, Clone)]
pub(crate) struct OracleCounterSource {
    /// Prefix of its native names.
    pub(crate) name: &'static str,
    pub(crate) statement: OracleSqlFile,
    /// The view that the statement reads.
    pub(crate) view: String,
    /// The container whose rows the statement selects; 0 is the whole instance, `None` means no such
    /// condition.
    pub(crate) con_id: Option<u32>,
    rac: bool,
}

impl OracleCounterSource {
    /// The text of the statement with its view.
    pub(crate) fn sql(&self) -> String {
        let (inst, group) = if self.rac { ("inst_id", "inst_id, ") } else { ("0", "") };
        self.statement.with(&[("inst", inst), ("view", &self.view), ("group", group)])
    }

    /// The values for the statement's binds.
    pub(crate) fn binds(&self) -> Vec<Bind<'_>> {
        self.con_id.iter().map(|con_id| -> Bind<'_> { ("con_id", con_id) }).collect()
    }
}

/// The source that counts operations, rows, commits and blocks.
pub(super) const STATISTICS: &str = "sysstat";

/// Views that also exist per container, with the names of their sources.
const BY_CONTAINER: [(&str, OracleSqlFile, &str); 4] = [
    (STATISTICS, sql::COUNTERS_SYSSTAT, "sysstat"),
    ("event", sql::COUNTERS_EVENTS, "system_event"),
    ("time", sql::COUNTERS_TIME_MODEL, "sys_time_model"),
    ("histogram", sql::COUNTERS_HISTOGRAM, "event_histogram_micro"),
];

/// Views of the host and of files.
const OF_INSTANCE: [(&str, OracleSqlFile, &str); 2] =
    [("os", sql::COUNTERS_OSSTAT, "osstat"), ("file", sql::COUNTERS_FILES, "iostat_file")];

impl OracleInstanceContext {
    /// Determines where `connection` is. A URL that names one instance gets only its counters, so two targets
    /// can be two instances.
    pub(crate) fn find(
        connection: &OracleConnection,
        config: &OracleConnectConfig,
    ) -> Result<Self, TargetError> {
        let rows = connection.rows(&sql::WHO.text(), &[])?;
        let row = rows.first();
        let in_container = row.is_some_and(|row| row.get(4).is_some());
        let con_id = row.and_then(|row| row.parse(6)).filter(|_| in_container).unwrap_or(0);
        Ok(Self { rac: !config.one_instance && is_rac(connection)?, con_id })
    }

    /// The view of sessions; on RAC it covers all instances that may work for the target.
    pub(crate) fn session_view(self) -> &'static str {
        if self.rac { "gv$session" } else { "v$session" }
    }

    /// A statement with the view of sessions inserted.
    pub(crate) fn sessions(self, statement: OracleSqlFile) -> String {
        sessions_in(statement, self.session_view())
    }

    fn view(self, scope: OracleCounterScope, name: &str) -> String {
        let global = if self.rac { "g" } else { "" };
        let container = if scope == OracleCounterScope::Container && self.con_id > 0 { "con_" } else { "" };
        format!("{global}v${container}{name}")
    }

    /// Every available source. Counters of the container come first, under names without a prefix; if there
    /// is a container, counters of the instance follow under `instance.`.
    pub(crate) fn sources(self) -> Vec<OracleCounterSource> {
        let source = |name, statement, scope, view, con_id| OracleCounterSource {
            name,
            statement,
            view: self.view(scope, view),
            con_id,
            rac: self.rac,
        };
        let views_of = |scope| {
            BY_CONTAINER.map(move |(name, statement, view)| {
                let name = match (scope, name) {
                    (OracleCounterScope::Container, name) => name,
                    (OracleCounterScope::Instance, "sysstat") => "instance.sysstat",
                    (OracleCounterScope::Instance, "event") => "instance.event",
                    (OracleCounterScope::Instance, "time") => "instance.time",
                    (OracleCounterScope::Instance, _) => "instance.histogram",
                };
                (name, statement, scope, view)
            })
        };
        let mut wanted: Vec<_> = views_of(OracleCounterScope::Container).to_vec();
        if self.con_id > 0 {
            wanted.extend(views_of(OracleCounterScope::Instance));
        }
        let by_container = wanted.into_iter().map(|(name, statement, scope, view)| {
            let con_id = if scope == OracleCounterScope::Container { self.con_id } else { 0 };
            source(name, statement, scope, view, Some(con_id))
        });
        let of_instance = OF_INSTANCE
            .into_iter()
            .map(|(name, statement, view)| source(name, statement, OracleCounterScope::Instance, view, None));
        by_container.chain(of_instance).collect()
    }
}

/// `statement` on `view`, which is V$SESSION or GV$SESSION, with that view's expression for the instance's
/// number.
pub(crate) fn sessions_in(statement: OracleSqlFile, view: &str) -> String {
    let own_instance = "TO_NUMBER(SYS_CONTEXT('USERENV', 'INSTANCE'))";
    statement.with(&[("view", view), ("inst", if view.starts_with('g') { "inst_id" } else { own_instance })])
}

/// The views that a run reads and that this user cannot, under their names in grants: `V_$SYSSTAT`.
pub(crate) fn unreadable(
    connection: &OracleConnection,
    surroundings: OracleInstanceContext,
) -> Result<Vec<String>, TargetError> {
    let mut missing = Vec::new();
    for source in surroundings.sources() {
        if connection.rows_if_allowed(&source.sql(), &source.binds())?.is_none() {
            missing.push(granted_name(&source.view));
        }
    }
    let sessions = surroundings.sessions(sql::OTHERS);
    let con_id: [Bind<'_>; 1] = [("con_id", &surroundings.con_id)];
    if connection.rows_if_allowed(&sessions, &con_id)?.is_none() {
        missing.push(granted_name(surroundings.session_view()));
    }
    let other_views = [
        (sql::SETTINGS, "V_$PARAMETER"),
        (sql::INSTANCE, "V_$INSTANCE"),
        (sql::DATABASE, "V_$DATABASE"),
        // The statement reads two views, and either may be missing.
        (sql::COUNTERS_OTHERS, "V_$SESSTAT"),
        (sql::COUNTERS_OTHERS, "V_$STATNAME"),
        (sql::REDO_LOGS, "V_$LOG"),
    ];
    let of_containers = [(sql::PDB_MODE, "V_$PDBS")];
    let of_containers = of_containers.into_iter().filter(|_| surroundings.con_id > 0);
    for (statement, view) in other_views.into_iter().chain(of_containers) {
        if connection.rows_if_allowed(&statement.text(), &[])?.is_none() {
            missing.push(view.to_owned());
        }
    }
    Ok(missing)
}

/// The name of a view in grants: `V_$SYSSTAT` for `v$sysstat`.
pub(super) fn granted_name(view: &str) -> String {
    view.to_uppercase().replacen('$', "_$", 1)
}

/// Whether the database has more than one open instance, as far as this user can see.
pub(crate) fn is_rac(connection: &OracleConnection) -> Result<bool, TargetError> {
    let rows = connection.rows_if_allowed(&sql::INSTANCES.text(), &[])?;
    Ok(rows.is_some_and(|rows| rows.len() > 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn views(rac: bool, con_id: u32) -> Vec<String> {
        OracleInstanceContext { rac, con_id }.sources().into_iter().map(|source| source.view).collect()
    }

    #[test]
    fn queried_views_match_rac_and_container() {
        assert_eq!(
            views(false, 0),
            [
                "v$sysstat",
                "v$system_event",
                "v$sys_time_model",
                "v$event_histogram_micro",
                "v$osstat",
                "v$iostat_file"
            ]
        );
        let pdb = views(false, 3);
        assert_eq!(pdb[..2], ["v$con_sysstat", "v$con_system_event"]);
        assert_eq!(pdb[4..6], ["v$sysstat", "v$system_event"], "what background processes do");
        assert!(views(true, 3).iter().all(|view| view.starts_with("gv$")));
        assert_eq!(views(true, 0)[0], "gv$sysstat");
    }

    #[test]
    fn instance_views_are_never_queried_for_container_rows() {
        for con_id in [0, 3] {
            for source in (OracleInstanceContext { rac: true, con_id }).sources() {
                let wanted = if source.name.starts_with("instance.") { 0 } else { con_id };
                assert!(source.con_id.is_none_or(|asked| asked == wanted), "{}", source.name);
                assert!(!source.sql().contains("IN (0"), "rows of both would be added up: {}", source.sql());
            }
        }
    }

    #[test]
    fn grants_name_the_base_object_of_a_view() {
        assert_eq!(granted_name("gv$con_sysstat"), "GV_$CON_SYSSTAT");
    }

    #[test]
    fn instance_id_is_queried_only_in_a_cluster() {
        for (rac, inst) in [(true, "SELECT inst_id AS inst"), (false, "SELECT 0 AS inst")] {
            for source in (OracleInstanceContext { rac, con_id: 3 }).sources() {
                let sql = source.sql();
                assert!(!sql.contains('{'), "{sql}");
                if source.statement.name != "counters_histogram" {
                    assert!(sql.starts_with(inst), "{sql}");
                }
                assert_eq!(source.con_id.is_some(), sql.contains(":con_id"), "{sql}");
            }
        }
    }
}
