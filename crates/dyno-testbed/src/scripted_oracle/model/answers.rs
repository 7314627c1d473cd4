//! Helpers that build answers and read statements and binds.

use crate::{ScriptedAnswer, ScriptedType, ScriptedValue};

pub(super) fn text(text: impl Into<String>) -> ScriptedValue {
    ScriptedValue::Text(text.into())
}

pub(super) fn int(number: impl TryInto<i64>) -> ScriptedValue {
    ScriptedValue::Int(number.try_into().unwrap_or(i64::MAX))
}

/// Rows with these columns: a lower-case name is a number column, any other a text column.
pub(super) fn rows(columns: &[&'static str], rows: Vec<Vec<ScriptedValue>>) -> ScriptedAnswer {
    let kind = |name: &str| {
        if name.chars().any(|c| c.is_ascii_lowercase()) { ScriptedType::Number } else { ScriptedType::Text }
    };
    ScriptedAnswer::Rows { columns: columns.iter().map(|name| (*name, kind(name))).collect(), rows }
}

/// One row with one number.
pub(super) fn number(value: impl TryInto<i64>) -> ScriptedAnswer {
    rows(&["number"], vec![vec![int(value)]])
}

/// A bind's number; 0 if it is not a number.
pub(super) fn int_of(value: Option<&ScriptedValue>) -> i64 {
    match value {
        Some(ScriptedValue::Int(number)) => *number,
        _ => 0,
    }
}

/// A bind's text; empty if it is not a text.
pub(super) fn text_of(value: Option<&ScriptedValue>) -> &str {
    match value {
        Some(ScriptedValue::Text(text)) => text,
        _ => "",
    }
}

/// The name after `before`, as the dictionary spells it: `DYNO_ROWS_1` of `FROM dyno_rows_1 t` or `DROP TABLE
/// "DYNO_ROWS_1"`.
pub(super) fn name_after(words: &str, before: &str) -> Option<String> {
    let rest = words.split_once(before)?.1.trim_start().trim_start_matches('"');
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_$#".contains(c))).unwrap_or(rest.len());
    (end > 0).then(|| rest[..end].to_ascii_uppercase())
}

pub(super) fn no_table(name: &str) -> ScriptedAnswer {
    ScriptedAnswer::RefusedWith(942, format!("ORA-00942: table or view \"DYNO\".\"{name}\" does not exist\n"))
}

/// The answer to a statement that the model does not know.
pub(super) fn unknown(words: &str) -> ScriptedAnswer {
    let words: String = words.chars().take(200).collect();
    ScriptedAnswer::RefusedWith(900, format!("ORA-00900: the model knows no such statement: {words}\n"))
}
