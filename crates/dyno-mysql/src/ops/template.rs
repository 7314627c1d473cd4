//! Builds the packet that executes a statement once and overwrites its values for each execution.

use std::ops::Range;

use crate::wire::MySqlPreparedStatement;
use crate::wire::message::{self, PACKET_BYTES_MAX, command};
use dyno_engine::statement::misfit;
use dyno_engine::{OpError, Type, Value};

/// Bytes of a packet without its text values: the header, and for each parameter a type, a length and a NULL
/// bit.
const HEAD_BYTES: usize = 32;
const PARAMETER_BYTES: usize = 12;

/// The execution packet of one prepared statement, with binary values.
#[derive(Debug)]
pub(super) struct MySqlRequestTemplate {
    statement: MySqlPreparedStatement,
    /// Whether the statement is prepared on the current connection.
    is_prepared: bool,
    params: Box<[Type]>,
    bytes: Vec<u8>,
    /// The position of each value in the packet; `None` for NULL.
    slots: Vec<Option<Range<usize>>>,
    /// Whether a number is bound where the database decides on the type; the next value may have another
    /// type.
    mixed: bool,
}

impl MySqlRequestTemplate {
    /// A template for `statement` with these parameters.
    pub(super) fn new(statement: MySqlPreparedStatement, params: &[Type]) -> Self {
        let (bytes, slots) = (Vec::new(), Vec::new());
        Self { statement, is_prepared: true, params: params.into(), bytes, slots, mixed: false }
    }

    /// Whether the statement is prepared on the current connection.
    #[inline]
    pub(super) fn is_prepared(&self) -> bool {
        self.is_prepared
    }

    /// Marks the statement as not prepared, after a new connection was opened.
    pub(super) fn forget(&mut self) {
        self.is_prepared = false;
    }

    /// Records that the statement is prepared on the current connection.
    pub(super) fn prepare(&mut self, statement: MySqlPreparedStatement) {
        (self.statement, self.is_prepared) = (statement, true);
        // The statement has a new number, and its types must be sent again.
        self.bytes.clear();
    }

