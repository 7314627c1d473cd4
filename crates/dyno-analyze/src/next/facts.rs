//! Steps that follow from counters and settings of the server: both must be in the record.

use dyno_record::Counter;

use super::evidence::RunEvidence;
use super::{FoundStep, NextRule, RunRule};
use crate::limited::Component;
use crate::number::{bytes, count, percent, time_us};

/// Share of the redo that whole pages must have before they are the subject, %.
const PAGE_IMAGES_PCT: f64 = 50.0;
/// Fewest whole pages that are a subject at all: a run that only reads logs a few for the server itself.
const PAGE_IMAGES_MIN: f64 = 100.0;
/// Share of blocks that the database's cache served, %, below which it may be too small.
const HIT_PCT: f64 = 95.0;
/// Redo between two checkpoints must be at least this share of the limit that forces them.
const REDO_SHARE: f64 = 0.05;

/// A setting is raised by at most this factor at once.
const FACTOR_MAX: f64 = 16.0;
/// The factor by which memory for a statement is raised: sorts need it per session, so it must stay small.
const WORK_MEMORY_FACTOR: u64 = 4;

/// Share of the sessions' time in reads and writes of data, %, from which their times matter for an unknown limit.
const IO_PCT: f64 = 10.0;

pub(super) const RULES: &[RunRule] = &[
    NextRule {
        name: "forced_checkpoints",
        evidence: "checkpoints were requested in the window (`pg_stat_checkpointer.num_requested`, `pg_stat_bgwriter.checkpoints_req`), redo was written, and `max_wal_size` is known",
        source: "PostgreSQL documentation, chapter Reliability and the Write-Ahead Log, WAL Configuration",
        find: forced_checkpoints,
    },
    NextRule {
        name: "page_images",
        evidence: "pages written whole after a checkpoint (`pg_stat_wal.wal_fpi`) are over half of the redo, and `full_page_writes` is on",
        source: "PostgreSQL documentation, chapter Reliability and the Write-Ahead Log, WAL Configuration",
        find: page_images,
    },
    NextRule {
        name: "temporary_files",
        evidence: "temporary files were written in the window (`pg_stat_database.temp_bytes`), and `work_mem` is known",
        source: "PostgreSQL documentation, chapter Server Configuration, Resource Consumption",
        find: temporary_files,
    },
    NextRule {
        name: "log_buffer",
        evidence: "writes waited for the log buffer (`Innodb_log_waits`), and `innodb_log_buffer_size` is known",
        source: "MySQL Reference Manual, Server Status Variables, Innodb_log_waits",
        find: log_buffer,
    },
    NextRule {
        name: "free_pages",
        evidence: "reads waited for a free page of the pool (`Innodb_buffer_pool_wait_free`), and `innodb_buffer_pool_size` is known",
        source: "MySQL Reference Manual, Server Status Variables, Innodb_buffer_pool_wait_free",
        find: free_pages,
    },
    NextRule {
        name: "two_syncs",
        evidence: "commits limit, and each syncs two logs (`sync_binlog` = 1 and `innodb_flush_log_at_trx_commit` = 1)",
        source: "MySQL Reference Manual, Binary Logging Options and Variables, binlog_group_commit_sync_delay",
        find: two_syncs,
    },
    NextRule {
        name: "deadlocks",
        evidence: "the server counted deadlocks in the window",
        source: "docs/guides/failures.md",
        find: deadlocks,
    },
    NextRule {
        name: "small_cache",
        evidence: "the device limits, the database's cache served under 95 % of the blocks, and it is smaller than the data",
        source: "docs/concepts/method.md",
        find: small_cache,
    },
    NextRule {
        name: "io_timing",
        evidence: "the device limits, or the limit is unknown and the device took a tenth of the sessions' time; `track_io_timing` is off",
        source: "docs/concepts/analysis.md#what-limits",
        find: io_timing,
    },
];

