//! The lock that keeps two Dynos off one schema: a user lock (`DBMS_LOCK`) on a connection of its own.
//!
//! It belongs to the session, not to a transaction, holds on all instances of a RAC database, and ends with the session,
//! however that ends. Who holds it stands in the session's client info, which others see in V$SESSION.

use super::connect::ConnectConfig;
use super::connection::Connection;
use super::error::OraError;
use super::sql;
use crate::data::mix;
use crate::error::{TargetError, TargetErrorKind};
use crate::lock::{Holder, Lock, busy};

/// What `DBMS_LOCK.REQUEST` answers: taken, or held by this session already.
const TAKEN: [i64; 2] = [0, 4];

/// Numbers of user locks are below this (`DBMS_LOCK`: 0 to 1073741823).
const IDS: u64 = 1 << 30;

/// Letters of a session's client info.
const CLIENT_INFO_LETTERS: usize = 64;

/// Takes the lock of the user's schema, called `target` in a refusal.
pub(super) fn take(config: &ConnectConfig, holder: &Holder, target: &str) -> Result<Lock, TargetError> {
    let connection = Connection::open(config, "lock")?;
    let id = id(&config.user);
    match connection.number(&sql::LOCK_TAKE.text(), &[("id", &id)], "outcome") {
        Ok(outcome) if TAKEN.contains(&outcome) => {}
        Ok(1) => {
            let (found, hint) = who(&connection);
            if found.is_some() && found == as_told(holder) {
                // Another target of this run is another way to the same schema, and has taken it.
                return Ok(Lock::needless());
            }
            return Err(busy(target, found.as_ref(), hint));
        }
        Ok(outcome) => {
            let message = format!("the lock could not be taken: DBMS_LOCK.REQUEST answered {outcome}");
            return Err(TargetError::new(TargetErrorKind::Database, message));
        }
        Err(error) if error.kind == TargetErrorKind::Privilege => {
            let why = OraError::of(&error).map_or(String::new(), |server| format!(" ({server})"));
            return Ok(Lock::impossible(format!(
                "this user may not use DBMS_LOCK{why}: other dynos are not kept off {target}; GRANT EXECUTE ON SYS.DBMS_LOCK TO {}",
                config.user
            )));
        }
        Err(error) => return Err(error),
    }
    connection.introduce(&words(holder))?;
    Ok(Lock::held(Guard(Some(connection))))
}

/// What a session's client info has of a holder.
fn words(holder: &Holder) -> String {
    holder.encode().chars().take(CLIENT_INFO_LETTERS).collect()
}

/// The holder as others read it there.
fn as_told(holder: &Holder) -> Option<Holder> {
    Holder::decode(&words(holder))
}

/// The connection whose end is the lock's.
struct Guard(Option<Connection>);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            connection.close();
        }
    }
}

/// The number of a user's lock. Names are in upper case in the database, unless quoted.
fn id(user: &str) -> u64 {
    let name = user.to_ascii_uppercase();
    name.bytes().fold(mix(u64::from(b'd')), |hash, byte| mix(hash ^ u64::from(byte))) % IDS
}

/// The holder as far as it can be seen, and a way out.
fn who(connection: &Connection) -> (Option<Holder>, String) {
    for view in ["gv$session", "v$session"] {
        let rows = connection.rows_if_allowed(&sql::LOCK_HOLDER.with(&[("view", view)]), &[]);
        let Ok(Some(rows)) = rows else { continue };
        for row in rows {
            if let Some(holder) = row.get(0).and_then(Holder::decode) {
                let (sid, serial) = (row.get(1).unwrap_or("SID"), row.get(2).unwrap_or("SERIAL"));
                return (
                    Some(holder),
                    format!(
                        "wait until it has ended; what hangs ends by ALTER SYSTEM KILL SESSION '{sid},{serial}', by a DBA"
                    ),
                );
            }
        }
    }
    (None, "wait until it has ended; GRANT SELECT ON SYS.V_$SESSION shows who it is".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::Work;

    #[test]
    fn the_same_run_is_known_by_what_it_has_told() {
        let own = Holder { host: "h".repeat(80), ..Holder::this_process(Work::Run) };
        let read = Holder::decode(&words(&own));
        assert!(read.is_some() && read == as_told(&own));
        for other in [
            Holder { pid: own.pid + 1, ..own.clone() },
            Holder { since: "2026-01-01T00:00:00Z".to_owned(), ..own.clone() },
            Holder { host: "other".to_owned(), ..own },
        ] {
            assert_ne!(read, as_told(&other));
        }
    }

    #[test]
    fn ids_are_in_range_and_differ_by_user() {
        assert_eq!(id("dyno"), id("DYNO"));
        assert_ne!(id("a"), id("b"));
        assert!(["", "a", "SYSTEM"].iter().all(|user| id(user) < IDS));
    }
}
