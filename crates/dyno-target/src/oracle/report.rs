//! Snapshots of AWR or STATSPACK around a run, and AWR's report between them.
//!
//! AWR is part of the Diagnostics Pack, which costs a licence: it is used only where the database says that it is licensed
//! (`control_management_pack_access`) and a DBA has let this user use it. That setting is on by default in Enterprise Edition,
//! licensed or not, so whoever is not writes `observe.awr = "off"`.

use dyno_plan::Awr;
use oracledb::ToDbValue;

use super::connect::ConnectConfig;
use super::connection::Connection;
use super::sql;
use crate::error::{TargetError, TargetErrorKind};
use crate::report::{Report, Reporter};

/// Who keeps the snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keeper {
    Awr,
    Statspack,
}

/// What this user may use, and why not the other.
struct Choice {
    keeper: Option<Keeper>,
    reason: String,
}

/// A reporter as `awr` has it, on a connection of its own; the first snapshot is taken already.
pub(super) fn open(config: &ConnectConfig, awr: Awr) -> Result<Option<Box<dyn Reporter>>, TargetError> {
    if awr == Awr::Off {
        return Ok(None);
    }
    let connection = Connection::open(config, "report")?;
    let choice = choose(licensed(&connection)?, statspack(&connection)?);
    let refused = |reason: String| {
        TargetError::new(TargetErrorKind::Privilege, format!("observe.awr is \"on\", and {reason}")).hint(
            "observe.awr = \"auto\" runs without; `dyno check --grants` prints what AWR and STATSPACK need",
        )
    };
    let Some(keeper) = choice.keeper else {
        return if awr == Awr::On { Err(refused(choice.reason)) } else { Ok(None) };
    };
    match snapshot(&connection, keeper) {
        Ok(first) => Ok(Some(Box::new(OraReporter { connection, keeper, first }))),
        Err(error) if awr == Awr::On => Err(refused(error.message)),
        // Licensed, and this user may not.
        Err(error) if matches!(error.kind, TargetErrorKind::Privilege | TargetErrorKind::Database) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// AWR before STATSPACK.
fn choose(licensed: Option<bool>, statspack: bool) -> Choice {
    match (licensed, statspack) {
        (Some(true), _) => Choice { keeper: Some(Keeper::Awr), reason: String::new() },
        (_, true) => Choice { keeper: Some(Keeper::Statspack), reason: String::new() },
        (Some(false), false) => Choice {
            keeper: None,
            reason: "the database says that AWR is not licensed (control_management_pack_access), and this user has no STATSPACK"
                .to_owned(),
        },
        (None, false) => Choice {
            keeper: None,
            reason: "whether AWR is licensed cannot be read (V$PARAMETER), and this user has no STATSPACK".to_owned(),
        },
    }
}

/// Whether the database says that the Diagnostics Pack is licensed.
fn licensed(connection: &Connection) -> Result<Option<bool>, TargetError> {
    let rows = connection.rows_if_allowed(&sql::AWR_PACK.text(), &[])?;
    Ok(rows
        .map(|rows| rows.first().and_then(|row| row.get(0)).is_some_and(|pack| pack.contains("DIAGNOSTIC"))))
}

fn statspack(connection: &Connection) -> Result<bool, TargetError> {
    Ok(!connection.rows(&sql::STATSPACK_THERE.text(), &[])?.is_empty())
}

fn snapshot(connection: &Connection, keeper: Keeper) -> Result<i64, TargetError> {
    let statement = match keeper {
        Keeper::Awr => sql::AWR_SNAPSHOT,
        Keeper::Statspack => sql::STATSPACK_SNAPSHOT,
    };
    connection.number(&statement.text(), &[], "snapshot")
}

struct OraReporter {
    connection: Connection,
    keeper: Keeper,
    first: i64,
}

impl Reporter for OraReporter {
    fn finish(self: Box<Self>) -> Result<Report, TargetError> {
        let last = snapshot(&self.connection, self.keeper)?;
        let report = match self.keeper {
            Keeper::Awr => self.awr(last)?,
            Keeper::Statspack => Report {
                name: format!("STATSPACK snapshots {} to {last}", self.first),
                file_ending: "",
                // STATSPACK's report is a script of SQL*Plus.
                text: String::new(),
            },
        };
        let Self { connection, .. } = *self;
        connection.close();
        Ok(report)
    }
}

impl OraReporter {
    fn awr(&self, last: i64) -> Result<Report, TargetError> {
        let name = format!("AWR snapshots {} to {last}", self.first);
        let none =
            |why: &str| Report { name: format!("{name} ({why})"), file_ending: "", text: String::new() };
        let Some(place) = self.connection.rows_if_allowed(&sql::AWR_WHERE.text(), &[])? else {
            return Ok(none("no report: V$DATABASE or V$INSTANCE cannot be read"));
        };
        let number = |index| place.first().and_then(|row| row.parse::<i64>(index)).unwrap_or(0);
        let (dbid, instance) = (number(0), number(1));
        let binds: [(&str, &dyn ToDbValue); 4] = [
            ("dbid", &dbid),
            ("instance", &instance),
            ("first_snapshot", &self.first),
            ("last_snapshot", &last),
        ];
        let Some(lines) = self.connection.rows_if_allowed(&sql::AWR_REPORT.text(), &binds)? else {
            return Ok(none("no report: this user may not read it"));
        };
        let lines: Vec<&str> = lines.iter().map(|row| row.get(0).unwrap_or_default()).collect();
        Ok(Report { name, file_ending: "awr.html", text: lines.join("\n") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn awr_is_used_only_where_the_database_says_that_it_is_licensed() {
        assert_eq!(choose(Some(true), true).keeper, Some(Keeper::Awr));
        for licensed in [Some(false), None] {
            assert_eq!(choose(licensed, true).keeper, Some(Keeper::Statspack));
            let neither = choose(licensed, false);
            assert!(neither.keeper.is_none() && neither.reason.contains("AWR"));
        }
    }
}
