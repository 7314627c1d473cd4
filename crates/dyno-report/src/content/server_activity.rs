//! What the server did in the window, by its own counters: checkpoints, redo, temporary files, cache, rows.

use dyno_record::{RunRecord, Status};

use crate::model::table::{Grid, GridCell, GridHead};

/// Title of the table.
pub(crate) const TITLE: &str = "server activity";

/// A figure: its name, its unit, and the native counters that hold it, of which the first that is there counts:
/// versions and products name them differently.
struct ActivityFigure {
    name: &'static str,
    unit: ActivityUnit,
    counters: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq)]
enum ActivityUnit {
    Count,
    Bytes,
    /// A counter of milliseconds that the server raises when what it times ends, by all of its time. The time in
    /// the window is not known, so such a figure has no rate.
    EndedMilliseconds,
}

const fn count(name: &'static str, counters: &'static [&'static str]) -> ActivityFigure {
    ActivityFigure { name, unit: ActivityUnit::Count, counters }
}

const fn bytes(name: &'static str, counters: &'static [&'static str]) -> ActivityFigure {
    ActivityFigure { name, unit: ActivityUnit::Bytes, counters }
}

const fn ended_ms(name: &'static str, counters: &'static [&'static str]) -> ActivityFigure {
    ActivityFigure { name, unit: ActivityUnit::EndedMilliseconds, counters }
}

/// The groups in the order of the table. Counters are named as the servers name them.
const GROUPS: [(&str, &[ActivityFigure]); 6] = [
    (
        "checkpoints and page writes",
        &[
            count(
                "checkpoints by time",
                &["pg_stat_checkpointer.num_timed", "pg_stat_bgwriter.checkpoints_timed"],
            ),
            count(
                "checkpoints on request",
                &["pg_stat_checkpointer.num_requested", "pg_stat_bgwriter.checkpoints_req"],
            ),
            count(
                "blocks written by checkpoints",
                &["pg_stat_checkpointer.buffers_written", "pg_stat_bgwriter.buffers_checkpoint"],
            ),
            ended_ms(
                "checkpoints writing, when ended",
                &["pg_stat_checkpointer.write_time", "pg_stat_bgwriter.checkpoint_write_time"],
            ),
            ended_ms(
                "checkpoints syncing, when ended",
                &["pg_stat_checkpointer.sync_time", "pg_stat_bgwriter.checkpoint_sync_time"],
            ),
            count("blocks written by the background writer", &["pg_stat_bgwriter.buffers_clean"]),
            count("background writer stopped at its limit", &["pg_stat_bgwriter.maxwritten_clean"]),
            count(
                "blocks written by sessions",
                &["pg_stat_bgwriter.buffers_backend", "pg_stat_io.client_backend.relation.normal.writes"],
            ),
            count("pages flushed", &["status.Innodb_buffer_pool_pages_flushed"]),
            count("pages written to the doublewrite area", &["status.Innodb_dblwr_pages_written"]),
            count("writes of the doublewrite area", &["status.Innodb_dblwr_writes"]),
        ],
    ),
    (
        "redo",
        &[
            count("records", &["pg_stat_wal.wal_records"]),
            count("whole pages", &["pg_stat_wal.wal_fpi"]),
            bytes("bytes", &["pg_stat_wal.wal_bytes", "status.Innodb_os_log_written"]),
            count("write requests", &["status.Innodb_log_write_requests"]),
            count("writes", &["pg_stat_wal.wal_write", "status.Innodb_log_writes"]),
            count("syncs", &["pg_stat_wal.wal_sync", "status.Innodb_os_log_fsyncs"]),
            count("writes because the buffer was full", &["pg_stat_wal.wal_buffers_full"]),
            count("waits for the buffer", &["status.Innodb_log_waits"]),
            bytes("binary log", &["file.binlog.bytes_write"]),
        ],
    ),
    (
        "cache",
        &[
            count("blocks found", &["pg_stat_database.blks_hit"]),
            count("blocks read", &["pg_stat_database.blks_read", "status.Innodb_pages_read"]),
            count("page requests", &["status.Innodb_buffer_pool_read_requests"]),
            count("requests that read from storage", &["status.Innodb_buffer_pool_reads"]),
            count("pages read ahead", &["status.Innodb_buffer_pool_read_ahead"]),
            count("waits for a free page", &["status.Innodb_buffer_pool_wait_free"]),
            count("blocks evicted by sessions", &["pg_stat_io.client_backend.relation.normal.evictions"]),
        ],
    ),
    (
        "temporary data",
        &[
            count("temporary files", &["pg_stat_database.temp_files", "status.Created_tmp_files"]),
            bytes("bytes in temporary files", &["pg_stat_database.temp_bytes"]),
            count("temporary tables", &["status.Created_tmp_tables"]),
            count("temporary tables on disk", &["status.Created_tmp_disk_tables"]),
            count("merge passes of sorts", &["status.Sort_merge_passes"]),
        ],
    ),
    (
        "rows and statements",
        &[
            count("rows returned by scans", &["pg_stat_database.tup_returned"]),
            count("rows fetched by indexes", &["pg_stat_database.tup_fetched"]),
            count("rows read", &["status.Innodb_rows_read"]),
            count("rows inserted", &["pg_stat_database.tup_inserted", "status.Innodb_rows_inserted"]),
            count("rows updated", &["pg_stat_database.tup_updated", "status.Innodb_rows_updated"]),
            count("rows deleted", &["pg_stat_database.tup_deleted", "status.Innodb_rows_deleted"]),
            count("commits", &["pg_stat_database.xact_commit", "status.Com_commit"]),
            count("rollbacks", &["pg_stat_database.xact_rollback", "status.Com_rollback"]),
            count("joins without an index", &["status.Select_full_join"]),
        ],
    ),
    (
        "locks and sessions",
        &[
            count("deadlocks", &["pg_stat_database.deadlocks", "status.Innodb_deadlocks"]),
            count("waits for row locks", &["status.Innodb_row_lock_waits"]),
            ended_ms("waits for row locks, when ended", &["status.Innodb_row_lock_time"]),
            count("waits for table locks", &["status.Table_locks_waited"]),
            count("queries cancelled by recovery", &["pg_stat_database.conflicts"]),
            count("connections", &["pg_stat_database.sessions", "status.Connections"]),
            count(
                "sessions that were lost",
                &["pg_stat_database.sessions_abandoned", "status.Aborted_clients"],
            ),
        ],
    ),
];

/// The counters that moved, as totals of the window and per second; absent if none did, and for an invalid run,
/// whose counters may be those of another time.
pub(crate) fn grid(record: &RunRecord) -> Option<Grid> {
    if record.status == Status::Invalid {
        return None;
    }
    let seconds = match &record.watched {
        Some(watched) => watched.known_s,
        None => record.window.as_ref()?.seconds,
    };
    let mut grid = Grid::new(vec![
        GridHead::text("what"),
        GridHead::figures("in the window", ""),
        GridHead::figures("per second", ""),
    ]);
    for (title, figures) in GROUPS {
        let moved_figures: Vec<(&ActivityFigure, f64)> =
            figures.iter().filter_map(|figure| Some((figure, moved(record, figure)?))).collect();
        if moved_figures.is_empty() {
            continue;
        }
        grid.row([GridCell::text(title)]);
        for (figure, total) in moved_figures {
            let per_s =
                (seconds > 0.0 && figure.unit != ActivityUnit::EndedMilliseconds).then(|| total / seconds);
            let whole = match figure.unit {
                ActivityUnit::Count => GridCell::count(total.round() as u64),
                _ => figure.cell(Some(total)),
            };
            grid.row([figure.name.into(), whole, figure.cell(per_s)]);
        }
    }
    (!grid.rows.is_empty()).then_some(grid)
}

/// What the figure moved by; absent where no counter of it moved.
fn moved(record: &RunRecord, figure: &ActivityFigure) -> Option<f64> {
    let native = &record.counters.native;
    figure.counters.iter().find_map(|name| native.get(*name).copied()).filter(|total| *total > 0.0)
}

impl ActivityFigure {
    fn cell(&self, value: Option<f64>) -> GridCell {
        match self.unit {
            ActivityUnit::Count => GridCell::figure(value),
            ActivityUnit::Bytes => GridCell::bytes(value),
            ActivityUnit::EndedMilliseconds => GridCell::time_us(value.map(|ms| ms * 1e3)),
        }
    }
}

/// Notes for the reader: whose work the figures hold, and which times may be longer than the window.
pub(crate) fn note(record: &RunRecord) -> String {
    let note = "The server's own counters between the two snapshots, with the work of others and of Dyno's observer; \
                counters that did not move are left out";
    let has_ended_time = GROUPS
        .iter()
        .flat_map(|(_, figures)| *figures)
        .any(|figure| figure.unit == ActivityUnit::EndedMilliseconds && moved(record, figure).is_some());
    let explanation =
        "when ended: the server adds the whole time at the end, so it can exceed the window and has no rate";
    if has_ended_time { format!("{note}; {explanation}") } else { note.to_owned() }
}

#[cfg(test)]
mod tests {
    use dyno_analyze::fixture;
    use dyno_analyze::number::ABSENT;

    use super::*;

    fn record(native: &[(&str, f64)]) -> RunRecord {
        let mut record = fixture::postgres();
        record.counters.native = native.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        record.window.as_mut().unwrap().seconds = 10.0;
        record
    }

    #[test]
    fn server_activity_has_totals_and_rates_of_moved_counters() {
        let grid = grid(&record(&[
            ("pg_stat_bgwriter.checkpoints_req", 4.0),
            ("pg_stat_bgwriter.checkpoint_write_time", 42_900.0),
            ("pg_stat_wal.wal_bytes", 10_485_760.0),
            ("pg_stat_database.temp_files", 0.0),
            ("some.other", 5.0),
        ]))
        .unwrap();
        let rows: Vec<Vec<&str>> = grid
            .rows
            .iter()
            .map(|(_, cells)| cells.iter().map(|cell| cell.text.as_str()).collect())
            .collect();
        let expected: [&[&str]; 5] = [
            &["checkpoints and page writes"],
            &["checkpoints on request", "4", "0.400"],
            &["checkpoints writing, when ended", "42.9 s", ABSENT],
            &["redo"],
            &["bytes", "10 MiB", "1 MiB"],
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn times_booked_at_the_end_are_explained() {
        let rows = [("status.Innodb_row_lock_time", 42_900.0), ("status.Innodb_row_lock_waits", 5.0)];
        assert!(note(&record(&rows)).contains("can exceed the window"));
        assert!(!note(&record(&rows[1..])).contains("can exceed the window"));
    }

    #[test]
    fn record_without_known_counters_has_no_server_activity() {
        assert_eq!(grid(&record(&[("some.other", 5.0)])), None);
        let mut invalid = record(&[("pg_stat_wal.wal_bytes", 5.0)]);
        assert!(grid(&invalid).is_some());
        invalid.status = Status::Invalid;
        assert_eq!(grid(&invalid), None);
    }

    #[test]
    fn each_counter_belongs_to_one_figure() {
        let all: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, figures)| *figures)
            .flat_map(|figure| figure.counters)
            .copied()
            .collect();
        let distinct: std::collections::BTreeSet<&str> = all.iter().copied().collect();
        assert_eq!(all.len(), distinct.len());
    }
}
