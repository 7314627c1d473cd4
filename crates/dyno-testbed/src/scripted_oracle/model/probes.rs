//! Statements that return only their bind values; `dyno check --deep` sends them.

use super::answers::{int, number, rows, text};
use crate::{ScriptedAnswer, ScriptedType, ScriptedValue};

/// The value as a number, from a NUMBER, decimal digits, or the eight bytes of a BINARY_DOUBLE.
fn real_of(value: &ScriptedValue) -> Option<f64> {
    match value {
        ScriptedValue::Int(number) => Some(*number as f64),
        ScriptedValue::Decimal(digits) | ScriptedValue::Text(digits) => digits.parse().ok(),
        ScriptedValue::Raw(bytes) => {
            let bits = u64::from_be_bytes(bytes.as_slice().try_into().ok()?);
            // The sign is inverted, and negative numbers have all bits inverted, so that bytes sort like the
            // numbers.
            Some(f64::from_bits(if bits >> 63 == 1 { bits ^ (1 << 63) } else { !bits }))
        }
        ScriptedValue::Null => None,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oracle_binary_doubles_are_decoded() {
        let bytes = |number: f64| {
            let bits = number.to_bits();
            let bits = if number.is_sign_negative() { !bits } else { bits ^ (1 << 63) };
            ScriptedValue::Raw(bits.to_be_bytes().to_vec())
        };
        for number in [1.5, -0.5, 0.0, 12.5] {
            assert_eq!(real_of(&bytes(number)), Some(number));
        }
        assert_eq!(real_of(&text("12.50")), Some(12.5));
        assert_eq!(real_of(&ScriptedValue::Null), None);
    }
}
