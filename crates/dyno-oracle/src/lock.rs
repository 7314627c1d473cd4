//! The lock that prevents two Dyno processes from using one schema: a user lock (`DBMS_LOCK`) on its own
//! connection.
//!
//! The lock belongs to the session and not to a transaction, applies to all instances of a RAC database, and
//! ends with the session in any case. The session's client info in V$SESSION describes the holder.
//!
//! The server's lock is a second one with its own number, exclusive or shared. Both belong to the database of
//! the sessions, which is one PDB in a container database. Dyno processes in two PDBs of one CDB therefore do
//! not detect each other.

use crate::grants::OracleGrants;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::connect::OracleConnectConfig;
use super::connection::OracleConnection;
use super::counters::sessions_in;
use super::error::OracleError;
use super::sql;
use dyno_engine::data::mix;
use dyno_engine::lock::{busy, server_busy};
use dyno_engine::{Claim, Holder, Lock, Refusal as _, TargetError, TargetErrorKind};

/// Results of `DBMS_LOCK.REQUEST` for success: acquired, or already held by this session.
const TAKEN: [i64; 2] = [0, 4];

/// Upper limit of user lock numbers (`DBMS_LOCK`: 0 to 1073741823).
const IDS: u64 = 1 << 30;

/// Maximum length of a session's client info.
const CLIENT_INFO_LETTERS: usize = 64;

/// Lock modes: `DBMS_LOCK.X_MODE` and `S_MODE`.
const EXCLUSIVE: u64 = 6;
const SHARED: u64 = 4;

/// The outcome of a lock request.
enum OracleLockOutcome {
    Taken,
    HeldByAnother,
    /// This user may not request locks, for this reason.
    NotAllowed(String),
}

/// Acquires the lock of the user's schema, named `target` in errors, and then the server's lock as `claim`
/// requires.
pub(super) fn take(
    config: &OracleConnectConfig,
    holder: &Holder,
    claim: Claim,
    target: &str,
) -> Result<Lock, TargetError> {
    let connection = OracleConnection::open(config, "lock")?;
    match request(&connection, id(&config.user), EXCLUSIVE)? {
        OracleLockOutcome::Taken => {}
        OracleLockOutcome::HeldByAnother => {
            let (current_holder, end) = find_holder(&connection, &sql::LOCK_HOLDER, holder);
            if current_holder.is_some() && current_holder == as_advertised(holder) {
                // Another target of this run leads to the same schema and has acquired the lock.
                return Ok(Lock::needless());
            }
            return Err(busy(target, current_holder.as_ref(), format!("wait until it ends; {end}")));
        }
        OracleLockOutcome::NotAllowed(why) => {
            return Ok(Lock::impossible(format!(
                "this user cannot use DBMS_LOCK{why}: Dyno cannot lock other dynos out of {target} or its \
                server; {}",
                OracleGrants::new(&config.user).lock()
            )));
        }
    }
    connection.set_client_info(&client_info(holder))?;
    take_server(&connection, holder, claim, target)?;
    LOCKS.fetch_add(1, Ordering::SeqCst);
    Ok(Lock::held_by(connection, release))
}

/// Acquires the server's lock on a connection that already holds the lock of its schema.
fn take_server(
    connection: &OracleConnection,
    holder: &Holder,
    claim: Claim,
    target: &str,
) -> Result<(), TargetError> {
    let mode = match claim {
        Claim::Alone => EXCLUSIVE,
        Claim::Shared => SHARED,
    };
    let OracleLockOutcome::HeldByAnother = request(connection, server_id(), mode)? else { return Ok(()) };
    let (current_holder, end) = find_holder(connection, &sql::LOCK_SERVER_HOLDER, holder);
    let is_same_run = current_holder.is_some() && current_holder == as_advertised(holder);
    // A user who may not see sessions cannot identify the holder. If this process holds a lock, the holder is
    // this run.
    if is_same_run || (current_holder.is_none() && LOCKS.load(Ordering::SeqCst) > 0) {
        return Ok(());
    }
    Err(server_busy(target, current_holder.as_ref(), None, &end))
}

