//! Takes AWR or STATSPACK snapshots around a run and stores the reports between them.
//!
//! AWR is part of the Diagnostics Pack, which needs a license. By default the database reports the pack as
//! licensed (`control_management_pack_access`), whether or not it is. Dyno therefore uses AWR only if the
//! user sets `observe.awr = "awr"`, and not even then if the database reports it as not licensed.

use dyno_plan::AwrObserveMode;
use oracledb::ToDbValue;

use super::connect::OracleConnectConfig;
use super::connection::OracleConnection;
use super::counters::OracleInstanceContext;
use super::sql;
use dyno_engine::{OwnReport, Reporter, TargetError};

/// The package that stores the snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OracleSnapshotStore {
    Awr,
    Statspack,
}

/// The reporter that `awr` selects, on a connection of its own; it has taken a snapshot.
pub(super) fn open(
    config: &OracleConnectConfig,
    awr: AwrObserveMode,
) -> Result<Option<Box<dyn Reporter>>, TargetError> {
    let keeper = match awr {
        AwrObserveMode::Off => return Ok(None),
        AwrObserveMode::Statspack => OracleSnapshotStore::Statspack,
        AwrObserveMode::Awr => OracleSnapshotStore::Awr,
    };
    let connection = OracleConnection::open(config, "report")?;
    let why_not = match keeper {
        OracleSnapshotStore::Awr => no_awr(licensed(&connection)?),
        OracleSnapshotStore::Statspack => no_statspack(statspack(&connection)?),
    };
    let refused = |reason: &str| {
        let message = format!("observe.awr is {:?}, and {reason}", awr.name());
        TargetError::privilege(message).hint(
            "set observe.awr = \"off\" to run without it; `dyno check --grants` prints what AWR and \
            STATSPACK need",
        )
    };
    if let Some(reason) = why_not {
        return Err(refused(reason));
    }
    // Whether the user may take snapshots shows only when one is taken.
    let first = snapshot(&connection, keeper).map_err(|error| refused(&error.message))?;
    let of_cluster = OracleInstanceContext::find(&connection, config)?.rac;
    Ok(Some(Box::new(OracleReporter { connection, keeper, first, last: None, of_cluster })))
}

/// Why AWR is not used although the user requests it.
fn no_awr(licensed: Option<bool>) -> Option<&'static str> {
    match licensed {
        Some(true) => None,
        Some(false) => Some("the database reports that it is not licensed (control_management_pack_access)"),
        None => Some("whether it is licensed cannot be read (V$PARAMETER)"),
    }
}

fn no_statspack(is_there: bool) -> Option<&'static str> {
    (!is_there).then_some("this user has no STATSPACK")
}

/// Whether the database reports the Diagnostics Pack as licensed.
fn licensed(connection: &OracleConnection) -> Result<Option<bool>, TargetError> {
    let rows = connection.rows_if_allowed(&sql::AWR_PACK.text(), &[])?;
    Ok(rows
        .map(|rows| rows.first().and_then(|row| row.get(0)).is_some_and(|pack| pack.contains("DIAGNOSTIC"))))
}

fn statspack(connection: &OracleConnection) -> Result<bool, TargetError> {
    Ok(!connection.rows(&sql::STATSPACK_THERE.text(), &[])?.is_empty())
}

fn snapshot(connection: &OracleConnection, keeper: OracleSnapshotStore) -> Result<i64, TargetError> {
    let statement = match keeper {
        OracleSnapshotStore::Awr => sql::AWR_SNAPSHOT,
        OracleSnapshotStore::Statspack => sql::STATSPACK_SNAPSHOT,
    };
    connection.number(&statement.text(), &[], "snapshot")
}

struct OracleReporter {
    connection: OracleConnection,
    keeper: OracleSnapshotStore,
    first: i64,
    /// The last snapshot, once it is taken.
    last: Option<i64>,
    /// Whether the run uses all instances of a cluster.
    of_cluster: bool,
}

impl Reporter for OracleReporter {
    fn begin(&mut self) -> Result<(), TargetError> {
        self.first = snapshot(&self.connection, self.keeper)?;
        Ok(())
    }

