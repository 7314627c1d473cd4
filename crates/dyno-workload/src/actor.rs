//! What one session does, operation after operation: which comes next, and the requests that it is made of.

use dyno_engine::{Done, ErrorClass, OpError, Request, Value};

use crate::effect::Failed;
use crate::{ClassId, Effect, Task, Turn, blocks, own};

/// What one session does. Static, for it is asked before and after each request.
#[expect(
    clippy::large_enum_variant,
    reason = "the larger one is the hot path, and no step of it goes through a pointer"
)]
pub enum Actor {
    /// The classic method.
    Blocks(blocks::Actor),
    /// Transactions of the user's own.
    Own(own::Actor),
}

impl Actor {
    /// Draws the next operation; its class.
    #[inline]
    pub fn draw(&mut self) -> ClassId {
        match self {
            Self::Blocks(actor) => actor.draw(),
            Self::Own(actor) => actor.draw(),
        }
    }

    /// Gives the next request of the operation to `ask`, if there is one now; `last` is what the one before has brought.
    ///
    /// # Errors
    /// Those of `ask`; or the operation has not done what it should.
    #[inline]
    pub fn step<T>(
        &mut self,
        last: Option<Done>,
        ask: impl FnMut(Request<'_>) -> Result<T, Box<OpError>>,
    ) -> Result<Turn<T>, Box<OpError>> {
        match self {
            Self::Blocks(actor) => Ok(actor.step(last, ask)?.map_or(Turn::Over, Turn::Asked)),
            Self::Own(actor) => actor.advance(last, ask),
        }
    }

    /// Takes in what came of the requests that were kept until the one that has ended ([`Request::Queue`]): the `rows` of each; to be
    /// called behind each request of an operation, before [`Actor::read`].
    #[inline]
    pub fn queued(&mut self, rows: &[u64]) {
        if let Self::Own(actor) = self {
            actor.queued(rows);
        }
    }

    /// Takes in the columns of the last row, which `column` tells, where the request that has ended has some that are read; to be
    /// called behind each request of an operation.
    ///
    /// # Errors
    /// They are not what the operation takes them for.
    #[inline]
    pub fn read<'a>(&mut self, column: impl Fn(usize) -> Option<Value<'a>>) -> Result<(), Box<OpError>> {
        match self {
            Self::Blocks(_) => Ok(()),
            Self::Own(actor) => actor.read(column),
        }
    }

    /// What the operation has done that has ended well.
    #[inline]
    pub fn effect(&self) -> Effect {
        match self {
            Self::Blocks(actor) => actor.effect(),
            Self::Own(actor) => actor.outcome().effect,
        }
    }

    /// The operation has failed with an error of `class`.
    #[cold]
    pub fn failed(&mut self, class: ErrorClass) -> Failed {
        match self {
            Self::Blocks(actor) => Failed { in_doubt: actor.failed(class), ..Failed::default() },
            Self::Own(actor) => actor.failed(class),
        }
    }

    /// Takes the next part of the table that the workload loads; false where nothing is left of it.
    #[cold]
    pub fn take_part(&mut self) -> bool {
        match self {
            Self::Blocks(_) => false,
            Self::Own(actor) => actor.take_part(),
        }
    }

    /// Begins the operation that has failed anew, with the same values.
    #[cold]
    pub fn again(&mut self) {
        if let Self::Own(actor) = self {
            actor.again();
        }
    }

    /// How long the session rests behind the operation, ns; nothing where it does not.
    #[inline]
    pub fn think_ns(&self) -> Option<u64> {
        match self {
            Self::Blocks(_) => None,
            Self::Own(actor) => Some(actor.think_ns()).filter(|&ns| ns > 0),
        }
    }

    /// Whether it rests behind any operation.
    pub fn thinks(&self) -> bool {
        match self {
            Self::Blocks(_) => false,
            Self::Own(actor) => actor.thinks(),
        }
    }

    /// Where the operation of the classic method went.
    #[inline]
    pub fn task(&self) -> Option<Task> {
        match self {
            Self::Blocks(actor) => Some(actor.task),
            Self::Own(_) => None,
        }
    }

    /// That of the classic method.
    pub fn blocks(&mut self) -> Option<&mut blocks::Actor> {
        match self {
            Self::Blocks(actor) => Some(actor),
            Self::Own(_) => None,
        }
    }
}
