//! The list of everything that is checked before a run.

use dyno_plan::Plan;
use dyno_record::Advice;

use super::super::connect::ConnectConfig;
use super::super::wire::Connection;
use super::facts::{Facts, ask};
use super::{checks, durability, room};
use dyno_engine::TargetError;
use dyno_engine::advice::{data, data_of};

/// Everything that would falsify or prevent a run of `plan`, and what is well.
pub(crate) fn preflight(
    connection: &mut Connection,
    config: &ConnectConfig,
    plan: &Plan,
) -> Result<Vec<Advice>, TargetError> {
    Ok(advise(&ask(connection, config)?, plan))
}

/// The findings in the order in which they are shown.
pub(super) fn advise(facts: &Facts, plan: &Plan) -> Vec<Advice> {
    let spec = data_of(plan, facts.block_size, &facts.data);
    vec![
        checks::reach(facts),
        checks::version(facts),
        checks::privileges(facts, plan),
        checks::statistics(facts),
        checks::connections(facts, plan),
        checks::writable(facts),
        checks::block_size(facts, plan),
        checks::others(facts),
        checks::performance_schema(facts),
        checks::query_cache(facts),
        checks::adaptive_hash_index(facts),
        durability::flush_at_commit(facts),
        durability::sync_binlog(facts),
        durability::doublewrite(facts),
        durability::redo_capacity(facts, plan),
        room::flush_method(facts),
        room::cache(facts, &spec),
        room::local_infile(facts),
        data(&facts.data, &spec),
        room::disk(facts, &spec),
    ]
}
