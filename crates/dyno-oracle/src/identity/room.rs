//! Preflight checks of caches, storage and space.

use dyno_plan::{DataSpec, Plan};
use dyno_record::Advice;

use super::facts::OraclePreflightFacts;
use dyno_engine::WorkloadNeeds;
use dyno_engine::advice::{self, DataSize, fail, note, ok, still_needed};
use dyno_engine::data::OWN_ROWS;
use dyno_engine::disk::human;
use dyno_engine::settings::ServerSettings;

/// Bytes of an index entry, including its share of half-empty blocks.
const INDEX_BYTES_PER_ROW: u64 = 32;

/// Bytes that the data of `spec` takes in tables and indexes.
pub(super) fn data_bytes(spec: &DataSpec) -> u64 {
    advice::data_bytes(spec, INDEX_BYTES_PER_ROW * (1 + u64::from(spec.secondary)))
}

/// Properties of the tablespace that would change the layout.
pub(super) fn tablespace(facts: &OraclePreflightFacts) -> Advice {
    let tablespace = &facts.tablespace;
    if tablespace.compressed {
        return note(
            "tablespace",
            format!(
                "tablespace {} compresses tables by default; Dyno creates its tables with NOCOMPRESS",
                tablespace.name
            ),
            "no action is needed",
        );
    }
    if tablespace.space_management != "AUTO" {
        return note(
            "tablespace",
            format!(
                "tablespace {} keeps free space in lists: loading connections wait for each other",
                tablespace.name
            ),
            "a tablespace with SEGMENT SPACE MANAGEMENT AUTO loads faster",
        );
    }
    ok(
        "tablespace",
        format!("tables go into {} ({}, free space in bitmaps)", tablespace.name, tablespace.logging),
    )
}

/// Whether reads of data files certainly bypass the page cache; absent if that depends on the storage.
pub(super) fn uses_direct_io(settings: &ServerSettings) -> Option<bool> {
    let mode = settings.value("filesystemio_options")?.to_ascii_uppercase();
    // ASM, Exadata and direct NFS bypass the page cache whatever this setting is.
    matches!(mode.as_str(), "SETALL" | "DIRECTIO").then_some(true)
}

/// Whether reads of files bypass the operating system's cache.
pub(super) fn file_io(facts: &OraclePreflightFacts) -> Advice {
    match facts.settings.value("filesystemio_options") {
        Some(mode) if mode.eq_ignore_ascii_case("SETALL") || mode.eq_ignore_ascii_case("DIRECTIO") => {
            ok("file_io", format!("filesystemio_options is {mode}: files bypass the page cache"))
        }
        Some(mode) => note(
            "file_io",
            format!(
                "filesystemio_options is {mode}: reads of files in a file system go through the page \
                cache, which may answer instead of storage; ASM, Exadata and direct NFS bypass it"
            ),
            "ALTER SYSTEM SET filesystemio_options = SETALL SCOPE = SPFILE and restart",
        ),
        None => note(
            "file_io",
            "whether files bypass the page cache is unknown",
            "GRANT SELECT ON SYS.V_$PARAMETER",
        ),
    }
}

/// Whether the run reads from the buffer cache or from storage.
pub(super) fn cache(facts: &OraclePreflightFacts, size: DataSize) -> Advice {
    let DataSize { subject, bytes: data } = size;
    // With automatic memory management, db_cache_size is only a minimum, so the targets are the better
    // estimate.
    let sizes = ["sga_target", "memory_target", "db_cache_size"];
    let configured = || {
        sizes.into_iter().find_map(|name| {
            facts.settings.number(name).filter(|bytes| *bytes > 0).map(|bytes| (name, bytes))
        })
    };
    let Some((name, cache)) = facts.buffer_cache.map(|bytes| ("the buffer cache", bytes)).or_else(configured)
    else {
        return note(
            "cache",
            format!("{subject} {}; the size of the buffer cache is unknown", human(data)),
            "GRANT SELECT ON SYS.V_$SGAINFO",
        );
    };
    let comparison = format!("{subject} {} and {name} is {}", human(data), human(cache));
    if data <= cache {
        return note(
            "cache",
            format!("{comparison}: once warm, most reads are logical and few reach storage"),
            "to measure storage, load more than fits, for example four times the cache",
        );
    }
    note(
        "cache",
        format!("{comparison}: the share that does not fit is read from outside the buffer cache"),
        "to measure the cache alone, load less",
    )
}

