//! Which server this is, and whether it takes writes: what several targets of one run have to be told apart by.

use super::super::wire::Connection;
use super::{life, settings};
use dyno_engine::{Instance, TargetError};

const PLACE: &str = "SELECT CONCAT_WS(' ', @@hostname, @@port, @@datadir)";

/// The server; its counters are its own for all databases.
pub(crate) fn instance(connection: &mut Connection) -> Result<Instance, TargetError> {
    let rows = connection.simple(PLACE)?;
    let Some(place) = rows.first().and_then(|row| row.get(0)).map(str::to_owned) else {
        return Err(TargetError::database("the server does not say which one it is"));
    };
    let server = format!("{place} {}", life::started(connection)?);
    Ok(Instance { servers: vec![server], scope: String::new(), server_wide: &[] })
}

/// Why only reads are right here, if so: a replica that a powerful user may write to all the same is no longer a copy.
pub(crate) fn reads_only(connection: &mut Connection) -> Result<Option<String>, TargetError> {
    let settings = settings::read(connection)?;
    let blocking = ["super_read_only", "read_only", "innodb_read_only"];
    let blocking = blocking.into_iter().find(|name| settings.is_on(name));
    Ok(blocking.map(|name| format!("{name} is on")))
}
