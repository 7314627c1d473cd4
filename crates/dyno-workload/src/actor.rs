//! Produces the operations of one session, and the requests of each operation.

use dyno_engine::{ErrorClass, OpError, RequestCompletion, SessionRequest, Value};

use crate::effect::FailureRecovery;
use crate::{ClassId, DrawnOperation, Effect, SessionTurn, blocks, custom};

/// Produces the operations of one session. An enum instead of a trait object, because it is called before and after each request.
#[expect(
    clippy::large_enum_variant,
    reason = "the larger one is the hot path, and no step of it goes through a pointer"
)]
pub enum SessionActor {
    /// A session of the block workload.
    Blocks(blocks::BlockActor),
    /// A session of a custom workload.
    Own(custom::CustomActor),
}

impl SessionActor {
    /// Draws the next operation and returns its class.
    #[inline]
    pub fn draw(&mut self) -> ClassId {
        match self {
            Self::Blocks(actor) => actor.draw(),
            Self::Own(actor) => actor.draw(),
        }
    }

    /// Passes the operation's next request to `ask`, if there is one now; `last` is the result of the previous request.
    ///
    /// # Errors
    /// Errors of `ask`, or the operation did not have the required effect.
    #[inline]
    pub fn step<T>(
        &mut self,
        last: Option<RequestCompletion>,
        ask: impl FnMut(SessionRequest<'_>) -> Result<T, Box<OpError>>,
    ) -> Result<SessionTurn<T>, Box<OpError>> {
        match self {
            Self::Blocks(actor) => Ok(actor.step(last, ask)?.map_or(SessionTurn::Over, SessionTurn::Asked)),
            Self::Own(actor) => actor.advance(last, ask),
        }
    }

    /// Receives the results of the requests that were queued before the last one ([`SessionRequest::Queue`]): the `rows` of each. Call it
    /// after every request of an operation, before [`SessionActor::read`].
    #[inline]
    pub fn queued(&mut self, rows: &[u64]) {
        if let Self::Own(actor) = self {
            actor.queued(rows);
        }
    }

    /// Receives the columns of the last row from `column`, if the last request has columns to read. Call it after every request of
    /// an operation.
    ///
    /// # Errors
    /// The columns do not match what the operation expects.
    #[inline]
    pub fn read<'a>(&mut self, column: impl Fn(usize) -> Option<Value<'a>>) -> Result<(), Box<OpError>> {
        match self {
            Self::Blocks(_) => Ok(()),
            Self::Own(actor) => actor.read(column),
        }
    }

    /// The effect of the operation that succeeded.
    #[inline]
    pub fn effect(&self) -> Effect {
        match self {
            Self::Blocks(actor) => actor.effect(),
            Self::Own(actor) => actor.outcome().effect,
        }
    }

    /// Handles an operation that failed with an error of `class`.
    #[cold]
    pub fn failed(&mut self, class: ErrorClass) -> FailureRecovery {
        match self {
            Self::Blocks(actor) => {
                FailureRecovery { in_doubt: actor.failed(class), ..FailureRecovery::default() }
            }
            Self::Own(actor) => actor.failed(class),
        }
    }

    /// Takes the next part of the table that the workload loads; false if no part is left.
    #[cold]
    pub fn take_part(&mut self) -> bool {
        match self {
            Self::Blocks(_) => false,
            Self::Own(actor) => actor.take_part(),
        }
    }

    /// Restarts the failed operation with the same values.
    #[cold]
    pub fn retry(&mut self) {
        if let Self::Own(actor) = self {
            actor.retry();
        }
    }

    /// The think time after the operation, in ns; `None` if there is none.
    #[inline]
    pub fn think_ns(&self) -> Option<u64> {
        match self {
            Self::Blocks(_) => None,
            Self::Own(actor) => Some(actor.think_ns()).filter(|&ns| ns > 0),
        }
    }

    /// Whether any operation is followed by think time.
    pub fn thinks(&self) -> bool {
        match self {
            Self::Blocks(_) => false,
            Self::Own(actor) => actor.thinks(),
        }
    }

    /// The last operation of the block workload and its schema; `None` for a custom workload.
    #[inline]
    pub fn task(&self) -> Option<DrawnOperation> {
        match self {
            Self::Blocks(actor) => Some(actor.task),
            Self::Own(_) => None,
        }
    }

    /// The session's state in the block workload; `None` for a custom workload.
    pub fn blocks(&mut self) -> Option<&mut blocks::BlockActor> {
        match self {
            Self::Blocks(actor) => Some(actor),
            Self::Own(_) => None,
        }
    }
}
