//! The list of everything that is checked before a run.

use dyno_plan::Plan;
use dyno_record::Advice;

use super::super::connect::ConnectConfig;
use super::super::pool::Pool;
use super::super::wire::Connection;
use super::facts::{Facts, ask};
use super::{checks, durability, room};
use dyno_engine::TargetError;
use dyno_engine::advice::{data, data_of};

/// Everything that would falsify or prevent a run of `plan`, and what is well.
pub(crate) fn preflight(
    connection: &mut Connection,
    config: &ConnectConfig,
    pool: Option<&Pool>,
    plan: &Plan,
) -> Result<Vec<Advice>, TargetError> {
    let mut facts = ask(connection, config)?;
    facts.through = pool.map(Pool::way).transpose()?;
    Ok(advise(&facts, plan))
}

/// The findings in the order in which they are shown.
pub(super) fn advise(facts: &Facts, plan: &Plan) -> Vec<Advice> {
    let spec = data_of(plan, facts.block_size, &facts.data);
    vec![
        checks::reach(facts),
        checks::version(facts),
        checks::pooler(facts, plan),
        checks::privileges(facts),
        checks::statistics(facts),
        checks::connections(facts, plan),
        checks::writable(facts),
        checks::block_size(facts, plan),
        checks::others(facts),
        checks::track_counts(facts),
        checks::timing(facts, "track_io_timing", "physical_read_time and physical_write_time"),
        checks::timing(facts, "track_wal_io_timing", "redo_sync_time"),
        durability::fsync(facts),
        durability::full_page_writes(facts),
        durability::synchronous_commit(facts),
        durability::autovacuum(facts),
        durability::checkpoints(facts, plan),
        room::cache(facts, &spec),
        data(&facts.data, &spec),
        room::disk(facts, &spec),
    ]
}
