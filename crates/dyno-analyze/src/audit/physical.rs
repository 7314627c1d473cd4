//! Compares the database's reads and writes with those of its block device, which shows the page
//! cache and background activity.
//!
//! A database that reads through the operating system's cache counts reads as physical that never
//! reached a device. Published results have reported such figures as storage performance; this
//! check reports their share.

use dyno_record::{BlocksPerReadRequest, CheckStatus, Counter, RunRecord};

use super::facts::{AuditFacts, AuditInterval};
use super::finding::{AuditCheckResult, Skip, conclude, skip};
use crate::number::{count, figure, megabytes, percent};

/// Bytes below which reads are too few to judge: catalogs and directories cause as much.
const BYTES_FLOOR: f64 = 4.0 * 1024.0 * 1024.0;

/// Bytes per second that an idle system may read in addition to the run without counting as load.
const OTHERS_BYTES_PER_S: f64 = 2.0 * 1024.0 * 1024.0;

/// Device bytes per requested byte above which others use the device. Read-ahead reads some blocks
/// that were not requested.
const DEVICE_EXCESS: f64 = 1.5;

/// Share of the requested bytes that came from memory, %, above which physical reads do not
/// describe the device.
const FROM_CACHE_PCT: f64 = 5.0;

/// Words for reads that the page cache answered; their share in percent precedes them.
pub(crate) const FROM_PAGE_CACHE: &str = "came from the operating system's page cache";

/// The share of the database's reads that came from the page cache, %, as found by the audit.
pub(crate) fn page_cache_pct(record: &RunRecord) -> Option<f64> {
    let check = record.audit.iter().find(|check| check.check == "physical_reads")?;
    let (before, _) = check.detail.split_once(&format!(" % {FROM_PAGE_CACHE}"))?;
    before.rsplit(' ').next()?.parse().ok()
}

/// Why physical reads may have come from the page cache undetected: a database of the run reads
/// through it, and the audit could not compare with the device. Absent where the comparison was
/// made, or direct I/O makes it unnecessary.
pub(crate) fn unverified_reads(record: &RunRecord) -> Option<String> {
    let buffered = record.targets.iter().any(|target| target.identity.direct_io == Some(false));
    let check = record.audit.iter().find(|check| check.check == "physical_reads")?;
    (buffered && check.status == CheckStatus::Skipped).then(|| check.detail.clone())
}

/// What the database requested: blocks or requests, and bytes.
struct RequestedReads {
    reads: u64,
    bytes: f64,
}

fn requested_reads(facts: &AuditFacts<'_>, interval: &AuditInterval<'_>) -> Result<RequestedReads, Skip> {
    let reads = interval
        .counter(Counter::PhysicalReads)
        .or_else(|_| interval.counter(Counter::PhysicalReadRequests))?;
    if let Ok(bytes) = interval.counter(Counter::PhysicalReadBytes) {
        return Ok(RequestedReads { reads, bytes: bytes as f64 });
    }
    let target = facts.target().ok_or_else(|| Skip("the record has no target".into()))?;
    let loaded = target.data.as_ref().map_or(0, |data| data.block_size);
    let block = if target.identity.block_size > 0 { target.identity.block_size } else { loaded };
    Ok(RequestedReads { reads, bytes: reads as f64 * block as f64 })
}

/// Compares the database's physical reads with the device's.
pub(super) fn reads(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let interval = facts.window_interval()?;
    let Some(host) = facts.record.database_host() else {
        return skip(match facts.record.is_total() {
            true => "the databases run on several hosts, or on one that is not observed",
            false => {
                "the database runs on another host, whose devices are not observed: name it in observe.hosts"
            }
        });
    };
    let requested = requested_reads(facts, &interval)?;
    let Some(device) = facts.device else {
        return skip("the device that holds the data is not known, or there are several");
    };
    if facts.device_shared {
        return skip(format!("other targets' data is on {device}, too: the total compares them together"));
    }
    let counter = |what: &str| host.counters.get(&format!("device.{device}.{what}")).copied();
    let (Some(reads), Some(bytes)) = (counter("reads"), counter("read_bytes")) else {
        return skip(format!("the host has no counters of device {device}"));
    };
    let (reads, bytes) = (reads.max(0.0), bytes.max(0.0));
    let words = format!(
        "database read {} blocks ({}) from outside its cache; {device} served {} reads ({})",
        count(requested.reads),
        megabytes(requested.bytes),
        count(reads.round() as u64),
        megabytes(bytes)
    );
    let (expected, observed) = (megabytes(requested.bytes), megabytes(bytes));
    let allowance_bytes = BYTES_FLOOR + OTHERS_BYTES_PER_S * interval.seconds;
    if bytes > requested.bytes * DEVICE_EXCESS + allowance_bytes {
        let detail =
            format!("{words}: other programs read from this device too, so its figures include their reads");
        return conclude(CheckStatus::Warn, expected, observed, detail);
    }
    if requested.bytes < BYTES_FLOOR {
        let detail = format!("{words}: too little to compare");
        return conclude(CheckStatus::Pass, expected, observed, detail);
    }
    let from_cache_pct = (1.0 - bytes / requested.bytes) * 100.0;
    if from_cache_pct > FROM_CACHE_PCT {
        let reads_past_cache = facts.target().is_some_and(|target| target.identity.direct_io == Some(true));
        if reads_past_cache || from_cache_pct <= FROM_CACHE_PCT + interval.blur * 100.0 {
            let why = if reads_past_cache {
                "the database bypasses the page cache, so the difference has another cause".to_owned()
            } else {
                format!(
                    "{} % of the work may lie on the wrong side of the window boundaries ({}), too much to \
                     tell what the page cache answered",
                    percent(interval.blur * 100.0),
                    interval.blur_from
                )
            };
            return skip(format!("{words}, {} % less: {why}", percent(from_cache_pct)));
        }
        let detail = format!(
            "{words}: {} % {FROM_PAGE_CACHE}, so these physical reads do not measure storage",
            percent(from_cache_pct)
        );
        return conclude(CheckStatus::Warn, expected, observed, detail);
    }
    conclude(CheckStatus::Pass, expected, observed, words)
}

