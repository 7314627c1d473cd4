//! Lists all checks that run before a run.

use dyno_plan::Plan;
use dyno_record::Advice;

use super::super::connect::PostgresConnectConfig;
use super::super::pool::{PostgresPool, PostgresRoute};
use super::super::pool_config::PoolConfig;
use super::super::wire::PostgresConnection;
use super::facts::{PostgresPreflightFacts, ask};
use super::{checks, durability, room, time_limits};
use dyno_engine::advice::{DataSize, data, data_bytes, data_of};
use dyno_engine::{TargetError, WorkloadNeeds};

/// Returns everything that would falsify or prevent a run of `plan`, and the checks that passed.
pub(crate) fn preflight(
    connection: &mut PostgresConnection,
    config: &PostgresConnectConfig,
    pool: Option<&PostgresPool>,
    plan: &Plan,
    needs: &WorkloadNeeds,
) -> Result<Vec<Advice>, TargetError> {
    let mut facts = ask(connection, config, needs)?;
    facts.through = pool.map(PostgresPool::route).transpose()?;
    if let (Some(PostgresRoute::Pooled(_)), Some(pool)) = (facts.through, pool) {
        facts.pool_config = PoolConfig::read(pool.sessions());
    }
    Ok(advise(&facts, plan, needs))
}

/// The findings in the order in which they are shown.
pub(super) fn advise(facts: &PostgresPreflightFacts, plan: &Plan, needs: &WorkloadNeeds) -> Vec<Advice> {
    let spec = data_of(plan, facts.block_size, &facts.data);
    let test_bytes = data_bytes(&spec, room::INDEX_BYTES_PER_ROW);
    let size = DataSize::of(needs, test_bytes, facts.named_bytes);
    let mut all = vec![checks::reach(facts), checks::version(facts), checks::pooler(facts, plan, needs)];
    all.extend(checks::privileges(facts, needs));
    all.extend([
        checks::statistics(facts),
        checks::connections(facts, plan, needs),
        time_limits::time_limits(facts, plan),
        checks::writable(facts, needs),
    ]);
    all.extend(needs.uses_test_tables().then(|| checks::block_size(facts, plan)));
    all.extend([
        checks::other_sessions(facts),
        checks::track_counts(facts),
        checks::timing(facts, "track_io_timing", "physical_read_time and physical_write_time"),
        checks::timing(facts, "track_wal_io_timing", "redo_sync_time"),
        durability::fsync(facts),
        durability::full_page_writes(facts),
        durability::synchronous_commit(facts),
        durability::autovacuum(facts),
        durability::checkpoints(facts, plan, needs),
    ]);
    all.extend(size.map(|size| room::cache(facts, size)));
    if needs.uses_test_tables() {
        all.extend([data(&facts.data, &spec), room::disk(facts, &spec)]);
    }
    all
}
