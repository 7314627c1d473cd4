//! The lock of the whole server, beside that of the database.
//!
//! Advisory locks are each database's own: the same key taken in two databases is two locks. But `pg_locks` shows those of
//! all databases to every user. So each Dyno first takes its key in its own database and looks for others' after it: of two
//! that come at one moment at least one sees the other, whatever the order, and gives way. Both may, so each tries again
//! after a pause of its own. It needs no right, no common database, and leaves nothing.

use std::time::{Duration, Instant};

use super::key::{DYING_MS, KEY, NAME};
use crate::wire::Connection;
use dyno_engine::data::mix;
use dyno_engine::lock::server_busy;
use dyno_engine::{Claim, Holder, TargetError};

/// The second half of the key: 1 is the lock of the database, 2 that of its loads and drops.
const OBJECT: u32 = 3;

/// The shortest pause before another try, and the spread of it, in milliseconds.
const PAUSE_MS: (u64, u64) = (20, 60);

/// Somebody else's lock of the server.
struct Other {
    backend: String,
    holder: Option<Holder>,
    database: String,
}

/// Takes the server's lock on `connection`, which holds that of its database.
pub(super) fn take(connection: &mut Connection, claim: Claim, target: &str) -> Result<(), TargetError> {
    let (class, _) = KEY;
    let way = match claim {
        Claim::Alone => "",
        Claim::Shared => "_shared",
    };
    let until = Instant::now() + Duration::from_millis(DYING_MS.into());
    for attempt in 0.. {
        // Nobody waits for it: within one database its own lock keeps others off.
        connection.simple(&format!("SELECT pg_advisory_lock{way}({class}, {OBJECT}) AS dyno_lock"))?;
        let Some(other) = other(connection, claim)? else { return Ok(()) };
        connection.simple(&format!("SELECT pg_advisory_unlock{way}({class}, {OBJECT}) AS dyno_lock"))?;
        if Instant::now() >= until {
            let end =
                format!("what hangs ends by SELECT pg_terminate_backend({}) on the server", other.backend);
            let place = format!("database {}", other.database);
            return Err(server_busy(target, other.holder.as_ref(), Some(&place), &end));
        }
        let (least, spread) = PAUSE_MS;
        let own = mix(u64::from(connection.backend_pid().unsigned_abs()) ^ attempt) % spread;
        std::thread::sleep(Duration::from_millis(least + own));
    }
    Ok(())
}

/// One whose claim does not go with `claim`; other targets of this very run have the same words as this connection.
fn other(connection: &mut Connection, claim: Claim) -> Result<Option<Other>, TargetError> {
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
        Some(Other {
            backend: row.get(0)?.to_owned(),
            holder: name.strip_prefix(NAME).and_then(Holder::decode),
            database: row.get(2).unwrap_or("unknown").to_owned(),
        })
    }))
}
