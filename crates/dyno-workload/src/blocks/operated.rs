//! A session that executes single operations, for checks and tests.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use dyno_engine::{
    BlockOp, BlockOpSchema, BlockSessionConfig, Clock, OpError, RequestCompletion, Session, SessionSetup,
    SliceDone, Target, TargetError,
};
use dyno_plan::{Commit, DriveMode};

use super::operator::Operator;
use super::prepared::PreparedBlockStatements;

/// A session together with its operator.
pub struct Operated {
    pub session: Box<dyn Session>,
    pub operator: Operator,
    /// The schema that operations use.
    pub place: BlockOpSchema,
}

impl Operated {
    /// Opens a session of the block workload `blocks` on `target`.
    ///
    /// # Errors
    /// The same as for [`Target::session`].
    pub fn open(
        target: &dyn Target,
        blocks: &BlockSessionConfig,
        drive: DriveMode,
        commit: Commit,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, TargetError> {
        let prepared = PreparedBlockStatements::new(target, blocks, drive, commit)?;
        let setup = SessionSetup {
            number: blocks.session,
            statements: prepared.statements.clone(),
            rehearsal: prepared.rehearsal(blocks),
            commit,
            protocol: dyno_plan::StatementProtocol::Prepared,
            connect: dyno_plan::Connect::Session,
            blocks: Some(blocks.clone()),
            bulk: None,
            read_only: false,
            slices: drive == DriveMode::Server,
            clock,
        };
        let session = target.session(&setup)?;
        Ok(Self { session, operator: Operator::new(&prepared, blocks), place: BlockOpSchema::Own })
    }

    /// Sends later operations to `place`.
    pub fn turn_to(&mut self, place: BlockOpSchema) {
        self.place = place;
    }

    /// Executes one operation.
    ///
    /// # Errors
    /// The same as for [`Session::ask`].
    pub fn execute(&mut self, op: BlockOp) -> Result<RequestCompletion, Box<OpError>> {
        self.operator.execute(self.session.as_mut(), op, self.place)
    }

    /// Executes `ops` in one call inside the database.
    ///
    /// # Errors
    /// The same as for [`Operator::slice`].
    pub fn slice(&mut self, ops: &[BlockOp]) -> Result<SliceDone, Box<OpError>> {
        self.operator.slice(self.session.as_mut(), ops, self.place)
    }

    /// Reads back the last update; see [`Operator::verify_last_update`].
    ///
    /// # Errors
    /// The same as for [`Session::ask`].
    pub fn verify_last_update(&mut self) -> Result<Option<(u64, u64)>, Box<OpError>> {
        self.operator.verify_last_update(self.session.as_mut())
    }

    /// Closes the session; see [`Session::close`].
    pub fn close(self) {
        self.session.close();
    }
}

impl Deref for Operated {
    type Target = dyn Session;

    fn deref(&self) -> &Self::Target {
        self.session.as_ref()
    }
}

impl DerefMut for Operated {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.session.as_mut()
    }
}
