//! The lock of the whole server, beside that of the database.
//!
//! User-level locks are the server's, and each has one holder. Who wants the server alone holds the lock `ALONE`. Who shares
//! it holds one of a few numbered places, and takes it while holding `ALONE` for that moment; so whoever holds `ALONE` and
//! finds every place free is alone, and stays so.

use super::holder::{DYING_S, holder_id, read, write};
use crate::layout::literal;
use crate::wire::Connection;
use dyno_engine::lock::server_busy;
use dyno_engine::{Claim, Holder, TargetError};

/// The lock of whoever claims the server alone. Databases' locks end in a hash of 16 digits, so none has this name.
const ALONE: &str = "dyno/1/server";

/// Dynos that can share a server.
const PLACES: usize = 16;

/// The lock of a place among those who share.
fn place(number: usize) -> String {
    format!("dyno/1/shared.{number}")
}

/// Takes the server's lock on `connection`, which holds that of its database.
pub(super) fn take(
    connection: &mut Connection,
    holder: &Holder,
    claim: Claim,
    target: &str,
) -> Result<(), TargetError> {
    if !got(connection, ALONE, DYING_S)? {
        return match read(connection, ALONE)? {
            // Another target of this run has taken it for all.
            Some(found) if found == *holder => Ok(()),
            found => Err(refused(connection, ALONE, found.as_ref(), target)),
        };
    }
    match claim {
        Claim::Alone => {
            for number in 0..PLACES {
                let name = place(number);
                // A holder that is dying gets the same moment as elsewhere.
                if !is_free(connection, &name)? && !got(connection, &name, DYING_S)? {
                    let found = read(connection, &name)?;
                    return Err(refused(connection, &name, found.as_ref(), target));
                }
            }
            write(connection, ALONE, &holder.encode())
        }
        Claim::Shared => {
            for number in 0..PLACES {
                let name = place(number);
                if got(connection, &name, 0.0)? {
                    write(connection, &name, &holder.encode())?;
                    connection.simple(&format!("SELECT RELEASE_LOCK({}) AS dyno_lock", literal(ALONE)))?;
                    return Ok(());
                }
            }
            let found = read(connection, &place(0))?;
            Err(refused(connection, &place(0), found.as_ref(), target))
        }
    }
}

fn got(connection: &mut Connection, name: &str, wait_s: f32) -> Result<bool, TargetError> {
    let rows = connection.simple(&format!("SELECT GET_LOCK({}, {wait_s}) AS dyno_lock", literal(name)))?;
    Ok(rows.first().and_then(|row| row.get(0)) == Some("1"))
}

fn is_free(connection: &mut Connection, name: &str) -> Result<bool, TargetError> {
    let rows = connection.simple(&format!("SELECT IS_FREE_LOCK({}) AS dyno_lock", literal(name)))?;
    Ok(rows.first().and_then(|row| row.get(0)) == Some("1"))
}

fn refused(connection: &mut Connection, name: &str, found: Option<&Holder>, target: &str) -> TargetError {
    match holder_id(connection, name) {
        Ok(id) => server_busy(target, found, None, &format!("what hangs ends by KILL {id} on the server")),
        Err(error) => error,
    }
}
