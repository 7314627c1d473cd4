//! The lock that keeps two Dynos off one database: a user-level lock (`GET_LOCK`) on a connection of its own.
//!
//! The server releases it when the connection ends, so it dies with its process. Idle connections tell nothing about
//! themselves that every user could read, so who holds the lock is written in locks as well: each bit of the holder's words that
//! is 1 is one more lock, whose name says which bit. Whoever is refused asks which of them are taken. That needs no table,
//! no right, and no `performance_schema`, and it is gone with the connection too.

mod holder;
mod server;

use super::connect::ConnectConfig;
use super::layout::{literal, settle};
use super::wire::{Connection, MyError};
use dyno_engine::data::mix;
use dyno_engine::lock::busy;
use dyno_engine::{Claim, Holder, Lock, Refusal as _, TargetError};
use holder::{DYING_S, holder_id, read, write};

/// Takes the lock of the database, called `target` in a refusal, and the server's as `claim` says.
pub(super) fn take(
    config: &ConnectConfig,
    holder: &Holder,
    claim: Claim,
    target: &str,
) -> Result<Lock, TargetError> {
    let mut connection = Connection::open(config, "dyno lock")?;
    settle(&mut connection)?;
    let name = name(&config.database);
    let asked = connection.simple(&format!("SELECT GET_LOCK({}, {DYING_S}) AS dyno_lock", literal(&name)));
    let got = match asked {
        Ok(rows) => rows.first().and_then(|row| row.get(0)) == Some("1"),
        Err(error) => match MyError::of(&error) {
            // A Galera cluster keeps no such locks.
            Some(server) if server.message.to_lowercase().contains("cluster") => {
                return Ok(Lock::impossible(format!(
                    "the server keeps no user-level locks ({}): other dynos are not kept off {target}, nor off its server",
                    server.message
                )));
            }
            _ => return Err(error),
        },
    };
    if !got {
        let id = holder_id(&mut connection, &name)?;
        let found = read(&mut connection, &name)?;
        let hint = format!("wait until it has ended; what hangs ends by KILL {id} on the server");
        return Err(busy(target, found.as_ref(), hint));
    }
    write(&mut connection, &name, &holder.encode())?;
    server::take(&mut connection, holder, claim, target)?;
    Ok(Lock::held_by(connection, Connection::close))
}

/// The lock's name. Such locks are the whole server's, and names have at most 64 letters, so a database is named by a hash.
fn name(database: &str) -> String {
    let hash = database.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)));
    format!("dyno/1/{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::holder::{BITS, LETTERS_MAX, bit_name};
    use super::*;

    #[test]
    fn names_are_short_and_differ_by_database() {
        let long = "d".repeat(64);
        assert!(bit_name(&name(&long), LETTERS_MAX - 1, BITS - 1).len() <= 64 + 2);
        assert_ne!(name("a"), name("b"));
    }
}
