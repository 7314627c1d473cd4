//! Compares the versions in the rows with the acknowledged updates.
//!
//! Every update adds 1 to the version of each row that it changes, and writes the run's stamp into it. So for
//! each row, the version after the run minus the version before it is the number of acknowledged updates. It
//! may be higher by at most the number of updates with an unknown outcome. This is checked row by row: in a
//! sum, a lost update and a double one would cancel out.

use dyno_drive::AckLedger;
use dyno_engine::data::UpdateValues;
use dyno_engine::{Target, TargetError, TargetErrorKind};
use dyno_plan::DataSpec;

/// The most rows that a proof can hold in memory, at 12 bytes and a bit for each.
pub const ROWS_MAX: u64 = 100_000_000;

/// The versions of all rows before a run.
#[derive(Debug)]
pub struct RowVersionBaseline {
    spec: DataSpec,
    versions: Vec<i64>,
}

/// A row with an unexpected version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowCheck {
    /// The schema's number, from 1.
    pub schema: u32,
    pub key: u64,
    /// Its version before the run.
    pub before: i64,
    /// Number of acknowledged updates of the row.
    pub acknowledged: u64,
    /// Its version after the run.
    pub found: i64,
}

/// The result of a comparison.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowComparison {
    /// Number of rows of the data.
    pub rows: u64,
    /// Number of these rows that no longer exist.
    pub rows_missing: u64,
    /// Rows that do not belong to the data, or occur twice.
    pub rows_foreign: u64,
    /// Number of acknowledged commits in total.
    pub commits_acknowledged: u64,
    /// Updates whose outcome the client does not know.
    pub commits_unknown: u64,
    /// Acknowledged row updates: each row of each commit.
    pub rows_acknowledged: u64,
    /// Sum of the increases of all versions.
    pub rows_found: i128,
    /// Acknowledged updates that are missing from the rows.
    pub rows_lost: u64,
    /// Updates in the rows beyond the acknowledged ones, within the unknown ones.
    pub rows_unknown_found: u64,
    /// Updates in the rows beyond the acknowledged and the unknown ones.
    pub rows_surplus: u64,
    /// Difference between the rows of acknowledged updates and the plan's work unit, summed.
    pub rows_short: u64,
    /// Rows whose version changed but that hold no value of this run, or the reverse.
    pub values_wrong: u64,
    /// One of the wrong rows, if there are any.
    pub example: Option<RowCheck>,
    work_unit: u64,
}

impl RowVersionBaseline {
    /// Reads the versions of all rows of `spec`.
    ///
    /// # Errors
    /// The data is larger than [`ROWS_MAX`], rows are missing or unexpected, or the target cannot be read.
    pub fn read(target: &dyn Target, spec: &DataSpec) -> Result<Self, TargetError> {
        let rows = spec.rows.saturating_mul(u64::from(spec.schemas));
        if rows > ROWS_MAX {
            return Err(TargetError::new(
                TargetErrorKind::Unsupported,
                format!("the data has {rows} rows, but a proof tracks at most {ROWS_MAX}"),
            )
            .hint("load fewer rows: a proof does not need much data (data.scale, data.schemas)"));
        }
        let mut table = SeenRows::new(spec, rows as usize);
        let mut versions = vec![0; rows as usize];
        target.durability_proof()?.versions(spec, &mut |row| {
            if let Some(place) = table.place(row.schema, row.key) {
                versions[place] = row.version;
            }
        })?;
        if table.missing() + table.foreign > 0 {
            return Err(TargetError::new(
                TargetErrorKind::Data,
                format!(
                    "of {rows} loaded rows, {} are missing, and {} rows exist that were not loaded",
                    table.missing(),
                    table.foreign
                ),
            )
            .hint("load the data again: dyno load --replace"));
        }
        Ok(Self { spec: spec.clone(), versions })
    }

