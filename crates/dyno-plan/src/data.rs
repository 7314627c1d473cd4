//! The test data that a plan asks for, as numbers of rows on one engine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plan::{DataSettings, Plan, WorkloadSettings};
use crate::units::{BlockCount, BlocksOrBytes, Bytes};

/// The largest number of rows over all schemas and tables: above it, sums of bytes and keys could overflow 64 bits.
pub const TOTAL_ROWS_MAX: u64 = 1_000_000_000_000;

/// Rows per value of the secondary key, if the number of rows is a multiple of it.
pub const GROUP_ROWS: u64 = 25;

/// The data as loaded: the plan's `[data]` section with sizes resolved by the target's block size.
///
/// Equal specs describe the same rows, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DataSpec {
    /// Independent copies of the test tables, numbered from 1.
    pub schemas: u32,
    /// Rows of each schema's table, one per block; keys are 1..=rows.
    pub rows: u64,
    /// Rows of each schema's table without an index, one per block; 0 is no such table.
    pub scan_rows: u64,
    /// Bytes per block of the target.
    pub block_size: u64,
    /// Share of the filler that compresses away, in percent.
    pub compressible: u32,
    /// Seed of the key order and of the filler.
    pub seed: u64,
    /// Whether rows have a secondary key with an index; data of older versions has none.
    #[serde(default)]
    pub secondary: bool,
    /// Whether the rows of schemas 2 and above are copies of schema 1 with rearranged text; data of older versions has none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub copied: bool,
}

impl DataSpec {
    /// Resolves a plan's `[data]` section for a target whose blocks have `block_size` bytes.
    pub fn resolve(data: &DataSettings, block_size: Bytes) -> Self {
        Self {
            schemas: data.schemas,
            rows: data.scale.blocks(block_size).0,
            scan_rows: data.scan_scale.blocks(block_size).0,
            block_size: block_size.0,
            compressible: data.compressible,
            seed: data.seed,
            secondary: true,
            copied: data.copy_schemas && data.schemas > 1,
        }
    }

    /// The data that `plan` needs on a target whose blocks have `block_size` bytes.
    pub fn of(plan: &Plan, block_size: Bytes) -> Self {
        match plan.workload.folder {
            Some(_) => Self::none(block_size),
            None => Self::resolve(&plan.data, block_size),
        }
    }

    /// The spec without data of Dyno, for a custom workload on a target whose blocks have `block_size` bytes.
    pub fn none(block_size: Bytes) -> Self {
        Self {
            schemas: 0,
            rows: 0,
            scan_rows: 0,
            block_size: block_size.0,
            compressible: 0,
            seed: 0,
            secondary: false,
            copied: false,
        }
    }

    /// Whether the rows of `schema` are a copy of schema 1.
    pub fn copies(&self, schema: u32) -> bool {
        self.copied && schema > 1
    }

    /// Whether the spec has no data.
    pub fn is_none(&self) -> bool {
        self.schemas == 0
    }

    /// Number of values of the secondary key, `1..=groups`.
    pub fn groups(&self) -> u64 {
        self.rows.div_ceil(GROUP_ROWS).max(1)
    }

    /// The secondary key as a SQL expression of `custid`; `modulo` is the engine's operator. The rows of one value are spread
    /// over all keys, and rows that were not loaded have none of these values.
    pub fn secondary_sql(&self, modulo: &str) -> String {
        self.secondary_sql_by(|key, groups| format!("({key}) {modulo} {groups}"))
    }

    /// Like [`secondary_sql`](Self::secondary_sql), but `modulo` writes the remainder of a term by a number in the engine's syntax.
    pub fn secondary_sql_by(&self, modulo: impl Fn(&str, u64) -> String) -> String {
        let (rows, groups) = (self.rows, self.groups());
        // No subtraction: in MariaDB its result depends on a session mode, so MariaDB refuses it in a column definition.
        let remainder = modulo(&format!("custid + {}", groups - 1), groups);
        format!("CASE WHEN custid <= {rows} THEN {remainder} + 1 ELSE custid END")
    }

    /// Whether data of this spec serves a plan that asks for `wanted`. Older data without a secondary key serves plans that do
    /// not need one.
    pub fn serves(&self, wanted: &Self, workload: &WorkloadSettings) -> bool {
        let optional = !self.secondary && workload.secondary_pct == 0;
        *self == *wanted || (optional && *self == Self { secondary: false, ..wanted.clone() })
    }