    /// Returns the packet with these values. Values of unchanged length are overwritten in place; otherwise
    /// the packet is rebuilt.
    ///
    /// # Errors
    /// A value does not fit its parameter.
    #[inline]
    pub(super) fn bind(&mut self, values: &[Value<'_>]) -> Result<&[u8], Box<OpError>> {
        if !self.patch(values) {
            self.build(values)?;
        }
        Ok(&self.bytes)
    }

    /// Overwrites the values in place; returns whether all of them fitted.
    #[inline]
    fn patch(&mut self, values: &[Value<'_>]) -> bool {
        let Self { params, bytes, slots, mixed, .. } = self;
        if *mixed || bytes.is_empty() || values.len() != slots.len() {
            return false;
        }
        let mut set = |slot: &Range<usize>, value: &[u8]| {
            let is_as_long = slot.len() == value.len();
            if is_as_long {
                bytes[slot.clone()].copy_from_slice(value);
            }
            is_as_long
        };
        values.iter().zip(slots).zip(params).all(|((value, slot), of)| match (*value, slot) {
            (Value::Null, slot) => slot.is_none(),
            (Value::Int(_) | Value::Real(_), _) if *of == Type::Literal => false,
            (value, Some(slot)) if value.fits(*of) => match value {
                Value::Int(number) => set(slot, &number.to_le_bytes()),
                Value::Real(number) => set(slot, &number.to_le_bytes()),
                Value::Text(bytes) | Value::Bytes(bytes) => set(slot, bytes),
                Value::Null => true,
            },
            _ => false,
        })
    }

    #[cold]
    fn build(&mut self, values: &[Value<'_>]) -> Result<(), Box<OpError>> {
        check(&self.params, values)?;
        let Self { statement, params, bytes, slots, mixed, .. } = self;
        let is_mixed = |(value, of): (&Value<'_>, &Type)| {
            *of == Type::Literal && matches!(value, Value::Int(_) | Value::Real(_))
        };
        *mixed = values.iter().zip(&*params).any(is_mixed);
        bytes.clear();
        slots.clear();
        message::packet(bytes, 0, |out| {
            out.push(command::STMT_EXECUTE);
            out.extend_from_slice(&statement.id.to_le_bytes());
            // Flags: no cursor. Iteration count: one.
            out.push(0);
            out.extend_from_slice(&1u32.to_le_bytes());
            if !params.is_empty() {
                nulls(out, values);
                // The parameter types follow.
                out.push(1);
                let kinds = values.iter().zip(&*params).map(|(&value, &of)| kind(value, of));
                kinds.for_each(|kind| out.extend_from_slice(&[kind, 0]));
            }
            for value in values {
                slots.push(append(out, *value));
            }
        });
        Ok(())
    }
}

/// Whether these values can be bound.
fn check(params: &[Type], values: &[Value<'_>]) -> Result<(), Box<OpError>> {
    if values.len() != params.len() || !values.iter().zip(params).all(|(value, &of)| value.fits(of)) {
        return Err(misfit(params, values));
    }
    let texts = values.iter().map(|value| match value {
        Value::Text(bytes) | Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    });
    let bytes = HEAD_BYTES + values.len() * PARAMETER_BYTES + texts.sum::<usize>();
    if bytes > PACKET_BYTES_MAX {
        let message = format!("the values are {bytes} bytes long together, the limit is 16 MiB");
        return Err(OpError::fatal("values", message));
    }
    Ok(())
}

/// Appends one bit per value: whether it is NULL.
fn nulls(out: &mut Vec<u8>, values: &[Value<'_>]) {
    for eight in values.chunks(8) {
        let bits = eight.iter().enumerate().map(|(bit, value)| u8::from(*value == Value::Null) << bit);
        out.push(bits.sum());
    }
}

/// The protocol's type number for a value of a parameter of type `of`.
fn kind(value: Value<'_>, param_type: Type) -> u8 {
    match (param_type, value) {
        // MYSQL_TYPE_LONGLONG, MYSQL_TYPE_DOUBLE, MYSQL_TYPE_VAR_STRING, MYSQL_TYPE_BLOB.
        (Type::Int, _) | (Type::Literal, Value::Int(_)) => 0x08,
        (Type::Real, _) | (Type::Literal, Value::Real(_)) => 0x05,
        (Type::Text | Type::Literal, _) => 0xfd,
        (Type::Bytes, _) => 0xfc,
    }
}

/// Appends a value; returns its position.
fn append(out: &mut Vec<u8>, value: Value<'_>) -> Option<Range<usize>> {
    let mut put = |bytes: &[u8]| {
        out.extend_from_slice(bytes);
        Some(out.len() - bytes.len()..out.len())
    };
    match value {
        Value::Null => None,
        Value::Int(number) => put(&number.to_le_bytes()),
        Value::Real(number) => put(&number.to_le_bytes()),
        Value::Text(bytes) | Value::Bytes(bytes) => {
            message::bytes(out, bytes);
            Some(out.len() - bytes.len()..out.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(params: &[Type]) -> MySqlRequestTemplate {
        MySqlRequestTemplate::new(
            MySqlPreparedStatement { id: 7, parameters: params.len() as u16, column: None },
            params,
        )
    }

    #[test]
    fn patched_and_rebuilt_templates_place_values_alike() {
        let mut template = template(&[Type::Text, Type::Int]);
        let packet = |text: &str, number: &str| {
            format!("\x17\x07\0\0\0\0\x01\0\0\0\0\x01\u{fd}\0\x08\0{text}{number}\0\0\0\0\0\0")
        };
        let mut bound = |text: &str, number: i64| -> String {
            let bytes = template.bind(&[Value::Text(text.as_bytes()), Value::Int(number)]).unwrap();
            assert_eq!(bytes[..4], [bytes.len() as u8 - 4, 0, 0, 0]);
            bytes[4..].iter().map(|&byte| char::from(byte)).collect()
        };
        assert_eq!(bound("abcd", 258), packet("\x04abcd", "\x02\x01"));
        assert_eq!(bound("efgh", 3), packet("\x04efgh", "\x03\0"), "patched");
        assert_eq!(bound("ij", 4), packet("\x02ij", "\x04\0"), "built anew");
        assert_eq!(bound("", 5), packet("\0", "\x05\0"));
    }

    #[test]
    fn bound_nulls_set_bits_and_take_no_bytes() {
        let mut template = template(&[Type::Real; 9]);
        let mut values = [Value::Real(0.5); 9];
        let whole = template.bind(&values).unwrap().len();
        (values[0], values[8]) = (Value::Null, Value::Null);
        let bytes = template.bind(&values).unwrap();
        assert_eq!((bytes.len(), &bytes[14..16]), (whole - 16, &[1, 1][..]));
        // NULL values stay NULL, others are overwritten.
        values[1] = Value::Real(2.0);
        assert_eq!(template.bind(&values).unwrap()[35..43], 2f64.to_le_bytes());
        assert_eq!(template.bind(&[Value::Real(0.5); 9]).unwrap().len(), whole);
    }

    #[test]
    fn a_statement_without_parameters_has_no_types() {
        let mut template = template(&[]);
        for _ in 0..2 {
            assert_eq!(template.bind(&[]).unwrap(), b"\x0a\0\0\0\x17\x07\0\0\0\0\x01\0\0\0");
        }
    }

    #[test]
    fn template_binds_valid_values_after_refusing_invalid_ones() {
        let mut template = template(&[Type::Text, Type::Int]);
        let good = [Value::Text(b"12345678"), Value::Int(1)];
        let bytes = template.bind(&good).unwrap().to_vec();
        for bad in [
            &good[..1],
            &[Value::Int(1), Value::Int(1)],
            &[good[0], good[0]],
            &[Value::Bytes(b"12345678"), good[1]],
        ] {
            assert!(template.bind(bad).is_err(), "{bad:?}");
        }
        assert_eq!(template.bind(&good).unwrap(), bytes);
        let long = vec![b'x'; PACKET_BYTES_MAX];
        assert!(template.bind(&[Value::Text(&long), Value::Int(1)]).unwrap_err().message.contains("16 MiB"));
    }
}
