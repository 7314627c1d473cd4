//! The rows' own account held against what was acknowledged.
//!
//! Every update adds 1 to the version of each row that it touches, and writes the run's stamp into it. So for each row the
//! version after the run, less the version before it, must be the number of acknowledged updates of that row, and at most
//! the number of updates of unknown end more. That is held row by row, because in a sum a lost update and a double one
//! would cancel out.

use dyno_engine::data::UpdateValues;
use dyno_engine::{Target, TargetError, TargetErrorKind};
use dyno_plan::DataSpec;

use crate::witness::Book;

/// Rows that a proof can hold in memory, at 12 bytes and a bit for each.
pub const ROWS_MAX: u64 = 100_000_000;

/// The versions of all rows before a run.
#[derive(Debug)]
pub struct Start {
    spec: DataSpec,
    versions: Vec<i64>,
}

/// A row whose version is not what it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// The schema, from 1.
    pub schema: u32,
    /// The key.
    pub key: u64,
    /// Its version before the run.
    pub before: i64,
    /// Acknowledged updates of it.
    pub acknowledged: u64,
    /// Its version now.
    pub found: i64,
}

/// What a comparison has found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// Rows that the data has.
    pub rows: u64,
    /// Of them, those that are not there any more.
    pub rows_missing: u64,
    /// Rows that are none of the data's, or there a second time.
    pub rows_foreign: u64,
    /// Commits acknowledged.
    pub commits_acknowledged: u64,
    /// Updates whose end is unknown to the client.
    pub commits_unknown: u64,
    /// Updated rows acknowledged: each row of each commit.
    pub rows_acknowledged: u64,
    /// What all versions have grown by.
    pub rows_found: i128,
    /// Acknowledged updates of rows that are not in the rows.
    pub rows_lost: u64,
    /// Updates found in rows beyond those acknowledged, within what is unknown.
    pub rows_unknown_found: u64,
    /// Updates found in rows beyond acknowledged and unknown ones.
    pub rows_surplus: u64,
    /// Rows that acknowledged updates said that they had more or fewer of than the plan's work unit.
    pub rows_short: u64,
    /// Rows whose version has moved but that do not hold a value of this run, or the reverse.
    pub values_wrong: u64,
    /// A row that is wrong, if any is.
    pub example: Option<Example>,
    work_unit: u64,
}

impl Start {
    /// Reads the versions of all rows of `spec`.
    ///
    /// # Errors
    /// The data is larger than [`ROWS_MAX`], rows are missing or strange, or the target cannot be read.
    pub fn read(target: &dyn Target, spec: &DataSpec) -> Result<Self, TargetError> {
        let rows = spec.rows.saturating_mul(u64::from(spec.schemas));
        if rows > ROWS_MAX {
            return Err(TargetError::new(
                TargetErrorKind::Unsupported,
                format!("the data has {rows} rows, and a proof keeps account of at most {ROWS_MAX}"),
            )
            .hint("load fewer: a proof needs no large data (data.scale, data.schemas)"));
        }
        let mut table = Seen::new(spec, rows as usize);
        let mut versions = vec![0; rows as usize];
        target.versions(spec, &mut |row| {
            if let Some(place) = table.place(row.schema, row.key) {
                versions[place] = row.version;
            }
        })?;
        if table.missing() + table.foreign > 0 {
            return Err(TargetError::new(
                TargetErrorKind::Data,
                format!(
                    "of {rows} rows that were loaded, {} are missing, and {} are there that were not loaded",
                    table.missing(),
                    table.foreign
                ),
            )
            .hint("load the data anew: dyno load --replace"));
        }
        Ok(Self { spec: spec.clone(), versions })
    }

    /// Reads all rows again and holds them against what `book` says; `run_stamp` is the run's.
    ///
    /// # Errors
    /// The target cannot be read.
    pub fn compare(&self, target: &dyn Target, book: &Book, run_stamp: u64) -> Result<Account, TargetError> {
        let (commits_unknown, unknown) = book.close();
        let prefix = UpdateValues::run_prefix(run_stamp);
        let mut seen = Seen::new(&self.spec, self.versions.len());
        let mut account = Account {
            rows: self.versions.len() as u64,
            commits_acknowledged: book.commits(),
            commits_unknown,
            rows_acknowledged: (0..self.versions.len()).map(|place| book.acknowledged_of(place)).sum(),
            rows_short: book.short_rows(),
            work_unit: book.work_unit(),
            ..Account::default()
        };
        target.versions(&self.spec, &mut |row| {
            let Some(place) = seen.place(row.schema, row.key) else { return };
            let found = Example {
                schema: row.schema,
                key: row.key,
                before: self.versions[place],
                acknowledged: book.acknowledged_of(place),
                found: row.version,
            };
            let is_stamped = row.stamp.starts_with(&prefix);
            account.take(found, unknown.get(&place).copied().unwrap_or(0), is_stamped);
        })?;
        account.rows_missing = seen.missing();
        account.rows_foreign = seen.foreign;
        // Whatever was acknowledged of a row that is gone is lost with it.
        account.rows_lost += seen.absent().map(|place| book.acknowledged_of(place)).sum::<u64>();
        Ok(account)
    }
}

impl Account {
    /// Takes one row in, of which `unknown` updates have an unknown end.
    fn take(&mut self, row: Example, unknown: u64, is_stamped: bool) {
        self.rows_found += i128::from(row.found) - i128::from(row.before);
        let mut is_wrong = is_stamped != (row.found > row.before);
        self.values_wrong += u64::from(is_wrong);
        let more = i128::from(row.found) - i128::from(row.before) - i128::from(row.acknowledged);
        if more < 0 {
            // Below `before` an update is lost that was committed even before this run began: no less a loss.
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

    /// Acknowledged commits that are lost, at least: a lost commit takes its whole work unit with it, and one of unknown
    /// end that is there can hide one.
    pub fn commits_lost(&self) -> u64 {
        self.rows_lost.div_ceil(self.work_unit.max(1))
    }

    /// Acknowledged commits that are there, at most.
    pub fn commits_found(&self) -> u64 {
        self.commits_acknowledged.saturating_sub(self.commits_lost())
    }

    /// Whether every acknowledged update is in its rows, and nothing else is.
    pub fn is_whole(&self) -> bool {
        let Self { rows_missing, rows_foreign, rows_lost, rows_surplus, rows_short, values_wrong, .. } = self;
        [rows_missing, rows_foreign, rows_lost, rows_surplus, rows_short, values_wrong]
            .iter()
            .all(|&&wrong| wrong == 0)
    }
}

/// A distance between versions, which somebody else may have written.
fn clamped(distance: i128) -> u64 {
    u64::try_from(distance).unwrap_or(u64::MAX)
}

/// Which rows a reading has come by.
struct Seen<'a> {
    spec: &'a DataSpec,
    bits: Vec<u64>,
    rows: usize,
    found: u64,
    foreign: u64,
}

impl<'a> Seen<'a> {
    fn new(spec: &'a DataSpec, rows: usize) -> Self {
        Self { spec, bits: vec![0; rows.div_ceil(64)], rows, found: 0, foreign: 0 }
    }

    /// The place of a row of the data that is seen for the first time.
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
        self.found += 1;
        Some(place)
    }

    fn missing(&self) -> u64 {
        self.rows as u64 - self.found
    }

    /// Places of rows that were not seen.
    fn absent(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.rows).filter(|place| self.bits[place / 64] & (1 << (place % 64)) == 0)
    }
}

#[cfg(test)]
mod tests;
