//! Identifies the server and whether it accepts writes, to distinguish several targets of one run.

use super::super::wire::MySqlConnection;
use super::{lifetime, settings};
use dyno_engine::{CounterScope, TargetError};

const PLACE: &str = "SELECT CONCAT_WS(' ', @@hostname, @@port, @@datadir)";

/// The server; its counters cover all its databases.
pub(crate) fn instance(connection: &mut MySqlConnection) -> Result<CounterScope, TargetError> {
    let rows = connection.simple(PLACE)?;
    let Some(place) = rows.first().and_then(|row| row.get(0)).map(str::to_owned) else {
        return Err(TargetError::database("the server does not report its identity"));
    };
    let server = format!("{place} {}", lifetime::started(connection)?);
    Ok(CounterScope { servers: vec![server], scope: String::new(), server_wide: &[] })
}

/// The reason if only reads are valid here. A privileged user can write to a replica, but it is then no
/// longer a copy.
pub(crate) fn reads_only(connection: &mut MySqlConnection) -> Result<Option<String>, TargetError> {
    let settings = settings::read(connection)?;
    let blocking = ["super_read_only", "read_only", "innodb_read_only"];
    let blocking = blocking.into_iter().find(|name| settings.is_on(name));
    Ok(blocking.map(|name| format!("{name} is on")))
}
