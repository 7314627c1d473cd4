//! The data describes itself: what was loaded, by which version, how far, and which objects are Dyno's.
//!
//! `DYNO_META` holds the spec as name and value, `DYNO_OBJECTS` every table, `DYNO_CHUNKS` the chunks that are there for good,
//! and `DYNO_TABLES` what was measured after the load. Statements that create or drop cannot be taken back, so each table is
//! recorded before it is made. Every finished table carries the load's mark as its comment, so one that somebody else made
//! under an old name is never taken for ours.

use std::collections::{BTreeSet, HashSet};

use super::super::connection::{Connection, Row};
use super::super::sql;
use super::tables::{dictionary_name, tables};
use dyno_engine::layout::{Home, MARK, Notes, chunks};
use dyno_engine::{DataState, DropItem, TargetError};

/// Where it is, in the version of this layout; another one is neither run nor resumed, only dropped.
pub(super) const HOME: Home =
    Home { place: "(DYNO_META and its kin)", meta: "DYNO_META", tables: "DYNO_TABLES", format: "1" };

/// What is there, and whatever a resuming load needs to know beside it.
#[derive(Debug)]
pub(super) struct Found {
    /// As users see it.
    pub(super) state: DataState,
    /// The comment of every table of this load.
    pub(super) mark: String,
    /// Chunks that are there for good: kind, schema, first position.
    pub(super) chunks: HashSet<(String, u32, u64)>,
    /// Tables of this load that are there and finished, by their names in the dictionary.
    tables: BTreeSet<String>,
    /// Tables that were recorded, begun and not finished.
    pub(super) unfinished: BTreeSet<String>,
}

impl Found {
    /// Whether the table is there.
    pub(super) fn has(&self, dictionary_name: &str) -> bool {
        self.tables.contains(dictionary_name)
    }
}

/// One table of this user whose name begins as Dyno's do.
#[derive(Debug, Clone)]
pub(super) struct There {
    /// Its name in the dictionary.
    pub(super) name: String,
    /// Its comment; empty without one.
    pub(super) mark: String,
    bytes: Option<u64>,
}

impl There {
    /// As users see it.
    pub(super) fn item(&self) -> DropItem {
        DropItem { kind: "table".to_owned(), name: self.name.clone(), bytes: self.bytes }
    }
}

/// Every table of this user whose name begins as Dyno's do.
pub(super) fn there(connection: &Connection) -> Result<Vec<There>, TargetError> {
    let rows = connection.rows(&sql::TABLES_THERE.text(), &[])?;
    let read = |row: &Row| {
        Some(There {
            name: row.get(0)?.to_owned(),
            mark: row.get(1).unwrap_or_default().to_owned(),
            bytes: row.parse(2),
        })
    };
    Ok(rows.iter().filter_map(read).collect())
}

/// Whether the table `name` is among `there`, with a mark of Dyno's.
pub(super) fn has_marked(there: &[There], name: &str) -> bool {
    there.iter().any(|table| table.name == name && table.mark.starts_with(MARK))
}

/// Reads the metadata; `None` if there is none of Dyno's, or a load was killed before it had said what it would load.
pub(super) fn read(connection: &Connection) -> Result<Option<Found>, TargetError> {
    let there = there(connection)?;
    if !["DYNO_OBJECTS", "DYNO_META", "DYNO_CHUNKS", "DYNO_TABLES"]
        .iter()
        .all(|name| has_marked(&there, name))
    {
        return Ok(None);
    }
    let rows = connection.rows(&sql::READ_META.text(), &[])?;
    let notes = Notes::new(&HOME, &rows);
    if notes.is_empty() {
        return Ok(None);
    }
    let spec = notes.spec()?;
    let mark = notes.text("mark");
    let (chunks, rows) = chunks(&connection.rows(&sql::READ_CHUNKS.text(), &[])?);
    let recorded = recorded(connection)?;
    let named = |finished: bool| {
        let of_kind = |table: &&There| if finished { table.mark == mark } else { table.mark.is_empty() };
        let ours = there.iter().filter(of_kind).filter(|table| recorded.contains(&table.name));
        ours.map(|table| table.name.clone()).collect::<BTreeSet<_>>()
    };
    let (finished, unfinished) = (named(true), named(false));
    let state = notes.state(spec, rows, |spec| {
        if let Some(name) = tables(spec).iter().map(dictionary_name).find(|name| !finished.contains(name)) {
            let what = format!("table {name} is not there any more, or not the one that was loaded");
            return Err(HOME.broken(what));
        }
        HOME.facts(&connection.rows(&sql::READ_TABLES.text(), &[])?)
    })?;
    Ok(Some(Found { state, mark, chunks, tables: finished, unfinished }))
}

/// Names that are recorded as Dyno's, the last made first.
pub(super) fn recorded(connection: &Connection) -> Result<Vec<String>, TargetError> {
    let rows = connection.rows(&sql::READ_OBJECTS.text(), &[])?;
    Ok(rows.iter().filter_map(|row| row.get(1).map(str::to_owned)).collect())
}
