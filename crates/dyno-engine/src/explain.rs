//! Reads a database's plan for a statement. Values are written into the statement, since the plan depends on
//! them.

use crate::error::TargetError;
use crate::row::TextRow;
use crate::{Target, Value};

/// `value` as a literal of standard SQL.
pub fn literal(value: Value<'_>) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        // In parentheses, a sign cannot join an operator before it.
        Value::Int(number) if number < 0 => format!("({number})"),
        Value::Int(number) => number.to_string(),
        Value::Real(number) => format!("({number:e})"),
        Value::Text(bytes) => format!("'{}'", String::from_utf8_lossy(bytes).replace('\'', "''")),
        Value::Bytes(bytes) => format!("X'{}'", hex(bytes)),
    }
}

/// Formats bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The rows that the last of `statements` returns, each formatted by `line`.
///
/// # Errors
/// The database cannot be reached, or refuses a statement.
pub fn lines(
    target: &(impl Target + ?Sized),
    statements: &[&str],
    line: impl Fn(&TextRow) -> String,
) -> Result<Vec<String>, TargetError> {
    let mut last = Vec::new();
    target.script(statements, &mut |rows| {
        last = rows;
        Ok(())
    })?;
    Ok(last.iter().map(line).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sql_literals_are_escaped() {
        let literal_of = |value| literal(value);
        assert_eq!(literal_of(Value::Null), "NULL");
        assert_eq!(literal_of(Value::Int(-5)), "(-5)");
        assert_eq!(literal_of(Value::Real(0.5)), "(5e-1)");
        assert_eq!(literal_of(Value::Text(b"it's")), "'it''s'");
        assert_eq!(literal_of(Value::Bytes(&[0, 255])), "X'00ff'");
    }
}