    fn end(&mut self) -> Result<(), TargetError> {
        self.last = Some(snapshot(&self.connection, self.keeper)?);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<OwnReport>, TargetError> {
        let last = self.last.map_or_else(|| snapshot(&self.connection, self.keeper), Ok)?;
        let reports = match self.keeper {
            OracleSnapshotStore::Awr => self.awr(last)?,
            OracleSnapshotStore::Statspack => vec![statspack_script(self.first, last)],
        };
        let Self { connection, .. } = *self;
        connection.close();
        Ok(reports)
    }
}

impl OracleReporter {
    /// The report of the instance, or the report of the cluster and those of its instances.
    fn awr(&self, last: i64) -> Result<Vec<OwnReport>, TargetError> {
        let name = format!("AWR snapshots {} to {last}", self.first);
        let Some(place) = self.connection.rows_if_allowed(&sql::AWR_WHERE.text(), &[])? else {
            return Ok(vec![without_text(&name, "V$DATABASE or V$INSTANCE cannot be read")]);
        };
        let number = |index| place.first().and_then(|row| row.parse::<i64>(index)).unwrap_or(0);
        let (dbid, instance) = (number(0), number(1));
        if !self.of_cluster {
            return Ok(vec![self.awr_report(name, "awr.html", dbid, Some(instance), last)?]);
        }
        let mut reports = vec![self.awr_report(name.clone(), "awr.html", dbid, None, last)?];
        let instances = self.connection.rows_if_allowed(&sql::INSTANCES.text(), &[])?.unwrap_or_default();
        for number in instances.iter().filter_map(|row| row.parse::<i64>(0)) {
            let name = format!("{name}, instance {number}");
            let file_ending = format!("instance-{number}.awr.html");
            reports.push(self.awr_report(name, &file_ending, dbid, Some(number), last)?);
        }
        Ok(reports)
    }

    /// The report of one instance, or of the whole cluster without an instance.
    fn awr_report(
        &self,
        name: String,
        file_ending: &str,
        dbid: i64,
        instance: Option<i64>,
        last: i64,
    ) -> Result<OwnReport, TargetError> {
        let mut binds: Vec<(&str, &dyn ToDbValue)> =
            vec![("dbid", &dbid), ("first_snapshot", &self.first), ("last_snapshot", &last)];
        let statement = match &instance {
            Some(number) => {
                binds.push(("instance", number));
                sql::AWR_REPORT
            }
            None => sql::AWR_GLOBAL_REPORT,
        };
        Ok(match self.connection.rows_or_refusal(&statement.text(), &binds)? {
            Ok(lines) => {
                let lines: Vec<&str> = lines.iter().map(|row| row.get(0).unwrap_or_default()).collect();
                OwnReport { name, file_ending: file_ending.to_owned(), text: lines.join("\n") }
            }
            Err(refusal) if refusal.is_missing_grant() => {
                without_text(&name, &format!("this user cannot read it: {refusal}"))
            }
            Err(refusal) => without_text(&name, &refusal.to_string()),
        })
    }
}

/// A pair of snapshots for which no report could be created, with the reason.
fn without_text(name: &str, why: &str) -> OwnReport {
    OwnReport { name: format!("{name} (no report: {why})"), file_ending: String::new(), text: String::new() }
}

/// The commands that create STATSPACK's report, which is a script of SQL*Plus.
fn statspack_script(first: i64, last: i64) -> OwnReport {
    let text = format!(
        "-- Writes STATSPACK's report of this run to the current folder. Run it in SQL*Plus as PERFSTAT.\n\
         DEFINE begin_snap = {first}\n\
         DEFINE end_snap = {last}\n\
         DEFINE report_name = statspack_{first}_{last}.txt\n\
         @?/rdbms/admin/spreport.sql\n"
    );
    OwnReport {
        name: format!("STATSPACK snapshots {first} to {last} (SQL*Plus script for the report)"),
        file_ending: "statspack.sql".to_owned(),
        text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awr_is_used_only_if_database_confirms_license() {
        assert_eq!(no_awr(Some(true)), None);
        assert!([Some(false), None].into_iter().all(|licensed| no_awr(licensed).is_some()));
    }

    #[test]
    fn statspack_script_contains_both_snapshot_ids() {
        let script = statspack_script(17, 18);
        for line in ["DEFINE begin_snap = 17\n", "DEFINE end_snap = 18\n", "@?/rdbms/admin/spreport.sql\n"] {
            assert!(script.text.contains(line), "{}", script.text);
        }
    }

    #[test]
    fn awr_off_opens_no_connection() {
        // Nothing listens there: a connection attempt would be an error.
        let url = "oracle://me@127.0.0.1:1/none".parse().unwrap();
        let options = dyno_engine::OpenOptions {
            password: None,
            connect_timeout: std::time::Duration::from_millis(200),
        };
        let config = OracleConnectConfig::from_url(&url, &options).unwrap();
        assert!(open(&config, AwrObserveMode::Off).unwrap().is_none());
        assert!(open(&config, AwrObserveMode::Statspack).is_err());
    }
}
