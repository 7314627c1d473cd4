//! The block workload as engines see it: its operations, its statements in an engine's SQL, and its loops
//! inside the database.

use dyno_plan::{DataSpec, Redo};

use crate::data::UpdateValues;
use crate::error::OpError;
use crate::statement::{ResultKind, Statement, Type};

/// What an engine knows about the block operations of one session.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockSessionConfig {
    /// The schema that the session works on, from 1.
    pub schema: u32,
    /// The data that is loaded on the target.
    pub spec: DataSpec,
    /// Rows that a `select` or an `update` touches.
    pub work_unit: u32,
    /// How many text columns an update writes.
    pub redo: Redo,
    /// Operations of the plan beyond the common ones.
    pub extra: Extra,
    /// Seed of the generator of update values.
    pub seed: u64,
    /// A number unique to this run on this target, part of every update value, so that values of two runs
    /// always differ.
    pub run_stamp: u64,
    /// The session's number over all schemas, from 0.
    pub session: u32,
}

impl BlockSessionConfig {
    /// The first characters of every update value of this session.
    pub fn stamp(&self) -> String {
        format!("{}{:08x}", UpdateValues::run_prefix(self.run_stamp), self.session)
    }

    /// Makes the session's update values, for columns of `column_bytes`.
    pub fn update_values(&self, column_bytes: usize) -> UpdateValues {
        let Self { seed, run_stamp, session, ref spec, .. } = *self;
        UpdateValues::new(seed, run_stamp, session, column_bytes, spec.compressible)
    }

    /// Whether a session of another schema also sends operations to schema 1.
    pub fn uses_hot_schema(&self) -> bool {
        self.extra.hot_schema && self.schema != 1
    }
}

/// Optional operations, which most plans do not use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extra {
    /// Operations of all sessions go to schema 1 too.
    pub hot_schema: bool,
    /// The session inserts and deletes rows of its own.
    pub churn: bool,
    /// The session reads rows by the secondary key.
    pub secondary: bool,
}

impl Extra {
    /// All optional operations; every engine supports them.
    pub const ALL: Self = Self { hot_schema: true, churn: true, secondary: true };
}

/// The schema that an operation works on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BlockOpSchema {
    /// The session's own schema.
    #[default]
    Own,
    /// Schema 1, whichever schema the session belongs to.
    First,
}

/// One operation of the block workload, with its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockOp {
    /// Count the rows with keys `first .. first + work_unit`.
    Select {
        /// The first key of the range.
        first: u64,
    },
    /// Read the row with this key.
    Lookup {
        /// The key of the row.
        key: u64,
    },
    /// Count the rows of the table without an index.
    Scan,
    /// Give the rows with keys `first .. first + work_unit` new values, and commit.
    Update {
        /// The first key of the range.
        first: u64,
        /// The operation's number within the session, which makes the new values unique.
        number: u64,
    },
    /// Read the rows with this value of the secondary key.
    Secondary {
        /// The value of the secondary key, from 1.
        value: u64,
    },
    /// Insert a row and commit. Needs [`Extra::churn`]; goes only to the session's own schema.
    Insert {
        /// The key of the new row, above the loaded ones.
        key: u64,
        /// The operation's number within the session, as in an update.
        number: u64,
    },
    /// Delete the row with this key and commit. This session inserted the row.
    Delete {
        /// The key of the row.
        key: u64,
    },
}

/// The kind of an operation, without its values; or one of two checks of the rows of the last update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockStatementKind {
    /// Counts a range; see [`BlockOp::Select`].
    Select,
    /// Reads one row; see [`BlockOp::Lookup`].
    Lookup,
    /// Reads by the secondary key; see [`BlockOp::Secondary`].
    Secondary,
    /// Counts a whole table; see [`BlockOp::Scan`].
    Scan,
    /// Updates a range; see [`BlockOp::Update`].
    Update,
    /// Inserts one row; see [`BlockOp::Insert`].
    Insert,
    /// Deletes one row; see [`BlockOp::Delete`].
    Delete,
    /// Checks: counts the rows of a range.
    Found,
    /// Checks: counts the rows of a range that hold the update's values, or later values of another session
    /// of the run.
    Fresh,
}

dyno_plan::names! {
    /// The name of this kind's statement.
    BlockStatementKind {
        Select = "select", Lookup = "lookup", Secondary = "secondary", Scan = "scan", Update = "update",
        Insert = "insert", Delete = "delete", Found = "found", Fresh = "fresh"
    }
}

impl BlockStatementKind {
    /// The operation of this kind with `key` and `number`; absent for checks.
    pub fn op(self, key: u64, number: u64) -> Option<BlockOp> {
        Some(match self {
            Self::Select => BlockOp::Select { first: key },
            Self::Lookup => BlockOp::Lookup { key },
            Self::Secondary => BlockOp::Secondary { value: key },
            Self::Scan => BlockOp::Scan,
            Self::Update => BlockOp::Update { first: key, number },
            Self::Insert => BlockOp::Insert { key, number },
            Self::Delete => BlockOp::Delete { key },
            Self::Found | Self::Fresh => return None,
        })
    }
}

