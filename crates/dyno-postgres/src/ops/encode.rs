//! Encodes values in the protocol's binary format.

use crate::wire::message;
use dyno_engine::{OpError, Type, Value};

/// Type numbers of `pg_type`, which never change.
pub(super) mod oid {
    pub(in super::super) const INT8: u32 = 20;
    pub(in super::super) const INT2: u32 = 21;
    pub(in super::super) const INT4: u32 = 23;
    pub(in super::super) const OID: u32 = 26;
    pub(in super::super) const FLOAT4: u32 = 700;
    pub(in super::super) const TEXT: u32 = 25;
    pub(in super::super) const BPCHAR: u32 = 1042;
    pub(in super::super) const VARCHAR: u32 = 1043;
    pub(in super::super) const NUMERIC: u32 = 1700;
    pub(in super::super) const FLOAT8: u32 = 701;
    pub(in super::super) const BYTEA: u32 = 17;
    /// The server infers the type.
    pub(in super::super) const UNKNOWN: u32 = 0;
    pub(in super::super) const INT2_ARRAY: u32 = 1005;
    pub(in super::super) const INT8_ARRAY: u32 = 1016;
    pub(in super::super) const TEXT_ARRAY: u32 = 1009;
}

/// The server's type of a parameter.
pub(super) fn type_oid(param_type: Type) -> u32 {
    match param_type {
        Type::Int => oid::INT8,
        Type::Real => oid::FLOAT8,
        Type::Text => oid::TEXT,
        Type::Bytes => oid::BYTEA,
        Type::Literal => oid::UNKNOWN,
    }
}

/// The encoding of a parameter's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Int2,
    Int4,
    Int8,
    /// `oid`: an unsigned 32-bit number.
    Oid,
    Float4,
    Float8,
    /// The bytes of the value.
    Bytes,
    /// As text that the server parses as its type.
    Text,
}

impl Encoding {
    /// The encoding of values of this kind for a parameter that has the type `type_number` on the server.
    pub(super) fn new(kind: Type, type_number: u32) -> Self {
        match (kind, type_number) {
            (Type::Int, oid::INT2) => Self::Int2,
            (Type::Int, oid::INT4) => Self::Int4,
            (Type::Int, oid::INT8) => Self::Int8,
            (Type::Int, oid::OID) => Self::Oid,
            (Type::Real, oid::FLOAT4) => Self::Float4,
            (Type::Real, oid::FLOAT8) => Self::Float8,
            (Type::Text, oid::TEXT) | (Type::Bytes, _) => Self::Bytes,
            _ => Self::Text,
        }
    }

    /// The name of the server's type and its range of integers.
    fn range(self) -> Option<(&'static str, i64, i64)> {
        match self {
            Self::Int2 => Some(("smallint", i64::from(i16::MIN), i64::from(i16::MAX))),
            Self::Int4 => Some(("integer", i64::from(i32::MIN), i64::from(i32::MAX))),
            Self::Oid => Some(("oid", 0, i64::from(u32::MAX))),
            _ => None,
        }
    }
}

/// Returns an error if the type of parameter `number` cannot hold the value.
#[inline]
pub(super) fn check_range(value: Value<'_>, encoding: Encoding, number: usize) -> Result<(), Box<OpError>> {
    match (value, encoding.range()) {
        (Value::Int(value), Some((name, low, high))) if !(low..=high).contains(&value) => {
            let message = format!(
                "parameter {number} is {name} on the server, which accepts {low} to {high}, but its value \
                is {value}: draw other values, or write the type behind the parameter (::bigint)"
            );
            Err(OpError::fatal("22003", message))
        }
        _ => Ok(()),
    }
}

/// Appends the format codes of parameters with these encodings: binary, or text that the server parses.
pub(super) fn formats(out: &mut Vec<u8>, encodings: &[Encoding]) {
    if encodings.contains(&Encoding::Text) {
        message::count(out, encodings.len());
        encodings.iter().for_each(|&encoding| message::count(out, usize::from(encoding != Encoding::Text)));
    } else {
        // One code for all parameters.
        message::count(out, 1);
        message::count(out, 1);
    }
}

/// Appends the bytes of a value that [`check_range`] accepted; returns false for NULL, which has none.
pub(super) fn value(out: &mut Vec<u8>, value: Value<'_>, encoding: Encoding) -> bool {
    match (value, encoding) {
        (Value::Null, _) => return false,
        (Value::Int(number), Encoding::Text) => out.extend_from_slice(number.to_string().as_bytes()),
        (Value::Real(number), Encoding::Text) => out.extend_from_slice(number.to_string().as_bytes()),
        // In big-endian order, the last bytes of a number are the number in a shorter type.
        (Value::Int(number), Encoding::Int2) => out.extend_from_slice(&int8(number)[6..]),
        (Value::Int(number), Encoding::Int4 | Encoding::Oid) => out.extend_from_slice(&int8(number)[4..]),
        (Value::Int(number), _) => out.extend_from_slice(&int8(number)),
        (Value::Real(number), Encoding::Float4) => out.extend_from_slice(&(number as f32).to_be_bytes()),
        (Value::Real(number), _) => out.extend_from_slice(&number.to_be_bytes()),
        (Value::Text(bytes) | Value::Bytes(bytes), _) => out.extend_from_slice(bytes),
    }
    true
}

/// A number as an `int8`.
#[inline]
pub(super) fn int8(value: i64) -> [u8; 8] {
    value.to_be_bytes()
}

/// Appends a one-dimensional array without NULLs; `element` appends each element.
pub(super) fn array<T>(
    out: &mut Vec<u8>,
    element_type: u32,
    values: impl ExactSizeIterator<Item = T>,
    element: impl Fn(&mut Vec<u8>, T),
) {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    let length = u32::try_from(values.len()).expect("a slice has some thousand operations");
    // Dimensions, NULL flag, element type, length, lower bound.
    for word in [1, 0, element_type, length, 1] {
        out.extend_from_slice(&word.to_be_bytes());
    }
    for value in values {
        element(out, value);
    }
    let bytes = u32::try_from(out.len() - start - 4).expect("an array of some thousand short values");
    out[start..start + 4].copy_from_slice(&bytes.to_be_bytes());
}

/// Appends an `int8` with its length word.
///
/// Keys and numbers are below 2^62: `DataSpec` has no more rows, and no run executes more operations.
pub(super) fn put_int8(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&8u32.to_be_bytes());
    out.extend_from_slice(&int8(value as i64));
}

/// Appends an `int2` with its length word.
pub(super) fn put_int2(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&2u32.to_be_bytes());
    out.extend_from_slice(&value.to_be_bytes());
}