/// Most device writes per sync of the log: its own, one of a second log, and the file system's
/// journal.
const WRITES_PER_SYNC: f64 = 6.0;
/// Most bytes that one sync may write, for the same reasons.
const BYTES_PER_SYNC: f64 = 64.0 * 1024.0;
/// Most times that a page (double write) and the log (second log) are written for one count.
const PAGE_COPIES: f64 = 2.0;
const LOG_COPIES: f64 = 3.0;
/// Writes per second that an idle system may do in addition to the run without counting as load.
const OTHERS_WRITES_PER_S: f64 = 300.0;
const OTHERS_WRITE_BYTES_PER_S: f64 = 4.0 * 1024.0 * 1024.0;

/// What the data's device did beyond what the database's own counters explain; 0 where they explain
/// all.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct DeviceExcess {
    pub(crate) read_mb_per_s: f64,
    pub(crate) write_mb_per_s: f64,
    pub(crate) writes_per_s: f64,
    /// Share of the device's writes that is not explained, %.
    pub(crate) writes_pct: f64,
    /// Whether the device wrote more than the database, yet within the allowance for an idle
    /// system, where that allowance is larger than the database's writes.
    pub(crate) is_idle: bool,
}

impl DeviceExcess {
    pub(crate) fn has_writes(&self) -> bool {
        self.write_mb_per_s > 0.0 || self.writes_per_s > 0.0
    }
}

/// The part of the device's work that the database does not explain; absent where the device or the
/// database's writes are not counted.
pub(crate) fn device_excess(record: &RunRecord) -> Option<DeviceExcess> {
    excess(&AuditFacts::of(record)).ok()
}

pub(super) fn excess(facts: &AuditFacts<'_>) -> Result<DeviceExcess, Skip> {
    let interval = facts.window_interval()?;
    let skipped = |reason: &str| Skip(reason.to_owned());
    let host = facts.record.database_host();
    let host = host.ok_or_else(|| skipped("the database's host is not observed"))?;
    let device = facts
        .device
        .ok_or_else(|| skipped("the device that holds the data is not known, or there are several"))?;
    if facts.device_shared {
        return Err(Skip(format!(
            "other targets' data is on {device}, too: the total compares them together"
        )));
    }
    let counter = |what: &str| {
        let value = host.counters.get(&format!("device.{device}.{what}")).copied();
        let missing = || Skip(format!("the host has no counter of {what} of device {device}"));
        value.filter(|value| value.is_finite()).map(|value| value.max(0.0)).ok_or_else(missing)
    };
    let (writes, write_bytes) = (counter("writes")?, counter("write_bytes")?);
    if writes == 0.0 && write_bytes == 0.0 {
        return Err(Skip(format!("{device} counted no writes")));
    }
    let pages = interval
        .counter(Counter::PhysicalWriteRequests)
        .or_else(|_| interval.counter(Counter::PhysicalWrites))? as f64;
    let page_bytes = interval.counter(Counter::PhysicalWriteBytes).map(|bytes| bytes as f64);
    let block = facts.target().map_or(0, |target| target.identity.block_size);
    let page_bytes = page_bytes.unwrap_or(pages * block as f64);
    let syncs = interval.counter(Counter::RedoSyncs)? as f64;
    let redo_bytes = interval.counter(Counter::RedoBytes)? as f64;
    let redo_writes = interval.counter(Counter::RedoWrites).unwrap_or(0) as f64;
    // Sorts and hashes that exceed the memory belong to the run.
    let temporary = interval.counters.native.iter().filter(|(name, _)| name.ends_with("temp_bytes"));
    let temporary_bytes: f64 = temporary.map(|(_, bytes)| bytes.max(0.0)).sum();
    let seconds = interval.seconds.max(f64::MIN_POSITIVE);
    let explained = PAGE_COPIES * pages
        + LOG_COPIES * redo_writes.max(redo_bytes / BYTES_PER_SYNC)
        + WRITES_PER_SYNC * syncs
        + temporary_bytes / BYTES_PER_SYNC
        + OTHERS_WRITES_PER_S * seconds;
    let explained_bytes = PAGE_COPIES * page_bytes
        + LOG_COPIES * redo_bytes
        + BYTES_PER_SYNC * syncs
        + temporary_bytes
        + OTHERS_WRITE_BYTES_PER_S * seconds;
    let read_excess = match (counter("read_bytes"), requested_reads(facts, &interval)) {
        (Ok(bytes), Ok(asked)) => {
            bytes - asked.bytes * DEVICE_EXCESS - temporary_bytes - BYTES_FLOOR - OTHERS_BYTES_PER_S * seconds
        }
        _ => 0.0,
    };
    let (more, more_bytes) = (writes - explained, write_bytes - explained_bytes);
    // Without the allowance for an idle system.
    let by_database = explained - OTHERS_WRITES_PER_S * seconds;
    let by_database_bytes = explained_bytes - OTHERS_WRITE_BYTES_PER_S * seconds;
    let is_idle =
        |wrote: f64, by_database: f64, explained: f64| wrote > by_database && explained >= 2.0 * by_database;
    let share = |more: f64, all: f64| if all > 0.0 { 100.0 * more.max(0.0) / all } else { 0.0 };
    Ok(DeviceExcess {
        read_mb_per_s: read_excess.max(0.0) / seconds / 1e6,
        write_mb_per_s: more_bytes.max(0.0) / seconds / 1e6,
        writes_per_s: more.max(0.0) / seconds,
        writes_pct: share(more, writes).max(share(more_bytes, write_bytes)),
        is_idle: is_idle(writes, by_database, explained)
            || is_idle(write_bytes, by_database_bytes, explained_bytes),
    })
}

