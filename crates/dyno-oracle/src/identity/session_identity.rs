//! Identifies a session: user, database, instance and container.

use super::super::connection::OracleConnection;
use super::super::sql;
use dyno_engine::TargetError;

/// The identity of a session.
#[derive(Debug, Clone, Default)]
pub(super) struct OracleSessionIdentity {
    pub(super) user: String,
    pub(super) database: String,
    /// The container's name; absent without containers.
    pub(super) container: Option<String>,
    pub(super) service: String,
    pub(super) instance: String,
    pub(super) host: String,
    /// Whether the connection is encrypted.
    pub(super) encrypted: bool,
    pub(super) role: String,
}

/// Reads the identity of this session.
pub(super) fn read_session_identity(
    connection: &OracleConnection,
) -> Result<OracleSessionIdentity, TargetError> {
    let rows = connection.rows(&sql::WHO.text(), &[])?;
    let row = rows.first().ok_or_else(|| {
        TargetError::database(
            "the database does not report the identity of \
            this session",
        )
    })?;
    let text = |index| row.get(index).unwrap_or_default().to_owned();
    Ok(OracleSessionIdentity {
        user: text(0),
        database: text(3),
        container: row.get(4).and(row.get(5)).map(str::to_owned),
        service: text(7),
        instance: text(8),
        host: text(9),
        encrypted: row.get(10) == Some("tcps"),
        role: text(11),
    })
}
