//! What has come of a transaction so far.

use dyno_engine::StatementId;
use dyno_record::Touch;

use crate::effect::Effect;

/// How a transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It has not.
    Open,
    /// It was committed; of a transaction whose statements commit each by itself, all are.
    Committed,
    /// A step has taken it back.
    RolledBack,
}

/// A statement that has touched another number of rows than it has to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Amiss {
    /// Which.
    pub statement: StatementId,
    /// How many it has to touch: at least, and at most.
    pub wanted: (u64, u64),
    /// How many it has touched.
    pub got: u64,
}

/// What has come of a transaction so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub ended: Ended,
    /// What it has done so far. Rows of a transaction that was taken back are none, and a statement that gives a number counts as one
    /// row that was read.
    pub effect: Effect,
    /// The first statement that has touched another number of rows than it has to.
    pub amiss: Option<Amiss>,
}

/// Nothing, before it begins.
pub(super) const NOTHING: Outcome = Outcome {
    ended: Ended::Open,
    effect: Effect {
        rows: [0; Touch::KINDS],
        commits: 0,
        transactions: 0,
        rolled_back: 0,
        empty_polls: 0,
        tallied: 0,
        write_statements: 0,
        empty_writes: 0,
    },
    amiss: None,
};
