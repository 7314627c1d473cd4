//! Blocks that the database asked for against what the block device read: the page cache made visible.
//!
//! A database that reads through the operating system's cache counts as physical what never touched a device. Published
//! results have taken such figures for the storage's; this check says what share of them it was.

use dyno_record::{CheckStatus, Counter};

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
    if !facts.target().is_some_and(|target| target.identity.same_host) {
        return skip("the database runs on another host, whose devices cannot be seen from here");
    }
    let asked = asked(facts, &interval)?;
    let Some(device) = facts.device else {
        return skip("the device that holds the data is not known, or there are several");
    };
    if facts.device_shared {
        return skip(format!("other targets' data is on {device}, too: the total compares them together"));
    }
    let counter = |what: &str| facts.record.host_counters.get(&format!("device.{device}.{what}")).copied();
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
            "{words}: {} % came from the operating system's page cache, so physical reads are not the storage's",
            percent(from_cache_pct)
        );
        return found(CheckStatus::Warn, expected, observed, detail);
    }
    found(CheckStatus::Pass, expected, observed, words)
}
