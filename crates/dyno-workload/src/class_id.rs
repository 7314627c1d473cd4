//! The number of a class within a workload.

use dyno_engine::{BlockOp, BlockStatementKind};

/// The number of a class of operations within a workload; the first three numbers are the same in every workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(u8);

impl ClassId {
    /// Commits, each a part of a writing operation.
    pub const COMMIT: Self = Self(0);
    /// Calls that run many operations inside the database.
    pub const SLICE: Self = Self(1);
    /// Opened connections, each a part of an operation.
    pub const CONNECT: Self = Self(2);
    pub const SELECT: Self = Self::of_kind(BlockStatementKind::Select);
    pub const LOOKUP: Self = Self::of_kind(BlockStatementKind::Lookup);
    pub const SECONDARY: Self = Self::of_kind(BlockStatementKind::Secondary);
    pub const SCAN: Self = Self::of_kind(BlockStatementKind::Scan);
    pub const UPDATE: Self = Self::of_kind(BlockStatementKind::Update);
    pub const INSERT: Self = Self::of_kind(BlockStatementKind::Insert);
    pub const DELETE: Self = Self::of_kind(BlockStatementKind::Delete);

    /// The class with the index `place` among the classes of the workload.
    pub const fn operation(place: u8) -> Self {
        Self(place + 3)
    }

    const fn of_kind(kind: BlockStatementKind) -> Self {
        Self::operation(kind as u8)
    }

    /// The class of an operation of the block workload.
    #[inline]
    pub fn of(op: BlockOp) -> Self {
        Self::of_kind(op.kind())
    }

    /// Its index among the classes of the workload; `None` for commits, slices and connections.
    #[inline]
    pub fn place(self) -> Option<usize> {
        usize::from(self.0).checked_sub(3)
    }

    /// Its number, from 0, including commits, slices and connections.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}
