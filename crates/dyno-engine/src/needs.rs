//! Describes what a workload does to a target and needs there; all checks use this description.
//!
//! Shares, work units and sizes in a plan describe the block workload. A custom workload has none of them:
//! its statements define what it reads and writes. A check that reads the plan's keys instead would judge a
//! workload that does not run.

use std::collections::BTreeSet;

use dyno_plan::{DriveMode, Plan};

use crate::error::TargetError;
use crate::load::DataState;

/// What the sessions of a run do to one target, and what they need there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadNeeds {
    /// Whether sessions may update rows.
    pub updates: bool,
    /// Whether sessions may insert and delete rows.
    pub inserts: bool,
    /// Whether `dyno load` makes the data through this target.
    pub loads: bool,
    /// Whether loops run inside the database.
    pub server_loops: bool,
    /// The needs of custom workloads; absent for the block workload, which needs Dyno's test tables.
    pub custom: Option<CustomNeeds>,
}

/// What the statements of custom workloads use and may change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CustomNeeds {
    /// The first workload that may write; absent where all are read-only in the database.
    pub writer: Option<String>,
    /// The identifiers of all statements, in lower case; see [`watched_names`](crate::watched_names).
    pub names: BTreeSet<String>,
    /// Kinds of objects that their setup creates, in upper case: `TABLE`, `SEQUENCE`.
    pub created_kinds: BTreeSet<&'static str>,
    /// Whether a run loads a table in bulk, and then takes a checkpoint where the server allows it.
    pub bulk: bool,
}

impl WorkloadNeeds {
    /// The needs of the block workload of `plan`.
    pub fn of_block_workload(plan: &Plan) -> Self {
        let workload = &plan.workload;
        Self {
            updates: workload.update_pct > 0,
            inserts: workload.churn_pct() > 0,
            loads: true,
            server_loops: workload.drive == DriveMode::Server,
            custom: None,
        }
    }

    /// The needs of custom workloads; `loads` where any of them has tables or a setup.
    pub fn of_custom_workloads(custom: CustomNeeds, loads: bool) -> Self {
        let writes = custom.writer.is_some();
        Self { updates: writes, inserts: writes, loads, server_loops: false, custom: Some(custom) }
    }

    /// Whether sessions may change rows.
    pub fn writes(&self) -> bool {
        self.updates || self.inserts
    }

    /// The same needs on a target that only accepts reads and gets its data from another one.
    #[must_use]
    pub fn on_read_only_target(self) -> Self {
        let custom = self.custom.map(|custom| CustomNeeds { writer: None, ..custom });
        Self { updates: false, inserts: false, loads: false, custom, ..self }
    }

    /// Whether sessions work on Dyno's test tables.
    pub fn uses_test_tables(&self) -> bool {
        self.custom.is_none()
    }

    /// Why a target has to accept writes when `test_tables` exist; absent where sessions only read existing
    /// data.
    pub fn reason_to_write(&self, test_tables: &Result<DataState, TargetError>) -> Option<&'static str> {
        let is_loaded = matches!(test_tables, Ok(DataState::Loaded { .. }));
        match (self.writes(), self.loads && self.uses_test_tables() && !is_loaded) {
            (true, _) => Some("the workload writes"),
            (false, true) => Some("the data has to be loaded"),
            (false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use dyno_plan::DataSpec;

    use super::*;

    fn custom(writer: Option<&str>) -> WorkloadNeeds {
        let writer = writer.map(str::to_owned);
        WorkloadNeeds::of_custom_workloads(CustomNeeds { writer, ..CustomNeeds::default() }, true)
    }

    #[test]
    fn only_block_workload_needs_loaded_test_tables() {
        let block =
            WorkloadNeeds { updates: false, inserts: false, loads: true, server_loops: false, custom: None };
        let spec = DataSpec {
            schemas: 1,
            rows: 1,
            scan_rows: 0,
            block_size: 8192,
            compressible: 0,
            seed: 1,
            secondary: true,
            copied: false,
        };
        let (empty, loaded) =
            (Ok(DataState::Empty), Ok(DataState::Loaded { spec, at: String::new(), tables: Vec::new() }));
        let inserting = WorkloadNeeds { inserts: true, ..block.clone() };
        for (needs, there, expected) in [
            (block.clone(), &empty, Some("the data has to be loaded")),
            (block.clone(), &loaded, None),
            (block.on_read_only_target(), &empty, None),
            (inserting.clone(), &loaded, Some("the workload writes")),
            (inserting.on_read_only_target(), &loaded, None),
            (custom(None), &empty, None),
            (custom(Some("shop")), &empty, Some("the workload writes")),
            (custom(Some("shop")).on_read_only_target(), &empty, None),
        ] {
            assert_eq!(needs.reason_to_write(there), expected, "{needs:?} {there:?}");
        }
    }
}
