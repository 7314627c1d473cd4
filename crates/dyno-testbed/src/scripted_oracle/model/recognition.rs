//! Recognizes statements on test tables by their texts.

use std::sync::Arc;

use super::answers::name_after;
use super::copy_text::{self, CopyStatement};
use super::slice_text::{Slice, columns_set, is_slice};

/// What a statement does to its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Deed {
    Range,
    Lookup,
    Group,
    Scan,
    Found,
    Fresh,
    /// Sets these columns in a range of rows.
    Update(Vec<usize>),
    Insert,
    /// Copies all rows of another table.
    Copy(CopyStatement),
    Delete,
    /// Deletes rows that sessions left behind.
    SweepUp,
    /// Returns the keys of a range, one row each.
    Keys,
    Slice(Slice),
}

/// A statement on one table of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TableStatement {
    pub(super) table: Arc<str>,
    pub(super) deed: Deed,
    /// Whether it is a block that commits and returns its number of rows.
    pub(super) commits: bool,
}

/// Parses a text in single spaces; absent if it is not a statement on a table of rows.
pub(super) fn recognize(words: &str) -> Option<TableStatement> {
    let on_table = |table: &str, deed, commits| {
        let table = format!("DYNO_{table}");
        Some(TableStatement { table: table.into(), deed, commits })
    };
    let named = |before: &str| name_after(words, before);
    let (begins, says) = (|start: &str| words.starts_with(start), |part: &str| words.contains(part));
    let commits = begins("BEGIN ");
    let deed = if is_slice(words) {
        let table = named("*/ dyno_").or_else(|| named("FROM dyno_"))?;
        return on_table(&table, Deed::Slice(Slice::of(words, &table)), false);
    } else if begins("SELECT /*+ INDEX(t") && says("*/ COUNT(") && says("BETWEEN") {
        Deed::Range
    } else if begins("SELECT /*+ INDEX(t") && says("*/ c2 FROM") {
        Deed::Lookup
    } else if begins("SELECT /*+ INDEX(t") && says(" WHERE sec = ") {
        Deed::Group
    } else if begins("SELECT /*+ FULL(t) NO_PARALLEL(t) */ COUNT(c2)") {
        Deed::Scan
    } else if begins("SELECT COUNT(*) AS there FROM dyno_rows_") {
        Deed::Found
    } else if begins("SELECT COUNT(CASE WHEN c2 LIKE :stamp") {
        Deed::Fresh
    } else if begins("SELECT custid FROM dyno_rows_") && says("BETWEEN") {
        Deed::Keys
    } else if begins("UPDATE /*+ INDEX(t") || begins("BEGIN UPDATE /*+ INDEX(t") {
        return on_table(&named("*/ dyno_")?, Deed::Update(columns_set(words)), commits);
    } else if begins("INSERT INTO dyno_rows_")
        || begins("INSERT INTO dyno_scan_")
        || begins("BEGIN INSERT INTO dyno_")
    {
        return on_table(&named("INTO dyno_")?, Deed::Insert, commits);
    } else if begins(copy_text::BEGIN) {
        return on_table(&named("INTO dyno_")?, Deed::Copy(CopyStatement::of(words)?), false);
    } else if (begins("DELETE /*+ INDEX(t") || begins("BEGIN DELETE /*+ INDEX(t")) && says("custid = :key") {
        Deed::Delete
    } else if begins("DELETE /*+ INDEX(t") && says("ROWNUM <= :most") {
        Deed::SweepUp
    } else {
        return None;
    };
    on_table(&named("FROM dyno_")?, deed, commits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_recognized_by_their_effect() {
        for (words, table, deed, commits) in [
            (
                "SELECT /*+ INDEX(t dyno_rows_3_custid) */ COUNT(c2) AS row_count FROM dyno_rows_3 t WHERE custid BETWEEN :first_key AND :last_key",
                "DYNO_ROWS_3",
                Deed::Range,
                false,
            ),
            (
                "UPDATE /*+ INDEX(t dyno_rows_1_custid) */ dyno_rows_1 t SET ver = ver + 1, c2 = :c2, c20 = :c20 WHERE custid BETWEEN :first_key AND :last_key",
                "DYNO_ROWS_1",
                Deed::Update(vec![2, 20]),
                false,
            ),
            (
                "BEGIN INSERT INTO dyno_rows_12 (custid, ver, c2) VALUES (:key, 0, :c2); :changed := SQL%ROWCOUNT; COMMIT; END;",
                "DYNO_ROWS_12",
                Deed::Insert,
                true,
            ),
            (
                "INSERT INTO dyno_scan_1 (custid, ver, c2) VALUES (:custid, 0, :c2)",
                "DYNO_SCAN_1",
                Deed::Insert,
                false,
            ),
            (
                "DELETE /*+ INDEX(t dyno_rows_2_custid) */ FROM dyno_rows_2 t WHERE custid > :last_key AND c2 LIKE 'u%' AND ROWNUM <= :most",
                "DYNO_ROWS_2",
                Deed::SweepUp,
                false,
            ),
        ] {
            assert_eq!(
                recognize(words),
                Some(TableStatement { table: table.into(), deed, commits }),
                "{words}"
            );
        }
        for words in ["SELECT 1 FROM dual", "SELECT name, value FROM dyno_meta", "DELETE FROM dyno_tables"] {
            assert_eq!(recognize(words), None, "{words}");
        }
    }
}
