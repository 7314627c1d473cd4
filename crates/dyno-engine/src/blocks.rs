//! What engines know of the classic method: its operations on the test tables, in whose SQL, and in loops inside the database.

use dyno_plan::{DataSpec, Redo};

use crate::data::UpdateValues;
use crate::error::OpError;
use crate::statement::{Answer, Statement, Type};

/// What the operations of one session are like.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    /// The schema that it works on, from 1.
    pub schema: u32,
    /// The data that is there.
    pub spec: DataSpec,
    /// Rows that a `select` or an `update` touches.
    pub work_unit: u32,
    /// How much an update writes.
    pub redo: Redo,
    /// What it may be asked for beside the common operations.
    pub extra: Extra,
    /// Seed of update values.
    pub seed: u64,
    /// A number unique to this run on this target, part of every update value, so that values of two runs always differ.
    pub run_stamp: u64,
    /// The session's number over all schemas, from 0.
    pub session: u32,
}

impl Blocks {
    /// What every update value of this session begins with.
    pub fn stamp(&self) -> String {
        format!("{}{:08x}", UpdateValues::run_prefix(self.run_stamp), self.session)
    }

    /// The session's update values, for columns of `column_bytes`.
    pub fn update_values(&self, column_bytes: usize) -> UpdateValues {
        let Self { seed, run_stamp, session, ref spec, .. } = *self;
        UpdateValues::new(seed, run_stamp, session, column_bytes, spec.compressible)
    }

    /// Whether operations go to schema 1 from a session that is not at home there.
    pub fn also_first(&self) -> bool {
        self.extra.hot_schema && self.schema != 1
    }
}

/// Operations that most plans do not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Extra {
    /// Operations go to schema 1 too.
    pub hot_schema: bool,
    /// Inserts and deletes of rows of its own.
    pub churn: bool,
    /// Lookups by the secondary key.
    pub secondary: bool,
}

impl Extra {
    /// All of them, which every engine can do.
    pub const ALL: Self = Self { hot_schema: true, churn: true, secondary: true };
}

/// Where an operation goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Place {
    /// To the session's own schema.
    #[default]
    Own,
    /// To schema 1.
    First,
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Count the rows with keys `first .. first + work_unit`.
    Select {
        /// The first key.
        first: u64,
    },
    /// Read the row with this key.
    Lookup {
        /// The key.
        key: u64,
    },
    /// Count the rows of the table without an index.
    Scan,
    /// Give the rows with keys `first .. first + work_unit` new values, and commit.
    Update {
        /// The first key.
        first: u64,
        /// The operation's number within the session, which makes the new values unique.
        number: u64,
    },
    /// Read the rows with this value of the secondary key.
    Secondary {
        /// The value, from 1.
        value: u64,
    },
    /// Insert a row, and commit. Only with [`Extra::churn`], and only into the session's own schema.
    Insert {
        /// The key, above the loaded ones.
        key: u64,
        /// As in an update.
        number: u64,
    },
    /// Delete the row with this key, which this session has inserted, and commit.
    Delete {
        /// The key.
        key: u64,
    },
}

/// What an operation is, without its values; and the two looks at what the last update has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// [`Op::Select`].
    Select,
    /// [`Op::Lookup`].
    Lookup,
    /// [`Op::Secondary`].
    Secondary,
    /// [`Op::Scan`].
    Scan,
    /// [`Op::Update`].
    Update,
    /// [`Op::Insert`].
    Insert,
    /// [`Op::Delete`].
    Delete,
    /// Counts the rows of a range.
    Found,
    /// Counts those of them that hold what an update wrote, or what another session of the run has written since.
    Fresh,
}

dyno_plan::names! {
    /// The name of its statement.
    Kind {
        Select = "select", Lookup = "lookup", Secondary = "secondary", Scan = "scan", Update = "update",
        Insert = "insert", Delete = "delete", Found = "found", Fresh = "fresh"
    }
}

impl Kind {
    /// The operation of this kind with `key` and `number`; none for looks.
    pub fn op(self, key: u64, number: u64) -> Option<Op> {
        Some(match self {
            Self::Select => Op::Select { first: key },
            Self::Lookup => Op::Lookup { key },
            Self::Secondary => Op::Secondary { value: key },
            Self::Scan => Op::Scan,
            Self::Update => Op::Update { first: key, number },
            Self::Insert => Op::Insert { key, number },
            Self::Delete => Op::Delete { key },
            Self::Found | Self::Fresh => return None,
        })
    }
}

