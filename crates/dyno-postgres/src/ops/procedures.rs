//! The stored procedures of the server drive: one for each set of operation classes, so that none tests for
//! classes it never executes.

use dyno_plan::{DataSpec, Redo};

use dyno_engine::layout::{text_columns, updated_columns};

/// Name and text of each read-only procedure, with `{n}` for the schema's number.
const READS: [(&str, &str); 3] = [
    ("slice_select", include_str!("../sql/slice_select.sql")),
    ("slice_lookup", include_str!("../sql/slice_lookup.sql")),
    ("slice_scan", include_str!("../sql/slice_scan.sql")),
];

/// The procedure for lookups by the secondary key, with `{secondary}` for the key.
const SECONDARY: &str = include_str!("../sql/slice_secondary.sql");

/// Procedures that write, with placeholders for the assignments of an update and the values of an insert.
/// They cover updates alone, updates with the common reads, and all classes.
const WRITES: [(&str, &str); 3] = [
    ("slice_update", include_str!("../sql/slice_update.sql")),
    ("slice_mixed", include_str!("../sql/slice_mixed.sql")),
    ("slice_any", include_str!("../sql/slice_any.sql")),
];

/// Full name and `CREATE` statement of every procedure for `schema`; `DROP PROCEDURE name` removes it.
pub fn slice_sql(spec: &DataSpec, schema: u32) -> Vec<(String, String)> {
    let reads = READS.into_iter().chain(spec.secondary.then_some(("slice_secondary", SECONDARY)));
    let mut all: Vec<(String, String)> = reads.map(|(name, sql)| (name.to_owned(), sql.to_owned())).collect();
    for redo in Redo::ALL {
        all.extend(WRITES.map(|(name, sql)| (format!("{name}_{}", redo.name()), written(sql, redo))));
    }
    let secondary = spec.secondary_sql("%");
    all.into_iter()
        .map(|(name, sql)| {
            let sql = sql.replace("{secondary}", &secondary).replace("{n}", &schema.to_string());
            (format!("dyno.{name}_{schema}"), sql)
        })
        .collect()
}

/// The text of a procedure that writes; its updates generate `redo`.
fn written(sql: &str, redo: Redo) -> String {
    let list = |columns: Redo, format_column: &dyn Fn(usize) -> String| {
        updated_columns(columns).map(format_column).collect::<Vec<_>>()
    };
    let assigned = list(redo, &|column| format!("value_{column} := {};", value(column)));
    let sql = in_lines(sql, "{declare}", &list(redo, &|column| format!("value_{column} text;")));
    in_lines(&sql, "{assign}", &assigned)
        .replace("{set}", &list(redo, &|column| format!("c{column} = value_{column}")).join(", "))
        .replace("{columns}", &text_columns(", "))
        .replace("{values}", &list(Redo::Heavy, &value).join(", "))
        .replace("{redo}", redo.name())
}

/// `sql` with the line `place` replaced by `lines`, at the same indentation.
fn in_lines(sql: &str, place: &str, lines: &[String]) -> String {
    let margin = sql.lines().find_map(|line| line.strip_suffix(place)).unwrap_or_default();
    sql.replace(place, &lines.join(&format!("\n{margin}")))
}

/// The new value of a column: the stamp in `c2`, a hash of it in other columns, followed by one of the
/// rotating tails.
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
        DataSpec {
            schemas: 1,
            rows: 50,
            scan_rows: 0,
            block_size: 8192,
            compressible: 0,
            seed: 1,
            secondary,
            copied: false,
        }
    }

    #[test]
    fn procedures_are_created_under_their_names() {
        let all = slice_sql(&spec(true), 12);
        assert_eq!(all.len(), 10);
        for (name, sql) in all {
            assert!(sql.contains(&format!("PROCEDURE {name}(")), "{name}");
            assert!(!sql.contains('{'), "{name} has a placeholder left");
        }
        assert_eq!(slice_sql(&spec(false), 1).len(), 9, "without the key there are no lookups by it");
    }

    #[test]
    fn generated_procedure_is_readable_sql() {
        let sql = written(WRITES[0].1, Redo::Lite);
        assert!(sql.contains("\n    value_2 text;\n    value_20 text;\nBEGIN\n"), "{sql}");
        assert!(sql.contains("\n        value_2 := stamp || tails[1];\n        value_20 := lpad("), "{sql}");
        assert!(sql.contains("SET ver = ver + 1, c2 = value_2, c20 = value_20\n"), "{sql}");
    }
}
