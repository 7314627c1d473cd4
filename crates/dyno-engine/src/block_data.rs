//! The test data of the block workload on a target: load, check, list and remove it.

use dyno_plan::{Bytes, Commit, DataSpec};

use crate::blocks::{BlockSessionConfig, BlocksSql};
use crate::error::TargetError;
use crate::load::{Cancel, DataState, DropItem, LoadOptions, LoadProgressSink, LoadReport};

/// A target that holds the block workload's test data, one row per block, and can prove that it does. Default
/// methods stand for engines without the feature.
pub trait BlockData: Send + Sync {
    /// The block size for a load: `wish` if the engine can choose, otherwise the engine's fixed size.
    ///
    /// # Errors
    /// The target cannot be reached, or the engine cannot use blocks of the size `wish`.
    fn block_size(&self, wish: Option<Bytes>) -> Result<Bytes, TargetError>;

    /// The state of Dyno's data on the target.
    ///
    /// # Errors
    /// The target cannot be reached, or its metadata cannot be read.
    fn survey(&self) -> Result<DataState, TargetError>;

    /// Checks whether the data of `spec`, which [`BlockData::survey`] found, is as loaded or as Dyno's own
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

    /// The objects that [`BlockData::drop_all`] would remove.
    ///
    /// # Errors
    /// The target cannot be reached, or its metadata cannot be read.
    fn inventory(&self) -> Result<Vec<DropItem>, TargetError>;

    /// Objects in Dyno's own place that Dyno did not create. [`BlockData::drop_all`] leaves them, and Dyno
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

    /// Deletes the rows that [`BlockData::leftover_rows`] counts; returns their number.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses.
    fn delete_leftover_rows(&self, spec: &DataSpec) -> Result<u64, TargetError>;

    /// Notes that sessions of a run deleted `rows` rows of their own, where [`BlockData::spot_check`] considers
    /// deletions.
    ///
    /// # Errors
    /// The target cannot be reached, or refuses; the next check then reads more than necessary.
    fn note_deletions(&self, _rows: u64) -> Result<(), TargetError> {
        Ok(())
    }

    /// The block workload in this engine's SQL, for the schema and data of `blocks` and this kind of commit.
    ///
    /// # Errors
    /// The target cannot hold this data.
    fn blocks(&self, blocks: &BlockSessionConfig, commit: Commit) -> Result<BlocksSql, TargetError>;
}
