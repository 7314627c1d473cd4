//! The tablespace that Dyno's tables lie in.

use super::super::connect::ConnectConfig;
use super::super::connection::Connection;
use super::super::sql;
use dyno_engine::TargetError;

/// A tablespace, as far as it shapes the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tablespace {
    /// Its name.
    pub(crate) name: String,
    /// Its block size in bytes.
    pub(crate) block_size: u64,
    /// Whether free space is kept in bitmaps (`AUTO`) or free lists (`MANUAL`).
    pub(crate) space_management: String,
    /// Whether its tables are compressed by default.
    pub(crate) compressed: bool,
    /// `LOGGING` or `NOLOGGING`.
    pub(crate) logging: String,
    /// `ONLINE`, `READ ONLY`, `OFFLINE`.
    pub(crate) status: String,
}

/// The one that the URL names, or the user's own.
pub(crate) fn tablespace(connection: &Connection, config: &ConnectConfig) -> Result<Tablespace, TargetError> {
    // A blank and not NULL: the driver would announce a text of no bytes.
    let wanted = config.tablespace.as_deref().unwrap_or(" ");
    let rows = connection.rows(&sql::TABLESPACE.text(), &[("tablespace", &wanted)])?;
    let row = rows.first().ok_or_else(|| {
        let name = config.tablespace.as_deref().unwrap_or("the user's default one");
        TargetError::privilege(format!(
            "this user may not use the tablespace ({name}), or there is none of that name"
        ))
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
