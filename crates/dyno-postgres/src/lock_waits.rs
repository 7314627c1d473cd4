//! Reads which sessions wait for locks of which others, and the oldest open transactions.

use dyno_engine::TextRow;
use dyno_engine::lock_waits::{BlockedSession, LockWaits, OpenTransaction, SessionIdentity};

/// One row for each pair of a waiting session and one that blocks it, and one for each of the oldest
/// transactions. Columns: id of the waiting session; id, name and state of the other one; its age in seconds.
///
/// `pg_blocking_pids` stops the lock manager for a moment, and is called for sessions that wait for a lock only.
/// Process 0 is a prepared transaction, which has no session.
pub(super) const QUERY: &str =
    "SELECT /* dyno */ w.pid::text, blocker.pid::text, CASE WHEN blocker.pid = 0 THEN 'a prepared transaction'
         ELSE concat_ws(' ', nullif(b.application_name, ''), concat_ws('@', b.usename, host(b.client_addr))) END,
         b.state, NULL
     FROM pg_stat_activity w CROSS JOIN LATERAL unnest(pg_blocking_pids(w.pid)) AS blocker(pid)
     LEFT JOIN pg_stat_activity b ON b.pid = blocker.pid
     WHERE w.wait_event_type = 'Lock'
     UNION ALL
     SELECT NULL, t.* FROM (
         SELECT pid::text, concat_ws(' ', nullif(application_name, ''), concat_ws('@', usename, host(client_addr))),
             state, extract(epoch FROM clock_timestamp() - xact_start)::text
         FROM pg_stat_activity
         WHERE xact_start IS NOT NULL AND backend_type = 'client backend'
             AND application_name !~ '^dyno (observer|sampler)( |$)'
         ORDER BY xact_start LIMIT 5
     ) t";

/// The rows of [`QUERY`].
pub(super) fn read(rows: &[TextRow]) -> LockWaits {
    let mut waits = LockWaits::default();
    for row in rows.iter().filter(|row| row.len() == 5) {
        let session = SessionIdentity {
            id: row.text(1).to_owned(),
            name: row.text(2).to_owned(),
            state: row.text(3).to_owned(),
        };
        match (row.get(0), row.parse(4)) {
            (Some(waiter), _) => waits.blocked.push(BlockedSession {
                waiter: waiter.to_owned(),
                blocker: session,
                object: String::new(),
            }),
            (None, Some(age_s)) => waits.transactions.push(OpenTransaction { session, age_s }),
            (None, None) => {}
        }
    }
    waits
}