    /// Number of rows with this `value` of the secondary key.
    pub fn group_rows(&self, value: u64) -> u64 {
        self.rows.checked_sub(value).map_or(0, |above| above / self.groups() + 1)
    }

    /// Rows over all schemas and both tables of each.
    pub fn total_rows(&self) -> u64 {
        u64::from(self.schemas).saturating_mul(self.rows.saturating_add(self.scan_rows))
    }

    /// Checks what depends on the block size: that operations of `work_unit` blocks fit into the rows.
    ///
    /// # Errors
    /// The first of: no row at all, fewer rows than one operation touches, a requested scan table without a row, more rows
    /// than [`TOTAL_ROWS_MAX`].
    pub fn validate(&self, data: &DataSettings, workload: &WorkloadSettings) -> Result<(), DataError> {
        let work_unit = workload.work_unit;
        let Self { block_size, rows, .. } = *self;
        if rows == 0 {
            return Err(DataError::NoRows { scale: data.scale, block_size });
        }
        if rows < u64::from(work_unit) {
            return Err(DataError::WorkUnit { rows, work_unit });
        }
        if self.scan_rows == 0 && data.scan_scale.blocks(Bytes(1)).0 > 0 {
            return Err(DataError::NoScanRows { scan_scale: data.scan_scale, block_size });
        }
        if self.total_rows() > TOTAL_ROWS_MAX {
            return Err(DataError::TooManyRows { rows: self.total_rows() });
        }
        if let Some((before, keys)) = workload.hot_spot(Bytes(block_size)) {
            let end = before.saturating_add(keys);
            if keys == 0 || end > rows || before + u64::from(work_unit) > rows {
                return Err(DataError::HotSpot { first: before.saturating_add(1), end, rows, work_unit });
            }
        }
        Ok(())
    }
}

/// A plan's `[data]` section that does not fit the target's block size; each message says what to change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DataError {
    /// The scale is less than one block.
    #[error(
        "data.scale {scale} is less than one block of {block_size} bytes: write more, or a number of blocks"
    )]
    NoRows {
        /// The scale that the plan sets.
        scale: BlocksOrBytes,
        /// The target's block size in bytes.
        block_size: u64,
    },
    /// An operation touches more rows than there are.
    #[error(
        "workload.work_unit {work_unit} is more than the {rows} rows of each schema: lower it, or raise data.scale"
    )]
    WorkUnit {
        /// Rows of each schema's table.
        rows: u64,
        /// Rows that one operation touches.
        work_unit: u32,
    },
    /// The scan table is less than one block.
    #[error(
        "data.scan_scale {scan_scale} is less than one block of {block_size} bytes: write more, or 0 blocks"
    )]
    NoScanRows {
        /// The scan scale that the plan sets.
        scan_scale: BlocksOrBytes,
        /// The target's block size in bytes.
        block_size: u64,
    },
    /// The hot spot has no key, exceeds the table, or has no room for a whole operation after its start.
    #[error(
        "the hot spot, keys {first} to {end}, does not lie within the {rows} rows of each schema with room for {work_unit}: \
         change workload.hot_spot_offset, workload.hot_spot_size or data.scale"
    )]
    HotSpot {
        /// First key of the hot spot.
        first: u64,
        /// Last key of the hot spot.
        end: u64,
        /// Rows of each schema's table.
        rows: u64,
        /// Rows that one operation touches.
        work_unit: u32,
    },
    /// The tables exceed [`TOTAL_ROWS_MAX`].
    #[error(
        "the data has {rows} rows over all schemas, more than {TOTAL_ROWS_MAX}: lower data.schemas, data.scale or data.scan_scale"
    )]
    TooManyRows {
        /// Rows over all schemas and tables.
        rows: u64,
    },
}

