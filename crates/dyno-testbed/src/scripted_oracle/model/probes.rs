//! Statements that return only their bind values; `dyno check --deep` sends them.

use super::answers::{int, number, rows, text};
use crate::{ScriptedAnswer, ScriptedType, ScriptedValue};

/// The value as a number, from a NUMBER, a BINARY_DOUBLE, or decimal digits.
fn real_of(value: &ScriptedValue) -> Option<f64> {
    match value {
        ScriptedValue::Int(number) => Some(*number as f64),
        ScriptedValue::Decimal(digits) | ScriptedValue::Text(digits) => digits.parse().ok(),
        ScriptedValue::Raw(_) | ScriptedValue::Null => None,
    }
}

/// Answers a probe; absent for any other statement.
pub(super) fn answer(words: &str, binds: &[ScriptedValue]) -> Option<ScriptedAnswer> {
    let begins = |start: &str| words.starts_with(start);
    if !words.ends_with(" FROM dual") {
        return None;
    }
    let first = binds.first().unwrap_or(&ScriptedValue::Null);
    let below = match first {
        ScriptedValue::Int(value) => int(value.saturating_sub(10)),
        _ => ScriptedValue::Null,
    };
    Some(if begins("SELECT CASE WHEN :1 = -7 AND ") {
        let bind = |place| binds.get(place).unwrap_or(&ScriptedValue::Null);
        let is_real = |place, wanted: f64| real_of(bind(place)) == Some(wanted);
        let is_fit = *first == int(-7)
            && is_real(1, 1.5)
            && *bind(2) == text("naïve")
            && matches!(bind(3), ScriptedValue::Raw(bytes) if bytes.len() == 3)
            && is_real(4, 12.5);
        number(i64::from(is_fit))
    } else if begins("SELECT CASE WHEN :1 IS NULL AND ") {
        number(i64::from(binds.iter().take(5).all(|value| *value == ScriptedValue::Null)))
    } else if begins("SELECT LENGTH(:1)") {
        let length = match first {
            ScriptedValue::Text(letters) => int(letters.chars().count() as u64),
            _ => ScriptedValue::Null,
        };
        rows(&["length"], vec![vec![length]])
    } else if begins("SELECT :1 - 10, 'naïve', NULL") {
        rows(&["below", "A", "B"], vec![vec![below, text("naïve"), ScriptedValue::Null]])
    } else if begins("SELECT :1 - 10") {
        rows(&["below"], vec![vec![below]])
    } else if words == "SELECT 7 FROM dual" {
        number(7)
    } else if begins("SELECT 'seven'") {
        let columns = vec![("'SEVEN'", ScriptedType::Text)];
        ScriptedAnswer::Rows { columns, rows: vec![vec![text("seven")]] }
    } else {
        return None;
    })
}
