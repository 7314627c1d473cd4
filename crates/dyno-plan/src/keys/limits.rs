//! Limits of values.

/// The smallest and largest block in bytes that Dyno creates or accepts; SQLite and PostgreSQL stay within them.
pub const BLOCK_SIZE: (u64, u64) = (4 << 10, 64 << 10);

/// The largest table, in blocks.
pub const BLOCKS_MAX: u64 = 1_000_000_000_000;

/// The largest table in bytes: 1000T.
pub const TABLE_BYTES_MAX: u64 = 1_000 << 40;
