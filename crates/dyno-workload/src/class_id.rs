//! The number of a class.

use dyno_engine::{Kind, Op};

/// The number of a class of operations within a workload, after the three that every workload has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(u8);

impl ClassId {
    /// Commits, each a part of an operation that writes.
    pub const COMMIT: Self = Self(0);
    /// Calls that run many operations inside the database.
    pub const SLICE: Self = Self(1);
    /// Connections that are opened, each a part of an operation.
    pub const CONNECT: Self = Self(2);
    /// The class of [`Op::Select`].
    pub const SELECT: Self = Self::of_kind(Kind::Select);
    /// The class of [`Op::Lookup`].
    pub const LOOKUP: Self = Self::of_kind(Kind::Lookup);
    /// The class of [`Op::Secondary`].
    pub const SECONDARY: Self = Self::of_kind(Kind::Secondary);
    /// The class of [`Op::Scan`].
    pub const SCAN: Self = Self::of_kind(Kind::Scan);
    /// The class of [`Op::Update`].
    pub const UPDATE: Self = Self::of_kind(Kind::Update);
    /// The class of [`Op::Insert`].
    pub const INSERT: Self = Self::of_kind(Kind::Insert);
    /// The class of [`Op::Delete`].
    pub const DELETE: Self = Self::of_kind(Kind::Delete);

    /// The class at `place` among those of the workload.
    pub const fn operation(place: u8) -> Self {
        Self(place + 3)
    }

    const fn of_kind(kind: Kind) -> Self {
        Self::operation(kind as u8)
    }

    /// The class of an operation of the classic method.
    #[inline]
    pub fn of(op: Op) -> Self {
        Self::of_kind(op.kind())
    }

    /// Its place among those of the workload; none for commits, slices and connections.
    #[inline]
    pub fn place(self) -> Option<usize> {
        usize::from(self.0).checked_sub(3)
    }

    /// Its number.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}
