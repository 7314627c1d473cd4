//! The test data on a target: load, check, list and remove it.

use dyno_plan::{Bytes, Commit, DataSpec};

use crate::blocks::{BlockSessionConfig, BlocksSql};
use crate::error::TargetError;
use crate::explain;
use crate::load::{Cancel, DataState, DropItem, LoadOptions, LoadProgressSink, LoadReport};
use crate::pool::InterruptFn;
use crate::row::TextRow;
use crate::statement::Value;
use crate::tables::{Fill, ObjectKind, RequiredKey, TableWords};

/// Receives the rows of each statement of a script; an error stops the script.
pub type RowCallback<'a> = &'a mut dyn FnMut(Vec<TextRow>) -> Result<(), TargetError>;

/// The test data of a target. Default methods stand for engines without the feature.
pub trait Dataset: Send + Sync {
    /// The block size for a load: `wish` if the engine can choose, otherwise the engine's fixed size.
    ///
    /// # Errors
    /// The target cannot be reached, or the engine cannot use blocks of the size `wish`.
    fn block_size(&self, wish: Option<Bytes>) -> Result<Bytes, TargetError>;

    /// The block size of the database's reads, whether or not test data can have such blocks. For a database
    /// that does not exist yet, it is the size at creation.
    ///
    /// # Errors
    /// The target cannot be reached.
    fn native_block_size(&self) -> Result<Bytes, TargetError>;

    /// The state of Dyno's data on the target.
    ///
    /// # Errors
    /// The target cannot be reached, or its metadata cannot be read.
    fn survey(&self) -> Result<DataState, TargetError>;

    /// Checks whether the data of `spec`, which [`Dataset::survey`] found, is as loaded or as Dyno's own
    /// updates left it. It reads only what is cheap, and a sample of rows chosen by `seed`. The cost does not
    /// grow with the data; a fault in a few rows may be missed. Returns what Dyno's own updates changed in
    /// the data, where figures depend on it.
    ///
    /// # Errors
    /// [`crate::TargetErrorKind::Data`] names the fault; else the target cannot be reached.
    fn spot_check(&self, spec: &DataSpec, seed: u64) -> Result<Option<String>, TargetError>;

    /// Creates, fills and verifies the data. Data of this spec is recognized, a partial load of it is
    /// resumed. Data of another spec is refused unless `options.replace`.
    ///
    /// # Errors
    /// See [`crate::TargetErrorKind`]. After `Cancelled` or any failure the next call finds
    /// [`DataState::Partial`].
    fn load(
        &self,
        spec: &DataSpec,
        options: &LoadOptions,
        progress: &dyn LoadProgressSink,
        cancel: &Cancel,
    ) -> Result<LoadReport, TargetError>;

    /// The objects that [`Dataset::drop_all`] would remove.
    ///
    /// # Errors
    /// The target cannot be reached, or its metadata cannot be read.
    fn inventory(&self) -> Result<Vec<DropItem>, TargetError>;

    /// Objects in Dyno's own place that Dyno did not create. [`Dataset::drop_all`] leaves them, and Dyno
    /// reports them to the user.
    ///
    /// # Errors
    /// The target cannot be reached, or its metadata cannot be read.
    fn foreign(&self) -> Result<Vec<DropItem>, TargetError>;

    /// Removes exactly the objects that Dyno created, as its metadata lists them; returns them.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn drop_all(&self) -> Result<Vec<DropItem>, TargetError>;

    /// Number of rows that sessions inserted and did not delete: rows above the keys of `spec`.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn leftover_rows(&self, spec: &DataSpec) -> Result<u64, TargetError>;

    /// A name for the block of each leftover row; equal names mean one block. `None` where the key decides
    /// the block, so that a row with the key of a deleted one takes its place.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn leftover_row_blocks(&self, _spec: &DataSpec) -> Result<Option<Vec<String>>, TargetError> {
        Ok(None)
    }

    /// Deletes the rows that [`Dataset::leftover_rows`] counts; returns their number.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn delete_leftover_rows(&self, spec: &DataSpec) -> Result<u64, TargetError>;

    /// Notes that sessions of a run deleted `rows` rows of their own, where [`Dataset::spot_check`] considers
    /// deletions.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses; the next check then reads more than necessary.
    fn note_deletions(&self, _rows: u64) -> Result<(), TargetError> {
        Ok(())
    }

    /// Executes the user's `statements` in order on a connection of their own with the platform's settings.
    /// Each commits on its own; `on_rows` receives the rows of each. A database in a file, or in memory, is
    /// created where it does not exist.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses a statement: the one after the last whose rows `on_rows`
    /// received. Or the error of `on_rows`, which ends the script.
    fn script(&self, statements: &[&str], on_rows: RowCallback<'_>) -> Result<(), TargetError>;

    /// The database's plan for `sql`, line by line, with its values written out; `sql` is not executed.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses `sql`.
    fn explain(&self, sql: &str) -> Result<Vec<String>, TargetError> {
        explain::lines(self, &[&format!("EXPLAIN {sql}")], |row| row.text(0).to_owned())
    }

    /// `value` as SQL text of this engine.
    fn literal(&self, value: Value<'_>) -> String {
        explain::literal(value)
    }

    /// How the engine writes the DDL of user-defined tables.
    fn table_words(&self) -> TableWords;

    /// The key that the server requires of tables without a primary key; `None` where it requires none.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn required_key(&self) -> Result<Option<RequiredKey>, TargetError> {
        Ok(None)
    }

    /// Opens a connection that fills user-defined tables, and a function that interrupts it. Names resolve as
    /// in [`Dataset::script`].
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn filler(&self) -> Result<(Box<dyn Fill + '_>, InterruptFn), TargetError>;

    /// The existing objects among `names`, as [`Dataset::script`] would resolve them, in the order of
    /// `names`.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn find(&self, kind: ObjectKind, names: &[&str]) -> Result<Vec<DropItem>, TargetError>;

    /// The block workload in this engine's SQL, for the schema and data of `blocks` and this kind of commit.
    ///
    /// # Errors
    /// The target cannot hold this data.
    fn blocks(&self, blocks: &BlockSessionConfig, commit: Commit) -> Result<BlocksSql, TargetError>;
}
