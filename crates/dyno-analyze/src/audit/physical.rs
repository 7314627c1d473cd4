//! Blocks that the database asked for against what the block device read: the page cache made visible.
//!
//! A database that reads through the operating system's cache counts as physical what never touched a device. Published
//! results have taken such figures for the storage's; this check says what share of them it was.

use dyno_record::{CheckStatus, Counter, Requests, RunRecord};

use super::facts::{Facts, Interval};
use super::finding::{Skip, Verdict, found, skip};
use crate::number::{count, megabytes, percent};

/// Bytes below which reads are too few to say anything: catalogs and directories cause as much.
const BYTES_FLOOR: f64 = 4.0 * 1024.0 * 1024.0;

/// Bytes per second that an idle system may read beside the run without being called a load.
const OTHERS_BYTES_PER_S: f64 = 2.0 * 1024.0 * 1024.0;

/// Device bytes per byte asked for above which others use the device: read-ahead reads some blocks that nobody asks for.
const DEVICE_EXCESS: f64 = 1.5;

/// Share of the bytes asked for that came from memory, %, above which physical reads are not the device's.
const FROM_CACHE_PCT: f64 = 5.0;

/// What is said of reads that the page cache answered, behind their share in percent.
pub(crate) const FROM_PAGE_CACHE: &str = "came from the operating system's page cache";

/// The share of the database's reads that the audit found to have come from the page cache, %.
pub(crate) fn page_cache_pct(record: &RunRecord) -> Option<f64> {
    let check = record.audit.iter().find(|check| check.check == "physical_reads")?;
    let (before, _) = check.detail.split_once(&format!(" % {FROM_PAGE_CACHE}"))?;
    before.rsplit(' ').next()?.parse().ok()
}

/// What the database asked for: blocks or requests, and bytes.
struct Asked {
    reads: u64,
    bytes: f64,
}

fn asked(facts: &Facts<'_>, interval: &Interval<'_>) -> Result<Asked, Skip> {
    let reads = interval
        .counter(Counter::PhysicalReads)
        .or_else(|_| interval.counter(Counter::PhysicalReadRequests))?;
    if let Ok(bytes) = interval.counter(Counter::PhysicalReadBytes) {
        return Ok(Asked { reads, bytes: bytes as f64 });
    }
    let target = facts.target().ok_or_else(|| Skip("the record has no target".into()))?;
    let loaded = target.data.as_ref().map_or(0, |data| data.block_size);
    let block = if target.identity.block_size > 0 { target.identity.block_size } else { loaded };
    Ok(Asked { reads, bytes: reads as f64 * block as f64 })
}

/// The database's physical reads against the device's.
pub(super) fn reads(facts: &Facts<'_>) -> Verdict {
    let interval = facts.window_interval()?;
    let Some(host) = facts.record.database_host() else {
        return skip(match facts.record.is_total() {
            true => "the databases run on several hosts, or on one that cannot be seen from here",
            false => {
                "the database runs on another host, whose devices cannot be seen from here: name it in observe.hosts"
            }
        });
    };
    let asked = asked(facts, &interval)?;
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
        "database asked for {} blocks ({}), {device} read {} times ({})",
        count(asked.reads),
        megabytes(asked.bytes),
        count(reads.round() as u64),
        megabytes(bytes)
    );
    let (expected, observed) = (megabytes(asked.bytes), megabytes(bytes));
    let others = BYTES_FLOOR + OTHERS_BYTES_PER_S * interval.seconds;
    if bytes > asked.bytes * DEVICE_EXCESS + others {
        let detail =
            format!("{words}: others read from this device too, so its figures are not this run's alone");
        return found(CheckStatus::Warn, expected, observed, detail);
    }
    if asked.bytes < BYTES_FLOOR {
        let detail = format!("{words}: next to nothing, the database was served by its own cache");
        return found(CheckStatus::Pass, expected, observed, detail);
    }
    let from_cache_pct = (1.0 - bytes / asked.bytes) * 100.0;
    if from_cache_pct > FROM_CACHE_PCT {
        let detail = format!(
            "{words}: {} % {FROM_PAGE_CACHE}, so physical reads are not the storage's",
            percent(from_cache_pct)
        );
        return found(CheckStatus::Warn, expected, observed, detail);
    }
    found(CheckStatus::Pass, expected, observed, words)
}

/// Requests by which blocks may exceed them where each block is one request: the two are counted at slightly different moments.
const REQUESTS_SHARE: f64 = 0.05;
const REQUESTS_FLOOR: f64 = 1_000.0;

/// Read requests against the blocks that they brought: fewer requests than could have read them were lost, by a counter that
/// started anew. Requests of others only add to them.
pub(super) fn requests(facts: &Facts<'_>) -> Verdict {
    let interval = facts.window_interval()?;
    let blocks = interval.counter(Counter::PhysicalReads)?;
    let requests = interval.counter(Counter::PhysicalReadRequests)?;
    let (per_request, why) = match &facts.counting.requests {
        Requests::Bring { blocks_max, because } => (blocks_max.max(1.0), because),
        Requests::Absent { absent } => return skip(absent.as_str()),
    };
    let least = (blocks as f64 * (1.0 - REQUESTS_SHARE) - REQUESTS_FLOOR) / per_request;
    let (expected, observed) = (count(least.max(0.0).ceil() as u64), count(requests));
    let words = format!("{} blocks read, {} read requests counted", count(blocks), count(requests));
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
            "{words}{device}: too few, for {why}; the counter of requests was reset, or does not count all of them"
        );
        return found(CheckStatus::Fail, expected, observed, detail);
    }
    found(CheckStatus::Pass, expected, observed, words)
}
