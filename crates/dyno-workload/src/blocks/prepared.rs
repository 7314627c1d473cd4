//! The method's statements as a session prepares them.

use std::sync::Arc;

use dyno_engine::{
    Blocks, BlocksSql, BlocksStatement, Kind, Place, Slot, Statement, StatementId, Target, TargetError,
};
use dyno_plan::{Commit, Drive};

/// The method's statements for the sessions of one schema: on that schema and, where operations go there too, on schema 1.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// All of them, as [`SessionSetup`](dyno_engine::SessionSetup) takes them.
    pub statements: Arc<[Statement]>,
    /// Which is which, and what is bound to them.
    pub(super) bound: Arc<[Bound]>,
    /// Where each is by kind, on the own schema and on schema 1.
    by_kind: [[Option<u16>; Kind::ALL.len()]; 2],
    pub(super) column_bytes: usize,
    pub(super) pad_bytes: usize,
}

/// What is known of a statement.
#[derive(Debug, Clone)]
pub struct Bound {
    /// What it does.
    pub kind: Kind,
    /// Where it does that.
    pub place: Place,
    /// What is bound to each of its parameters.
    pub slots: Vec<Slot>,
}

impl Prepared {
    /// What sessions of `blocks` on `target` need, where loops run on this `drive` and commits wait in this way.
    ///
    /// # Errors
    /// The data cannot be on this target.
    pub fn new(
        target: &dyn Target,
        blocks: &Blocks,
        drive: Drive,
        commit: Commit,
    ) -> Result<Self, TargetError> {
        let BlocksSql { column_bytes, pad_bytes, statements } = target.blocks(blocks, commit)?;
        let mut all: Vec<(Place, BlocksStatement)> =
            statements.into_iter().map(|statement| (Place::Own, statement)).collect();
        if blocks.also_first() {
            let mut there = blocks.clone();
            // A session's own rows are in its own schema.
            (there.schema, there.extra.churn) = (1, false);
            all.extend(target.blocks(&there, commit)?.statements.into_iter().map(|mut statement| {
                statement.statement.name.push_str("_first");
                (Place::First, statement)
            }));
        }
        if drive == Drive::Server {
            all.retain(|(_, statement)| matches!(statement.kind, Kind::Found | Kind::Fresh));
        }
        let mut by_kind = [[None; Kind::ALL.len()]; 2];
        for (number, (place, BlocksStatement { kind, .. })) in (0..).zip(&all) {
            by_kind[*place as usize][*kind as usize] = Some(number);
        }
        if blocks.schema == 1 {
            // The session is at home there.
            by_kind[Place::First as usize] = by_kind[Place::Own as usize];
        }
        let (bound, statements): (Vec<_>, Vec<_>) = all
            .into_iter()
            .map(|(place, BlocksStatement { kind, statement, slots })| {
                (Bound { kind, place, slots }, statement)
            })
            .unzip();
        Ok(Self { statements: statements.into(), bound: bound.into(), by_kind, column_bytes, pad_bytes })
    }

    /// The statement that does `kind` at `place`, if the sessions have it.
    #[inline]
    pub fn id(&self, kind: Kind, place: Place) -> Option<StatementId> {
        self.by_kind[place as usize][kind as usize].map(StatementId)
    }

    /// What is known of a statement.
    pub fn bound(&self, statement: StatementId) -> &Bound {
        &self.bound[statement.index()]
    }

    /// The lookup that is rehearsed, of a key behind those of `blocks`.
    pub fn rehearsal(&self, blocks: &Blocks) -> Option<(StatementId, i64)> {
        // No table has so many rows.
        self.id(Kind::Lookup, Place::Own).map(|lookup| (lookup, blocks.spec.rows as i64 + 1))
    }
}
