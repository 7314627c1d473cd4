//! The stored procedures of the server drive: one for each set of operation classes, so that none tests for
//! classes it never executes.

use dyno_plan::Redo;

use super::statements::insert_with;
use crate::layout::MySqlRowShape;
use dyno_engine::layout::updated_columns;

/// Name and text of each procedure. Placeholders: `{n}` schema number, `{mark}` comment, `{set}` assignments
/// of an update, `{insert}` statement that inserts a row, `{records}` records of a row with its spacers,
/// `{spacers}` number of spacers.
const READS: [(&str, &str); 4] = [
    ("select", include_str!("../sql/slice_select.sql")),
    ("lookup", include_str!("../sql/slice_lookup.sql")),
    ("scan", include_str!("../sql/slice_scan.sql")),
    ("secondary", include_str!("../sql/slice_secondary.sql")),
];

/// The procedures that update, once for each amount of redo.
const UPDATES: [(&str, &str); 3] = [
    ("update", include_str!("../sql/slice_update.sql")),
    ("mixed", include_str!("../sql/slice_mixed.sql")),
    ("any", include_str!("../sql/slice_any.sql")),
];

/// Bytes that a procedure prepends to a column other than `c2`: a hash and the column's number.
pub(super) const HASH_BYTES: usize = 16;

/// Name and `CREATE` statement of every procedure for `schema`, whose rows have `shape`, with `mark` as its
/// comment.
pub(crate) fn slice_sql(schema: u32, shape: MySqlRowShape, mark: &str) -> Vec<(String, String)> {
    let words = [
        ("{n}", schema.to_string()),
        ("{mark}", mark.to_owned()),
        ("{insert}", insert(schema, shape)),
        ("{records}", shape.records().to_string()),
        ("{spacers}", shape.spacers.to_string()),
    ];
    let filled =
        |sql: &str| words.iter().fold(without_comments(sql), |sql, (word, text)| sql.replace(word, text));
    let reads = READS.iter().map(|(name, sql)| (format!("dyno_slice_{name}_{schema}"), filled(sql)));
    let of_redo = |redo: Redo| {
        let word = redo.name();
        UPDATES.iter().map(move |(name, sql)| {
            let sql = sql.replace("{redo}", word).replace("{set}", &set(redo));
            (format!("dyno_slice_{name}_{word}_{schema}"), sql)
        })
    };
    let updates = Redo::ALL.into_iter().flat_map(of_redo);
    reads.chain(updates.map(|(name, sql)| (name, filled(&sql)))).collect()
}

/// The statement of a file without the comment before it, which the server would not keep.
fn without_comments(sql: &str) -> String {
    sql.lines().filter(|line| !line.starts_with("--")).collect::<Vec<_>>().join("\n")
}

/// The assignments of an update.
fn set(redo: Redo) -> String {
    updated_columns(redo)
        .map(|column| format!("c{column} = {}", value(column)))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The new value of a column. Tails rotate with the operation's number, so that consecutive values differ.
fn value(column: usize) -> String {
    if column == 2 {
        return "CONCAT(stamp, tail)".to_owned();
    }
    let turn = format!("(number_ + {column}) MOD 18");
    format!(
        "CONCAT(hash_, '{column:02}', SUBSTR(tails, {turn} * LENGTH(tails) DIV 18 + 1, LENGTH(tails) DIV 18))"
    )
}

/// The statement that inserts the row with key `first_key` after its spacers, with new values and a pad that
/// is rotated by the operation's number.
fn insert(schema: u32, shape: MySqlRowShape) -> String {
    let last = shape.spacers;
    let mut values: Vec<String> =
        (0..last).map(|i| format!("first_key * {} - {}", shape.records(), last - i)).collect();
    values.push(format!("first_key * {}", shape.records()));
    values.push("first_key".to_owned());
    values.extend(updated_columns(Redo::Heavy).map(value));
    values.push("CONCAT(SUBSTR(filler, turn + 1), LEFT(filler, turn))".to_owned());
    insert_with(schema, shape, &values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn procedures_are_created_under_their_names() {
        for page_bytes in [16_384, 65_536] {
            let all = slice_sql(12, MySqlRowShape::of(page_bytes).unwrap(), "dyno load 1");
            assert_eq!(all.len(), 10);
            assert_named(all);
        }
    }

    fn assert_named(all: Vec<(String, String)>) {
        for (name, sql) in all {
            assert!(sql.starts_with(&format!("CREATE PROCEDURE {name}(")), "{name}");
            assert!(!sql.contains('{'), "{name}");
            assert!(sql.contains("COMMENT 'dyno load 1'"), "{name}");
        }
    }
}
