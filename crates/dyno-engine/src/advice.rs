//! Findings of a look at a platform before a run.

use dyno_plan::{Bytes, DataSpec, Plan};
use dyno_record::{Advice, Severity};

use crate::error::TargetError;
use crate::load::DataState;
use crate::needs::WorkloadNeeds;

/// Connections that a run opens beside its sessions: lock, observer, sampler, and one to spare for checks.
const EXTRA_CONNECTIONS: u64 = 4;

/// What findings say of a user with every right, as a superuser: what they advise is no right that is missing.
pub const MORE_POWER_THAN_NEEDED: &str = "a run needs no such power";

/// A finding.
pub fn advice(
    check: &str,
    severity: Severity,
    found: impl Into<String>,
    way_out: impl Into<String>,
) -> Advice {
    Advice { check: check.to_owned(), severity, found: found.into(), way_out: way_out.into() }
}

/// A finding that all is well.
pub fn ok(check: &str, found: impl Into<String>) -> Advice {
    advice(check, Severity::Ok, found, "")
}

/// A finding that shapes what a run measures.
pub fn note(check: &str, found: impl Into<String>, way_out: impl Into<String>) -> Advice {
    advice(check, Severity::Note, found, way_out)
}

/// A finding that makes figures mean something else.
pub fn warn(check: &str, found: impl Into<String>, way_out: impl Into<String>) -> Advice {
    advice(check, Severity::Warn, found, way_out)
}

/// A finding that prevents a run.
pub fn fail(check: &str, found: impl Into<String>, way_out: impl Into<String>) -> Advice {
    advice(check, Severity::Fail, found, way_out)
}

/// An error that prevents a run.
pub fn failed(check: &str, error: &TargetError) -> Advice {
    fail(check, error.message.as_str(), error.hint.as_str())
}

/// Connections that `plan` opens at the same time, to run or, where that is needed, to load.
pub fn connections(sessions: u32, plan: &Plan, needs: &WorkloadNeeds) -> u64 {
    let to_load = if needs.loads { u64::from(plan.data.load_parallel) + 1 } else { 0 };
    (u64::from(sessions) + EXTRA_CONNECTIONS).max(to_load)
}

/// How large what sessions read is, with the words that name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataSize {
    /// What has this size, as the subject of a sentence: `the data has`.
    pub subject: &'static str,
    /// Bytes of tables and indexes.
    pub bytes: u64,
}

impl DataSize {
    /// Of the test tables as a load makes them, or of the tables that custom workloads name: `named_bytes` as the database says.
    /// Absent where none of those is there.
    pub fn of(needs: &WorkloadNeeds, test_bytes: u64, named_bytes: Option<u64>) -> Option<Self> {
        match needs.uses_test_tables() {
            true => Some(Self { subject: "the data has", bytes: test_bytes }),
            false => named_bytes.map(|bytes| Self { subject: "the workload's tables have", bytes }),
        }
    }
}

/// A target that takes no writes because of its `state`, and sessions that write nothing.
pub fn only_read(state: &str) -> Advice {
    note(
        "writable",
        format!("{state}; the sessions only read"),
        "loading and updates need a server that takes writes",
    )
}

/// The data that `plan` would run on: what is `there` where that serves it.
pub fn data_of(plan: &Plan, block_bytes: u64, there: &Result<DataState, TargetError>) -> DataSpec {
    let wanted = DataSpec::of(plan, Bytes(block_bytes));
    match there {
        Ok(there) => there.serving(wanted, &plan.workload),
        Err(_) => wanted,
    }
}

/// The block size that data is loaded with, where the target has its `own` and can choose no other; `whose` says of what it is.
///
/// # Errors
/// The wish is another.
pub fn own_block_size(
    wish: Option<Bytes>,
    own: Bytes,
    whose: &str,
    way_out: &str,
) -> Result<Bytes, TargetError> {
    match wish {
        Some(wish) if wish != own => {
            let message = format!("data.block_size is {wish}, and {whose} {own}");
            Err(TargetError::unsupported(message).hint(format!("leave data.block_size out, or {way_out}")))
        }
        _ => Ok(own),
    }
}

