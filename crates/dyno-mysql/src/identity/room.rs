//! Checks of room: whether the data fits into the buffer pool and onto the disk, and what caches beside the buffer pool.

use dyno_plan::DataSpec;
use dyno_record::{Advice, Severity};

use super::facts::Facts;
use super::settings::set_global;
use dyno_engine::advice::{advice, ok};
use dyno_engine::disk::human;
use dyno_engine::load::DataState;

/// Bytes of an entry of the index on `custid` with its share of page overhead: two numbers of 8 bytes, header and NULL flags;
/// a spacer has an entry too.
const INDEX_BYTES_PER_ROW: u64 = 2 * 26;

/// One part in this many on top, for inner pages and extents that are not full.
const OVERHEAD_SHARE: u64 = 50;

/// Bytes of tables and indexes of `spec`.
fn data_bytes(spec: &DataSpec) -> u64 {
    let tables = spec.total_rows().saturating_mul(spec.block_size);
    let indexes = u64::from(spec.schemas).saturating_mul(spec.rows).saturating_mul(INDEX_BYTES_PER_ROW);
    tables.saturating_add(indexes).saturating_add(tables / OVERHEAD_SHARE)
}

/// Whether pages are cached a second time by the operating system.
pub(super) fn flush_method(facts: &Facts) -> Advice {
    let method = facts.settings.value("innodb_flush_method").unwrap_or("unknown");
    if method.starts_with("O_DIRECT") || method == "unbuffered" {
        return ok(
            "flush_method",
            format!("innodb_flush_method is {method}: data files bypass the page cache"),
        );
    }
    advice(
        "flush_method",
        Severity::Warn,
        format!(
            "innodb_flush_method is {method}: reads go through the operating system's page cache, which may answer \
             instead of the storage"
        ),
        "set innodb_flush_method = O_DIRECT in the server's option file and restart it",
    )
}

/// Whether the run reads from the buffer pool or from storage.
pub(super) fn cache(facts: &Facts, spec: &DataSpec) -> Advice {
    let (data, pool) = (data_bytes(spec), facts.settings.number("innodb_buffer_pool_size").unwrap_or(0));
    let sizes = format!("the data has {} and the buffer pool {}", human(data), human(pool));
    if data <= pool {
        let found = format!("{sizes}: once warm, all reads are logical and none reaches the storage");
        let way_out = "to measure storage, load more than fits, such as four times innodb_buffer_pool_size";
        return advice("cache", Severity::Note, found, way_out);
    }
    let found = format!("{sizes}: the share that does not fit is read from outside the buffer pool");
    let way_out = "to measure the cache alone, load less or raise innodb_buffer_pool_size";
    advice("cache", Severity::Note, found, way_out)
}

/// Whether a load can go by the faster way.
pub(super) fn local_infile(facts: &Facts) -> Advice {
    if facts.settings.is_on("local_infile") {
        return ok("local_infile", "local_infile is on: rows are loaded by LOAD DATA LOCAL");
    }
    advice(
        "local_infile",
        Severity::Note,
        "local_infile is off: rows are loaded by INSERT, which takes longer",
        format!("{} for the load, and OFF behind it", set_global("local_infile", "ON")),
    )
}

/// Whether the plan's data is there.
pub(super) fn data(facts: &Facts, spec: &DataSpec) -> Advice {
    match &facts.data {
        Ok(DataState::Loaded { spec: there, at, .. }) if there == spec => {
            ok("data", format!("the plan's data is loaded, since {at}"))
        }
        Ok(DataState::Partial { spec: there, rows, .. }) if there == spec => advice(
            "data",
            Severity::Note,
            format!("a load of the plan's data was broken off after {rows} of {} rows", spec.total_rows()),
            "dyno load resumes it",
        ),
        Ok(DataState::Empty) => advice("data", Severity::Note, "nothing is loaded yet", "dyno load"),
        Ok(_) => advice(
            "data",
            Severity::Fail,
            "other data than the plan's is there",
            "dyno load --replace, or change section [data] of the plan",
        ),
        Err(error) => advice("data", Severity::Fail, error.message.clone(), error.hint.clone()),
    }
}

/// Whether a load would fill the disk.
pub(super) fn disk(facts: &Facts, spec: &DataSpec) -> Advice {
    let there = match &facts.data {
        Ok(DataState::Loaded { spec: there, .. }) if there == spec => {
            return ok("disk_space", format!("the data is loaded already ({})", human(data_bytes(spec))));
        }
        Ok(DataState::Partial { spec: there, rows, .. }) if there == spec => rows * spec.block_size,
        _ => 0,
    };
    // A binlog holds every row of the load once more, at its own length of half a page.
    let binlog = if facts.settings.is_on("log_bin") {
        spec.total_rows().saturating_mul(spec.block_size) / 2
    } else {
        0
    };
    let needed = data_bytes(spec).saturating_sub(there).saturating_add(binlog);
    let place = facts.settings.value("datadir").unwrap_or("its datadir");
    match facts.free_bytes {
        None => advice(
            "disk_space",
            Severity::Note,
            format!("a load needs {} of disk; how much is free cannot be seen from here", human(needed)),
            format!("look on the server: df -h {place}"),
        ),
        Some(free) if free < needed => advice(
            "disk_space",
            Severity::Fail,
            format!("a load needs {} of disk, and {} are free in {place}", human(needed), human(free)),
            "free space there, or load less",
        ),
        Some(free) => {
            ok("disk_space", format!("a load needs {} of disk, and {} are free", human(needed), human(free)))
        }
    }
}