/// Compares the device's writes with those that the database's pages, log and syncs explain.
pub(super) fn writes(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let excess = excess(facts)?;
    let device = facts.device.map_or("the device", String::as_str);
    let parts = [(excess.writes_per_s, "writes/s"), (excess.write_mb_per_s, "MB/s")];
    let parts = parts.into_iter().filter(|(value, _)| *value > 0.0);
    let parts: Vec<String> = parts.map(|(value, unit)| format!("{} {unit}", figure(value))).collect();
    let observed = if parts.is_empty() { "0 writes/s".to_owned() } else { parts.join(", ") };
    if !excess.has_writes() && excess.is_idle {
        return skip(format!(
            "{device} wrote more than the database's pages, log and syncs explain, but no more than an idle \
             system may"
        ));
    }
    if !excess.has_writes() {
        let detail = format!("the database's pages, log and syncs explain what {device} wrote");
        return conclude(CheckStatus::Pass, "0 writes/s", observed, detail);
    }
    let detail = format!(
        "{device} wrote {observed} more than the database (pages, log, syncs). Other programs write to the \
         device, or the kernel flushed earlier writes. Device figures include them"
    );
    conclude(CheckStatus::Warn, "0 writes/s", observed, detail)
}

/// Share by which blocks may exceed requests where each block is one request: the two are counted
/// at slightly different moments.
const REQUESTS_SHARE: f64 = 0.05;
const REQUESTS_FLOOR: f64 = 1_000.0;

/// Compares read requests with the blocks that they returned. Fewer requests than could have read
/// the blocks mean a counter that was reset. Requests of others only add to them.
pub(super) fn requests(facts: &AuditFacts<'_>) -> AuditCheckResult {
    let interval = facts.window_interval()?;
    let blocks = interval.counter(Counter::PhysicalReads)?;
    let requests = interval.counter(Counter::PhysicalReadRequests)?;
    if blocks == 0 && requests == 0 {
        return skip("no block was read from storage");
    }
    let (per_request, why) = match &facts.counting.requests {
        BlocksPerReadRequest::Bring { blocks_max, because } => (blocks_max.max(1.0), because),
        BlocksPerReadRequest::Absent { absent } => return skip(absent.as_str()),
    };
    let least = (blocks as f64 * (1.0 - REQUESTS_SHARE) - REQUESTS_FLOOR) / per_request;
    let (expected, observed) = (count(least.max(0.0).ceil() as u64), count(requests));
    let words = format!("{} blocks read, {} read requests counted", count(blocks), count(requests));
    if least <= 0.0 {
        return skip(format!("{words}: too few to tell"));
    }
    if (requests as f64) < least {
        let device = facts.device.and_then(|device| {
            facts
                .record
                .database_host()?
                .counters
                .get(&format!("device.{device}.reads"))
                .map(|reads| (device, *reads))
        });
        let device = match device {
            Some((device, reads)) if !facts.device_shared => {
                format!(", and {device} read {} times", count(reads.max(0.0).round() as u64))
            }
            _ => String::new(),
        };
        let detail = format!(
            "{words}{device}: too few, because {why}; the request counter was reset, or does not count all \
             requests"
        );
        return conclude(CheckStatus::Fail, expected, observed, detail);
    }
    conclude(CheckStatus::Pass, expected, observed, words)
}
