//! Holds what one session needs for loops inside the database: the calls, and their texts for each schema.

use oracledb::{Connection, Error};

use super::slice::OracleSliceCalls;
use super::statements::OracleStatementTexts;
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, UpdateValues};
use dyno_engine::{BlockOp, BlockOpSchema, BlockSessionConfig, SessionSetup, SliceDone};

/// The slice calls of one session.
pub(super) struct OracleSliceLoops {
    calls: OracleSliceCalls,
    schema_texts: OracleStatementTexts,
    /// The texts for schema 1; absent unless operations use it too.
    first: Option<OracleStatementTexts>,
    work_unit: u32,
}

impl OracleSliceLoops {
    /// Creates the calls for sessions of `setup` that execute loops inside the database.
    pub(super) fn new(blocks: &BlockSessionConfig, setup: &SessionSetup) -> Self {
        let BlockSessionConfig { schema, redo, session, seed, run_stamp, work_unit, .. } = *blocks;
        let texts = |schema| OracleStatementTexts::new(schema, redo, setup.commit, &blocks.spec);
        let seed = seed ^ run_stamp ^ u64::from(session);
        Self {
            calls: OracleSliceCalls::new(blocks.stamp(), CLASSIC_COLUMN_BYTES, seed),
            schema_texts: texts(schema),
            first: blocks.uses_hot_schema().then(|| texts(1)),
            work_unit,
        }
    }

    /// Makes the database parse the calls by executing them without operations.
    pub(super) fn prepare(&self, driver: &Connection, blocks: &BlockSessionConfig) -> Result<(), Error> {
        std::iter::once(&self.schema_texts)
            .chain(&self.first)
            .try_for_each(|texts| self.calls.prepare(driver, texts, blocks))
    }

    /// Executes `ops` on the schema of `place`.
    pub(super) fn run(
        &mut self,
        driver: &Connection,
        place: BlockOpSchema,
        ops: &[BlockOp],
        values: &mut UpdateValues,
    ) -> Result<SliceDone, Error> {
        let Self { calls, schema_texts: own, first, work_unit } = self;
        let texts = if place == BlockOpSchema::First { first.as_ref().unwrap_or(own) } else { own };
        calls.run(driver, texts, ops, *work_unit, values)
    }
}
