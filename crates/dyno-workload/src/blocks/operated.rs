//! A session that does one operation after the other: for checks, and tests.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use dyno_engine::{
    Blocks, Clock, Done, Op, OpError, Place, Session, SessionSetup, SliceDone, Target, TargetError,
};
use dyno_plan::{Commit, Drive};

use super::operator::Operator;
use super::prepared::Prepared;

/// A session with its operator.
pub struct Operated {
    /// The session.
    pub session: Box<dyn Session>,
    /// What makes its requests.
    pub operator: Operator,
    /// Where its operations go.
    pub place: Place,
}

impl Operated {
    /// Opens a session of `blocks` on `target`.
    ///
    /// # Errors
    /// As [`Target::session`].
    pub fn open(
        target: &dyn Target,
        blocks: &Blocks,
        drive: Drive,
        commit: Commit,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, TargetError> {
        let prepared = Prepared::new(target, blocks, drive, commit)?;
        let setup = SessionSetup {
            number: blocks.session,
            statements: prepared.statements.clone(),
            rehearsal: prepared.rehearsal(blocks),
            commit,
            protocol: dyno_plan::Protocol::Prepared,
            connect: dyno_plan::Connect::Session,
            blocks: Some(blocks.clone()),
            bulk: None,
            read_only: false,
            slices: drive == Drive::Server,
            clock,
        };
        let session = target.session(&setup)?;
        Ok(Self { session, operator: Operator::new(&prepared, blocks), place: Place::Own })
    }

    /// Sends the operations that follow to `place`.
    pub fn turn_to(&mut self, place: Place) {
        self.place = place;
    }

    /// Does one operation.
    ///
    /// # Errors
    /// As [`Session::ask`].
    pub fn execute(&mut self, op: Op) -> Result<Done, Box<OpError>> {
        self.operator.execute(self.session.as_mut(), op, self.place)
    }

    /// Does `ops` in one call, inside the database.
    ///
    /// # Errors
    /// As [`Operator::slice`].
    pub fn slice(&mut self, ops: &[Op]) -> Result<SliceDone, Box<OpError>> {
        self.operator.slice(self.session.as_mut(), ops, self.place)
    }

    /// As [`Operator::verify_last_update`].
    ///
    /// # Errors
    /// As [`Session::ask`].
    pub fn verify_last_update(&mut self) -> Result<Option<(u64, u64)>, Box<OpError>> {
        self.operator.verify_last_update(self.session.as_mut())
    }

    /// As [`Session::close`].
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
