//! Binary values as the protocol carries them.

/// Type numbers of `pg_type`, fixed since the beginning.
pub(super) mod oid {
    pub(in super::super) const INT8: u32 = 20;
    pub(in super::super) const INT2: u32 = 21;
    pub(in super::super) const TEXT: u32 = 25;
    pub(in super::super) const INT2_ARRAY: u32 = 1005;
    pub(in super::super) const INT8_ARRAY: u32 = 1016;
    pub(in super::super) const TEXT_ARRAY: u32 = 1009;
}

/// A number as an `int8`.
///
/// Keys and counters here are below 2^62: `DataSpec` has no more rows, and no run does more operations.
#[inline]
pub(super) fn int8(value: u64) -> [u8; 8] {
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
pub(super) fn put_int8(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&8u32.to_be_bytes());
    out.extend_from_slice(&int8(value));
}

/// Appends an `int2` with its length word.
pub(super) fn put_int2(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&2u32.to_be_bytes());
    out.extend_from_slice(&value.to_be_bytes());
}
