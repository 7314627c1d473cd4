//! Checks of room: whether the data fits into the cache, and onto the disk.

use dyno_plan::DataSpec;
use dyno_record::{Advice, Severity};

use super::super::layout::ident;
use super::facts::Facts;
use dyno_engine::advice::{advice, ok};
use dyno_engine::disk::human;
use dyno_engine::load::DataState;

/// Bytes of an index entry with its share of page overhead: 16 of entry, 4 of line pointer, 90 % fill.
const INDEX_BYTES_PER_ROW: u64 = 24;

/// One part in this many on top, for free space maps, visibility maps and blocks that a broken load leaves empty.
const OVERHEAD_SHARE: u64 = 50;

/// Bytes of tables and indexes of `spec`.
fn data_bytes(spec: &DataSpec) -> u64 {
    let tables = spec.total_rows().saturating_mul(spec.block_size);
    let indexes = u64::from(spec.schemas).saturating_mul(spec.rows).saturating_mul(INDEX_BYTES_PER_ROW);
    tables.saturating_add(indexes).saturating_add(tables / OVERHEAD_SHARE)
}

/// Whether the run reads from the cache or from outside.
pub(super) fn cache(facts: &Facts, spec: &DataSpec) -> Advice {
    let (data, buffers) = (data_bytes(spec), facts.settings.bytes("shared_buffers").unwrap_or(0));
    let sizes = format!("the data has {} and shared_buffers {}", human(data), human(buffers));
    if data <= buffers {
        let found = format!("{sizes}: once warm, all reads are logical and none reaches the storage");
        return advice(
            "cache",
            Severity::Note,
            found,
            "to measure storage, load more than fits, such as four times shared_buffers",
        );
    }
    let found = format!(
        "{sizes}: reads go to the operating system, whose page cache may answer them; the audit compares with the devices"
    );
    advice(
        "cache",
        Severity::Note,
        found,
        "to measure the cache alone, load less; to measure storage, load more than memory",
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
    let wal = facts.settings.bytes("max_wal_size").unwrap_or(0);
    let there = match &facts.data {
        Ok(DataState::Loaded { spec: there, .. }) if there == spec => {
            return ok("disk_space", format!("the data is loaded already ({})", human(data_bytes(spec))));
        }
        Ok(DataState::Partial { spec: there, rows, .. }) if there == spec => rows * spec.block_size,
        _ => 0,
    };
    let needed = data_bytes(spec).saturating_sub(there).saturating_add(wal);
    match facts.free_bytes {
        None => advice(
            "disk_space",
            Severity::Note,
            format!(
                "a load needs {} of disk, WAL included; how much is free cannot be seen from here",
                human(needed)
            ),
            match facts.monitor || facts.superuser {
                true => "look on the server: df -h in its data_directory".to_owned(),
                false => format!(
                    "GRANT pg_monitor TO {}; shows where the data lies, or look on the server: df -h in its data_directory",
                    ident(&facts.user)
                ),
            },
        ),
        Some(free) if free < needed => advice(
            "disk_space",
            Severity::Fail,
            format!("a load needs {} of disk, WAL included, and {} are free", human(needed), human(free)),
            "make data.scale or data.schemas smaller, or give the server more room",
        ),
        Some(free) => {
            ok("disk_space", format!("a load needs {} of disk and {} are free", human(needed), human(free)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_people_write_them() {
        assert_eq!(human(512), "512.0 B");
        assert_eq!(human(8 << 30), "8.0 GiB");
    }

    #[test]
    fn the_data_is_a_block_per_row_and_its_index() {
        let spec = DataSpec {
            schemas: 2,
            rows: 1000,
            scan_rows: 0,
            block_size: 8192,
            compressible: 0,
            seed: 1,
            secondary: false,
        };
        let bytes = data_bytes(&spec);
        assert!((16_384_000..17_000_000).contains(&bytes), "{bytes}");
    }
}
