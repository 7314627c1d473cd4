//! The list of everything that is checked before a run.

use dyno_plan::Plan;
use dyno_record::Advice;

use super::super::connect::ConnectConfig;
use super::super::connection::Connection;
use super::facts::{Facts, ask};
use super::{checks, durability, room};
use dyno_engine::TargetError;
use dyno_engine::advice::{data, data_of};

/// Everything that would falsify or prevent a run of `plan`, and what is well.
pub(crate) fn preflight(
    connection: &Connection,
    config: &ConnectConfig,
    plan: &Plan,
) -> Result<Vec<Advice>, TargetError> {
    Ok(advise(&ask(connection, config)?, plan))
}

/// The findings in the order in which they are shown.
pub(super) fn advise(facts: &Facts, plan: &Plan) -> Vec<Advice> {
    let spec = data_of(plan, facts.tablespace.block_size, &facts.data);
    vec![
        checks::reach(facts),
        checks::version(facts),
        checks::privileges(facts),
        checks::views(facts),
        checks::sessions(facts, plan),
        checks::writable(facts, plan),
        checks::block_size(facts, plan),
        checks::others(facts),
        checks::result_cache(facts),
        checks::cursor_sharing(facts),
        durability::commit(facts, plan),
        durability::redo_logs(facts, plan),
        durability::logging(facts),
        room::tablespace(facts),
        room::file_io(facts),
        room::cache(facts, &spec),
        data(&facts.data, &spec),
        room::space(facts, &spec, plan),
    ]
}