/// The most bytes that the rows inserted into test tables by sessions of `plan` take, with one block each.
fn inserted_bytes(plan: &Plan, needs: &WorkloadNeeds, block_size: u64) -> u64 {
    if !needs.inserts {
        return 0;
    }
    u64::from(plan.sessions()).saturating_mul(OWN_ROWS).saturating_mul(block_size)
}

/// Whether there is space for rows that are inserted into loaded tables; `quota_left` is the rest of the
/// quota, if there is one.
fn space_when_loaded(loaded: u64, inserted: u64, quota_left: Option<u64>) -> Advice {
    let loaded = format!("the data is already loaded ({})", human(loaded));
    match quota_left.filter(|left| *left < inserted) {
        Some(left) => note(
            "space",
            format!(
                "{loaded}; inserts take up to {}, but the quota leaves {} after the rows of earlier runs",
                human(inserted),
                human(left)
            ),
            "raise the quota, or use fewer sessions; a session has at most 1,000 rows of its own",
        ),
        None => ok("space", loaded),
    }
}

/// Whether there is space for a load and for the inserts of a run.
pub(super) fn space(
    facts: &OraclePreflightFacts,
    spec: &DataSpec,
    plan: &Plan,
    needs: &WorkloadNeeds,
) -> Advice {
    let inserted = inserted_bytes(plan, needs, spec.block_size);
    let needed = data_bytes(spec).saturating_add(inserted);
    let Some(needed) = still_needed(&facts.data, spec, needed) else {
        return space_when_loaded(data_bytes(spec), inserted, facts.quota_left);
    };
    let name = &facts.tablespace.name;
    if let Some(left) = facts.quota_left.filter(|left| *left < needed) {
        return fail(
            "space",
            format!("a load needs {}, but the quota on {name} leaves {}", human(needed), human(left)),
            format!("ALTER USER {} QUOTA UNLIMITED ON {name}, or load less", facts.session.user),
        );
    }
    match facts.free_bytes {
        Some(free) if free >= needed => {
            ok("space", format!("a load needs {}, {} are free in {name}", human(needed), human(free)))
        }
        free => note(
            "space",
            format!(
                "a load needs {}, {} are free in the files of {name} at their present size; files may grow",
                human(needed),
                human(free.unwrap_or(0))
            ),
            "DBA_DATA_FILES shows a DBA whether they may grow (AUTOEXTENSIBLE, MAXBYTES)",
        ),
    }
}

#[cfg(test)]
mod tests {
    use dyno_plan::Engines;
    use dyno_plan::read::{PlanSource, read};
    use dyno_record::Severity;

    use super::*;

    #[test]
    fn secondary_key_adds_only_index_space() {
        let spec = |secondary| DataSpec {
            schemas: 2,
            rows: 1_000,
            scan_rows: 0,
            block_size: 8192,
            compressible: 0,
            seed: 1,
            secondary,
            copied: false,
        };
        assert_eq!(data_bytes(&spec(true)) - data_bytes(&spec(false)), 2 * 1_000 * INDEX_BYTES_PER_ROW);
    }

    #[test]
    fn insert_space_shortage_is_reported() {
        let plan = |sets: &[&str]| {
            let sets = sets.iter().map(|&set| set.to_owned()).collect();
            let target = Some("oracle://u@h/s".to_owned());
            read(&PlanSource { sets, target, ..PlanSource::of(Engines(&[crate::SPEC])) }).unwrap()
        };
        let inserted = |plan: &Plan| inserted_bytes(plan, &WorkloadNeeds::of_block_workload(plan), 8192);
        assert_eq!(inserted(&plan(&["run.sessions_per_schema=4"])), 0);
        let inserts = plan(&["run.sessions_per_schema=4", "workload.insert_pct=10"]);
        assert_eq!(inserted(&inserts), 4 * 1_000 * 8192);
        assert_eq!(space_when_loaded(1 << 30, 8 << 20, None).severity, Severity::Ok);
        assert_eq!(space_when_loaded(1 << 30, 8 << 20, Some(8 << 20)).severity, Severity::Ok);
        let short = space_when_loaded(1 << 30, 8 << 20, Some(1 << 20));
        assert!(short.severity == Severity::Note, "{short:?}");
        assert!(short.found.contains("inserts take up to"), "{short:?}");
    }
}