/// Requests a lock without waiting.
fn request(connection: &OracleConnection, id: u64, mode: u64) -> Result<OracleLockOutcome, TargetError> {
    match connection.number(&sql::LOCK_TAKE.text(), &[("id", &id), ("lockmode", &mode)], "outcome") {
        Ok(outcome) if TAKEN.contains(&outcome) => Ok(OracleLockOutcome::Taken),
        Ok(1) => Ok(OracleLockOutcome::HeldByAnother),
        Ok(outcome) => {
            let message = format!("the lock could not be acquired: DBMS_LOCK.REQUEST returned {outcome}");
            Err(TargetError::database(message))
        }
        Err(error) if error.kind == TargetErrorKind::Privilege => {
            let why = OracleError::of(&error).map_or(String::new(), |server| format!(" ({server})"));
            Ok(OracleLockOutcome::NotAllowed(why))
        }
        Err(error) => Err(error),
    }
}

/// The holder's description in a session's client info.
fn client_info(holder: &Holder) -> String {
    holder.encode().chars().take(CLIENT_INFO_LETTERS).collect()
}

/// The holder as other sessions read it from the client info.
fn as_advertised(holder: &Holder) -> Option<Holder> {
    Holder::decode(&client_info(holder))
}

/// Number of locks that this process holds.
static LOCKS: AtomicUsize = AtomicUsize::new(0);

/// Ends the connection of a lock that is released.
fn release(connection: OracleConnection) {
    LOCKS.fetch_sub(1, Ordering::SeqCst);
    connection.close();
}

/// The lock number for a user. Unquoted names are in upper case in the database.
fn id(user: &str) -> u64 {
    let name = user.to_ascii_uppercase();
    name.bytes().fold(mix(u64::from(b'd')), |hash, byte| mix(hash ^ u64::from(byte))) % IDS
}

/// The number of the server's lock, from a name that no user can have.
fn server_id() -> u64 {
    id("\0the server")
}

/// The holder, if `statement` shows it, and how to end its session. If several sessions hold the lock, the
/// one of this run (`holder`) is returned first.
fn find_holder(
    connection: &OracleConnection,
    statement: &sql::OracleSqlFile,
    holder: &Holder,
) -> (Option<Holder>, String) {
    let own_holder = as_advertised(holder);
    for view in ["gv$session", "v$session"] {
        let rows = connection.rows_if_allowed(&sessions_in(*statement, view), &[]);
        let Ok(Some(rows)) = rows else { continue };
        let mut first_other = None;
        for row in rows {
            let Some(holder) = row.get(0).and_then(Holder::decode) else { continue };
            let (sid, serial) = (row.get(1).unwrap_or("SID"), row.get(2).unwrap_or("SERIAL"));
            // Without the instance the command only searches the DBA's own instance.
            let at = row.get(3).map_or(String::new(), |instance| format!(",@{instance}"));
            let end = format!(
                "if it hangs, a DBA can end it with ALTER SYSTEM KILL SESSION \
                '{sid},{serial}{at}'"
            );
            if Some(&holder) == own_holder.as_ref() {
                return (Some(holder), end);
            }
            first_other.get_or_insert((Some(holder), end));
        }
        if let Some(other_holder) = first_other {
            return other_holder;
        }
    }
    (None, "GRANT SELECT ON SYS.V_$SESSION shows which session it is".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_engine::LockPurpose;

    #[test]
    fn lock_holder_is_identified_by_its_advertised_fields() {
        let holder = Holder { host: "h".repeat(80), ..Holder::this_process(LockPurpose::Run) };
        let read = Holder::decode(&client_info(&holder));
        assert!(read.is_some());
        assert!(read == as_advertised(&holder));
        for other in [
            Holder { pid: holder.pid + 1, ..holder.clone() },
            Holder { since: "2026-01-01T00:00:00Z".to_owned(), ..holder.clone() },
            Holder { host: "other".to_owned(), ..holder },
        ] {
            assert_ne!(read, as_advertised(&other));
        }
    }

    #[test]
    fn oracle_lock_ids_are_in_range_and_differ_by_user() {
        assert!(server_id() < IDS);
        assert!(["", "dyno", "THE SERVER"].iter().all(|user| id(user) != server_id()));
        assert_eq!(id("dyno"), id("DYNO"));
        assert_ne!(id("a"), id("b"));
        assert!(["", "a", "SYSTEM"].iter().all(|user| id(user) < IDS));
    }
}
