//! Sends statements as text with their values inserted: one `COM_QUERY` each.

use crate::explain::write_literal;
use crate::wire::message::{self, PACKET_BYTES_MAX, command};
use crate::wire::{MySqlColumnDef, MySqlPreparedStatement};
use dyno_engine::executed_statements::PlaceholderStyle;
use dyno_engine::sql_tokens::between_placeholders;
use dyno_engine::statement::misfit;
use dyno_engine::{OpError, Type, Value};

/// A statement's text, split at its values.
#[derive(Debug)]
pub(super) struct MySqlTextStatement {
    /// The text before each value, and after the last one.
    pieces: Vec<String>,
    types: Box<[Type]>,
    /// Whether the server treats a parameter as a decimal number; MariaDB does not report that.
    decimal: Vec<bool>,
    packet: Vec<u8>,
    sql: Vec<u8>,
}

impl MySqlTextStatement {
    /// Splits `sql`, which the server has prepared and which has a `?` for each parameter. `None` if the
    /// parameters found here differ from the server's.
    pub(super) fn new(
        sql: &str,
        prepared: MySqlPreparedStatement,
        marks: &[MySqlColumnDef],
        types: &[Type],
    ) -> Option<Self> {
        let pieces = between_placeholders(sql, PlaceholderStyle::Question);
        let is_same = pieces.len() == usize::from(prepared.parameters) + 1;
        is_same.then(|| Self {
            pieces,
            types: types.into(),
            decimal: marks.iter().map(|mark| mark.is_decimal()).collect(),
            packet: Vec::new(),
            sql: Vec::new(),
        })
    }

    /// Returns the packet with these values.
    ///
    /// # Errors
    /// A value does not have its parameter's type or is too long.
    pub(super) fn bind(&mut self, values: &[Value<'_>]) -> Result<&[u8], Box<OpError>> {
        let Self { pieces, types, decimal, packet, sql } = self;
        let is_fit =
            values.len() == types.len() && values.iter().zip(&**types).all(|(value, &of)| value.fits(of));
        if !is_fit {
            return Err(misfit(types, values));
        }
        sql.clear();
        sql.extend_from_slice(pieces[0].as_bytes());
        for (place, (value, piece)) in values.iter().zip(&pieces[1..]).enumerate() {
            let is_decimal = decimal.get(place).is_some_and(|&is| is);
            match *value {
                Value::Text(digits) if is_decimal && is_number(digits) => number(sql, digits),
                Value::Real(number) if !number.is_finite() => return Err(no_number(place, number)),
                value => write_literal(sql, value),
            }
            sql.extend_from_slice(piece.as_bytes());
        }
        // The packet also contains the command byte before it.
        if sql.len() >= PACKET_BYTES_MAX {
            let message =
                format!("the statement with its values is {} bytes long, the limit is 16 MiB", sql.len());
            return Err(OpError::fatal("values", message));
        }
        packet.clear();
        message::packet(packet, 0, |out| {
            out.push(command::QUERY);
            out.extend_from_slice(sql);
        });
        Ok(packet)
    }
}

#[cold]
fn no_number(place: usize, number: f64) -> Box<OpError> {
    OpError::fatal("values", format!("value {} is {number}, which is not a MySQL number", place + 1))
}

/// Whether a text is a valid decimal literal: digits, an optional sign and an optional point.
fn is_number(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let points = digits.iter().filter(|&&byte| byte == b'.').count();
    let is_whole =
        digits.first().is_some_and(u8::is_ascii_digit) && digits.last().is_some_and(u8::is_ascii_digit);
    is_whole && points <= 1 && digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

/// In parentheses a sign cannot combine with a preceding operator.
fn number(sql: &mut Vec<u8>, digits: &[u8]) {
    let is_negative = digits.starts_with(b"-");
    sql.extend(is_negative.then_some(b'('));
    sql.extend_from_slice(digits);
    sql.extend(is_negative.then_some(b')'));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(sql: &str, types: &[Type]) -> Option<MySqlTextStatement> {
        let prepared = MySqlPreparedStatement { id: 1, parameters: types.len() as u16, column: None };
        MySqlTextStatement::new(sql, prepared, &[], types)
    }

    #[test]
    fn parameters_are_replaced_outside_of_quotes_and_comments() {
        let sql = "SELECT '?', \"it''s ?\", `a?`, 1--?, # ?\n /* ? */ ? -- ?";
        let mut text = text(sql, &[Type::Int, Type::Text]).unwrap();
        let packet = text.bind(&[Value::Int(-7), Value::Text(b"it's ?")]).unwrap();
        let expected = "\x03SELECT '?', \"it''s ?\", `a?`, 1--(-7), # ?\n /* ? */ 'it''s ?' -- ?";
        assert_eq!(String::from_utf8_lossy(&packet[4..]), expected);
        assert_eq!(usize::from(packet[0]), expected.len());
    }

    #[test]
    fn placeholder_count_mismatch_is_refused() {
        assert!(text("SELECT '?'", &[Type::Int]).is_none());
        assert!(text("SELECT ?, ?", &[Type::Int]).is_none());
    }

    #[test]
    fn text_is_bound_as_decimal_only_if_server_reads_it_as_one() {
        let prepared = MySqlPreparedStatement { id: 1, parameters: 1, column: None };
        let decimal = MySqlColumnDef::decimal();
        let mut text = MySqlTextStatement::new("? ", prepared, &[decimal], &[Type::Literal]).unwrap();
        let mut bound = |value| String::from_utf8_lossy(&text.bind(&[value]).unwrap()[5..]).into_owned();
        assert_eq!(bound(Value::Text(b"12.50")), "12.50 ");
        assert_eq!(bound(Value::Text(b"-0.1")), "(-0.1) ");
        for odd in ["1.", ".5", "1.2.3", "1e5", "", "-", "0x1"] {
            assert_eq!(bound(Value::Text(odd.as_bytes())), format!("'{odd}' "));
        }
    }

    #[test]
    fn simple_protocol_refuses_unsuitable_values() {
        let mut text = text("? ?", &[Type::Text, Type::Real]).unwrap();
        let good = [Value::Text(b"x"), Value::Real(0.5)];
        assert_eq!(text.bind(&good).unwrap()[5..], *b"'x' (5e-1)");
        assert!(text.bind(&good[..1]).is_err());
        assert!(text.bind(&[good[1], good[1]]).is_err());
        assert!(text.bind(&[good[0], Value::Real(f64::NAN)]).unwrap_err().message.contains("value 2 is NaN"));
        let long = vec![b'x'; PACKET_BYTES_MAX];
        assert!(text.bind(&[Value::Text(&long), good[1]]).unwrap_err().message.contains("16 MiB"));
        assert_eq!(text.bind(&good).unwrap()[5..], *b"'x' (5e-1)");
    }

    proptest! {
        #[test]
        fn split_at_placeholders_loses_no_other_text(sql in "[ a?1#'\"`/*\n-]{0,40}") {
            prop_assert_eq!(between_placeholders(&sql, PlaceholderStyle::Question).join("?"), sql);
        }
    }
}
