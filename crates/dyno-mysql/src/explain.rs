//! Shows the plan of a statement: one line per table, with the column names of `EXPLAIN`.

use dyno_engine::{Target, TargetError, TextRow, Value, explain};

/// The columns of MariaDB's result. MySQL's also has `partitions` after the table and `filtered` before the
/// last column.
const COLUMNS: [&str; 10] =
    ["id", "select_type", "table", "type", "possible_keys", "key", "key_len", "ref", "rows", "extra"];

/// Returns the plan that the database chooses for `sql`, one line per table.
pub(crate) fn explain(target: &dyn Target, sql: &str) -> Result<Vec<String>, TargetError> {
    explain::lines(target, &[&format!("EXPLAIN {sql}")], line)
}

/// One row of the result as text; columns that are NULL are omitted.
fn line(row: &TextRow) -> String {
    let mut names = COLUMNS.to_vec();
    if row.len() > COLUMNS.len() {
        names.insert(3, "partitions");
        names.insert(names.len() - 1, "filtered");
    }
    let format_cell = |(at, name): (usize, &&str)| {
        row.get(at).filter(|value| !value.is_empty()).map(|value| format!("{name}={value}"))
    };
    names.iter().enumerate().filter_map(format_cell).collect::<Vec<_>>().join("  ")
}

/// `value` as an SQL literal that is valid under any `sql_mode`.
pub(crate) fn literal(value: Value<'_>) -> String {
    let mut sql = Vec::new();
    write_literal(&mut sql, value);
    String::from_utf8_lossy(&sql).into_owned()
}

/// Appends `value` as an SQL literal. Text that contains a backslash or is not valid UTF-8 is written as
/// hexadecimal digits.
pub(crate) fn write_literal(sql: &mut Vec<u8>, value: Value<'_>) {
    let mut digits = |word: &str, bytes| {
        sql.extend_from_slice(word.as_bytes());
        sql.extend_from_slice(b" x'");
        bytes_in_digits(sql, bytes);
        sql.push(b'\'');
    };
    match value {
        // Without `_binary`, a hexadecimal literal next to a number would be a number.
        Value::Bytes(bytes) => digits("_binary", bytes),
        Value::Text(bytes) if !is_plain(bytes) => digits("_utf8mb4", bytes),
        Value::Text(_) | Value::Null | Value::Int(_) | Value::Real(_) => {
            sql.extend_from_slice(explain::literal(value).as_bytes());
        }
    }
}

/// Whether a text can stand in quotes as it is, apart from quotes inside it.
fn is_plain(text: &[u8]) -> bool {
    text.iter().all(|&byte| byte >= b' ' && byte != b'\\') && std::str::from_utf8(text).is_ok()
}

fn bytes_in_digits(sql: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    sql.extend(
        bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explain_row_is_labeled_with_column_names() {
        let texts = |values: &[&str]| {
            TextRow(values.iter().map(|value| (*value != "-").then(|| (*value).to_owned())).collect())
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
    fn sql_literal_escapes_any_value_regardless_of_backslash_mode() {
        let quoted = |value| literal(value);
        assert_eq!(quoted(Value::Text(b"it's \"so\"")), "'it''s \"so\"'");
        assert_eq!(quoted(Value::Text(b"a\\'b")), "_utf8mb4 x'615c2762'");
        assert_eq!(quoted(Value::Text(b"\0")), "_utf8mb4 x'00'");
        assert_eq!(quoted(Value::Text(b"\xe4")), "_utf8mb4 x'e4'");
        assert_eq!(quoted(Value::Text("añ🦀".as_bytes())), "'añ🦀'");
        assert_eq!(quoted(Value::Bytes(&[0, 0x27, 255])), "_binary x'0027ff'");
        assert_eq!(quoted(Value::Int(i64::MIN)), "(-9223372036854775808)");
    }
}
