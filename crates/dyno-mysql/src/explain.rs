//! Plans of statements: a row for each table, worded with the names of its columns.

use dyno_engine::{Dataset, Row, TargetError, Value, explain};

/// The columns of MariaDB's answer. MySQL's has `partitions` behind the table, and `filtered` before the last.
const COLUMNS: [&str; 10] =
    ["id", "select_type", "table", "type", "possible_keys", "key", "key_len", "ref", "rows", "extra"];

/// How the database would do `sql`.
pub(crate) fn explain(dataset: &dyn Dataset, sql: &str) -> Result<Vec<String>, TargetError> {
    explain::lines(dataset, &[&format!("EXPLAIN {sql}")], line)
}

/// One row of the answer: what is NULL is left out.
fn line(row: &Row) -> String {
    let mut names = COLUMNS.to_vec();
    if row.len() > COLUMNS.len() {
        names.insert(3, "partitions");
        names.insert(names.len() - 1, "filtered");
    }
    let one = |(at, name): (usize, &&str)| {
        row.get(at).filter(|value| !value.is_empty()).map(|value| format!("{name}={value}"))
    };
    names.iter().enumerate().filter_map(one).collect::<Vec<_>>().join("  ")
}

/// `value` as it stands in a statement: a backslash is a sign of its own there.
pub(crate) fn literal(value: Value<'_>) -> String {
    match value {
        Value::Text(_) => explain::literal(value).replace('\\', "\\\\"),
        _ => explain::literal(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_worded_by_the_names_of_its_columns() {
        let texts = |values: &[&str]| {
            Row(values.iter().map(|value| (*value != "-").then(|| (*value).to_owned())).collect())
        };
        let maria = texts(&["1", "SIMPLE", "t", "const", "PRIMARY", "PRIMARY", "4", "const", "1", "-"]);
        let words = "id=1  select_type=SIMPLE  table=t  type=const  possible_keys=PRIMARY  key=PRIMARY  key_len=4  ref=const  rows=1";
        assert_eq!(line(&maria), words);
        let mysql =
            texts(&["1", "SIMPLE", "t", "-", "ALL", "-", "-", "-", "-", "9", "100.00", "Using where"]);
        let words = "id=1  select_type=SIMPLE  table=t  type=ALL  rows=9  filtered=100.00  extra=Using where";
        assert_eq!(line(&mysql), words);
    }

    #[test]
    fn a_backslash_is_written_twice() {
        assert_eq!(literal(Value::Text(b"a\\'b")), "'a\\\\''b'");
    }
}
