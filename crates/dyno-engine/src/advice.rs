//! Builds the findings of the checks on a platform before a run.

use dyno_plan::{Bytes, DataSpec, Plan};
use dyno_record::{Advice, Severity};

use crate::error::TargetError;
use crate::load::DataState;
use crate::needs::WorkloadNeeds;

/// Connections that a run opens besides its sessions: lock, observer, sampler, and one spare for checks.
const EXTRA_CONNECTIONS: u64 = 4;

/// Part of findings about a user with all privileges, such as a superuser. Findings with these words do not
/// report a missing privilege.
pub const MORE_POWER_THAN_NEEDED: &str = "a run needs fewer privileges";

/// Builds the finding of a check, with a severity.
pub fn advice(
    check: &str,
    severity: Severity,
    finding: impl Into<String>,
    way_out: impl Into<String>,
) -> Advice {
    Advice { check: check.to_owned(), severity, found: finding.into(), way_out: way_out.into() }
}

/// A finding that the check passed; it has no hint.
pub fn ok(check: &str, finding: impl Into<String>) -> Advice {
    advice(check, Severity::Ok, finding, "")
}

/// A finding about something that shapes what a run measures.
pub fn note(check: &str, finding: impl Into<String>, way_out: impl Into<String>) -> Advice {
    advice(check, Severity::Note, finding, way_out)
}

/// A finding about something that changes the meaning of figures.
pub fn warn(check: &str, finding: impl Into<String>, way_out: impl Into<String>) -> Advice {
    advice(check, Severity::Warn, finding, way_out)
}

/// A finding about something that prevents a run.
pub fn fail(check: &str, finding: impl Into<String>, way_out: impl Into<String>) -> Advice {
    advice(check, Severity::Fail, finding, way_out)
}

/// The finding for a check that failed with `error`; it prevents a run.
pub fn failed(check: &str, error: &TargetError) -> Advice {
    fail(check, error.message.as_str(), error.hint.as_str())
}

/// Connections that `plan` opens at the same time for a run, or for a load where one is needed.
pub fn connections(sessions: u32, plan: &Plan, needs: &WorkloadNeeds) -> u64 {
    let to_load = if needs.loads { u64::from(plan.data.load_parallel) + 1 } else { 0 };
    (u64::from(sessions) + EXTRA_CONNECTIONS).max(to_load)
}

/// The size of the data that sessions read, and a name for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataSize {
    /// The subject and verb of a sentence about the size: `the data has`.
    pub subject: &'static str,
    /// Bytes of tables and indexes.
    pub bytes: u64,
}

impl DataSize {
    /// The size of the test tables after a load, or `named_bytes`, the database's figure for the tables that
    /// custom workloads name. Absent where neither is known.
    pub fn of(needs: &WorkloadNeeds, test_bytes: u64, named_bytes: Option<u64>) -> Option<Self> {
        match needs.uses_test_tables() {
            true => Some(Self { subject: "the data has", bytes: test_bytes }),
            false => named_bytes.map(|bytes| Self { subject: "the workload's tables have", bytes }),
        }
    }
}

/// The finding about a target that refuses writes because of its `state`, for sessions that write nothing.
pub fn only_read(state: &str) -> Advice {
    note(
        "writable",
        format!("{state}; the sessions only read"),
        "loads and updates need a server that accepts writes",
    )
}

/// The data that `plan` would run on: the loaded data where it serves the plan, else what the plan asks for.
pub fn data_of(plan: &Plan, block_bytes: u64, state: &Result<DataState, TargetError>) -> DataSpec {
    let wanted = DataSpec::of(plan, Bytes(block_bytes));
    match state {
        Ok(stored) => stored.serving(wanted, &plan.workload),
        Err(_) => wanted,
    }
}

/// The block size for a load, where the target has a fixed size `own`; `whose` names the origin of that size.
///
/// # Errors
/// The plan asks for another size.
pub fn own_block_size(
    wish: Option<Bytes>,
    own: Bytes,
    whose: &str,
    way_out: &str,
) -> Result<Bytes, TargetError> {
    match wish {
        Some(wish) if wish != own => {
            let message = format!("data.block_size is {wish}, but {whose} {own}");
            Err(TargetError::unsupported(message).hint(format!("leave data.block_size out, or {way_out}")))
        }
        _ => Ok(own),
    }
}

/// The finding on whether data of `spec` is loaded.
pub fn data(state: &Result<DataState, TargetError>, spec: &DataSpec) -> Advice {
    match state {
        Ok(DataState::Loaded { spec: stored, at, .. }) if stored == spec => {
            ok("data", format!("the plan's data is loaded (since {at})"))
        }
        Ok(DataState::Partial { spec: partial, rows, .. }) if partial == spec => {
            let all = spec.total_rows();
            let finding = format!("a load of the plan's data was interrupted after {rows} of {all} rows");
            note("data", finding, "dyno load resumes it")
        }
        Ok(DataState::Empty) => note("data", "nothing is loaded yet", "dyno load"),
        Ok(_) => {
            let way_out = "dyno load --replace, or change section [data] of the plan";
            fail("data", "other data than the plan's is loaded", way_out)
        }
        Err(error) => failed("data", error),
    }
}

/// Bytes of tables and indexes of `spec`, where each row takes `index_bytes` in indexes. Adds 2 % for
/// free-space maps, inner index blocks and partly filled extents.
pub fn data_bytes(spec: &DataSpec, index_bytes: u64) -> u64 {
    let tables = spec.total_rows().saturating_mul(spec.block_size);
    let indexes = u64::from(spec.schemas).saturating_mul(spec.rows).saturating_mul(index_bytes);
    tables.saturating_add(indexes).saturating_add(tables / 50)
}

/// Bytes of `bytes` that a load of `spec` still has to write; 0 where the data is loaded.
pub fn still_needed(state: &Result<DataState, TargetError>, spec: &DataSpec, bytes: u64) -> Option<u64> {
    match state {
        Ok(DataState::Loaded { spec: loaded, .. }) if loaded == spec => None,
        Ok(DataState::Partial { spec: partial, rows, .. }) if partial == spec => {
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
            copied: false,
        }
    }

    #[test]
    fn existing_data_is_distinguished_from_requested_data() {
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
    fn block_size_unsupported_by_target_is_refused() {
        let chosen = |wish| own_block_size(wish, Bytes(8192), "blocks here have", "look elsewhere");
        assert_eq!((chosen(None).unwrap(), chosen(Some(Bytes(8192))).unwrap()), (Bytes(8192), Bytes(8192)));
        let error = chosen(Some(Bytes(4096))).unwrap_err();
        assert_eq!(error.message, "data.block_size is 4K, but blocks here have 8K");
        assert_eq!(error.hint, "leave data.block_size out, or look elsewhere");
    }
}