/// A size as servers write it: `1GB`, `128MB`, `16384`.
pub(super) fn size_bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|symbol: char| symbol.is_ascii_alphabetic() || symbol == ' ');
    let factor = match text[digits.len()..].trim() {
        "" | "B" => 1,
        "kB" => 1 << 10,
        "MB" => 1 << 20,
        "GB" => 1 << 30,
        "TB" => 1 << 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// `size` multiplied, in the unit in which the server shows it: `1GB` by 4 is `4GB`.
fn raised(size: &str, factor: u64) -> Option<String> {
    let digits = size.trim_end_matches(|symbol: char| symbol.is_ascii_alphabetic());
    let raised = digits.parse::<u64>().ok()?.checked_mul(factor)?;
    Some(format!("{raised}{}", &size[digits.len()..]))
}

fn redo_bytes(run: &RunEvidence<'_>) -> Option<f64> {
    run.record.counters.get(Counter::RedoBytes).ok().map(|bytes| bytes as f64)
}

fn times(number: f64, singular: &str, plural: &str) -> String {
    let word = if number < 1.5 { singular } else { plural };
    format!("{} {word}", count(number.round() as u64))
}

fn forced_checkpoints(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let forced = run.counted(&["pg_stat_checkpointer.num_requested", "pg_stat_bgwriter.checkpoints_req"])?;
    let limit = run.setting("max_wal_size")?;
    let (redo, limit_bytes) = (redo_bytes(run)?, size_bytes(limit)? as f64);
    (redo >= forced * limit_bytes * REDO_SHARE).then(|| {
        let sentence = format!(
            "`max_wal_size` ({limit}) forced {} while the run wrote {} of redo; raise it and compare",
            times(forced, "checkpoint", "checkpoints"),
            bytes(redo as u64)
        );
        // Room for the redo of the window without a forced checkpoint.
        let factor = (2.0 * forced).max(redo / limit_bytes).min(FACTOR_MAX) as u64;
        let command = raised(limit, factor.next_power_of_two())
            .map(|proposed| format!("dyno ab --setting max_wal_size={limit},{proposed}"));
        (sentence, command)
    })
}

fn page_images(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let images = run.counted(&["pg_stat_wal.wal_fpi"])?;
    let block_size = run.record.targets.first()?.identity.block_size as f64;
    let share_pct = 100.0 * images * block_size / redo_bytes(run).filter(|redo| *redo > 0.0)?;
    let is_on = run.setting("full_page_writes")? == "on";
    // Compressed images are smaller than a page.
    let is_whole = run.setting("wal_compression").is_none_or(|compression| compression == "off");
    (is_on && is_whole && images >= PAGE_IMAGES_MIN && share_pct >= PAGE_IMAGES_PCT).then(|| {
        let sentence = format!(
            "{} pages were logged whole after checkpoints, up to {} % of the redo; checkpoints farther apart \
             (`max_wal_size`, `checkpoint_timeout`) or `wal_compression` reduce that",
            count(images as u64),
            percent(share_pct.min(100.0))
        );
        let is_known = run.setting("wal_compression") == Some("off");
        (sentence, is_known.then(|| "dyno ab --setting wal_compression=off,on".to_owned()))
    })
}

fn temporary_files(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let written = run.counted(&["pg_stat_database.temp_bytes"])?;
    let memory = run.setting("work_mem")?;
    let sentence = format!(
        "statements wrote {} of temporary files; raise `work_mem` ({memory}) and compare",
        bytes(written as u64)
    );
    let command = raised(memory, WORK_MEMORY_FACTOR)
        .map(|proposed| format!("dyno ab --setting work_mem={memory},{proposed}"));
    Some((sentence, command))
}

fn log_buffer(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let waits = run.counted(&["status.Innodb_log_waits"])?;
    let size = run.setting("innodb_log_buffer_size").and_then(size_bytes)?;
    let sentence = format!(
        "the log buffer was full {}; raise `innodb_log_buffer_size` ({}) and compare",
        times(waits, "time", "times"),
        bytes(size)
    );
    Some((sentence, None))
}

fn free_pages(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let waits = run.counted(&["status.Innodb_buffer_pool_wait_free"])?;
    let size = run.setting("innodb_buffer_pool_size").and_then(size_bytes)?;
    let sentence = format!(
        "sessions waited {} for a free page; raise `innodb_buffer_pool_size` ({}) or `innodb_io_capacity`, and compare",
        times(waits, "time", "times"),
        bytes(size)
    );
    Some((sentence, None))
}

fn two_syncs(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let syncs_two_logs = run.setting("sync_binlog") == Some("1")
        && run.setting("innodb_flush_log_at_trx_commit") == Some("1")
        && run.setting("log_bin") == Some("ON");
    (syncs_two_logs && run.is_limited_by(Component::Commits)).then(|| {
        let latency = run.metric("redo_sync_latency_us");
        let latency_words = latency.map_or_else(String::new, |us| format!(" of {}", time_us(us)));
        let sentence = format!(
            "each commit waits for the redo log and for the binary log{latency_words}; compare with `sync_binlog` = 0, \
             which shows the share of the binary log (not for data that must survive)"
        );
        (sentence, Some("dyno ab --setting sync_binlog=1,0".to_owned()))
    })
}

fn deadlocks(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let number = run.counted(&["pg_stat_database.deadlocks", "status.Innodb_deadlocks"])?;
    let sentence = format!(
        "{} in the window; let transactions change rows in one order",
        times(number, "deadlock", "deadlocks")
    );
    Some((sentence, None))
}

fn small_cache(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let target = run.record.targets.first()?;
    let (cache, data) = (target.identity.cache_bytes?, target.data.as_ref()?);
    let data_bytes = data.rows.checked_mul(u64::from(data.schemas))?.checked_mul(data.block_size)?;
    let hit_pct = run.metric("buffer_hit_pct").filter(|pct| *pct < HIT_PCT)?;
    (run.is_limited_by(Component::Device) && run.is_block_workload() && cache < data_bytes).then(|| {
        let sentence = format!(
            "the database's cache ({}) served {} % of the blocks of {} of data; raise it and compare",
            bytes(cache),
            percent(hit_pct),
            bytes(data_bytes)
        );
        (sentence, None)
    })
}

fn io_timing(run: &RunEvidence<'_>) -> Option<FoundStep> {
    let has_io = run.limit.figure("time_in_io_pct").is_some_and(|pct| pct >= IO_PCT);
    let is_open = run.is_limited_by(Component::Device) || run.is_limited_by(Component::Unknown) && has_io;
    (is_open && run.setting("track_io_timing") == Some("off")).then(|| {
        let sentence = "set `track_io_timing` = on, so that the server times its reads and writes".to_owned();
        (sentence, None)
    })
}
