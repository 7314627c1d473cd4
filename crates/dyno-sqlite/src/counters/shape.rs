//! What another connection can change under a run: the journal's mode, the file's form, and what hangs on the tables.
//!
//! Asked on a connection of its own, which is opened when there are sessions and stays: before, it could keep the first
//! session from setting the journal's mode, which needs the file alone. It waits for writers as sessions do.

use dyno_record::{SETTINGS, SHAPE, Snapshot};

use super::super::connect::never;
use super::super::connect::{Link, Params, Purpose, number, word};
use super::super::fault::Fault;

/// Who looks at the file.
pub(crate) struct Onlooker {
    params: Params,
    link: Option<Link>,
}

impl Onlooker {
    pub(crate) fn new(params: Params) -> Self {
        Self { params, link: None }
    }

    /// Fills settings and shape; `at_work` is whether there are sessions.
    pub(super) fn fill(&mut self, snapshot: &mut Snapshot, at_work: bool) {
        let unread = |snapshot: &mut Snapshot, reason: &str| {
            for source in [SETTINGS, SHAPE] {
                snapshot.unread.insert(source.to_owned(), reason.to_owned());
            }
        };
        if self.params.in_memory() {
            return unread(snapshot, "the database is in memory: nobody else can reach it");
        }
        if self.params.locking == "exclusive" {
            return unread(snapshot, "a session holds the file for itself alone (locking=exclusive)");
        }
        if self.link.is_none() {
            match self.params.connect(Purpose::Inspect, &never()) {
                Ok(link) => self.link = Some(link),
                Err(error) => return unread(snapshot, &error.message),
            }
        }
        let looked = self.link.as_ref().map_or(Ok(()), |link| look(link, snapshot));
        if let Err(fault) = looked {
            snapshot.settings.clear();
            snapshot.shape.clear();
            unread(snapshot, &fault.into_target("look at the file's schema").message);
        }
        if !at_work {
            self.link = None;
        }
    }
}

fn look(link: &Link, snapshot: &mut Snapshot) -> Result<(), Fault> {
    let conn = &link.conn;
    // What is asked first begins to read, which is when a connection learns what others have made of the file.
    let version = number(conn, "schema_version")?;
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
    snapshot.settings.insert("journal_mode".to_owned(), word(conn, "journal_mode")?);
    for name in ["page_size", "auto_vacuum"] {
        snapshot.settings.insert(name.to_owned(), number(conn, name)?.to_string());
    }
    Ok(())
}
