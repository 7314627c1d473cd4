//! The lock of the whole server, beside that of the database.
//!
//! User-level locks are the server's, and each has one holder. Who wants the server alone holds the lock `ALONE`. Who shares
//! it holds one of a few numbered places, and takes it while holding `ALONE` for that moment; so whoever holds `ALONE` and
//! finds every place free is alone, and stays so.

use super::holder::{DYING_S, holder_id, read, write};
use crate::layout::literal;
use crate::wire::MySqlConnection;
use dyno_engine::lock::server_busy;
use dyno_engine::{Claim, Holder, TargetError};

/// The lock of whoever claims the server alone. Databases' locks end in a hash of 16 digits, so none has this name.
const ALONE: &str = "dyno/1/server";

/// Dynos that can share a server.
const PLACES: usize = 16;

/// The lock of a place among those who share.
fn slot_name(number: usize) -> String {
    format!("dyno/1/shared.{number}")
}

/// Takes the server's lock on `connection`, which holds that of its database.
pub(super) fn take(
    connection: &mut MySqlConnection,
    holder: &Holder,
    claim: Claim,
    target: &str,
) -> Result<(), TargetError> {
    if !try_lock(connection, ALONE, DYING_S)? {
        return match read(connection, ALONE)? {
            // Another target of this run has taken it for all.
            Some(owner) if owner == *holder => Ok(()),
            alone_holder => Err(lock_refusal(connection, ALONE, alone_holder.as_ref(), target)),
        };
    }
    match claim {
        Claim::Alone => {
            for number in 0..PLACES {
                let name = slot_name(number);
                // A holder that is dying gets the same moment as elsewhere.
                if !is_free(connection, &name)? && !try_lock(connection, &name, DYING_S)? {
                    let current_holder = read(connection, &name)?;
                    return Err(lock_refusal(connection, &name, current_holder.as_ref(), target));
                }
            }
            write(connection, ALONE, &holder.encode())
        }
        Claim::Shared => {
            for number in 0..PLACES {
                let name = slot_name(number);
                if try_lock(connection, &name, 0.0)? {
                    write(connection, &name, &holder.encode())?;
                    connection.simple(&format!("SELECT RELEASE_LOCK({}) AS dyno_lock", literal(ALONE)))?;
                    return Ok(());
                }
            }
            let first_holder = read(connection, &slot_name(0))?;
            Err(lock_refusal(connection, &slot_name(0), first_holder.as_ref(), target))
        }
    }
}

fn try_lock(connection: &mut MySqlConnection, name: &str, wait_s: f32) -> Result<bool, TargetError> {
    let rows = connection.simple(&format!("SELECT GET_LOCK({}, {wait_s}) AS dyno_lock", literal(name)))?;
    Ok(rows.first().and_then(|row| row.get(0)) == Some("1"))
}

fn is_free(connection: &mut MySqlConnection, name: &str) -> Result<bool, TargetError> {
    let rows = connection.simple(&format!("SELECT IS_FREE_LOCK({}) AS dyno_lock", literal(name)))?;
    Ok(rows.first().and_then(|row| row.get(0)) == Some("1"))
}

fn lock_refusal(
    connection: &mut MySqlConnection,
    name: &str,
    current_holder: Option<&Holder>,
    target: &str,
) -> TargetError {
    match holder_id(connection, name) {
        Ok(id) => server_busy(
            target,
            current_holder,
            None,
            &format!(
                "if it hangs, end it with KILL {id} on the \
                server"
            ),
        ),
        Err(error) => error,
    }
}
