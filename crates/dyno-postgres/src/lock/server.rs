//! The lock of the whole server, in addition to that of the database.
//!
//! Advisory locks belong to one database: the same key in two databases gives two locks. But `pg_locks` shows
//! the locks of all databases to every user. Each Dyno process first acquires its key in its own database and
//! then looks for others. If two start at the same moment, at least one sees the other and releases its lock.
//! Both may do so, therefore each tries again after a different pause. This needs no privilege and no common
//! database, and leaves nothing behind.

use std::time::{Duration, Instant};

use super::key::{DYING_MS, KEY, NAME};
use crate::wire::PostgresConnection;
use dyno_engine::data::mix;
use dyno_engine::lock::server_busy;
use dyno_engine::{Claim, Holder, TargetError};

/// The second part of the key: 1 is the lock of the database, 2 that of its loads and drops.
const OBJECT: u32 = 3;

/// The shortest pause before another attempt, and the range added to it, in milliseconds.
const PAUSE_MS: (u64, u64) = (20, 60);

/// A lock of the server that another process holds.
struct PostgresConflictingLock {
    backend: String,
    holder: Option<Holder>,
    database: String,
}

/// Acquires the server's lock on `connection`, which already holds the lock of its database.
pub(super) fn take(
    connection: &mut PostgresConnection,
    claim: Claim,
    target: &str,
) -> Result<(), TargetError> {
    let (class, _) = KEY;
    let way = match claim {
        Claim::Alone => "",
        Claim::Shared => "_shared",
    };
    let until = Instant::now() + Duration::from_millis(DYING_MS.into());
    for attempt in 0.. {
        // This does not wait: within one database the database lock excludes others.
        connection.simple(&format!("SELECT pg_advisory_lock{way}({class}, {OBJECT}) AS dyno_lock"))?;
        let Some(other) = find_conflict(connection, claim)? else { return Ok(()) };
        connection.simple(&format!("SELECT pg_advisory_unlock{way}({class}, {OBJECT}) AS dyno_lock"))?;
        if Instant::now() >= until {
            let end = format!(
                "if it hangs, end it with SELECT pg_terminate_backend({}) on the server",
                other.backend
            );
            let place = format!("database {}", other.database);
            return Err(server_busy(target, other.holder.as_ref(), Some(&place), &end));
        }
        let (least, spread) = PAUSE_MS;
        let jitter_ms = mix(u64::from(connection.backend_pid().unsigned_abs()) ^ attempt) % spread;
        std::thread::sleep(Duration::from_millis(least + jitter_ms));
    }
    Ok(())
}

/// A lock that conflicts with `claim`; other targets of the same run have this connection's application name.
fn find_conflict(
    connection: &mut PostgresConnection,
    claim: Claim,
) -> Result<Option<PostgresConflictingLock>, TargetError> {
    let (class, _) = KEY;
    let disturbing = match claim {
        Claim::Alone => "",
        Claim::Shared => "AND l.mode = 'ExclusiveLock'",
    };
    let rows = connection.simple(&format!(
        "SELECT l.pid, a.application_name, d.datname
         FROM pg_locks l
         LEFT JOIN pg_stat_activity a ON a.pid = l.pid
         LEFT JOIN pg_database d ON d.oid = l.database
         WHERE l.locktype = 'advisory' AND l.granted AND l.classid = {class} AND l.objid = {OBJECT} AND l.objsubid = 2
           AND l.pid <> pg_backend_pid() {disturbing}
           AND a.application_name IS DISTINCT FROM current_setting('application_name')"
    ))?;
    Ok(rows.first().and_then(|row| {
        let name = row.get(1).unwrap_or_default();
        Some(PostgresConflictingLock {
            backend: row.get(0)?.to_owned(),
            holder: name.strip_prefix(NAME).and_then(Holder::decode),
            database: row.get(2).unwrap_or("unknown").to_owned(),
        })
    }))
}
