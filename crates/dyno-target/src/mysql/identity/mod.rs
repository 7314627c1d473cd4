//! What the server is, and what of it would falsify a run.

mod checks;
mod durability;
mod facts;
mod host;
mod instance;
mod life;
mod preflight;
mod room;
mod settings;

use dyno_record::{Identity, ServerProcesses};

use super::layout::page_size;
use super::wire::Connection;
use crate::error::TargetError;

pub(super) use instance::{instance, reads_only};
pub(super) use life::{life, started};
pub(super) use preflight::preflight;
pub(super) use settings::shown;

/// Product, version, settings, paths.
pub(super) fn identify(connection: &mut Connection) -> Result<Identity, TargetError> {
    let settings = settings::read(connection)?;
    let data_path = settings.value("datadir").map(|path| path.trim_end_matches('/').to_owned());
    let processes = host::processes(connection)?;
    let redo = settings.value("innodb_log_group_home_dir").filter(|path| path.starts_with('/'));
    Ok(Identity {
        product: product(connection).to_owned(),
        version: connection.server_version().to_owned(),
        block_size: page_size(connection)?,
        settings: settings.shaping(),
        non_default: settings.non_default(),
        redo_path: redo.map(str::to_owned).or_else(|| data_path.clone()),
        data_path,
        same_host: processes != ServerProcesses::Elsewhere,
        // The counters of all sessions are added up when the snapshot asks.
        counts_at_edges: false,
        counted_for_server: dyno_record::Counter::ALL.to_vec(),
        processes,
    })
}

/// The product's name.
fn product(connection: &Connection) -> &'static str {
    if connection.is_mariadb() { "MariaDB" } else { "MySQL" }
}
