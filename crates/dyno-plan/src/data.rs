//! The data that a plan asks for, in rows of one engine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::plan::{Data, Plan, Workload};
use crate::units::{Blocks, Bytes, Size};

/// The most rows over all schemas and tables: above it, sums of bytes and of keys could leave 64 bits.
pub const TOTAL_ROWS_MAX: u64 = 1_000_000_000_000;

/// Rows of one value of the secondary key, where the rows are a multiple of it.
pub const GROUP_ROWS: u64 = 25;

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
    /// Whether rows have a secondary key with its index; data of older versions has none.
    #[serde(default)]
    pub secondary: bool,
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
            secondary: true,
        }
    }

    /// The data that `plan` is about, on a target whose blocks have `block_size` bytes.
    pub fn of(plan: &Plan, block_size: Bytes) -> Self {
        match plan.workload.folder {
            Some(_) => Self::none(block_size),
            None => Self::resolve(&plan.data, block_size),
        }
    }

    /// No data of Dyno's, on a target whose blocks have `block_size` bytes: of a workload of the user's own.
    pub fn none(block_size: Bytes) -> Self {
        Self {
            schemas: 0,
            rows: 0,
            scan_rows: 0,
            block_size: block_size.0,
            compressible: 0,
            seed: 0,
            secondary: false,
        }
    }

    /// Whether it is no data.
    pub fn is_none(&self) -> bool {
        self.schemas == 0
    }

    /// Values of the secondary key: `1..=groups`.
    pub fn groups(&self) -> u64 {
        self.rows.div_ceil(GROUP_ROWS).max(1)
    }

    /// The secondary key as a SQL expression of `custid`, where `modulo` is the engine's word for it: rows of one value lie
    /// all over the keys, and rows that were not loaded have none of these values.
    pub fn secondary_sql(&self, modulo: &str) -> String {
        self.secondary_sql_by(|key, groups| format!("({key}) {modulo} {groups}"))
    }

    /// The same where `modulo` writes the remainder of a term divided by a number in the engine's own way.
    pub fn secondary_sql_by(&self, modulo: impl Fn(&str, u64) -> String) -> String {
        let (rows, groups) = (self.rows, self.groups());
        // No subtraction: what it gives depends on a mode of the session in MariaDB, which refuses it in a column's definition.
        let remainder = modulo(&format!("custid + {}", groups - 1), groups);
        format!("CASE WHEN custid <= {rows} THEN {remainder} + 1 ELSE custid END")
    }

    /// Whether data of this spec serves a plan that asks for `wanted`: an older one without a secondary key does, where the
    /// plan needs none.
    pub fn serves(&self, wanted: &Self, workload: &Workload) -> bool {
        let optional = !self.secondary && workload.secondary_pct == 0;
        *self == *wanted || (optional && *self == Self { secondary: false, ..wanted.clone() })
    }

    /// Rows of a `value` of the secondary key.
    pub fn group_rows(&self, value: u64) -> u64 {
        self.rows.checked_sub(value).map_or(0, |above| above / self.groups() + 1)
    }

    /// Rows over all schemas and both kinds of table.
    pub fn total_rows(&self) -> u64 {
        u64::from(self.schemas).saturating_mul(self.rows.saturating_add(self.scan_rows))
    }

    /// Checks what can only be known with the block size: that operations of `work_unit` blocks fit into the rows.
    ///
    /// # Errors
    /// The first of: no row at all, fewer rows than one operation touches, a scan table that was asked for but has
    /// no row, more rows than [`TOTAL_ROWS_MAX`].
    pub fn validate(&self, data: &Data, workload: &Workload) -> Result<(), DataError> {
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

/// A plan's `[data]` section that does not work out with the target's block size; each says the way out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DataError {
    /// The scale is less than one block.
    #[error(
        "data.scale {scale} is less than one block of {block_size} bytes: write more, or a number of blocks"
    )]
    NoRows {
        /// The scale as planned.
        scale: Size,
        /// The target's block size in bytes.
        block_size: u64,
    },
    /// An operation touches more rows than there are.
    #[error(
        "workload.work_unit {work_unit} is more than the {rows} rows of each schema: lower it, or raise data.scale"
    )]
    WorkUnit {
        /// Rows of each schema.
        rows: u64,
        /// Rows that one operation touches.
        work_unit: u32,
    },
    /// The scan table is less than one block.
    #[error(
        "data.scan_scale {scan_scale} is less than one block of {block_size} bytes: write more, or 0 blocks"
    )]
    NoScanRows {
        /// The scale as planned.
        scan_scale: Size,
        /// The target's block size in bytes.
        block_size: u64,
    },
    /// The hot spot has no key, reaches beyond the table, or no whole operation fits behind its begin.
    #[error(
        "the hot spot, keys {first} to {end}, does not lie within the {rows} rows of each schema with room for {work_unit}: \
         change workload.hot_spot_offset, workload.hot_spot_size or data.scale"
    )]
    HotSpot {
        /// Its first key.
        first: u64,
        /// Its last key.
        end: u64,
        /// Rows of each schema.
        rows: u64,
        /// Rows that one operation touches.
        work_unit: u32,
    },
    /// The tables are larger than any that Dyno counts.
    #[error(
        "the data has {rows} rows over all schemas, more than {TOTAL_ROWS_MAX}: lower data.schemas, data.scale or data.scan_scale"
    )]
    TooManyRows {
        /// Rows over all schemas and tables.
        rows: u64,
    },
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(scale: &str, scan_scale: &str, schemas: u32, work_unit: u32) -> Result<(), String> {
        let data = Data {
            schemas,
            scale: scale.parse().unwrap(),
            scan_scale: scan_scale.parse().unwrap(),
            block_size: None,
            compressible: 0,
            seed: 1,
            load_parallel: 1,
        };
        let spec = DataSpec::resolve(&data, Bytes(8192));
        let workload = Workload { work_unit, ..Workload::default() };
        spec.validate(&data, &workload).map_err(|error| error.to_string())
    }

    #[test]
    fn a_size_is_divided_by_the_block_size_and_rounded_down() {
        let size = |text: &str| text.parse::<Size>().unwrap().blocks(Bytes(8192)).0;
        assert_eq!((size("80M"), size("81919B"), size("77 blocks")), (10_240, 9, 77));
    }

    #[test]
    fn operations_must_fit_into_the_rows() {
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
    fn every_row_has_one_value_of_the_secondary_key() {
        for rows in [1, 24, 25, 26, 100, 1_003] {
            let spec = DataSpec {
                schemas: 1,
                rows,
                scan_rows: 0,
                block_size: 8192,
                compressible: 0,
                seed: 1,
                secondary: true,
            };
            let mut counts = vec![0; spec.groups() as usize];
            (1..=rows).for_each(|key| counts[((key - 1) % spec.groups()) as usize] += 1);
            for (value, count) in (1..).zip(counts) {
                assert_eq!(spec.group_rows(value), count, "value {value} of {rows} rows");
                assert!(count <= GROUP_ROWS && (count >= GROUP_ROWS - 1 || rows < 600));
            }
        }
    }

    #[test]
    fn older_data_serves_plans_that_need_no_secondary_key() {
        let workload = |secondary_pct| Workload { secondary_pct, ..Workload::default() };
        let data = crate::plan::Data {
            schemas: 1,
            scale: "100 blocks".parse().unwrap(),
            scan_scale: "0 blocks".parse().unwrap(),
            block_size: None,
            compressible: 0,
            seed: 1,
            load_parallel: 1,
        };
        let wanted = DataSpec::resolve(&data, Bytes(8192));
        let old = || DataSpec { secondary: false, ..wanted.clone() };
        assert!(wanted.serves(&wanted, &workload(5)) && old().serves(&wanted, &workload(0)));
        assert!(!old().serves(&wanted, &workload(5)));
        assert!(!DataSpec { seed: 2, ..old() }.serves(&wanted, &workload(0)));
    }

    #[test]
    fn totals_stay_within_64_bits() {
        assert_eq!(check("100000000 blocks", "0 blocks", 10_000, 64), Ok(()));
        assert!(check("100000000 blocks", "1 block", 10_000, 64).is_err());
        assert!(check("18446744073709551615 blocks", "18446744073709551615 blocks", 10_000, 64).is_err());
    }
}
