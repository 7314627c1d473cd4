//! Preflight checks of space: the size of data against buffer pool and disk, and caches outside the buffer
//! pool.

use dyno_plan::DataSpec;
use dyno_record::Advice;

use super::facts::MySqlPreflightFacts;
use super::settings::{ServerSettings, set_global};
use dyno_engine::advice::{DataSize, data_bytes, fail, note, ok, still_needed, warn};
use dyno_engine::disk::human;

/// Bytes of an entry of the index on `custid` with its share of page overhead: two 8-byte numbers, header and
/// NULL flags. A spacer has an entry too.
pub(super) const INDEX_BYTES_PER_ROW: u64 = 2 * 26;

/// Whether InnoDB bypasses the page cache when it reads data files; absent if the server does not show its
/// flush method.
pub(super) fn uses_direct_io(settings: &ServerSettings) -> Option<bool> {
    let method = settings.value("innodb_flush_method")?;
    Some(method.starts_with("O_DIRECT") || method == "unbuffered")
}

/// Whether the operating system caches pages a second time.
pub(super) fn flush_method(facts: &MySqlPreflightFacts) -> Advice {
    let method = facts.settings.value("innodb_flush_method").unwrap_or("unknown");
    if uses_direct_io(&facts.settings) == Some(true) {
        return ok(
            "flush_method",
            format!("innodb_flush_method is {method}: data files bypass the page cache"),
        );
    }
    warn(
        "flush_method",
        format!(
            "innodb_flush_method is {method}: reads go through the operating system's page cache, which \
            may answer instead of storage"
        ),
        "set innodb_flush_method = O_DIRECT in the server's option file and restart it",
    )
}

/// Whether the run reads from the buffer pool or from storage.
pub(super) fn cache(facts: &MySqlPreflightFacts, size: DataSize) -> Advice {
    let pool = facts.settings.number("innodb_buffer_pool_size").unwrap_or(0);
    let sizes = format!("{} {} and the buffer pool {}", size.subject, human(size.bytes), human(pool));
    if size.bytes <= pool {
        let finding = format!("{sizes}: once warm, all reads are logical and none reaches storage");
        let way_out = "to measure storage, load more than fits, for example four times \
            innodb_buffer_pool_size";
        return note("cache", finding, way_out);
    }
    let partial_finding =
        format!("{sizes}: the share that does not fit is read from outside the buffer pool");
    let way_out = "to measure the cache alone, load less or raise innodb_buffer_pool_size";
    note("cache", partial_finding, way_out)
}

/// Whether a load can use the faster method, `LOAD DATA LOCAL`.
pub(super) fn local_infile(facts: &MySqlPreflightFacts) -> Advice {
    if facts.settings.is_on("local_infile") {
        return ok("local_infile", "local_infile is on: rows are loaded by LOAD DATA LOCAL");
    }
    note(
        "local_infile",
        "local_infile is off: rows are loaded by INSERT, which takes longer",
        format!("{} for the load, and OFF after it", set_global("local_infile", "ON")),
    )
}

/// Whether a load would fill the disk.
pub(super) fn disk(facts: &MySqlPreflightFacts, spec: &DataSpec) -> Advice {
    let data = data_bytes(spec, INDEX_BYTES_PER_ROW);
    let Some(needed) = still_needed(&facts.data, spec, data) else {
        return ok("disk_space", format!("the data is already loaded ({})", human(data)));
    };
    // A binlog also stores every row of the load, at half a page each.
    let binlog = spec.total_rows().saturating_mul(spec.block_size) / 2;
    let needed = needed.saturating_add(if facts.settings.is_on("log_bin") { binlog } else { 0 });
    let requirement = format!("a load needs {} of disk", human(needed));
    let place = facts.settings.value("datadir").unwrap_or("its datadir");
    match facts.free_bytes {
        None => note(
            "disk_space",
            format!("{requirement}; the free space is unknown"),
            format!("check it on the server: df -h {place}"),
        ),
        Some(free) if free < needed => fail(
            "disk_space",
            format!("{requirement}, {} are free in {place}", human(free)),
            "free space there, or load less",
        ),
        Some(free) => ok("disk_space", format!("{requirement}, {} are free", human(free))),
    }
}