    /// Reads all rows again and compares them with `ledger`; `run_stamp` is the run's.
    ///
    /// # Errors
    /// The target cannot be read.
    pub fn compare(
        &self,
        target: &dyn Target,
        ledger: &AckLedger,
        run_stamp: u64,
    ) -> Result<RowComparison, TargetError> {
        let (commits_unknown, unknown) = ledger.close();
        let prefix = UpdateValues::run_prefix(run_stamp);
        let mut seen_rows = SeenRows::new(&self.spec, self.versions.len());
        let mut account = RowComparison {
            rows: self.versions.len() as u64,
            commits_acknowledged: ledger.commits(),
            commits_unknown,
            rows_acknowledged: (0..self.versions.len()).map(|place| ledger.acknowledged_of(place)).sum(),
            rows_short: ledger.short_rows(),
            work_unit: ledger.work_unit(),
            ..RowComparison::default()
        };
        target.durability_proof()?.versions(&self.spec, &mut |row| {
            let Some(place) = seen_rows.place(row.schema, row.key) else { return };
            let checked_row = RowCheck {
                schema: row.schema,
                key: row.key,
                before: self.versions[place],
                acknowledged: ledger.acknowledged_of(place),
                found: row.version,
            };
            let is_stamped = row.stamp.starts_with(&prefix);
            account.add_row(checked_row, unknown.get(&place).copied().unwrap_or(0), is_stamped);
        })?;
        account.rows_missing = seen_rows.missing();
        account.rows_foreign = seen_rows.foreign;
        // All acknowledged updates of a missing row are lost.
        account.rows_lost += seen_rows.absent().map(|place| ledger.acknowledged_of(place)).sum::<u64>();
        Ok(account)
    }
}

impl RowComparison {
    /// Adds one row, of which `unknown` updates have an unknown outcome.
    fn add_row(&mut self, row: RowCheck, unknown: u64, is_stamped: bool) {
        self.rows_found += i128::from(row.found) - i128::from(row.before);
        let mut is_wrong = is_stamped != (row.found > row.before);
        self.values_wrong += u64::from(is_wrong);
        let more = i128::from(row.found) - i128::from(row.before) - i128::from(row.acknowledged);
        if more < 0 {
            // A version below `before` means that an update from before this run is lost: also a loss.
            self.rows_lost = self.rows_lost.saturating_add(clamped(-more));
            is_wrong = true;
        } else {
            let more = clamped(more);
            self.rows_unknown_found += more.min(unknown);
            self.rows_surplus = self.rows_surplus.saturating_add(more.saturating_sub(unknown));
            is_wrong |= more > unknown;
        }
        if is_wrong {
            self.example.get_or_insert(row);
        }
    }

    /// The least number of lost acknowledged commits. A lost commit loses its whole work unit, and a present
    /// one of unknown outcome can hide a lost one.
    pub fn commits_lost(&self) -> u64 {
        self.rows_lost.div_ceil(self.work_unit.max(1))
    }

    /// The most acknowledged commits that are present.
    pub fn commits_found(&self) -> u64 {
        self.commits_acknowledged.saturating_sub(self.commits_lost())
    }

    /// Whether all acknowledged updates are in the rows, and nothing else is.
    pub fn is_whole(&self) -> bool {
        let Self { rows_missing, rows_foreign, rows_lost, rows_surplus, rows_short, values_wrong, .. } = self;
        [rows_missing, rows_foreign, rows_lost, rows_surplus, rows_short, values_wrong]
            .iter()
            .all(|&&wrong| wrong == 0)
    }
}

/// The distance between two versions, limited: a foreign program may have written them.
fn clamped(distance: i128) -> u64 {
    u64::try_from(distance).unwrap_or(u64::MAX)
}

/// The rows that a reading has seen.
struct SeenRows<'a> {
    spec: &'a DataSpec,
    bits: Vec<u64>,
    rows: usize,
    present_count: u64,
    foreign: u64,
}

impl<'a> SeenRows<'a> {
    fn new(spec: &'a DataSpec, rows: usize) -> Self {
        Self { spec, bits: vec![0; rows.div_ceil(64)], rows, present_count: 0, foreign: 0 }
    }

    /// The index of a row that belongs to the data and is seen for the first time.
    fn place(&mut self, schema: u32, key: u64) -> Option<usize> {
        if !(1..=self.spec.schemas).contains(&schema) || !(1..=self.spec.rows).contains(&key) {
            self.foreign += 1;
            return None;
        }
        let place = (u64::from(schema - 1) * self.spec.rows + key - 1) as usize;
        let bit = 1 << (place % 64);
        if self.bits[place / 64] & bit != 0 {
            self.foreign += 1;
            return None;
        }
        self.bits[place / 64] |= bit;
        self.present_count += 1;
        Some(place)
    }

    fn missing(&self) -> u64 {
        self.rows as u64 - self.present_count
    }

    /// The indexes of rows that were not seen.
    fn absent(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.rows).filter(|place| self.bits[place / 64] & (1 << (place % 64)) == 0)
    }
}

#[cfg(test)]
mod tests;
