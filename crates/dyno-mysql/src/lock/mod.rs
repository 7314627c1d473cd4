//! The lock that prevents two Dyno processes from using one database: a user-level lock (`GET_LOCK`) on its
//! own connection.
//!
//! The server releases the lock when the connection ends, so it ends with the process. Idle connections show
//! nothing about themselves to every user, so the holder's description is also encoded in locks. Each bit
//! that is 1 is one more lock, whose name contains the bit's position. A process that does not get the lock
//! checks which of these locks are taken. This needs no table, no privilege and no `performance_schema`, and
//! it ends with the connection too.

mod holder;
mod server;

use super::connections::MySqlConnections;
use super::layout::literal;
use super::wire::{MySqlConnection, MySqlError};
use dyno_engine::data::mix;
use dyno_engine::lock::busy;
use dyno_engine::{Claim, ConnectionPurpose, Holder, Lock, Refusal as _, TargetError};
use holder::{DYING_S, holder_id, read, write};

/// Acquires the lock of the database, named `target` in errors, and the server's lock as `claim` requires.
pub(super) fn take(
    connections: &MySqlConnections,
    holder: &Holder,
    claim: Claim,
    target: &str,
) -> Result<Lock, TargetError> {
    let mut connection = connections.open_for(ConnectionPurpose::Lock)?;
    let name = name(&connections.config.database);
    let lock_result =
        connection.simple(&format!("SELECT GET_LOCK({}, {DYING_S}) AS dyno_lock", literal(&name)));
    let got = match lock_result {
        Ok(rows) => rows.first().and_then(|row| row.get(0)) == Some("1"),
        Err(error) => match MySqlError::of(&error) {
            // A Galera cluster does not support such locks.
            Some(server) if server.message.to_lowercase().contains("cluster") => {
                return Ok(Lock::impossible(format!(
                    "the server does not support user-level locks ({}): Dyno cannot lock other dynos out \
                    of {target} or its server",
                    server.message
                )));
            }
            _ => return Err(error),
        },
    };
    if !got {
        let id = holder_id(&mut connection, &name)?;
        let current_holder = read(&mut connection, &name)?;
        let hint = format!("wait until it ends; if it hangs, end it with KILL {id} on the server");
        return Err(busy(target, current_holder.as_ref(), hint));
    }
    write(&mut connection, &name, &holder.encode())?;
    server::take(&mut connection, holder, claim, target)?;
    Ok(Lock::held_by(connection, MySqlConnection::close))
}

/// The lock's name. User-level locks belong to the whole server and their names have at most 64 letters, so
/// the name contains a hash of the database.
fn name(database: &str) -> String {
    let hash = database.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)));
    format!("dyno/1/{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::holder::{BITS, LETTERS_MAX, bit_name};
    use super::*;

    #[test]
    fn lock_names_are_short_and_differ_by_database() {
        let long = "d".repeat(64);
        assert!(bit_name(&name(&long), LETTERS_MAX - 1, BITS - 1).len() <= 64 + 2);
        assert_ne!(name("a"), name("b"));
    }
}
