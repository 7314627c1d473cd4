//! The rules by which PostgreSQL counts.

use dyno_record::{
    BlocksPerReadRequest, Counter, CountingRules, RowCounters, RowRules, TableCounters, Transactions,
};

use super::super::counters::SHARED_STATISTICS;
use super::instance::server_wide;
use super::settings::{ServerSettings, bytes};

/// The longest time in seconds before statistics of a session are visible if they cannot be flushed. It takes
/// 500 ms until they are sent (`PGSTAT_STAT_INTERVAL`), and as long again until the collector has written
/// them.
const UNSEEN_S: f64 = 1.0;

/// A server process reports once per second (`PGSTAT_MIN_INTERVAL`).
const HELD_BACK_S: f64 = 0.95;

/// Largest combined read in bytes if its setting cannot be read: the maximum of `io_combine_limit`.
const COMBINED_BYTES: u64 = 1 << 20;

/// Transactions with which a pooler sets up a connection for sessions, at most one connection per session.
/// They are the start of the server process, the settings of the client, and a test query (PgBouncer's
/// `server_check_query`).
const OF_POOLER: u64 = 3;

/// The rules for sessions that connect directly to a server of this version.
pub(super) fn counting(version_num: u32, settings: &ServerSettings, block_bytes: u64) -> CountingRules {
    let flushes = version_num >= SHARED_STATISTICS;
    let unseen_s = if flushes { 0.0 } else { UNSEEN_S };
    let combined = bytes(settings, "io_combine_limit").unwrap_or(COMBINED_BYTES);
    let blocks_max = (combined as f64 / block_bytes.max(1) as f64).max(1.0);
    let of_rows = |names: [&str; 2]| names.map(|name| format!("dyno.rows.{name}")).to_vec();
    CountingRules {
        at_edges: flushes,
        unseen_s,
        unseen_after_end_s: unseen_s,
        held_back_s: Some(HELD_BACK_S),
        // `active_time` runs from the first message of a statement to its end, in one database.
        outside_db_time: Some(
            "receiving and sending messages between statements, background processes, connects, and other databases"
                .to_owned(),
        ),
        for_server: server_wide(version_num),
        for_test_tables: vec![Counter::RowsRead, Counter::RowsWritten],
        transactions: Transactions::Calls,
        // Autovacuum workers commit transactions.
        workers_commit: true,
        // A parallel worker connects in one transaction and copies its leader's settings in another.
        parallel_commit: true,
        commit_settings: ["fsync", "synchronous_commit", "wal_sync_method"].map(str::to_owned).to_vec(),
        rows: RowRules {
            by_kind: Some(RowCounters::named(
                "dyno.rows.n_tup_upd",
                "dyno.rows.n_tup_ins",
                "dyno.rows.n_tup_del",
            )),
            ..RowRules::default()
        },
        tables: Some(TableCounters {
            blocks: of_rows(["heap_blks_hit", "heap_blks_read"]),
            fetched: of_rows(["idx_tup_fetch", "bitmap_tup_fetch"]),
        }),
        requests: BlocksPerReadRequest::bring(
            blocks_max,
            "PostgreSQL reads up to io_combine_limit with one request",
        ),
        ..CountingRules::default()
    }
}

/// Applies what a pooler changes: a session cannot flush at a window boundary. The pooler's connections are
/// flushed after the last session has closed, if possible.
pub(crate) fn through_pooler(counting: &mut CountingRules) {
    counting.at_edges = false;
    counting.unseen_s = UNSEEN_S;
    counting.apart_because =
        Some("because a pooler's connections book what they did up to a second late".to_owned());
    counting.commits_per_session_max = OF_POOLER;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lag_when_sessions_cannot_flush_them() {
        let settings = ServerSettings::default();
        let old = counting(140_000, &settings, 8_192);
        assert_eq!((old.at_edges, old.unseen_s, old.unseen_after_end_s), (false, 1.0, 1.0));
        let mut new = counting(160_000, &settings, 8_192);
        assert_eq!((new.at_edges, new.unseen_s, new.unseen_after_end_s), (true, 0.0, 0.0));
        through_pooler(&mut new);
        assert_eq!((new.at_edges, new.unseen_s, new.unseen_after_end_s), (false, 1.0, 0.0));
    }

    #[test]
    fn blocks_per_read_request_follow_server_io_combine_limit() {
        let blocks = |settings: &ServerSettings| match counting(180_000, settings, 8_192).requests {
            BlocksPerReadRequest::Bring { blocks_max, .. } => blocks_max,
            BlocksPerReadRequest::Absent { absent } => panic!("{absent}"),
        };
        assert_eq!(blocks(&ServerSettings::of(&[("io_combine_limit", "128kB")])), 16.0);
        assert_eq!(blocks(&ServerSettings::default()), 128.0);
    }
}
