//! One session of the block workload: draws operations and turns each into a request.

use dyno_engine::{BlockOp, BlockOpSchema, ErrorClass, OpError, RequestCompletion, SessionRequest};
use dyno_record::RowEffect;

use super::operator::Operator;
use crate::{ClassId, DrawnOperation, Effect, OperationGenerator};

/// Produces the operations of one session of the block workload.
pub struct BlockActor {
    pub draws: OperationGenerator,
    pub operator: Operator,
    /// The current or last operation.
    pub(crate) task: DrawnOperation,
    /// Rows that the operation touched.
    rows: u64,
    /// Whether the request of the operation was sent.
    is_sent: bool,
}

impl BlockActor {
    /// A session that takes its operations from `draws`.
    pub fn new(draws: OperationGenerator, operator: Operator) -> Self {
        // A placeholder: nothing reads it before the first draw.
        let task = DrawnOperation { op: BlockOp::Scan, place: BlockOpSchema::Own, hot: false };
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
        last: Option<RequestCompletion>,
        ask: impl FnOnce(SessionRequest<'_>) -> Result<T, Box<OpError>>,
    ) -> Result<Option<T>, Box<OpError>> {
        let DrawnOperation { op, place, .. } = self.task;
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

    /// Undoes the draw of a write that the database rolled back or may not have executed; returns whether its commit is in doubt.
    pub(crate) fn failed(&mut self, class: ErrorClass) -> bool {
        match class {
            ErrorClass::Retryable => self.draws.undo(self.task.op),
            ErrorClass::Connection => self.draws.mark_in_doubt(&[self.task.op]),
            ErrorClass::Fatal => {}
        }
        class == ErrorClass::Connection && self.is_sent && self.task.op.writes()
    }
}

/// The effect of `op` on the rows that it touches.
#[inline]
fn touch(op: BlockOp) -> RowEffect {
    match op {
        BlockOp::Select { .. } | BlockOp::Lookup { .. } | BlockOp::Secondary { .. } | BlockOp::Scan => {
            RowEffect::Read
        }
        BlockOp::Update { .. } => RowEffect::Updated,
        BlockOp::Insert { .. } => RowEffect::Inserted,
        BlockOp::Delete { .. } => RowEffect::Deleted,
    }
}
