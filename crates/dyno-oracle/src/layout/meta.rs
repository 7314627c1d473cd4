//! The data describes itself: what was loaded, by which version, how far, and which objects are Dyno's.
//!
//! `DYNO_META` holds the spec as name and value, `DYNO_OBJECTS` every table, `DYNO_CHUNKS` the chunks that are there for good,
//! and `DYNO_TABLES` what was measured after the load. Statements that create or drop cannot be taken back, so each table is
//! recorded before it is made. Every finished table carries the load's mark as its comment, so one that somebody else made
//! under an old name is never taken for ours.

use std::collections::{BTreeSet, HashMap, HashSet};

use dyno_plan::DataSpec;

use super::super::connection::Connection;
use super::super::sql;
use super::tables::Table;
use dyno_engine::data::TableKind;
use dyno_engine::error::{TargetError, TargetErrorKind};
use dyno_engine::load::{DataState, DropItem, SchemaFacts};

/// Version of this layout; another one is neither run nor resumed, only dropped.
pub(super) const FORMAT: &str = "1";

/// The name of what tells whether rows have a secondary key.
pub(super) const SECONDARY: &str = "secondary";

/// What every mark begins with.
pub(super) const MARK: &str = "dyno load ";

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

fn broken(what: impl std::fmt::Display) -> TargetError {
    let message = format!("Dyno's metadata (DYNO_META and its kin) cannot be used: {what}");
    TargetError::new(TargetErrorKind::Data, message)
        .hint("`dyno load --replace` drops what Dyno made and loads anew")
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
    let read = |row: &super::super::connection::Row| {
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
    let meta: HashMap<&str, &str> = rows.iter().filter_map(|row| Some((row.get(0)?, row.get(1)?))).collect();
    match meta.get("format") {
        Some(&FORMAT) => {}
        Some(other) => {
            return Err(broken(format!("its format is {other:?} and this version of Dyno knows {FORMAT}")));
        }
        None if meta.is_empty() => return Ok(None),
        None => return Err(broken("DYNO_META names no format")),
    }
    let spec = spec(&meta)?;
    let mark = meta.get("mark").copied().unwrap_or_default().to_owned();
    let chunk_rows = connection.rows(&sql::READ_CHUNKS.text(), &[])?;
    let chunks =
        chunk_rows.iter().filter_map(|row| Some((row.get(0)?.to_owned(), row.parse(1)?, row.parse(2)?)));
    let recorded = recorded(connection)?;
    let named = |finished: bool| {
        let of_kind = |table: &&There| if finished { table.mark == mark } else { table.mark.is_empty() };
        let ours = there.iter().filter(of_kind).filter(|table| recorded.contains(&table.name));
        ours.map(|table| table.name.clone()).collect::<BTreeSet<_>>()
    };
    let (tables, unfinished) = (named(true), named(false));
    let state = match meta.get("finished_at") {
        Some(at) => {
            if let Some(table) =
                Table::all(&spec).iter().find(|table| !tables.contains(&table.dictionary_name()))
            {
                let name = table.dictionary_name();
                return Err(broken(format!(
                    "table {name} is not there any more, or not the one that was loaded"
                )));
            }
            DataState::Loaded { tables: facts(connection)?, spec, at: (*at).to_owned() }
        }
        None => DataState::Partial {
            spec,
            since: meta.get("started_at").copied().unwrap_or_default().to_owned(),
            rows: chunk_rows.iter().filter_map(|row| row.parse::<u64>(3)).sum(),
        },
    };
    Ok(Some(Found { state, mark, chunks: chunks.collect(), tables, unfinished }))
}

/// Names that are recorded as Dyno's, the last made first.
pub(super) fn recorded(connection: &Connection) -> Result<Vec<String>, TargetError> {
    let rows = connection.rows(&sql::READ_OBJECTS.text(), &[])?;
    Ok(rows.iter().filter_map(|row| row.get(1).map(str::to_owned)).collect())
}

fn spec(meta: &HashMap<&str, &str>) -> Result<DataSpec, TargetError> {
    fn number<T: std::str::FromStr>(meta: &HashMap<&str, &str>, name: &str) -> Result<T, TargetError> {
        let text = meta.get(name).ok_or_else(|| broken(format!("{name} is missing")))?;
        text.parse().map_err(|_| broken(format!("{name} is {text:?}")))
    }
    Ok(DataSpec {
        schemas: number(meta, "schemas")?,
        rows: number(meta, "rows")?,
        scan_rows: number(meta, "scan_rows")?,
        block_size: number(meta, "block_size")?,
        compressible: number(meta, "compressible")?,
        seed: number(meta, "seed")?,
        // Loads of older versions have none, and do not say so.
        secondary: meta.contains_key(SECONDARY) && number(meta, SECONDARY)?,
    })
}

/// What was measured of each table when the load was finished.
fn facts(connection: &Connection) -> Result<Vec<SchemaFacts>, TargetError> {
    let rows = connection.rows(&sql::READ_TABLES.text(), &[])?;
    let fact = |row: &super::super::connection::Row| {
        let kinds = [TableKind::Rows, TableKind::Scan];
        let kind = kinds.into_iter().find(|kind| Some(kind.name()) == row.get(0))?;
        Some(SchemaFacts {
            schema: row.parse(1)?,
            kind: kind.name(),
            table: row.get(2)?.to_owned(),
            rows: row.parse(3)?,
            blocks: row.parse(4)?,
            bytes: row.parse(5)?,
        })
    };
    rows.iter().map(|row| fact(row).ok_or_else(|| broken("a row of DYNO_TABLES cannot be read"))).collect()
}
