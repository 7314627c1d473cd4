//! Reads the tablespace of Dyno's tables.

use super::super::connect::OracleConnectConfig;
use super::super::connection::OracleConnection;
use super::super::sql;
use dyno_engine::TargetError;

/// The properties of a tablespace that affect the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tablespace {
    /// The tablespace's name in the dictionary.
    pub(crate) name: String,
    /// Its block size in bytes.
    pub(crate) block_size: u64,
    /// How free space is managed: in bitmaps (`AUTO`) or free lists (`MANUAL`).
    pub(crate) space_management: String,
    /// Whether its tables are compressed by default.
    pub(crate) compressed: bool,
    /// Whether redo is written for direct-path loads: `LOGGING` or `NOLOGGING`.
    pub(crate) logging: String,
    /// The status: `ONLINE`, `READ ONLY` or `OFFLINE`.
    pub(crate) status: String,
}

/// The tablespace that the URL names, otherwise the user's default.
pub(crate) fn tablespace(
    connection: &OracleConnection,
    config: &OracleConnectConfig,
) -> Result<Tablespace, TargetError> {
    // A blank and not NULL: for NULL the driver would announce a text of zero bytes.
    let wanted = config.tablespace.as_deref().unwrap_or(" ");
    let rows = connection.rows(&sql::TABLESPACE.text(), &[("tablespace", &wanted)])?;
    let row = rows.first().ok_or_else(|| {
        let name = config.tablespace.as_deref().unwrap_or("the user's default one");
        TargetError::privilege(format!("this user cannot use the tablespace ({name}), or it does not exist"))
            .hint(format!("ALTER USER {} QUOTA UNLIMITED ON the tablespace, by a DBA", config.user))
    })?;
    let text = |index| row.get(index).unwrap_or_default().to_owned();
    Ok(Tablespace {
        name: text(0),
        block_size: row.parse(1).unwrap_or(0),
        space_management: text(2),
        compressed: row.get(3) == Some("ENABLED"),
        logging: text(4),
        status: text(5),
    })
}
