//! Limits counts that arrive from another host.

/// The largest count that is accepted; a sum of millions of them cannot overflow.
pub(crate) const COUNT_MAX: u64 = 1 << 44;
