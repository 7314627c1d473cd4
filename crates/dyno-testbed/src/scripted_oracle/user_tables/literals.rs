//! Writes a client's binds into the text of a statement.

use std::fmt::Write as _;

use super::answers::RefusedStatement;
use crate::scripted_oracle::ScriptedValue;

/// The text with each `:name` outside of quotes and comments replaced by its value. `:3` is the third value;
/// any other name has the value of its first occurrence.
pub(super) fn bound(sql: &str, values: &[ScriptedValue]) -> Result<String, RefusedStatement> {
    let mut names: Vec<&str> = Vec::new();
    let mut out = String::with_capacity(sql.len() + 16 * values.len());
    let mut rest = sql;
    while let Some(at) = rest.find([':', '\'', '/', '-', '"']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let length = quoted(from).unwrap_or_else(|| bind_length(from));
        if from.starts_with(':') && length > 1 {
            let name = &from[1..length];
            let place = match name.parse::<usize>() {
                Ok(number) => number.checked_sub(1),
                Err(_) => Some(names.iter().position(|known| *known == name).unwrap_or_else(|| {
                    names.push(name);
                    names.len() - 1
                })),
            };
            let value =
                place.and_then(|place| values.get(place)).ok_or_else(|| RefusedStatement::not_bound(name))?;
            out.push_str(&literal(value));
        } else {
            out.push_str(&from[..length]);
        }
        rest = &from[length..];
    }
    out.push_str(rest);
    Ok(out)
}

/// The length of a quoted text or comment at the start of `text`; absent if there is none.
fn quoted(text: &str) -> Option<usize> {
    let until = |start: usize, end: &str| {
        Some(text[start..].find(end).map_or(text.len(), |at| start + at + end.len()))
    };
    match text.as_bytes() {
        [b'\'', ..] => until(1, "'"),
        [b'"', ..] => until(1, "\""),
        [b'/', b'*', ..] => until(2, "*/"),
        [b'-', b'-', ..] => until(2, "\n"),
        _ => None,
    }
}

/// The length of a colon with its name, or of the one character that is none.
fn bind_length(text: &str) -> usize {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !text.starts_with(':') {
        return 1;
    }
    1 + text[1..].find(|c| !is_name(c)).unwrap_or(text.len() - 1)
}

/// A value as MariaDB reads it.
pub(super) fn literal(value: &ScriptedValue) -> String {
    match value {
        ScriptedValue::Null => "NULL".to_owned(),
        ScriptedValue::Int(number) => number.to_string(),
        ScriptedValue::Decimal(digits) => digits.clone(),
        ScriptedValue::Text(text) => format!("'{}'", text.replace('\'', "''")),
        ScriptedValue::Raw(bytes) => {
            let mut hex = String::from("X'");
            bytes.iter().for_each(|byte| write!(hex, "{byte:02x}").expect("a text takes all"));
            hex + "'"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binds_are_replaced_outside_of_quotes_and_comments() {
        let values = [ScriptedValue::Int(-7), ScriptedValue::Text("it's".to_owned())];
        for (sql, expected) in [
            ("SELECT :1, :2 FROM dual", "SELECT -7, 'it''s' FROM dual"),
            ("SELECT :a, :b, :a", "SELECT -7, 'it''s', -7"),
            (
                "SELECT ':1' /* :1 */, \":1\", :1 -- :2\n, 1 - :1",
                "SELECT ':1' /* :1 */, \":1\", -7 -- :2\n, 1 - -7",
            ),
            ("BEGIN x := 1; END;", "BEGIN x := 1; END;"),
            ("SELECT 'it''s :1'", "SELECT 'it''s :1'"),
        ] {
            assert_eq!(bound(sql, &values).ok().as_deref(), Some(expected));
        }
        assert!(bound("SELECT :3", &values).is_err());
    }

    #[test]
    fn every_value_has_a_literal() {
        for (value, expected) in [
            (ScriptedValue::Null, "NULL"),
            (ScriptedValue::Decimal("0.50".to_owned()), "0.50"),
            (ScriptedValue::Raw(vec![0, 255]), "X'00ff'"),
        ] {
            assert_eq!(literal(&value), expected);
        }
    }
}
