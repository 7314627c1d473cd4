//! Tables and their indexes, created, commented and dropped as a load does it.

use std::collections::BTreeMap;

use super::notes::NoteTable;
use super::rows::{RowTable, SecondaryKey};

/// Bytes of a block of the one tablespace.
pub(super) const BLOCK_BYTES: u64 = 8_192;

#[derive(Debug)]
pub(super) enum Contents {
    Notes(NoteTable),
    Rows(RowTable),
}

#[derive(Debug)]
pub(super) struct StoredIndex {
    pub(super) name: String,
    pub(super) column: String,
    pub(super) object: u64,
    pub(super) altered: String,
}

/// A table of the model's only user.
#[derive(Debug)]
pub(super) struct StoredTable {
    /// Its comment; empty without one.
    pub(super) mark: String,
    pub(super) object: u64,
    /// When it was last altered.
    pub(super) altered: String,
    pub(super) contents: Contents,
    pub(super) indexes: Vec<StoredIndex>,
}

impl StoredTable {
    /// Bytes of its blocks and its index blocks, with 200 entries per index block.
    pub(super) fn bytes(&self) -> u64 {
        let blocks = match &self.contents {
            Contents::Notes(_) => 1,
            Contents::Rows(rows) => rows.blocks,
        };
        (blocks + self.indexes.len() as u64 * (blocks / 200 + 1)) * BLOCK_BYTES
    }
}

/// All tables of the only user, by upper-case name.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    pub(super) tables: BTreeMap<String, StoredTable>,
    last_object: u64,
}

impl Catalog {
    pub(super) fn rows(&self, name: &str) -> Option<&RowTable> {
        match &self.tables.get(name)?.contents {
            Contents::Rows(rows) => Some(rows),
            Contents::Notes(_) => None,
        }
    }

    pub(super) fn rows_mut(&mut self, name: &str) -> Option<&mut RowTable> {
        match &mut self.tables.get_mut(name)?.contents {
            Contents::Rows(rows) => Some(rows),
            Contents::Notes(_) => None,
        }
    }

    pub(super) fn notes_mut(&mut self, name: &str) -> Option<&mut NoteTable> {
        match &mut self.tables.get_mut(name)?.contents {
            Contents::Notes(notes) => Some(notes),
            Contents::Rows(_) => None,
        }
    }

    fn next_object(&mut self) -> u64 {
        self.last_object += 1;
        73_000 + self.last_object
    }

    /// Creates a table with the definition in `words`. Returns whether the name was free.
    pub(super) fn create_table(&mut self, name: &str, words: &str, moment: &str) -> bool {
        if self.tables.contains_key(name) {
            return false;
        }
        let contents = match words.contains("( custid NUMBER") {
            true => Contents::Rows(RowTable::new(secondary_key(words))),
            false => Contents::Notes(NoteTable::default()),
        };
        let table = StoredTable {
            mark: String::new(),
            object: self.next_object(),
            altered: moment.to_owned(),
            contents,
            indexes: Vec::new(),
        };
        self.tables.insert(name.to_owned(), table);
        true
    }

    /// Creates an index. Returns whether its table exists.
    pub(super) fn create_index(&mut self, name: String, table: &str, column: String, moment: &str) -> bool {
        let object = self.next_object();
        let Some(table) = self.tables.get_mut(table) else { return false };
        table.altered = moment.to_owned();
        table.indexes.push(StoredIndex { name, column, object, altered: moment.to_owned() });
        true
    }
}

/// The secondary key of a table whose definition contains the virtual column `sec`:
/// `CASE WHEN custid <= rows THEN MOD(custid + groups - 1, groups) + 1 ELSE custid END`.
fn secondary_key(words: &str) -> Option<SecondaryKey> {
    let (_, definition) = words.split_once("sec NUMBER GENERATED ALWAYS AS")?;
    let number_after = |before: &str| -> Option<i64> {
        let (_, rest) = definition.split_once(before)?;
        rest.split(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty())?.parse().ok()
    };
    Some(SecondaryKey { loaded_rows: number_after("custid <=")?, groups: number_after(", ")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secondary_key_is_read_from_table_definition() {
        let words = "CREATE TABLE dyno_rows_1 ( custid NUMBER NOT NULL, c20 VARCHAR2(128 BYTE), sec NUMBER GENERATED ALWAYS AS (CASE \
                     WHEN custid <= 500 THEN MOD(custid + 19, 20) + 1 ELSE custid END) VIRTUAL ) PCTFREE 99";
        assert_eq!(secondary_key(words), Some(SecondaryKey { loaded_rows: 500, groups: 20 }));
        let mut catalog = Catalog::default();
        assert!(catalog.create_table("DYNO_ROWS_1", words, "now"));
        assert!(!catalog.create_table("DYNO_ROWS_1", words, "now"));
        assert!(catalog.rows("DYNO_ROWS_1").is_some());
        assert!(catalog.notes_mut("DYNO_ROWS_1").is_none());
    }
}
