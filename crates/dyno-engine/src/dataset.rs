//! The test data on a target: made, looked at, and removed.

use dyno_plan::{Bytes, Commit, DataSpec};

use crate::blocks::{Blocks, BlocksSql};
use crate::error::TargetError;
use crate::explain;
use crate::load::{Cancel, DataState, DropItem, LoadOptions, LoadReport, Progress};
use crate::pool::BreakOff;
use crate::row::Row;
use crate::statement::Value;
use crate::tables::{Fill, ObjectKind, RequiredKey, TableWords};

/// Hears the rows of each statement of a script, and whether it is to go on.
pub type Told<'a> = &'a mut dyn FnMut(Vec<Row>) -> Result<(), TargetError>;

/// A target as far as it holds test data. What an engine has nothing of, it does not say.
pub trait Dataset: Send + Sync {
    /// The block size that data would be loaded with: the wish if the engine can choose, else its own.
    ///
    /// # Errors
    /// It cannot be reached, or the wish cannot be met.
    fn block_size(&self, wish: Option<Bytes>) -> Result<Bytes, TargetError>;

    /// The size of the blocks that it reads, whether or not test data can have such blocks. A database that is not there yet has
    /// the size that it would be made with.
    ///
    /// # Errors
    /// It cannot be reached.
    fn native_block_size(&self) -> Result<Bytes, TargetError>;

    /// What it holds of Dyno's.
    ///
    /// # Errors
    /// It cannot be reached, or its metadata cannot be read.
    fn survey(&self) -> Result<DataState, TargetError>;

    /// Whether the data of `spec`, which [`Dataset::survey`] found, is still what was loaded, or what Dyno's own updates
    /// made of it: by what can be seen without reading it all, and a sample of rows that `seed` chooses. What it costs
    /// does not grow with the data; what is wrong with a few rows only may be missed. What it returns is something that own
    /// updates made of the data, and that figures depend on.
    ///
    /// # Errors
    /// [`crate::TargetErrorKind::Data`] says what is wrong; else it cannot be reached.
    fn spot_check(&self, spec: &DataSpec, seed: u64) -> Result<Option<String>, TargetError>;

    /// Creates, fills and verifies the data. The same spec already there is recognised; a partial load of the same spec
    /// is resumed; another spec is refused unless `options.replace`.
    ///
    /// # Errors
    /// As [`crate::TargetErrorKind`] says; after `Cancelled` or any failure the next call finds [`DataState::Partial`].
    fn load(
        &self,
        spec: &DataSpec,
        options: &LoadOptions,
        progress: &dyn Progress,
        cancel: &Cancel,
    ) -> Result<LoadReport, TargetError>;

    /// What [`Dataset::drop_all`] would remove.
    ///
    /// # Errors
    /// It cannot be reached, or its metadata cannot be read.
    fn inventory(&self) -> Result<Vec<DropItem>, TargetError>;

    /// What lies where Dyno keeps its own and is not Dyno's: [`Dataset::drop_all`] leaves it, and users are told.
    ///
    /// # Errors
    /// It cannot be reached, or its metadata cannot be read.
    fn foreign(&self) -> Result<Vec<DropItem>, TargetError>;

    /// Removes exactly what Dyno created, as its own metadata lists it; returns what was removed.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn drop_all(&self) -> Result<Vec<DropItem>, TargetError>;

    /// Rows that sessions have inserted and not deleted: those above the keys of `spec`.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn own_rows(&self, spec: &DataSpec) -> Result<u64, TargetError>;

    /// The block of each of these rows, in words that are the same for the same block; `None` where a row's key decides where it
    /// lies, so that a row with the key of a deleted one takes its place.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn own_places(&self, _spec: &DataSpec) -> Result<Option<Vec<String>>, TargetError> {
        Ok(None)
    }

    /// Deletes the rows that [`Dataset::own_rows`] counts; returns how many they were.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn sweep_up(&self, spec: &DataSpec) -> Result<u64, TargetError>;

    /// Notes that sessions of a run have deleted `rows` rows of their own, where [`Dataset::spot_check`] looks at what was
    /// deleted.
    ///
    /// # Errors
    /// It cannot be reached, or refuses; more is then looked at than need be.
    fn note_deletions(&self, _rows: u64) -> Result<(), TargetError> {
        Ok(())
    }

    /// Does `statements` of the user's own, one after the other on a connection of their own with the platform's settings, each
    /// committed by itself; `told` hears the rows of each. A database in a file, or in memory, is made where it is not there.
    ///
    /// # Errors
    /// It cannot be reached, or refuses one: that which follows those that `told` has heard of. Or the error of `told`, after which
    /// none follows.
    fn script(&self, statements: &[&str], told: Told<'_>) -> Result<(), TargetError>;

    /// How the database would do `sql`, line by line, with its values written out; it is not done.
    ///
    /// # Errors
    /// It cannot be reached, or refuses it.
    fn explain(&self, sql: &str) -> Result<Vec<String>, TargetError> {
        explain::lines(self, &[&format!("EXPLAIN {sql}")], |row| row.text(0).to_owned())
    }

    /// `value` as it stands in a statement.
    fn literal(&self, value: Value<'_>) -> String {
        explain::literal(value)
    }

    /// How the engine writes tables that users describe.
    fn table_words(&self) -> TableWords;

    /// What the server requires of tables without a primary key; `None` where it takes them as they are.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn required_key(&self) -> Result<Option<RequiredKey>, TargetError> {
        Ok(None)
    }

    /// A connection that fills tables which users describe, where names mean what they mean to [`Dataset::script`]; and what breaks
    /// off whatever it does.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn filler(&self) -> Result<(Box<dyn Fill + '_>, BreakOff), TargetError>;

    /// Those of `names` under which there is such an object, where [`Dataset::script`] would find it, in their order.
    ///
    /// # Errors
    /// It cannot be reached, or refuses.
    fn find(&self, kind: ObjectKind, names: &[&str]) -> Result<Vec<DropItem>, TargetError>;

    /// The classic method in this engine's SQL, for the schema and the data of `blocks`, with this way to commit.
    ///
    /// # Errors
    /// The data cannot be on this target.
    fn blocks(&self, blocks: &Blocks, commit: Commit) -> Result<BlocksSql, TargetError>;
}
