//! What one session needs for loops inside the database: the calls, and their texts for each schema.

use oracledb::{Connection, Error};

use super::slice::Calls;
use super::statements::Texts;
use dyno_engine::data::{CLASSIC_COLUMN_BYTES, UpdateValues};
use dyno_engine::{Blocks, Op, Place, SessionSetup, SliceDone};

/// Loops inside the database.
pub(super) struct Loops {
    calls: Calls,
    own: Texts,
    /// On schema 1, where operations go there too.
    first: Option<Texts>,
    work_unit: u32,
}

impl Loops {
    /// For sessions of `setup`, where that asks for loops.
    pub(super) fn new(blocks: &Blocks, setup: &SessionSetup) -> Self {
        let Blocks { schema, redo, session, seed, run_stamp, work_unit, .. } = *blocks;
        let texts = |schema| Texts::new(schema, redo, setup.commit, &blocks.spec);
        let seed = seed ^ run_stamp ^ u64::from(session);
        Self {
            calls: Calls::new(blocks.stamp(), CLASSIC_COLUMN_BYTES, seed),
            own: texts(schema),
            first: blocks.also_first().then(|| texts(1)),
            work_unit,
        }
    }

    /// Lets the database parse them, on no operations.
    pub(super) fn prepare(&self, driver: &Connection, blocks: &Blocks) -> Result<(), Error> {
        std::iter::once(&self.own)
            .chain(&self.first)
            .try_for_each(|texts| self.calls.prepare(driver, texts, blocks))
    }

    /// Does `ops` at `place`.
    pub(super) fn run(
        &mut self,
        driver: &Connection,
        place: Place,
        ops: &[Op],
        values: &mut UpdateValues,
    ) -> Result<SliceDone, Error> {
        let Self { calls, own, first, work_unit } = self;
        let texts = if place == Place::First { first.as_ref().unwrap_or(own) } else { own };
        calls.run(driver, texts, ops, *work_unit, values)
    }
}
