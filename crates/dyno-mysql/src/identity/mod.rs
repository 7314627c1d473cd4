//! Describes the server and reports what would falsify a run.

mod checks;
mod counting;
mod durability;
mod facts;
mod host;
mod instance;
mod lifetime;
mod preflight;
mod privileges;
mod room;
mod settings;
mod statement_limit;
mod time_limits;

use dyno_record::{Identity, ServerProcesses};

use super::layout::page_size;
use super::wire::MySqlConnection;
use dyno_engine::TargetError;

pub(super) use host::is_server;
pub(super) use instance::{instance, reads_only};
pub(super) use lifetime::{life, log_file, started};
pub(super) use preflight::preflight;
pub(super) use settings::shown;
pub(super) use statement_limit::statement_limit;

/// Product, version, settings and paths of the server.
pub(super) fn identify(connection: &mut MySqlConnection) -> Result<Identity, TargetError> {
    let settings = settings::read(connection)?;
    let data_path = settings.value("datadir").map(|path| path.trim_end_matches('/').to_owned());
    let processes = host::processes(connection)?;
    let redo = settings.value("innodb_log_group_home_dir").filter(|path| path.starts_with('/'));
    let page_bytes = page_size(connection)?;
    let mut shaping = settings::shaping(&settings);
    shaping.insert(RESULT_METADATA.to_owned(), result_metadata(connection).to_owned());
    Ok(Identity {
        product: product(connection).to_owned(),
        version: connection.server_version().to_owned(),
        block_size: page_bytes,
        cache_bytes: settings.number("innodb_buffer_pool_size"),
        direct_io: room::uses_direct_io(&settings),
        calibrated: None,
        settings: shaping,
        non_default: settings.non_default(),
        not_durable: durability::not_durable(&settings),
        redo_path: redo.map(str::to_owned).or_else(|| data_path.clone()),
        data_path,
        same_host: !matches!(processes, ServerProcesses::Elsewhere(_)),
        counting: counting::counting(&settings, connection.is_mariadb(), page_bytes),
        processes,
    })
}

/// The name, among the settings, for when Dyno's sessions receive the definitions of columns.
const RESULT_METADATA: &str = "dyno.result_metadata";

/// When the server sends the definitions of a result's columns to Dyno's sessions.
fn result_metadata(connection: &MySqlConnection) -> &'static str {
    match (connection.has_metadata_flag, connection.is_mariadb()) {
        (true, true) => "once, at the preparation (MARIADB_CLIENT_CACHE_METADATA)",
        (true, false) => "once, at the preparation (resultset_metadata = NONE)",
        (false, _) => "with each answer",
    }
}

fn product(connection: &MySqlConnection) -> &'static str {
    if connection.is_mariadb() { "MariaDB" } else { "MySQL" }
}
