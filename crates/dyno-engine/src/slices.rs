//! The server drive: which stored procedure does a batch of operations, and what it is told and tells.

use crate::blocks::{Extra, Op, SliceDone};

/// The procedures: one for each set of operation classes, so that none of them branches on what it never does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Reads of ranges.
    Select,
    /// Reads of one row.
    Lookup,
    /// Reads of whole tables.
    Scan,
    /// Updates of ranges.
    Update,
    /// All of the above.
    Mixed,
    /// Lookups by the secondary key.
    Secondary,
    /// All operations.
    Any,
}

impl Call {
    /// Those that a session with `extra` may need.
    pub fn of(extra: Extra) -> impl Iterator<Item = Self> {
        let common = [Self::Select, Self::Lookup, Self::Scan, Self::Update, Self::Mixed];
        let secondary = extra.secondary.then_some(Self::Secondary);
        common.into_iter().chain(secondary).chain(goes_beyond(extra).then_some(Self::Any))
    }

    /// The leanest that can do all of `ops`, of a session with `extra`.
    pub fn for_ops(ops: &[Op], extra: Extra) -> Self {
        let of = |op: &Op| match op {
            Op::Select { .. } => Self::Select,
            Op::Lookup { .. } => Self::Lookup,
            Op::Scan => Self::Scan,
            Op::Update { .. } => Self::Update,
            Op::Secondary { .. } => Self::Secondary,
            // They come together: each session keeps as many rows as it has.
            Op::Insert { .. } | Op::Delete { .. } => Self::Any,
        };
        let mut calls = ops.iter().map(of);
        let first = calls.next().unwrap_or(Self::Select);
        match calls.all(|call| call == first) {
            true => first,
            false if goes_beyond(extra) => Self::Any,
            false => Self::Mixed,
        }
    }

    /// Whether its operations are of several classes, each with its kind.
    pub fn has_kinds(self) -> bool {
        matches!(self, Self::Mixed | Self::Any)
    }

    /// Whether its operations may write new values.
    pub fn writes(self) -> bool {
        matches!(self, Self::Update | Self::Mixed | Self::Any)
    }

    /// Numbers that it returns: see [`done`].
    pub fn results(self) -> usize {
        if matches!(self, Self::Secondary | Self::Any) { 8 } else { 5 }
    }
}

/// Whether a session does more than the common operations.
fn goes_beyond(extra: Extra) -> bool {
    extra.churn || extra.secondary
}

/// The kind, the key and the number of an operation as procedures take them.
pub fn parts(op: Op) -> (u16, u64, u64) {
    match op {
        Op::Select { first } => (0, first, 0),
        Op::Lookup { key } => (1, key, 0),
        Op::Scan => (2, 0, 0),
        Op::Update { first, number } => (3, first, number),
        Op::Secondary { value } => (4, value, 0),
        Op::Insert { key, number } => (5, key, number),
        Op::Delete { key } => (6, key, 0),
    }
}

/// What the numbers that a procedure returned say was done: rows read in the four ways, rows updated, inserted and deleted, and
/// commits; without those of the secondary key, inserts and deletes where there are five.
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

/// First key and number of the last update among `ops`.
pub fn last_update(ops: &[Op]) -> Option<(u64, u64)> {
    ops.iter().rev().find_map(|op| match *op {
        Op::Update { first, number } => Some((first, number)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leanest_procedure_is_taken() {
        let common = Extra::default();
        let beyond = Extra { churn: true, secondary: true, ..common };
        let (select, update) = (Op::Select { first: 1 }, Op::Update { first: 1, number: 1 });
        let (secondary, insert) = (Op::Secondary { value: 1 }, Op::Insert { key: 9, number: 1 });
        for (ops, extra, call) in [
            (&[select, select][..], beyond, Call::Select),
            (&[update], common, Call::Update),
            (&[select, update], common, Call::Mixed),
            (&[Op::Scan, Op::Lookup { key: 1 }], common, Call::Mixed),
            (&[select, update], beyond, Call::Any),
            (&[secondary, secondary], beyond, Call::Secondary),
            (&[secondary, select], beyond, Call::Any),
            (&[insert, Op::Delete { key: 9 }], beyond, Call::Any),
        ] {
            assert_eq!(Call::for_ops(ops, extra), call, "{ops:?}");
            assert!(Call::of(extra).any(|of| of == call));
        }
        let churn = Extra { secondary: false, ..beyond };
        assert!(Call::of(churn).all(|call| call != Call::Secondary) && Call::of(common).count() == 5);
        assert_eq!(last_update(&[update, select]), Some((1, 1)));
        assert_eq!(last_update(&[select]), None);
    }

    #[test]
    fn numbers_say_what_was_done() {
        let common = done(&[1, 2, 3, 4, 5]).unwrap();
        assert_eq!((common.rows_read, common.rows_updated, common.commits), ([1, 2, 3, 0], 4, 5));
        let all = done(&[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        assert_eq!((all.rows_read, all.churned, all.commits), ([1, 2, 3, 4], (6, 7), 8));
        assert_eq!(done(&[1, 2]), None);
    }
}
