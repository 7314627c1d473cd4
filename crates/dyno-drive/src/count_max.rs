//! How large a count may be that came from another host.

/// Counts that sums of millions of them cannot make overflow.
pub(crate) const COUNT_MAX: u64 = 1 << 44;