/// Whether data of `spec` is there.
pub fn data(there: &Result<DataState, TargetError>, spec: &DataSpec) -> Advice {
    match there {
        Ok(DataState::Loaded { spec: there, at, .. }) if there == spec => {
            ok("data", format!("the plan's data is loaded, since {at}"))
        }
        Ok(DataState::Partial { spec: there, rows, .. }) if there == spec => {
            let all = spec.total_rows();
            let found = format!("a load of the plan's data was broken off after {rows} of {all} rows");
            note("data", found, "dyno load resumes it")
        }
        Ok(DataState::Empty) => note("data", "nothing is loaded yet", "dyno load"),
        Ok(_) => {
            let way_out = "dyno load --replace, or change section [data] of the plan";
            fail("data", "other data than the plan's is there", way_out)
        }
        Err(error) => failed("data", error),
    }
}

/// Bytes of tables and indexes of `spec`, where each row takes `index_bytes` in indexes, and one part in fifty comes on top: maps
/// of free space, inner blocks, extents that are not full.
pub fn data_bytes(spec: &DataSpec, index_bytes: u64) -> u64 {
    let tables = spec.total_rows().saturating_mul(spec.block_size);
    let indexes = u64::from(spec.schemas).saturating_mul(spec.rows).saturating_mul(index_bytes);
    tables.saturating_add(indexes).saturating_add(tables / 50)
}

/// What a load of `spec` still needs of `bytes`; nothing where it is loaded.
pub fn still_needed(there: &Result<DataState, TargetError>, spec: &DataSpec, bytes: u64) -> Option<u64> {
    match there {
        Ok(DataState::Loaded { spec: there, .. }) if there == spec => None,
        Ok(DataState::Partial { spec: there, rows, .. }) if there == spec => {
            Some(bytes.saturating_sub(rows * spec.block_size))
        }
        _ => Some(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> DataSpec {
        DataSpec {
            schemas: 2,
            rows: 100,
            scan_rows: 0,
            block_size: 8192,
            compressible: 0,
            seed: 1,
            secondary: true,
        }
    }

    #[test]
    fn what_is_there_is_told_from_what_is_wanted() {
        let loaded = |spec| Ok(DataState::Loaded { spec, at: "noon".to_owned(), tables: Vec::new() });
        let partial = Ok(DataState::Partial { spec: spec(), since: String::new(), rows: 50 });
        let other = DataSpec { seed: 2, ..spec() };
        for (there, severity, needed) in [
            (loaded(spec()), Severity::Ok, None),
            (partial, Severity::Note, Some(1_000_000 - 50 * 8192)),
            (Ok(DataState::Empty), Severity::Note, Some(1_000_000)),
            (loaded(other), Severity::Fail, Some(1_000_000)),
            (Err(TargetError::data("no")), Severity::Fail, Some(1_000_000)),
        ] {
            assert_eq!(data(&there, &spec()).severity, severity);
            assert_eq!(still_needed(&there, &spec(), 1_000_000), needed);
        }
        assert_eq!(data_bytes(&spec(), 24), 200 * 8192 + 200 * 24 + 200 * 8192 / 50);
    }

    #[test]
    fn a_block_size_that_the_target_has_not_is_refused() {
        let chosen = |wish| own_block_size(wish, Bytes(8192), "blocks here have", "look elsewhere");
        assert_eq!((chosen(None).unwrap(), chosen(Some(Bytes(8192))).unwrap()), (Bytes(8192), Bytes(8192)));
        let error = chosen(Some(Bytes(4096))).unwrap_err();
        assert_eq!(error.message, "data.block_size is 4K, and blocks here have 8K");
        assert_eq!(error.hint, "leave data.block_size out, or look elsewhere");
    }
}
