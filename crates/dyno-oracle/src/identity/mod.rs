//! Describes the database and reports what would falsify a run.

mod calibrated;
mod checks;
mod counting;
mod durability;
mod facts;
mod host;
mod instance;
mod instance_settings;
mod preflight;
mod profile;
mod profile_limits;
mod room;
mod session_identity;
mod settings;
mod statement_limit;

use dyno_record::Identity;

use super::connect::OracleConnectConfig;
use super::connection::OracleConnection;
use super::layout::tablespace;
use super::sql;
use dyno_engine::{ServerLife, TargetError};

pub(super) use instance::{instance, reads_only};
pub(super) use preflight::preflight;
pub(super) use settings::shaping_of;
pub(super) use statement_limit::statement_limit;

use session_identity::read_session_identity;

/// Product, version and settings of the database.
pub(super) fn identify(
    connection: &OracleConnection,
    config: &OracleConnectConfig,
) -> Result<Identity, TargetError> {
    let settings = settings::read(connection)?;
    let session = read_session_identity(connection)?;
    let same_host = host::is_local_server(&session.host, &session.instance);
    Ok(Identity {
        product: "Oracle Database".to_owned(),
        version: version(connection)?,
        block_size: tablespace(connection, config)?.block_size,
        // Memory moves between the buffer cache and other pools while an instance runs.
        cache_bytes: None,
        direct_io: room::uses_direct_io(&settings),
        calibrated: calibrated::calibrated(connection)?,
        settings: settings::shaping(&settings),
        non_default: settings.non_default(),
        // Commits of Dyno's sessions wait whatever the instance's setting is, unless the plan says otherwise.
        not_durable: Vec::new(),
        // Files may be in ASM, on Exadata, or under a name that does not exist on this machine.
        data_path: None,
        redo_path: None,
        same_host,
        counting: counting::counting(counting::counts_empty_commits(connection)?),
        processes: host::processes(same_host, &session.instance),
    })
}

/// The version as the database prints it.
fn version(connection: &OracleConnection) -> Result<String, TargetError> {
    let rows = connection.rows(&version_sql(connection.version().0), &[])?;
    let banner = rows.first().and_then(|row| row.get(0)).unwrap_or_default();
    Ok(shorten_banner(banner))
}

/// The query for the version on this release.
fn version_sql(release: usize) -> String {
    if release >= 18 { sql::VERSION.text() } else { sql::VERSION_122.text() }
}

/// Shortens a banner of two lines to version and edition: `19.21.0.0.0 Enterprise Edition`.
fn shorten_banner(banner: &str) -> String {
    let words: Vec<&str> = banner.split_whitespace().collect();
    let mut numbers = words
        .iter()
        .filter(|word| word.contains('.') && word.bytes().all(|b| b.is_ascii_digit() || b == b'.'));
    let Some(number) = numbers.next_back() else { return banner.replace('\n', " ") };
    let edition =
        words.iter().position(|word| *word == "Edition").and_then(|at| words.get(at.checked_sub(1)?));
    let level = words.iter().position(|word| *word == "Edition").and_then(|at| words.get(at + 1));
    let level = level
        .filter(|word| word.bytes().all(|b| b.is_ascii_digit()))
        .map_or(String::new(), |level| format!(" {level}"));
    match edition {
        Some(edition) => format!("{number} {edition} Edition{level}"),
        None => format!("{number}{}", if banner.contains("Free") { " Free" } else { "" }),
    }
}

/// The database's current lifetime, if this user may see it. The views do not distinguish a start after a
/// crash from a normal start.
pub(super) fn life(connection: &OracleConnection) -> Result<Option<ServerLife>, TargetError> {
    for statement in [sql::INSTANCES, sql::INSTANCE] {
        if let Some(rows) = connection.rows_if_allowed(&statement.text(), &[])? {
            let starts: Vec<&str> = rows.iter().filter_map(|row| row.get(3)).collect();
            let since = "not told".to_owned();
            return Ok(Some(ServerLife { started: starts.join(" "), statistics_since: since }));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_query_matches_the_release() {
        assert!(version_sql(19).contains("banner_full"));
        assert!(version_sql(23).contains("banner_full"));
        assert!(!version_sql(12).contains("banner_full"));
    }

    #[test]
    fn oracle_banner_is_shortened() {
        for (banner, short) in [
            (
                "Oracle Database 19c Enterprise Edition Release 19.0.0.0.0 - Production\nVersion 19.21.0.0.0",
                "19.21.0.0.0 Enterprise Edition",
            ),
            (
                "Oracle Database 19c Standard Edition 2 Release 19.0.0.0.0 - Production\nVersion 19.21.0.0.0",
                "19.21.0.0.0 Standard Edition 2",
            ),
            (
                "Oracle Database 12c Standard Edition Release 12.2.0.1.0 - 64bit Production",
                "12.2.0.1.0 Standard Edition",
            ),
            (
                "Oracle Database 23ai Free Release 23.0.0.0.0 - Develop\nVersion 23.5.0.24.07",
                "23.5.0.24.07 Free",
            ),
            ("something else", "something else"),
        ] {
            assert_eq!(shorten_banner(banner), short);
        }
    }
}
