//! The data that a plan asks for, in rows of one engine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plan::Data;
use crate::units::{Blocks, Bytes, Size};

/// The data as loaded: a plan's `[data]` section with sizes resolved by the target's block size.
///
/// Two specs that are equal describe the same rows, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DataSpec {
    /// Independent copies of the test tables, numbered from 1.
    pub schemas: u32,
    /// Rows, hence blocks, of each schema's table; keys are 1..=rows.
    pub rows: u64,
    /// Rows, hence blocks, of each schema's table without an index; 0 is none.
    pub scan_rows: u64,
    /// Block size in bytes.
    pub block_size: u64,
    /// Share of the filler that compresses away, in percent.
    pub compressible: u32,
    /// Seed of keys' order and of filler.
    pub seed: u64,
}

impl DataSpec {
    /// Resolves a plan's `[data]` section for a target whose blocks have `block_size` bytes.
    pub fn resolve(data: &Data, block_size: Bytes) -> Self {
        Self {
            schemas: data.schemas,
            rows: data.scale.blocks(block_size).0,
            scan_rows: data.scan_scale.blocks(block_size).0,
            block_size: block_size.0,
            compressible: data.compressible,
            seed: data.seed,
        }
    }

    /// Rows over all schemas and both kinds of table.
    pub fn total_rows(&self) -> u64 {
        u64::from(self.schemas) * (self.rows + self.scan_rows)
    }
}

impl Size {
    /// The size in blocks of `block_size` bytes, rounded down, as `size ÷ block size = rows`.
    pub fn blocks(self, block_size: Bytes) -> Blocks {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Bytes(bytes) => Blocks(bytes.0 / block_size.0.max(1)),
        }
    }
}
