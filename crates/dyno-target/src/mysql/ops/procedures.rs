//! The stored procedures of the server drive: one for each set of operation classes, so that none of them branches on
//! what it never does.

use dyno_plan::Redo;

use super::statements::updated_columns;

/// Name and text of each procedure; `{n}` is the schema's number, `{mark}` its comment, `{set}` what an update sets.
const READS: [(&str, &str); 3] = [
    ("select", include_str!("../sql/slice_select.sql")),
    ("lookup", include_str!("../sql/slice_lookup.sql")),
    ("scan", include_str!("../sql/slice_scan.sql")),
];

/// The same for those that update, once for each amount of redo.
const UPDATES: [(&str, &str); 2] =
    [("update", include_str!("../sql/slice_update.sql")), ("mixed", include_str!("../sql/slice_mixed.sql"))];

/// Bytes that a procedure puts in front of a column other than `c2`: a hash and the column's number.
pub(super) const HASH_BYTES: usize = 16;

/// The word for an amount of redo in names.
pub(super) fn redo_name(redo: Redo) -> &'static str {
    match redo {
        Redo::Lite => "lite",
        Redo::Heavy => "heavy",
    }
}

/// Name and `CREATE` statement of every procedure for `schema`, with `mark` as its comment.
pub fn slice_sql(schema: u32, mark: &str) -> Vec<(String, String)> {
    let filled =
        |sql: &str| without_comments(sql).replace("{n}", &schema.to_string()).replace("{mark}", mark);
    let reads = READS.iter().map(|(name, sql)| (format!("dyno_slice_{name}_{schema}"), filled(sql)));
    let of_redo = |redo| {
        let word = redo_name(redo);
        UPDATES.iter().map(move |(name, sql)| {
            let sql = sql.replace("{redo}", word).replace("{set}", &set(redo));
            (format!("dyno_slice_{name}_{word}_{schema}"), sql)
        })
    };
    let updates = of_redo(Redo::Lite).chain(of_redo(Redo::Heavy));
    reads.chain(updates.map(|(name, sql)| (name, filled(&sql)))).collect()
}

/// A file's statement alone: the server would keep no comment that stands before it.
fn without_comments(sql: &str) -> String {
    sql.lines().filter(|line| !line.starts_with("--")).collect::<Vec<_>>().join("\n")
}

/// What an update sets. Tails take turns by the operation's number, so that neighbouring values differ.
fn set(redo: Redo) -> String {
    let others = updated_columns(redo).filter(|&column| column != 2).map(|column| {
        let turn = format!("(number_ + {column}) MOD 18");
        format!(
            "c{column} = CONCAT(hash_, '{column:02}', SUBSTR(tails, {turn} * LENGTH(tails) DIV 18 + 1, LENGTH(tails) DIV 18))"
        )
    });
    ["c2 = CONCAT(stamp, tail)".to_owned()].into_iter().chain(others).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_procedure_is_made_under_its_name() {
        let all = slice_sql(12, "dyno load 1");
        assert_eq!(all.len(), 7);
        for (name, sql) in all {
            assert!(sql.starts_with(&format!("CREATE PROCEDURE {name}(")), "{name}");
            assert!(!sql.contains('{') && sql.contains("COMMENT 'dyno load 1'"), "{name}");
        }
    }
}