impl BlockOp {
    /// The kind of this operation.
    #[inline]
    pub fn kind(self) -> BlockStatementKind {
        match self {
            Self::Select { .. } => BlockStatementKind::Select,
            Self::Lookup { .. } => BlockStatementKind::Lookup,
            Self::Scan => BlockStatementKind::Scan,
            Self::Update { .. } => BlockStatementKind::Update,
            Self::Secondary { .. } => BlockStatementKind::Secondary,
            Self::Insert { .. } => BlockStatementKind::Insert,
            Self::Delete { .. } => BlockStatementKind::Delete,
        }
    }

    /// Whether it changes rows and commits.
    #[inline]
    pub fn writes(self) -> bool {
        matches!(self, Self::Update { .. } | Self::Insert { .. } | Self::Delete { .. })
    }

    /// Its key, or its value of the secondary key; 0 for scans.
    #[inline]
    pub fn key(self) -> u64 {
        match self {
            Self::Select { first } | Self::Update { first, .. } => first,
            Self::Lookup { key } | Self::Insert { key, .. } | Self::Delete { key } => key,
            Self::Secondary { value } => value,
            Self::Scan => 0,
        }
    }

    /// The operation's number within the session; it makes new values unique.
    #[inline]
    pub fn number(self) -> Option<u64> {
        match self {
            Self::Update { number, .. } | Self::Insert { number, .. } => Some(number),
            _ => None,
        }
    }
}

/// The value that is bound to a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// A linear function of the operation's key: `key * times + plus`.
    Key {
        /// Factor by which the key is multiplied.
        times: i64,
        /// Summand that is added to the product.
        plus: i64,
    },
    /// The operation's number within the session.
    Number,
    /// One of the new text columns, from 0.
    Column(usize),
    /// Filler for the rest of an inserted row: [`BlocksSql::pad_bytes`].
    Pad,
    /// The first characters of the last update's values.
    Stamp,
    /// The first characters of all values of the run.
    RunPrefix,
    /// The first characters of all values of the session.
    SessionPrefix,
}

impl Slot {
    /// The key of the operation, unchanged.
    pub const KEY: Self = Self::Key { times: 1, plus: 0 };

    /// The last key of a range of `work_unit` rows.
    pub fn last(work_unit: u32) -> Self {
        Self::Key { times: 1, plus: i64::from(work_unit) - 1 }
    }
}

/// One statement of the block workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlocksStatement {
    /// The operation or check that uses it.
    pub kind: BlockStatementKind,
    /// The statement, in the engine's SQL.
    pub statement: Statement,
    /// The value for each of its parameters, in order.
    pub slots: Vec<Slot>,
}

impl BlocksStatement {
    /// A statement that only reads rows.
    pub fn read(
        kind: BlockStatementKind,
        sql: String,
        params: &[Type],
        slots: &[Slot],
        answer: ResultKind,
    ) -> Self {
        let statement = Statement::read(kind.name(), sql, params, answer);
        Self { kind, statement, slots: slots.to_vec() }
    }

    /// A statement that changes rows and commits.
    pub fn write(kind: BlockStatementKind, sql: String, params: &[Type], slots: &[Slot]) -> Self {
        Self { kind, statement: Statement::write(kind.name(), sql, params), slots: slots.to_vec() }
    }

    /// A statement that checks data and is not an operation.
    pub fn look(kind: BlockStatementKind, sql: String, params: &[Type], slots: &[Slot]) -> Self {
        Self { kind, statement: Statement::look(kind.name(), sql, params), slots: slots.to_vec() }
    }
}

/// The block workload in an engine's SQL, for one schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlocksSql {
    /// Bytes of each text column.
    pub column_bytes: usize,
    /// Bytes of filler for the rest of an inserted row; 0 where there is no such column.
    pub pad_bytes: usize,
    /// The statements that sessions prepare.
    pub statements: Vec<BlocksStatement>,
}

/// The counts of a slice that ended without an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SliceDone {
    /// Rows read by range selects, lookups, scans and lookups by the secondary key, in this order.
    pub rows_read: [u64; 4],
    /// Rows that updates of the slice changed.
    pub rows_updated: u64,
    /// Rows inserted, and rows deleted.
    pub churned: (u64, u64),
    /// Commits done inside the database.
    pub commits: u64,
}

/// Slices: loops of block operations inside the database.
pub trait Slices {
    /// Executes `ops` in order inside the database, on the schema `place`, in one call. Each write is
    /// committed. `values` makes the text of new values.
    ///
    /// # Errors
    /// [`OpError`] with its class; what the slice had done by then is unknown.
    fn slice(
        &mut self,
        place: BlockOpSchema,
        ops: &[BlockOp],
        values: &mut UpdateValues,
    ) -> Result<SliceDone, Box<OpError>>;
}
