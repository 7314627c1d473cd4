//! Queries on test tables outside of operations: a load's checks, comparisons before a run, and leftover rows
//! of sessions.

use super::answers::{int, int_of, name_after, no_table, number, rows, text};
use super::database::ModelDatabase;
use super::rows::{COLUMNS, PlacedRow, RowTable};
use crate::{ScriptedAnswer, ScriptedValue};

/// Reads a table and the number of its segment.
type Look<'a> = Box<dyn Fn(&RowTable, u64) -> ScriptedAnswer + 'a>;

/// Maximum rows of a sample of blocks.
const SAMPLE_ROWS: usize = 128;

impl ModelDatabase {
    /// Answers a survey of a table; absent for any other statement.
    pub(super) fn survey(
        &self,
        session: u64,
        words: &str,
        binds: &[ScriptedValue],
    ) -> Option<ScriptedAnswer> {
        let (begins, says) = (|start: &str| words.starts_with(start), |part: &str| words.contains(part));
        if !begins("SELECT ") {
            return None;
        }
        let name = format!("DYNO_{}", name_after(&words.to_lowercase().replace('"', ""), "from dyno_")?);
        let (bind, above) = (int_of(binds.first()), int_of(binds.first()).saturating_add(1));
        let look: Look<'_> = if begins("SELECT /*+ FULL(t) */ COUNT(*) AS all_rows") {
            Box::new(move |rows, _| measure(rows, session))
        } else if begins("SELECT * FROM dyno_") {
            Box::new(move |table, _| rows(&EVERY_COLUMN, table.all(session).map(whole_row).collect()))
        } else if begins("SELECT COUNT(*) AS few") {
            Box::new(move |rows, _| number(rows.all(session).take(2).count() as u64))
        } else if says("MIN(custid) AS smallest") {
            Box::new(move |rows, _| key(rows.all(session).next()))
        } else if says("MAX(custid) AS largest") {
            Box::new(move |rows, _| key(rows.all(session).last()))
        } else if says("AS text, ROWIDTOCHAR(t.ROWID) AS place") {
            Box::new(move |table, object| {
                let matching = table.range(session, bind..=bind);
                rows(
                    &["custid", "ver", "TEXT", "PLACE"],
                    matching.map(|row| row_text(row, Some(object))).collect(),
                )
            })
        } else if says(" SAMPLE BLOCK (") {
            let numbers = |before: &str| words.split_once(before)?.1.split_once(')')?.0.trim().parse().ok();
            let (pct, seed) = (numbers(" SAMPLE BLOCK (")?, numbers(" SEED (")?);
            Box::new(move |table, _| {
                let chosen = table.all(session).filter(|(_, block, _)| is_chosen(*block, pct, seed));
                let matching = chosen.take(SAMPLE_ROWS).map(|row| row_text(row, None));
                rows(&["custid", "ver", "TEXT"], matching.collect())
            })
        } else if says("COUNT(c2) AS row_count") && says("c2 LIKE 'u%'") {
            Box::new(move |rows, _| number(left(rows, session, above).count() as u64))
        } else if says("ROWIDTOCHAR(t.ROWID) AS place") {
            Box::new(move |table, object| {
                let places =
                    left(table, session, above).map(|(_, block, _)| vec![text(rowid(object, block))]);
                rows(&["PLACE"], places.collect())
            })
        } else if says("SUBSTR(c2, 1, 41) AS stamp") {
            Box::new(move |table, _| {
                let row = |(key, _, row): PlacedRow<'_>| {
                    let stamp = row.columns[0].get(..41).unwrap_or(&row.columns[0]);
                    vec![int(key), int(row.version), text(stamp)]
                };
                rows(&["custid", "ver", "STAMP"], table.all(session).map(row).collect())
            })
        } else {
            return None;
        };
        let mut state = self.state.lock();
        let Some((table, object)) =
            state.catalog.rows(&name).zip(state.catalog.tables.get(&name).map(|table| table.object))
        else {
            return Some(no_table(&name));
        };
        let answer = look(table, object);
        if let ScriptedAnswer::Rows { rows, .. } = &answer {
            let blocks = rows.len() as u64;
            state.statistics(session).read_blocks(2 + blocks);
        }
        Some(answer)
    }
}

fn measure(table: &RowTable, session: u64) -> ScriptedAnswer {
    let (mut count, mut sum) = (0i64, 0i64);
    for (key, _, _) in table.all(session) {
        count += 1;
        sum = sum.saturating_add(key);
    }
    let end = |row: Option<PlacedRow<'_>>| row.map_or(ScriptedValue::Null, |(key, _, _)| int(key));
    let (smallest, largest) = (end(table.all(session).next()), end(table.all(session).last()));
    // Each row is the first one of its block.
    let values = vec![int(count), smallest, largest, int(sum), int(count)];
    rows(&["all_rows", "smallest", "largest", "key_sum", "blocks"], vec![values])
}

fn key(row: Option<PlacedRow<'_>>) -> ScriptedAnswer {
    rows(&["custid"], vec![vec![row.map_or(ScriptedValue::Null, |(key, _, _)| int(key))]])
}

/// Rows inserted by sessions and not deleted.
fn left(table: &RowTable, session: u64, above: i64) -> impl Iterator<Item = PlacedRow<'_>> {
    table.range(session, above..=i64::MAX).filter(|(_, _, row)| row.columns[0].starts_with('u'))
}

/// The columns of a row without its secondary key. The lower-case ones are numbers.
const EVERY_COLUMN: [&str; 2 + COLUMNS] = [
    "custid", "ver", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C10", "C11", "C12", "C13", "C14",
    "C15", "C16", "C17", "C18", "C19", "C20",
];

fn whole_row((key, _, row): PlacedRow<'_>) -> Vec<ScriptedValue> {
    let texts = row.columns.iter().map(|column| text(&**column));
    [int(key), int(row.version)].into_iter().chain(texts).collect()
}

/// Key, version and all text of a row, and its position in the table's segment.
fn row_text((key, block, row): PlacedRow<'_>, object: Option<u64>) -> Vec<ScriptedValue> {
    let mut values = vec![int(key), int(row.version), text(row.columns.concat())];
    values.extend(object.map(|object| text(rowid(object, block))));
    values
}

/// Whether a sample of `pct` percent of the blocks contains this one.
fn is_chosen(block: u64, pct: f64, seed: f64) -> bool {
    let mixed = (block ^ (seed as u64) << 20).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
    (mixed % 100_000_000) as f64 / 1_000_000.0 < pct
}

/// The address of the first row of a block: segment, file 4, block and row, in digits of six bits.
fn rowid(object: u64, block: u64) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = |number: u64, count: u32| -> String {
        (0..count).rev().map(|place| char::from(DIGITS[(number >> (6 * place) & 63) as usize])).collect()
    };
    format!("{}AAE{}AAA", digits(object, 6), digits(block, 6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rowid_encodes_block_where_clients_expect_it() {
        assert_eq!(rowid(73_196, 151), "AAAR3sAAEAAAACXAAA");
    }

    #[test]
    fn block_samples_have_requested_share() {
        let chosen = |pct, seed| (0..100_000).filter(|&block| is_chosen(block, pct, seed)).count();
        assert_eq!(chosen(99.999_999_9, 7.0), 100_000);
        for seed in [1.0, 2.0] {
            assert!((9_000..11_000).contains(&chosen(10.0, seed)), "{}", chosen(10.0, seed));
        }
    }
}
