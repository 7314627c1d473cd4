//! The stored procedures of the server drive: one for each set of operation classes, so that none of them branches on
//! what it never does.

use dyno_plan::{DataSpec, Redo};

use dyno_engine::layout::{text_columns, updated_columns};

/// Name and text of each procedure, with `{n}` for the schema's number.
const PROCEDURES: [(&str, &str); 7] = [
    ("slice_select", include_str!("../sql/slice_select.sql")),
    ("slice_lookup", include_str!("../sql/slice_lookup.sql")),
    ("slice_scan", include_str!("../sql/slice_scan.sql")),
    ("slice_update_lite", include_str!("../sql/slice_update_lite.sql")),
    ("slice_update_heavy", include_str!("../sql/slice_update_heavy.sql")),
    ("slice_mixed_lite", include_str!("../sql/slice_mixed_lite.sql")),
    ("slice_mixed_heavy", include_str!("../sql/slice_mixed_heavy.sql")),
];

/// The procedure for lookups by the secondary key, with `{secondary}` for the key.
const SECONDARY: &str = include_str!("../sql/slice_secondary.sql");

/// The procedure for all classes, with what an update sets and an insert writes.
const ANY: &str = include_str!("../sql/slice_any.sql");

/// Full name and `CREATE` statement of every procedure for `schema`; `DROP PROCEDURE name` removes it.
pub fn slice_sql(spec: &DataSpec, schema: u32) -> Vec<(String, String)> {
    let number = schema.to_string();
    let mut all: Vec<(String, String)> =
        PROCEDURES.iter().map(|(name, sql)| ((*name).to_owned(), (*sql).to_owned())).collect();
    if spec.secondary {
        all.push(("slice_secondary".to_owned(), SECONDARY.to_owned()));
    }
    for (redo, word) in [(Redo::Lite, "lite"), (Redo::Heavy, "heavy")] {
        all.push((format!("slice_any_{word}"), any(redo).replace("{redo}", word)));
    }
    let secondary = spec.secondary_sql("%");
    all.into_iter()
        .map(|(name, sql)| {
            let sql = sql.replace("{secondary}", &secondary).replace("{n}", &number);
            (format!("dyno.{name}_{schema}"), sql)
        })
        .collect()
}

/// The procedure for all classes; its updates are of `redo`.
fn any(redo: Redo) -> String {
    let list = |columns: Redo, separator: &str, each: &dyn Fn(usize) -> String| {
        updated_columns(columns).map(each).collect::<Vec<_>>().join(separator)
    };
    ANY.replace("{declare}", &list(redo, "\n    ", &|column| format!("value_{column} text;")))
        .replace("{assign}", &list(redo, "\n                ", &|c| format!("value_{c} := {};", value(c))))
        .replace("{set}", &list(redo, ", ", &|column| format!("c{column} = value_{column}")))
        .replace("{columns}", &text_columns(", "))
        .replace("{values}", &list(Redo::Heavy, ", ", &value))
}

/// The new value of a column: the stamp in `c2`, a hash of it elsewhere, and one of the tails, which take turns.
fn value(column: usize) -> String {
    if column == 2 {
        return "stamp || tails[1]".to_owned();
    }
    format!("lpad(to_hex(hashtextextended(stamp, {column})), 16, '0') || tails[(turn + {column}) % 18 + 2]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(secondary: bool) -> DataSpec {
        DataSpec { schemas: 1, rows: 50, scan_rows: 0, block_size: 8192, compressible: 0, seed: 1, secondary }
    }

    #[test]
    fn every_procedure_is_made_under_its_name() {
        let all = slice_sql(&spec(true), 12);
        assert_eq!(all.len(), 10);
        for (name, sql) in all {
            assert!(sql.contains(&format!("PROCEDURE {name}(")), "{name}");
            assert!(!sql.contains('{'), "{name} has a placeholder left");
        }
        assert_eq!(slice_sql(&spec(false), 1).len(), 9, "without the key there are no lookups by it");
    }

    #[test]
    fn values_are_made_in_one_way_everywhere() {
        for (redo, sql) in [(Redo::Lite, PROCEDURES[5].1), (Redo::Heavy, PROCEDURES[6].1)] {
            for column in updated_columns(redo) {
                assert!(sql.contains(&format!("value_{column} := {};", value(column))), "{column}");
            }
        }
    }
}
