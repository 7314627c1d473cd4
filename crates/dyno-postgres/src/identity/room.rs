//! Preflight checks of space: the size of the data against cache and disk.

use dyno_plan::DataSpec;
use dyno_record::Advice;

use super::facts::PostgresPreflightFacts;
use super::settings::bytes;
use crate::grants::PostgresGrants;
use dyno_engine::advice::{DataSize, data_bytes, fail, note, ok, still_needed};
use dyno_engine::disk::human;

/// Bytes of an index entry with its share of page overhead: 16 for the entry, 4 for the line pointer, 90 %
/// fill.
pub(super) const INDEX_BYTES_PER_ROW: u64 = 24;

/// Whether the run reads from the cache or from outside it.
pub(super) fn cache(facts: &PostgresPreflightFacts, size: DataSize) -> Advice {
    let buffers = bytes(&facts.settings, "shared_buffers").unwrap_or(0);
    let sizes = format!("{} {} and shared_buffers {}", size.subject, human(size.bytes), human(buffers));
    if size.bytes <= buffers {
        let finding = format!("{sizes}: once warm, all reads are logical and none reaches storage");
        return note(
            "cache",
            finding,
            "to measure storage, load more than fits, for example four times shared_buffers",
        );
    }
    let partial_finding = format!(
        "{sizes}: reads go to the operating system, whose page cache may answer them; the audit compares \
        them with the devices"
    );
    note(
        "cache",
        partial_finding,
        "to measure the cache alone, load less; to measure storage, load more than memory",
    )
}

/// Whether a load would fill the disk.
pub(super) fn disk(facts: &PostgresPreflightFacts, spec: &DataSpec) -> Advice {
    let data = data_bytes(spec, INDEX_BYTES_PER_ROW);
    let Some(needed) = still_needed(&facts.data, spec, data) else {
        return ok("disk_space", format!("the data is already loaded ({})", human(data)));
    };
    let needed = needed.saturating_add(bytes(&facts.settings, "max_wal_size").unwrap_or(0));
    let requirement = format!("a load needs {} of disk, WAL included", human(needed));
    match facts.free_bytes {
        None => note(
            "disk_space",
            format!("{requirement}; the free space is unknown"),
            match facts.monitor || facts.superuser {
                true => "check it on the server: df -h in its data_directory".to_owned(),
                false => format!(
                    "{} It shows where the data is stored; or check it on the server: df -h in its \
                    data_directory",
                    PostgresGrants::new(&facts.user, &facts.database).monitor()
                ),
            },
        ),
        Some(free) if free < needed => fail(
            "disk_space",
            format!("{requirement}, {} are free", human(free)),
            "lower data.scale or data.schemas, or free space on the server's disk",
        ),
        Some(free) => ok("disk_space", format!("{requirement}, {} are free", human(free))),
    }
}
