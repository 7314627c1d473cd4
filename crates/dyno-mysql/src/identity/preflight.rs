//! Lists all checks that run before a run.

use dyno_plan::Plan;
use dyno_record::Advice;

use super::super::connect::MySqlConnectConfig;
use super::super::wire::MySqlConnection;
use super::facts::{MySqlPreflightFacts, ask};
use super::{checks, durability, privileges, room, time_limits};
use dyno_engine::advice::{DataSize, data, data_bytes, data_of};
use dyno_engine::{TargetError, WorkloadNeeds};

/// Returns everything that would falsify or prevent a run of `plan`, and the checks that passed.
pub(crate) fn preflight(
    connection: &mut MySqlConnection,
    config: &MySqlConnectConfig,
    plan: &Plan,
    needs: &WorkloadNeeds,
) -> Result<Vec<Advice>, TargetError> {
    Ok(advise(&ask(connection, config, needs)?, plan, needs))
}

/// The findings in the order in which they are shown.
pub(super) fn advise(facts: &MySqlPreflightFacts, plan: &Plan, needs: &WorkloadNeeds) -> Vec<Advice> {
    let spec = data_of(plan, facts.block_size, &facts.data);
    let size = DataSize::of(needs, data_bytes(&spec, room::INDEX_BYTES_PER_ROW), facts.named_bytes);
    let mut all = vec![
        checks::reach(facts),
        checks::version(facts),
        privileges::check(facts, needs),
        checks::statistics(facts),
        checks::connections(facts, plan, needs),
        time_limits::time_limits(facts, plan),
        checks::writable(facts, needs),
    ];
    all.extend(needs.uses_test_tables().then(|| checks::block_size(facts, plan)));
    all.extend([
        checks::other_sessions(facts),
        checks::performance_schema(facts),
        checks::query_cache(facts),
        checks::adaptive_hash_index(facts),
        durability::flush_at_commit(facts),
        durability::sync_binlog(facts),
        durability::doublewrite(facts),
        durability::redo_capacity(facts, plan, needs),
        room::flush_method(facts),
    ]);
    all.extend(size.map(|size| room::cache(facts, size)));
    all.extend(needs.loads.then(|| room::local_infile(facts)));
    if needs.uses_test_tables() {
        all.extend([data(&facts.data, &spec), room::disk(facts, &spec)]);
    }
    all
}
