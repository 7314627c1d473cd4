//! The statements of the block workload as sessions prepare them.

use std::sync::Arc;

use dyno_engine::{
    BlockOpSchema, BlockSessionConfig, BlockStatementKind, BlocksSql, BlocksStatement, Slot, Statement,
    StatementId, Target, TargetError,
};
use dyno_plan::{Commit, DriveMode};

/// The statements for sessions of one schema: on that schema and, if operations go there, on schema 1.
#[derive(Debug, Clone)]
pub struct PreparedBlockStatements {
    /// All statements, as [`SessionSetup`](dyno_engine::SessionSetup) takes them.
    pub statements: Arc<[Statement]>,
    /// The purpose and parameters of each statement.
    pub(super) bound: Arc<[BlockStatementBinding]>,
    /// Index of each statement by kind, for the session's own schema and for schema 1.
    by_kind: [[Option<u16>; BlockStatementKind::ALL.len()]; 2],
    pub(super) column_bytes: usize,
    pub(super) pad_bytes: usize,
}

/// The purpose and parameters of one statement.
#[derive(Debug, Clone)]
pub struct BlockStatementBinding {
    /// The kind of its operation.
    pub kind: BlockStatementKind,
    /// The schema that it uses.
    pub place: BlockOpSchema,
    /// The value bound to each parameter.
    pub slots: Vec<Slot>,
}

impl PreparedBlockStatements {
    /// The statements that sessions of `blocks` on `target` need, for this `drive` and this commit mode.
    ///
    /// # Errors
    /// The target cannot hold the data.
    pub fn new(
        target: &dyn Target,
        blocks: &BlockSessionConfig,
        drive: DriveMode,
        commit: Commit,
    ) -> Result<Self, TargetError> {
        let data = target.block_data()?;
        let BlocksSql { column_bytes, pad_bytes, statements } = data.blocks(blocks, commit)?;
        let mut all: Vec<(BlockOpSchema, BlocksStatement)> =
            statements.into_iter().map(|statement| (BlockOpSchema::Own, statement)).collect();
        if blocks.uses_hot_schema() {
            let mut first_blocks = blocks.clone();
            // A session's own rows are in its own schema.
            (first_blocks.schema, first_blocks.extra.churn) = (1, false);
            all.extend(data.blocks(&first_blocks, commit)?.statements.into_iter().map(|mut statement| {
                statement.statement.name.push_str("_first");
                (BlockOpSchema::First, statement)
            }));
        }
        if drive == DriveMode::Server {
            all.retain(|(_, statement)| {
                matches!(statement.kind, BlockStatementKind::Found | BlockStatementKind::Fresh)
            });
        }
        let mut by_kind = [[None; BlockStatementKind::ALL.len()]; 2];
        for (number, (place, BlocksStatement { kind, .. })) in (0..).zip(&all) {
            by_kind[*place as usize][*kind as usize] = Some(number);
        }
        if blocks.schema == 1 {
            // Schema 1 is the session's own schema.
            by_kind[BlockOpSchema::First as usize] = by_kind[BlockOpSchema::Own as usize];
        }
        let (bound, statements): (Vec<_>, Vec<_>) = all
            .into_iter()
            .map(|(place, BlocksStatement { kind, statement, slots })| {
                (BlockStatementBinding { kind, place, slots }, statement)
            })
            .unzip();
        Ok(Self { statements: statements.into(), bound: bound.into(), by_kind, column_bytes, pad_bytes })
    }

    /// The statement for `kind` at `place`; `None` if sessions do not have it.
    #[inline]
    pub fn id(&self, kind: BlockStatementKind, place: BlockOpSchema) -> Option<StatementId> {
        self.by_kind[place as usize][kind as usize].map(StatementId)
    }

    /// The purpose and parameters of a statement.
    pub fn bound(&self, statement: StatementId) -> &BlockStatementBinding {
        &self.bound[statement.index()]
    }

    /// The lookup for the rehearsal, with a key above all keys of `blocks`.
    pub fn rehearsal(&self, blocks: &BlockSessionConfig) -> Option<(StatementId, i64)> {
        // No table has this many rows.
        self.id(BlockStatementKind::Lookup, BlockOpSchema::Own)
            .map(|lookup| (lookup, blocks.spec.rows as i64 + 1))
    }
}
