//! The lock that keeps two Dynos off one schema: a user lock (`DBMS_LOCK`) on a connection of its own.
//!
//! It belongs to the session, not to a transaction, holds on all instances of a RAC database, and ends with the session,
//! however that ends. Who holds it stands in the session's client info, which others see in V$SESSION.
//!
//! The server's lock is a second one with a number of its own, exclusive or shared. Both are those of the database that
//! sessions are in: of a PDB, where there are several. Dynos in two PDBs of one CDB do not see each other by it.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::connect::ConnectConfig;
use super::connection::Connection;
use super::counters::sessions_in;
use super::error::OraError;
use super::sql;
use dyno_engine::data::mix;
use dyno_engine::lock::{busy, server_busy};
use dyno_engine::{Claim, Holder, Lock, Refusal as _, TargetError, TargetErrorKind};

/// What `DBMS_LOCK.REQUEST` answers: taken, or held by this session already.
const TAKEN: [i64; 2] = [0, 4];

/// Numbers of user locks are below this (`DBMS_LOCK`: 0 to 1073741823).
const IDS: u64 = 1 << 30;

/// Letters of a session's client info.
const CLIENT_INFO_LETTERS: usize = 64;

/// How a lock is held: `DBMS_LOCK.X_MODE` and `S_MODE`.
const EXCLUSIVE: u64 = 6;
const SHARED: u64 = 4;

/// What became of a request.
enum Asked {
    Taken,
    HeldByAnother,
    /// This user may not ask, because of this.
    NotAllowed(String),
}

/// Takes the lock of the user's schema, called `target` in a refusal, and then the server's as `claim` says.
pub(super) fn take(
    config: &ConnectConfig,
    holder: &Holder,
    claim: Claim,
    target: &str,
) -> Result<Lock, TargetError> {
    let connection = Connection::open(config, "lock")?;
    match request(&connection, id(&config.user), EXCLUSIVE)? {
        Asked::Taken => {}
        Asked::HeldByAnother => {
            let (found, end) = who(&connection, &sql::LOCK_HOLDER, holder);
            if found.is_some() && found == as_told(holder) {
                // Another target of this run is another way to the same schema, and has taken it.
                return Ok(Lock::needless());
            }
            return Err(busy(target, found.as_ref(), format!("wait until it has ended; {end}")));
        }
        Asked::NotAllowed(why) => {
            return Ok(Lock::impossible(format!(
                "this user may not use DBMS_LOCK{why}: other dynos are not kept off {target}, nor off its server; GRANT EXECUTE ON SYS.DBMS_LOCK TO {}",
                config.user
            )));
        }
    }
    connection.introduce(&words(holder))?;
    take_server(&connection, holder, claim, target)?;
    LOCKS.fetch_add(1, Ordering::SeqCst);
    Ok(Lock::held_by(connection, release))
}

/// Takes the server's lock on a connection that holds that of its schema.
fn take_server(
    connection: &Connection,
    holder: &Holder,
    claim: Claim,
    target: &str,
) -> Result<(), TargetError> {
    let mode = match claim {
        Claim::Alone => EXCLUSIVE,
        Claim::Shared => SHARED,
    };
    let Asked::HeldByAnother = request(connection, server_id(), mode)? else { return Ok(()) };
    let (found, end) = who(connection, &sql::LOCK_SERVER_HOLDER, holder);
    let own = found.is_some() && found == as_told(holder);
    // Whoever may not see sessions cannot tell this run's own target from a stranger's, but this process can.
    if own || (found.is_none() && LOCKS.load(Ordering::SeqCst) > 0) {
        return Ok(());
    }
    Err(server_busy(target, found.as_ref(), None, &end))
}

/// Asks for a lock.
fn request(connection: &Connection, id: u64, mode: u64) -> Result<Asked, TargetError> {
    match connection.number(&sql::LOCK_TAKE.text(), &[("id", &id), ("lockmode", &mode)], "outcome") {
        Ok(outcome) if TAKEN.contains(&outcome) => Ok(Asked::Taken),
        Ok(1) => Ok(Asked::HeldByAnother),
        Ok(outcome) => {
            let message = format!("the lock could not be taken: DBMS_LOCK.REQUEST answered {outcome}");
            Err(TargetError::database(message))
        }
        Err(error) if error.kind == TargetErrorKind::Privilege => {
            let why = OraError::of(&error).map_or(String::new(), |server| format!(" ({server})"));
            Ok(Asked::NotAllowed(why))
        }
        Err(error) => Err(error),
    }
}

/// What a session's client info has of a holder.
fn words(holder: &Holder) -> String {
    holder.encode().chars().take(CLIENT_INFO_LETTERS).collect()
}

/// The holder as others read it there.
fn as_told(holder: &Holder) -> Option<Holder> {
    Holder::decode(&words(holder))
}

/// Locks that this process holds.
static LOCKS: AtomicUsize = AtomicUsize::new(0);

/// Ends the connection of a lock that is released.
fn release(connection: Connection) {
    LOCKS.fetch_sub(1, Ordering::SeqCst);
    connection.close();
}

/// The number of a user's lock. Names are in upper case in the database, unless quoted.
fn id(user: &str) -> u64 {
    let name = user.to_ascii_uppercase();
    name.bytes().fold(mix(u64::from(b'd')), |hash, byte| mix(hash ^ u64::from(byte))) % IDS
}

/// The number of the server's lock: of a name that no user can have.
fn server_id() -> u64 {
    id("\0the server")
}

/// The holder as far as `statement` shows it, and how it is ended. Where several hold locks and one of them is this run's
/// own, which `holder` describes, it is that one.
fn who(connection: &Connection, statement: &sql::Statement, holder: &Holder) -> (Option<Holder>, String) {
    let own = as_told(holder);
    for view in ["gv$session", "v$session"] {
        let rows = connection.rows_if_allowed(&sessions_in(*statement, view), &[]);
        let Ok(Some(rows)) = rows else { continue };
        let mut found = None;
        for row in rows {
            let Some(holder) = row.get(0).and_then(Holder::decode) else { continue };
            let (sid, serial) = (row.get(1).unwrap_or("SID"), row.get(2).unwrap_or("SERIAL"));
            // Without the instance the command looks on the DBA's own only.
            let at = row.get(3).map_or(String::new(), |instance| format!(",@{instance}"));
            let end = format!("what hangs ends by ALTER SYSTEM KILL SESSION '{sid},{serial}{at}', by a DBA");
            if Some(&holder) == own.as_ref() {
                return (Some(holder), end);
            }
            found.get_or_insert((Some(holder), end));
        }
        if let Some(found) = found {
            return found;
        }
    }
    (None, "GRANT SELECT ON SYS.V_$SESSION shows who it is".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::Work;

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
        assert!(server_id() < IDS && ["", "dyno", "THE SERVER"].iter().all(|user| id(user) != server_id()));
        assert_eq!(id("dyno"), id("DYNO"));
        assert_ne!(id("a"), id("b"));
        assert!(["", "a", "SYSTEM"].iter().all(|user| id(user) < IDS));
    }
}
