//! Derives what a workload needs from a target, from the plan and its custom workloads.

use std::collections::BTreeSet;
use std::sync::Arc;

use dyno_engine::watched_names::identifiers;
use dyno_engine::{CustomNeeds, Dialect, WorkloadNeeds};
use dyno_plan::Plan;

use crate::custom::CustomWorkload;

/// What sessions of `plan` need on a target of this engine; `customs` are the custom workloads of the plan, empty for the block
/// workload.
pub fn needs(plan: &Plan, customs: &[Arc<CustomWorkload>], engine: &str, dialect: Dialect) -> WorkloadNeeds {
    if customs.is_empty() {
        return WorkloadNeeds::of_block_workload(plan);
    }
    let writer = customs.iter().find(|custom| custom.writes()).map(|custom| custom.name().to_owned());
    let has_setup = |custom: &CustomWorkload| custom.setup(engine).is_ok_and(|setup| !setup.is_empty());
    let loads = customs.iter().any(|custom| !custom.tables().is_empty() || has_setup(custom));
    let names = names_in_statements(customs, engine, dialect);
    let setup = customs.iter().filter_map(|custom| custom.setup(engine).ok()).flatten();
    let created_kinds = setup.filter_map(|single| single.created_kind()).collect();
    let bulk = customs.iter().any(|custom| custom.bulk().is_some());
    WorkloadNeeds::of_custom_workloads(CustomNeeds { writer, names, created_kinds, bulk }, loads)
}

/// The identifiers in all statements for this engine; none for a workload without SQL for it.
fn names_in_statements(customs: &[Arc<CustomWorkload>], engine: &str, dialect: Dialect) -> BTreeSet<String> {
    let statements = customs.iter().filter_map(|custom| custom.statements(engine, dialect).ok());
    statements
        .flat_map(|statements| statements.iter().flat_map(|one| identifiers(&one.sql)).collect::<Vec<_>>())
        .collect()
}
