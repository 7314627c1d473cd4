//! Stores what was loaded, by which version, how far, and which objects belong to Dyno.
//!
//! `DYNO_META` holds the spec as name and value, and `DYNO_OBJECTS` lists every table. `DYNO_CHUNKS` lists
//! the committed chunks, and `DYNO_TABLES` holds the measurements after the load. CREATE and DROP cannot be
//! rolled back, so each table is recorded before it is created. Every complete table carries the load's mark
//! as its comment. Dyno therefore never claims a table that another user created under an old name.

use std::collections::{BTreeSet, HashSet};

use super::super::connection::{OracleConnection, TextRow};
use super::super::sql;
use super::tables::{dictionary_name, tables};
use dyno_engine::layout::{LayoutMetadata, MARK, MetadataLocation, chunks};
use dyno_engine::{DataState, DropItem, TargetError};

/// The location and format of the metadata. Data with another format can only be dropped, not run or resumed.
pub(super) const HOME: MetadataLocation = MetadataLocation {
    place: "(DYNO_META and its kin)",
    meta: "DYNO_META",
    tables: "DYNO_TABLES",
    format: "1",
};

/// The loaded data, and what a resumed load needs to know.
#[derive(Debug)]
pub(super) struct OracleLoadedLayout {
    /// The state as the user sees it.
    pub(super) state: DataState,
    /// The comment of every table of this load.
    pub(super) mark: String,
    /// Committed chunks: kind, schema, first position.
    pub(super) chunks: HashSet<(String, u32, u64)>,
    /// Complete tables of this load, by their names in the dictionary.
    tables: BTreeSet<String>,
    /// Tables that were recorded but whose creation was interrupted.
    pub(super) unfinished: BTreeSet<String>,
}

impl OracleLoadedLayout {
    /// Whether the table exists and is complete.
    pub(super) fn has(&self, dictionary_name: &str) -> bool {
        self.tables.contains(dictionary_name)
    }
}

/// One table of this user whose name begins like Dyno's.
#[derive(Debug, Clone)]
pub(super) struct OracleExistingTable {
    /// Its name in the dictionary.
    pub(super) name: String,
    /// Its comment; empty without one.
    pub(super) mark: String,
    bytes: Option<u64>,
}

impl OracleExistingTable {
    /// The table as a drop lists it.
    pub(super) fn item(&self) -> DropItem {
        DropItem { kind: "table".to_owned(), name: self.name.clone(), bytes: self.bytes }
    }
}

/// Every table of this user whose name begins like Dyno's.
pub(super) fn list_tables(connection: &OracleConnection) -> Result<Vec<OracleExistingTable>, TargetError> {
    let rows = connection.rows(&sql::TABLES_THERE.text(), &[])?;
    let read = |row: &TextRow| {
        Some(OracleExistingTable {
            name: row.get(0)?.to_owned(),
            mark: row.get(1).unwrap_or_default().to_owned(),
            bytes: row.parse(2),
        })
    };
    Ok(rows.iter().filter_map(read).collect())
}

/// Whether `there` includes the table `name` with a mark of Dyno.
pub(super) fn has_marked(existing_tables: &[OracleExistingTable], name: &str) -> bool {
    existing_tables.iter().any(|table| table.name == name && table.mark.starts_with(MARK))
}

/// Reads the metadata; `None` if Dyno has stored none, or a load was killed before it stored its spec.
pub(super) fn read(connection: &OracleConnection) -> Result<Option<OracleLoadedLayout>, TargetError> {
    let existing_tables = list_tables(connection)?;
    if !["DYNO_OBJECTS", "DYNO_META", "DYNO_CHUNKS", "DYNO_TABLES"]
        .iter()
        .all(|name| has_marked(&existing_tables, name))
    {
        return Ok(None);
    }
    let rows = connection.rows(&sql::READ_META.text(), &[])?;
    let notes = LayoutMetadata::new(&HOME, &rows);
    if notes.is_empty() {
        return Ok(None);
    }
    let spec = notes.spec()?;
    let mark = notes.text("mark");
    let (chunks, rows) = chunks(&connection.rows(&sql::READ_CHUNKS.text(), &[])?);
    let recorded = recorded(connection)?;
    let named = |finished: bool| {
        let of_kind =
            |table: &&OracleExistingTable| if finished { table.mark == mark } else { table.mark.is_empty() };
        let ours = existing_tables.iter().filter(of_kind).filter(|table| recorded.contains(&table.name));
        ours.map(|table| table.name.clone()).collect::<BTreeSet<_>>()
    };
    let (finished, unfinished) = (named(true), named(false));
    let state = notes.state(spec, rows, |spec| {
        if let Some(name) = tables(spec).iter().map(dictionary_name).find(|name| !finished.contains(name)) {
            let fault = format!("table {name} no longer exists, or is not the one that was loaded");
            return Err(HOME.broken(fault));
        }
        HOME.facts(&connection.rows(&sql::READ_TABLES.text(), &[])?)
    })?;
    Ok(Some(OracleLoadedLayout { state, mark, chunks, tables: finished, unfinished }))
}

/// Names that are recorded as Dyno's, newest first.
pub(super) fn recorded(connection: &OracleConnection) -> Result<Vec<String>, TargetError> {
    let rows = connection.rows(&sql::READ_OBJECTS.text(), &[])?;
    Ok(rows.iter().filter_map(|row| row.get(1).map(str::to_owned)).collect())
}