impl BlocksOrBytes {
    /// The size in blocks of `block_size` bytes, rounded down.
    pub fn blocks(self, block_size: Bytes) -> BlockCount {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Bytes(bytes) => BlockCount(bytes.0 / block_size.0.max(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(scale: &str, scan_scale: &str, schemas: u32, work_unit: u32) -> Result<(), String> {
        let data = DataSettings {
            schemas,
            scale: scale.parse().unwrap(),
            scan_scale: scan_scale.parse().unwrap(),
            block_size: None,
            compressible: 0,
            seed: 1,
            load_parallel: 1,
            copy_schemas: false,
        };
        let spec = DataSpec::resolve(&data, Bytes(8192));
        let workload = WorkloadSettings { work_unit, ..WorkloadSettings::default() };
        spec.validate(&data, &workload).map_err(|error| error.to_string())
    }

    #[test]
    fn a_size_is_divided_by_the_block_size_and_rounded_down() {
        let size = |text: &str| text.parse::<BlocksOrBytes>().unwrap().blocks(Bytes(8192)).0;
        assert_eq!((size("80M"), size("81919B"), size("77 blocks")), (10_240, 9, 77));
    }

    #[test]
    fn data_scale_must_fit_work_unit_and_block() {
        assert_eq!(check("512K", "0 blocks", 1, 64), Ok(()));
        assert!(
            check("511K", "0 blocks", 1, 64).unwrap_err().contains("work_unit 64 is more than the 63 rows")
        );
        assert!(
            check("8191B", "0 blocks", 1, 1).unwrap_err().contains("data.scale 8191B is less than one block")
        );
        assert!(check("1M", "1K", 1, 64).unwrap_err().contains("data.scan_scale 1K is less than one block"));
        assert_eq!(check("1M", "0K", 1, 64), Ok(()));
    }

    #[test]
    fn secondary_key_groups_cover_all_rows() {
        for rows in [1, 24, 25, 26, 100, 1_003] {
            let spec = DataSpec {
                schemas: 1,
                rows,
                scan_rows: 0,
                block_size: 8192,
                compressible: 0,
                seed: 1,
                secondary: true,
                copied: false,
            };
            let mut counts = vec![0; spec.groups() as usize];
            (1..=rows).for_each(|key| counts[((key - 1) % spec.groups()) as usize] += 1);
            for (value, count) in (1..).zip(counts) {
                assert_eq!(spec.group_rows(value), count, "value {value} of {rows} rows");
                assert!(count <= GROUP_ROWS);
                assert!(count >= GROUP_ROWS - 1 || rows < 600);
            }
        }
    }

    #[test]
    fn older_data_serves_plans_without_secondary_key() {
        let workload = |secondary_pct| WorkloadSettings { secondary_pct, ..WorkloadSettings::default() };
        let data = crate::plan::DataSettings {
            schemas: 1,
            scale: "100 blocks".parse().unwrap(),
            scan_scale: "0 blocks".parse().unwrap(),
            block_size: None,
            compressible: 0,
            seed: 1,
            load_parallel: 1,
            copy_schemas: false,
        };
        let wanted = DataSpec::resolve(&data, Bytes(8192));
        let old = || DataSpec { secondary: false, ..wanted.clone() };
        assert!(wanted.serves(&wanted, &workload(5)));
        assert!(old().serves(&wanted, &workload(0)));
        assert!(!old().serves(&wanted, &workload(5)));
        assert!(!DataSpec { seed: 2, ..old() }.serves(&wanted, &workload(0)));
    }

    #[test]
    fn only_schemas_above_the_first_are_copies() {
        let data = |schemas| DataSettings { schemas, copy_schemas: true, ..DataSettings::default() };
        let several = DataSpec::resolve(&data(3), Bytes(8192));
        assert_eq!([1, 2, 3].map(|schema| several.copies(schema)), [false, true, true]);
        let sent = DataSettings { copy_schemas: false, ..data(3) };
        assert_ne!(DataSpec::resolve(&sent, Bytes(8192)), several);
        let sent = DataSettings { copy_schemas: false, ..data(1) };
        assert_eq!(DataSpec::resolve(&data(1), Bytes(8192)), DataSpec::resolve(&sent, Bytes(8192)));
    }

    #[test]
    fn totals_stay_within_64_bits() {
        assert_eq!(check("100000000 blocks", "0 blocks", 10_000, 64), Ok(()));
        assert!(check("100000000 blocks", "1 block", 10_000, 64).is_err());
        assert!(check("18446744073709551615 blocks", "18446744073709551615 blocks", 10_000, 64).is_err());
    }
}
