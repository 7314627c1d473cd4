//! The server drive: chooses the stored procedure for a slice, its arguments and its results.

use crate::blocks::{BlockOp, Extra, SliceDone};

/// The procedures, one for each set of operation classes, so that none has branches for classes it never
/// executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SliceProcedure {
    /// Reads of key ranges only.
    Select,
    /// Reads of one row only.
    Lookup,
    /// Reads of whole tables only.
    Scan,
    /// Updates of key ranges only.
    Update,
    /// All of the classes above.
    Mixed,
    /// Lookups by the secondary key only.
    Secondary,
    /// All operations, including inserts and deletes.
    Any,
}

impl SliceProcedure {
    /// The procedures that a session with `extra` may need.
    pub fn of(extra: Extra) -> impl Iterator<Item = Self> {
        let common = [Self::Select, Self::Lookup, Self::Scan, Self::Update, Self::Mixed];
        let secondary = extra.secondary.then_some(Self::Secondary);
        common.into_iter().chain(secondary).chain(has_optional_ops(extra).then_some(Self::Any))
    }

    /// The simplest procedure that can execute all of `ops`, for a session with `extra`.
    pub fn for_ops(ops: &[BlockOp], extra: Extra) -> Self {
        let procedure_for = |op: &BlockOp| match op {
            BlockOp::Select { .. } => Self::Select,
            BlockOp::Lookup { .. } => Self::Lookup,
            BlockOp::Scan => Self::Scan,
            BlockOp::Update { .. } => Self::Update,
            BlockOp::Secondary { .. } => Self::Secondary,
            // Inserts and deletes come together: each session keeps a constant number of rows of its own.
            BlockOp::Insert { .. } | BlockOp::Delete { .. } => Self::Any,
        };
        let mut calls = ops.iter().map(procedure_for);
        let first = calls.next().unwrap_or(Self::Select);
        match calls.all(|call| call == first) {
            true => first,
            false if has_optional_ops(extra) => Self::Any,
            false => Self::Mixed,
        }
    }

    /// Whether it takes the kind of each operation as an argument.
    pub fn has_kinds(self) -> bool {
        matches!(self, Self::Mixed | Self::Any)
    }

    /// Whether its operations may write new values.
    pub fn writes(self) -> bool {
        matches!(self, Self::Update | Self::Mixed | Self::Any)
    }

    /// Number of values that it returns: see [`done`].
    pub fn results(self) -> usize {
        if matches!(self, Self::Secondary | Self::Any) { 8 } else { 5 }
    }
}

/// Whether a session uses more than the common operations.
fn has_optional_ops(extra: Extra) -> bool {
    extra.churn || extra.secondary
}

/// The kind, key and number of an operation, as procedures take them.
pub fn parts(op: BlockOp) -> (u16, u64, u64) {
    match op {
        BlockOp::Select { first } => (0, first, 0),
        BlockOp::Lookup { key } => (1, key, 0),
        BlockOp::Scan => (2, 0, 0),
        BlockOp::Update { first, number } => (3, first, number),
        BlockOp::Secondary { value } => (4, value, 0),
        BlockOp::Insert { key, number } => (5, key, number),
        BlockOp::Delete { key } => (6, key, 0),
    }
}

/// The counts in a procedure's results: rows read in the four ways, rows updated, inserted and deleted, and
/// commits. Five results lack those of the secondary key, inserts and deletes.
pub fn done(numbers: &[u64]) -> Option<SliceDone> {
    let (rows_read, rows_updated, churned, commits) = match *numbers {
        [select, lookup, scan, updated, commits] => ([select, lookup, scan, 0], updated, (0, 0), commits),
        [select, lookup, scan, secondary, updated, inserted, deleted, commits] => {
            ([select, lookup, scan, secondary], updated, (inserted, deleted), commits)
        }
        _ => return None,
    };
    Some(SliceDone { rows_read, rows_updated, churned, commits })
}

/// First key and number of the last update in `ops`; absent without an update.
pub fn last_update(ops: &[BlockOp]) -> Option<(u64, u64)> {
    ops.iter().rev().find_map(|op| match *op {
        BlockOp::Update { first, number } => Some((first, number)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_sufficient_procedure_is_chosen() {
        let common = Extra::default();
        let beyond = Extra { churn: true, secondary: true, ..common };
        let (select, update) = (BlockOp::Select { first: 1 }, BlockOp::Update { first: 1, number: 1 });
        let (secondary, insert) = (BlockOp::Secondary { value: 1 }, BlockOp::Insert { key: 9, number: 1 });
        for (ops, extra, call) in [
            (&[select, select][..], beyond, SliceProcedure::Select),
            (&[update], common, SliceProcedure::Update),
            (&[select, update], common, SliceProcedure::Mixed),
            (&[BlockOp::Scan, BlockOp::Lookup { key: 1 }], common, SliceProcedure::Mixed),
            (&[select, update], beyond, SliceProcedure::Any),
            (&[secondary, secondary], beyond, SliceProcedure::Secondary),
            (&[secondary, select], beyond, SliceProcedure::Any),
            (&[insert, BlockOp::Delete { key: 9 }], beyond, SliceProcedure::Any),
        ] {
            assert_eq!(SliceProcedure::for_ops(ops, extra), call, "{ops:?}");
            assert!(SliceProcedure::of(extra).any(|of| of == call));
        }
        let churn = Extra { secondary: false, ..beyond };
        assert!(SliceProcedure::of(churn).all(|call| call != SliceProcedure::Secondary));
        assert!(SliceProcedure::of(common).count() == 5);
        assert_eq!(last_update(&[update, select]), Some((1, 1)));
        assert_eq!(last_update(&[select]), None);
    }

    #[test]
    fn slice_numbers_map_to_completed_work() {
        let common = done(&[1, 2, 3, 4, 5]).unwrap();
        assert_eq!((common.rows_read, common.rows_updated, common.commits), ([1, 2, 3, 0], 4, 5));
        let all = done(&[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        assert_eq!((all.rows_read, all.churned, all.commits), ([1, 2, 3, 4], (6, 7), 8));
        assert_eq!(done(&[1, 2]), None);
    }
}
