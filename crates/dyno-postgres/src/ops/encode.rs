//! Binary values as the protocol carries them.

use crate::wire::message;
use dyno_engine::{Type, Value};

/// Type numbers of `pg_type`, fixed since the beginning.
pub(super) mod oid {
    pub(in super::super) const INT8: u32 = 20;
    pub(in super::super) const INT2: u32 = 21;
    pub(in super::super) const INT4: u32 = 23;
    pub(in super::super) const OID: u32 = 26;
    pub(in super::super) const FLOAT4: u32 = 700;
    pub(in super::super) const TEXT: u32 = 25;
    pub(in super::super) const FLOAT8: u32 = 701;
    pub(in super::super) const BYTEA: u32 = 17;
    /// The server decides.
    pub(in super::super) const UNKNOWN: u32 = 0;
    pub(in super::super) const INT2_ARRAY: u32 = 1005;
    pub(in super::super) const INT8_ARRAY: u32 = 1016;
    pub(in super::super) const TEXT_ARRAY: u32 = 1009;
}

/// The server's type of a parameter.
pub(super) fn type_oid(of: Type) -> u32 {
    match of {
        Type::Int => oid::INT8,
        Type::Real => oid::FLOAT8,
        Type::Text => oid::TEXT,
        Type::Bytes => oid::BYTEA,
        Type::Literal => oid::UNKNOWN,
    }
}

/// Appends the format codes of parameters of `types`: binary, and text where the server decides on the type.
pub(super) fn formats(out: &mut Vec<u8>, types: &[Type]) {
    if types.contains(&Type::Literal) {
        message::count(out, types.len());
        types.iter().for_each(|&of| message::count(out, usize::from(of != Type::Literal)));
    } else {
        // One for all.
        message::count(out, 1);
        message::count(out, 1);
    }
}

/// Appends the bytes of a value for a parameter of type `of`; false if it is NULL, which has none.
pub(super) fn value(out: &mut Vec<u8>, value: Value<'_>, of: Type) -> bool {
    match value {
        Value::Null => return false,
        Value::Int(number) if of == Type::Literal => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Real(number) if of == Type::Literal => out.extend_from_slice(number.to_string().as_bytes()),
        Value::Int(number) => out.extend_from_slice(&int8(number)),
        Value::Real(number) => out.extend_from_slice(&number.to_be_bytes()),
        Value::Text(bytes) | Value::Bytes(bytes) => out.extend_from_slice(bytes),
    }
    true
}

/// A number as an `int8`.
#[inline]
pub(super) fn int8(value: i64) -> [u8; 8] {
    value.to_be_bytes()
}

/// Appends a one-dimensional array without NULLs whose elements are appended by `element`.
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
/// Keys and numbers are below 2^62: `DataSpec` has no more rows, and no run does more operations.
pub(super) fn put_int8(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&8u32.to_be_bytes());
    out.extend_from_slice(&int8(value as i64));
}

/// Appends an `int2` with its length word.
pub(super) fn put_int2(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&2u32.to_be_bytes());
    out.extend_from_slice(&value.to_be_bytes());
}
