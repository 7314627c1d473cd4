//! Records what another connection can change during a run: journal mode, file format, and objects on the
//! tables.
//!
//! A separate connection reads it. The connection is opened when sessions exist, because an earlier one could
//! prevent the first session from setting the journal mode, which needs exclusive access. It waits for
//! writers as sessions do.

use dyno_record::{SETTINGS, SHAPE, Snapshot};

use super::super::connect::no_stop_flag;
use super::super::connect::{Params, Purpose, SqliteConnection, pragma_number, pragma_text};
use super::super::fault::SqliteError;

/// The connection that observes the file.
pub(crate) struct SqliteSchemaReader {
    params: Params,
    link: Option<SqliteConnection>,
}

impl SqliteSchemaReader {
    pub(crate) fn new(params: Params) -> Self {
        Self { params, link: None }
    }

    /// Fills settings and definitions; `at_work` states whether sessions exist.
    pub(super) fn fill(&mut self, snapshot: &mut Snapshot, at_work: bool) {
        let unread = |snapshot: &mut Snapshot, reason: &str| {
            for source in [SETTINGS, SHAPE] {
                snapshot.unread.insert(source.to_owned(), reason.to_owned());
            }
        };
        if self.params.in_memory() {
            return unread(snapshot, "the database is in memory: no other process can reach it");
        }
        if self.params.locking == "exclusive" {
            return unread(snapshot, "a session holds an exclusive lock on the file (locking=exclusive)");
        }
        if self.link.is_none() {
            match self.params.connect(Purpose::Inspect, &no_stop_flag()) {
                Ok(link) => self.link = Some(link),
                Err(error) => return unread(snapshot, &error.message),
            }
        }
        let read_result = self.link.as_ref().map_or(Ok(()), |link| read_schema(link, snapshot));
        if let Err(fault) = read_result {
            snapshot.settings.clear();
            snapshot.shape.clear();
            unread(snapshot, &fault.into_target("read the file's schema").message);
        }
        if !at_work {
            self.link = None;
        }
    }
}

fn read_schema(link: &SqliteConnection, snapshot: &mut Snapshot) -> Result<(), SqliteError> {
    let conn = &link.conn;
    // The first query starts a read, at which a connection notices what others have changed in the file.
    let version = pragma_number(conn, "schema_version")?;
    snapshot.shape.insert("schema of the file".to_owned(), version.to_string());
    let mut statement = conn.prepare_cached(
        "SELECT type || ' ' || name || CASE type WHEN 'table' THEN '' ELSE ' on ' || tbl_name END, rootpage || ' ' || ifnull(sql, '')
         FROM sqlite_schema WHERE tbl_name LIKE 'dyno\\_rows\\_%' ESCAPE '\\' OR tbl_name LIKE 'dyno\\_scan\\_%' ESCAPE '\\'",
    )?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for row in rows {
        let (name, mark): (String, String) = row?;
        snapshot.shape.insert(name, mark);
    }
    snapshot.settings.insert("journal_mode".to_owned(), pragma_text(conn, "journal_mode")?);
    for name in ["page_size", "auto_vacuum"] {
        snapshot.settings.insert(name.to_owned(), pragma_number(conn, name)?.to_string());
    }
    Ok(())
}
