//! The operations in SQL.
//!
//! The index is named: in a small table, or with statistics of a sample, the optimizer may think a scan cheaper, and a
//! range by the index is what the method demands.

use dyno_plan::Redo;

use crate::layout::Shape;
use dyno_engine::data::TEXT_COLUMNS;
use dyno_engine::layout::{text_columns, updated_columns};

/// The table of `schema`, to be read by its index on `custid`.
fn by_index(schema: u32) -> String {
    format!("dyno_rows_{schema} FORCE INDEX (dyno_rows_{schema}_custid)")
}

/// Counts the rows of a range; `c2` is in no index, so each row's page is visited.
pub(super) fn select(schema: u32) -> String {
    format!("SELECT COUNT(c2) FROM {} WHERE custid BETWEEN ? AND ?", by_index(schema))
}

/// Reads the row of a key.
pub(super) fn lookup(schema: u32) -> String {
    format!("SELECT c2 FROM {} WHERE custid = ?", by_index(schema))
}

/// Counts the rows of the table without an index.
pub(super) fn scan(schema: u32) -> String {
    format!("SELECT COUNT(c2) FROM dyno_scan_{schema}")
}

/// Gives the rows of a range new values; the values come before the range.
pub(super) fn update(schema: u32, redo: Redo) -> String {
    let set: String = updated_columns(redo).map(|column| format!(", c{column} = ?")).collect();
    format!("UPDATE {} SET ver = ver + 1{set} WHERE custid BETWEEN ? AND ?", by_index(schema))
}

/// Counts the rows of one value of the secondary key.
pub(super) fn secondary(schema: u32) -> String {
    format!("SELECT COUNT(c2) FROM dyno_rows_{schema} FORCE INDEX (dyno_rows_{schema}_sec) WHERE sec = ?")
}

/// Inserts a row with new values, as long as those that were loaded, behind its spacers: the place of each spacer, then the
/// row's place, key, columns and pad.
pub(super) fn insert(schema: u32, shape: Shape) -> String {
    // There are one or three spacers.
    insert_with(schema, shape, &vec!["?"; shape.spacers as usize + 3 + TEXT_COLUMNS])
}

/// The same with these expressions as its values.
pub(super) fn insert_with(schema: u32, shape: Shape, values: &[impl AsRef<str>]) -> String {
    let columns = text_columns(", ");
    let nulls = ", NULL".repeat(TEXT_COLUMNS - 1);
    let text = format!("REPEAT('.', {})", shape.spacer_bytes);
    let (last, pad) = if shape.pads_spacers() { ("NULL", text.as_str()) } else { (text.as_str(), "NULL") };
    let mut values = values.iter().map(AsRef::as_ref);
    let mut take = |count: usize| values.by_ref().take(count).collect::<Vec<_>>();
    let spacers: String = take(shape.spacers as usize)
        .into_iter()
        .map(|place| format!("({place}, NULL, 0{nulls}, {last}, {pad}), "))
        .collect();
    let (place_and_key, texts) = (take(2).join(", "), take(TEXT_COLUMNS + 1).join(", "));
    format!(
        "INSERT INTO dyno_rows_{schema} (id, custid, ver, {columns}, pad) VALUES {spacers}({place_and_key}, 0, {texts})"
    )
}

/// Deletes a row and its spacers, by their places.
pub(super) fn delete(schema: u32) -> String {
    format!("DELETE FROM dyno_rows_{schema} WHERE id BETWEEN ? AND ?")
}

/// Reads back the rows `first..=last`: how many there are, and in how many `c2` begins with `stamp`, or with one that
/// another session of this run wrote. All three texts are hexadecimal digits behind a `u`.
pub(super) fn verify(schema: u32, first: u64, last: u64, stamp: &str, run: &str, session: &str) -> String {
    format!(
        "SELECT COUNT(*), COALESCE(SUM(c2 LIKE '{stamp}%' OR (c2 LIKE '{run}%' AND c2 NOT LIKE '{session}%')), 0) \
         FROM {} WHERE custid BETWEEN {first} AND {last}",
        by_index(schema)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_sets_every_column_and_lite_two() {
        assert_eq!(
            update(3, Redo::Lite),
            "UPDATE dyno_rows_3 FORCE INDEX (dyno_rows_3_custid) SET ver = ver + 1, c2 = ?, c20 = ? \
             WHERE custid BETWEEN ? AND ?"
        );
        assert_eq!(update(1, Redo::Heavy).matches('?').count(), 21);
    }
}