impl Op {
    /// What it is.
    #[inline]
    pub fn kind(self) -> Kind {
        match self {
            Self::Select { .. } => Kind::Select,
            Self::Lookup { .. } => Kind::Lookup,
            Self::Scan => Kind::Scan,
            Self::Update { .. } => Kind::Update,
            Self::Secondary { .. } => Kind::Secondary,
            Self::Insert { .. } => Kind::Insert,
            Self::Delete { .. } => Kind::Delete,
        }
    }

    /// Whether it changes rows, and commits.
    #[inline]
    pub fn writes(self) -> bool {
        matches!(self, Self::Update { .. } | Self::Insert { .. } | Self::Delete { .. })
    }

    /// Its key, or the value of the secondary key; 0 for scans.
    #[inline]
    pub fn key(self) -> u64 {
        match self {
            Self::Select { first } | Self::Update { first, .. } => first,
            Self::Lookup { key } | Self::Insert { key, .. } | Self::Delete { key } => key,
            Self::Secondary { value } => value,
            Self::Scan => 0,
        }
    }

    /// Its number within the session, where it writes new values.
    #[inline]
    pub fn number(self) -> Option<u64> {
        match self {
            Self::Update { number, .. } | Self::Insert { number, .. } => Some(number),
            _ => None,
        }
    }
}

/// What is bound to a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// The operation's key, so many times, with so much added.
    Key {
        /// Factor.
        times: i64,
        /// Summand.
        plus: i64,
    },
    /// The operation's number within the session.
    Number,
    /// One of the new text columns, from 0.
    Column(usize),
    /// What fills the rest of a row that is inserted: [`BlocksSql::pad_bytes`].
    Pad,
    /// What the values of the last update begin with.
    Stamp,
    /// What all values of the run begin with.
    RunPrefix,
    /// What all values of the session begin with.
    SessionPrefix,
}

impl Slot {
    /// The key itself.
    pub const KEY: Self = Self::Key { times: 1, plus: 0 };

    /// The last key of a range of `work_unit` rows.
    pub fn last(work_unit: u32) -> Self {
        Self::Key { times: 1, plus: i64::from(work_unit) - 1 }
    }
}

/// A statement of the method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlocksStatement {
    /// What it does.
    pub kind: Kind,
    /// The statement.
    pub statement: Statement,
    /// What is bound to each of its parameters.
    pub slots: Vec<Slot>,
}

impl BlocksStatement {
    /// One that reads.
    pub fn read(kind: Kind, sql: String, params: &[Type], slots: &[Slot], answer: Answer) -> Self {
        let statement = Statement::read(kind.name(), sql, params, answer);
        Self { kind, statement, slots: slots.to_vec() }
    }

    /// One that changes rows.
    pub fn write(kind: Kind, sql: String, params: &[Type], slots: &[Slot]) -> Self {
        Self { kind, statement: Statement::write(kind.name(), sql, params), slots: slots.to_vec() }
    }

    /// One that only looks.
    pub fn look(kind: Kind, sql: String, params: &[Type], slots: &[Slot]) -> Self {
        Self { kind, statement: Statement::look(kind.name(), sql, params), slots: slots.to_vec() }
    }
}

/// The method in an engine's SQL, for one schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlocksSql {
    /// Bytes of each text column.
    pub column_bytes: usize,
    /// Bytes of what fills the rest of a row that is inserted; 0 where there is no such column.
    pub pad_bytes: usize,
    /// The statements that sessions need.
    pub statements: Vec<BlocksStatement>,
}

/// A slice that ended well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SliceDone {
    /// Rows read by `select`, `lookup`, `scan`, lookups by the secondary key in this order.
    pub rows_read: [u64; 4],
    /// Rows updated.
    pub rows_updated: u64,
    /// Rows inserted, and rows deleted.
    pub churned: (u64, u64),
    /// Commits done inside the database.
    pub commits: u64,
}

/// Loops of the method inside the database.
pub trait Slices {
    /// Does `ops` in their order inside the database, at `place`, each write committed, in one call. `values` makes what the
    /// new values end with.
    ///
    /// # Errors
    /// [`OpError`] with its class; what was done of the slice is then unknown.
    fn slice(
        &mut self,
        place: Place,
        ops: &[Op],
        values: &mut UpdateValues,
    ) -> Result<SliceDone, Box<OpError>>;
}
