//! One session of the method: draws operations, and makes each a request.

use dyno_engine::{Done, ErrorClass, Op, OpError, Place, Request};
use dyno_record::Touch;

use super::operator::Operator;
use crate::{ClassId, Draw, Effect, Task};

/// What one session of the method does.
pub struct Actor {
    /// Which operation comes next.
    pub draws: Draw,
    /// What makes its requests.
    pub operator: Operator,
    /// The operation that it does, or did last.
    pub(crate) task: Task,
    /// Rows that this has touched.
    rows: u64,
    /// Whether its request was sent.
    is_sent: bool,
}

impl Actor {
    /// One that draws from `draws`.
    pub fn new(draws: Draw, operator: Operator) -> Self {
        // Nothing asks for it before one was drawn.
        let task = Task { op: Op::Scan, place: Place::Own, hot: false };
        Self { draws, operator, task, rows: 0, is_sent: false }
    }

    #[inline]
    pub(crate) fn draw(&mut self) -> ClassId {
        self.task = self.draws.next_task();
        self.is_sent = false;
        ClassId::of(self.task.op)
    }

    #[inline]
    pub(crate) fn step<T>(
        &mut self,
        last: Option<Done>,
        ask: impl FnOnce(Request<'_>) -> Result<T, Box<OpError>>,
    ) -> Result<Option<T>, Box<OpError>> {
        let Task { op, place, .. } = self.task;
        self.is_sent = true;
        let Some(done) = last else { return self.operator.request(op, place, ask).map(Some) };
        self.rows = done.rows;
        self.operator.acknowledged(op, place);
        Ok(None)
    }

    #[inline]
    pub(crate) fn effect(&self) -> Effect {
        let mut effect =
            Effect { commits: u64::from(self.task.op.writes()), transactions: 1, ..Effect::default() };
        effect.rows[touch(self.task.op) as usize] = self.rows;
        effect
    }

    /// Takes the draw of a write back that the database has undone, or may not have done; whether its commit is in doubt.
    pub(crate) fn failed(&mut self, class: ErrorClass) -> bool {
        match class {
            ErrorClass::Retryable => self.draws.undo(self.task.op),
            ErrorClass::Connection => self.draws.doubt(&[self.task.op]),
            ErrorClass::Fatal => {}
        }
        class == ErrorClass::Connection && self.is_sent && self.task.op.writes()
    }
}

/// What `op` does to the rows that it touches.
#[inline]
fn touch(op: Op) -> Touch {
    match op {
        Op::Select { .. } | Op::Lookup { .. } | Op::Secondary { .. } | Op::Scan => Touch::Read,
        Op::Update { .. } => Touch::Updated,
        Op::Insert { .. } => Touch::Inserted,
        Op::Delete { .. } => Touch::Deleted,
    }
}
