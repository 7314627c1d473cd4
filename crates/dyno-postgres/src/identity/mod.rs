//! Describes the server and reports what would falsify a run.

pub(super) mod block;
mod checks;
pub(super) mod counting;
mod durability;
mod facts;
mod host;
mod instance;
mod lifetime;
mod limits_set;
mod preflight;
mod room;
mod settings;
mod time_limits;

use dyno_record::Identity;

use super::wire::PostgresConnection;
use dyno_engine::TargetError;

pub(super) use instance::{instance, reads_only};
pub(super) use lifetime::life;
pub(super) use preflight::preflight;
pub(super) use settings::shown;

/// The oldest version that Dyno supports.
const OLDEST_VERSION: u32 = 130_000;
/// The newest major version that Dyno was tested with.
const NEWEST_MAJOR: u32 = 18;

/// Product, version, settings and paths of the server.
pub(super) fn identify(connection: &mut PostgresConnection) -> Result<Identity, TargetError> {
    let settings = settings::read(connection)?;
    let printed = connection.simple("SELECT version()")?;
    let printed = printed.first().and_then(|row| row.get(0)).unwrap_or_default();
    let data_path = settings.value("data_directory").map(str::to_owned);
    let same_host = host::is_local_server(connection)?;
    let redo_path = data_path.as_deref().map(|data| host::redo_path(data, same_host));
    let mut shaping = settings::shaping(&settings);
    let block_bytes = block::block_size(connection)?.0;
    shaping.insert("version()".to_owned(), printed.to_owned());
    Ok(Identity {
        product: "PostgreSQL".to_owned(),
        version: short_version(printed).to_owned(),
        block_size: block_bytes,
        cache_bytes: settings::bytes(&settings, "shared_buffers"),
        direct_io: Some(settings::uses_direct_io(&settings)),
        calibrated: None,
        settings: shaping,
        non_default: settings.non_default(),
        not_durable: durability::not_durable(&settings),
        data_path,
        redo_path,
        same_host,
        counting: counting::counting(connection.server_version_num(), &settings, block_bytes),
        processes: host::processes(connection, same_host)?,
    })
}

/// Shortens `PostgreSQL 15.4 (Debian 15.4-1) on x86_64-…, compiled by …` to the version; product and build
/// are stored elsewhere.
fn short_version(printed: &str) -> &str {
    let version = printed.strip_prefix("PostgreSQL ").unwrap_or(printed);
    version.split_once(" on ").map_or(version, |(version, _)| version)
}
