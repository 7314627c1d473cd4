//! The state of a session within its transaction.

use dyno_engine::{Isolation, ResultKind, StatementId};
use dyno_record::RowEffect;

use super::draws::DrawSeeds;
use super::expr::{Expr, ExprContext, ExprSeed};
use super::outcome::{NOTHING, RowCountMismatch, TransactionOutcome};
use super::pipe::RequestPipeline;
use super::program::{ExecuteOp, ProgramOp, ProgramStatement, TransactionCode};
use super::safe::TransactionSavepoint;
use super::steps::TURNS_MAX;
use super::value::{HeldValue, Number, SessionValues};

/// The next action of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActorStep {
    Begin(Isolation),
    Execute(StatementId),
    /// Write rows of a table: the first row, and their number.
    Fill(u64, u64),
    Commit,
    Rollback,
    /// Sleep for this many ns.
    Rest(u64),
    /// Wait for the answers of queued requests.
    Flush,
}

/// The longest sleep within a transaction, in ns: one hour.
pub(super) const REST_NS_MAX: u64 = 3_600_000_000_000;

/// The largest overhead in bytes of a statement besides its text and values, and of a value besides its
/// characters.
const STATEMENT_BYTES: usize = 256;
const VALUE_BYTES: usize = 16;

/// The state of a session within its transaction.
#[derive(Debug)]
pub(super) struct TransactionState {
    pub(super) hold: SessionValues,
    pub(super) keys: DrawSeeds,
    pub(super) outcome: TransactionOutcome,
    /// The statement whose answer is awaited; `None` for other requests.
    pub(super) pending: Option<ExecuteOp>,
    /// Requests that were queued before it.
    pub(super) pipe: Box<RequestPipeline>,
    /// Index of the next instruction in the transaction's code.
    pub(super) next: u32,
    /// Whether a database transaction is open, and whether it has changed data.
    pub(super) is_open: bool,
    pub(super) has_written: bool,
    /// Whether a statement has told that it changed rows.
    has_told_change: bool,
    /// Whether the last requested commit has changes to commit.
    pub(super) commits_writes: bool,
    /// Number of iterations so far, over all loops of the transaction.
    turns: u32,
}

impl TransactionState {
    /// The state before the first transaction.
    pub(super) fn new(hold: SessionValues, keys: DrawSeeds) -> Self {
        Self {
            hold,
            keys,
            outcome: NOTHING,
            pending: None,
            pipe: Box::default(),
            next: 0,
            turns: 0,
            is_open: false,
            has_written: false,
            has_told_change: false,
            commits_writes: false,
        }
    }

    #[inline]
    pub(super) fn begin(&mut self, code: &TransactionCode, was_piped: bool) {
        for &(slot, held) in &code.read {
            self.hold.held[usize::from(slot)] = held;
        }
        (self.next, self.turns, self.pending, self.outcome) = (0, 0, None, NOTHING);
        (self.is_open, self.has_written, self.has_told_change) = (false, false, false);
        if was_piped {
            self.pipe.clear();
        }
    }

    /// Saves the current position: a later rollback returns here and keeps everything before it.
    pub(super) fn set_savepoint(&mut self) {
        let Self { hold, keys, outcome, next, turns, pipe, .. } = self;
        let at = (*keys, *outcome, *next, *turns);
        match &mut pipe.savepoint {
            Some(safe) => safe.note(hold, at),
            none => *none = Some(TransactionSavepoint::new(hold, at)),
        }
    }

    /// Returns to the saved position. Counters, such as sequences, are not reset.
    pub(super) fn restore_savepoint(&mut self) {
        let Some(safe) = &self.pipe.savepoint else { return };
        (self.keys, self.outcome, self.next, self.turns) = safe.restore(&mut self.hold);
        (self.pending, self.is_open) = (None, false);
        (self.has_written, self.has_told_change) = (false, false);
    }

    /// Records the commit of the database transaction.
    #[inline]
    fn record_commit(&mut self) {
        let effect = &mut self.outcome.effect;
        effect.transactions += 1;
        effect.commits += u64::from(self.has_written);
        effect.unproven_commits += u32::from(self.has_written && !self.has_told_change);
        effect.empty_commits += u32::from(!self.has_written);
        (self.is_open, self.has_written, self.has_told_change) = (false, false, false);
    }

    /// Records the rollback of the database transaction: its changes do not count.
    fn record_rollback(&mut self) {
        let [read, ..] = self.outcome.effect.rows;
        self.outcome.effect.rows = [read, 0, 0, 0];
        self.is_open = false;
    }

    /// Executes instructions for conditions and loops.
    #[inline]
    pub(super) fn follow_control_flow(&mut self, op: &ProgramOp) {
        match op {
            ProgramOp::Unless(condition, to) => {
                if !self.value(condition).is_true() {
                    self.next = *to;
                }
            }
            ProgramOp::Jump(to) => self.next = *to,
            ProgramOp::Enter { times, left, counter, end } => {
                let times = self.value(times).whole().min(TURNS_MAX);
                self.set(*left, times - 1);
                match times > 0 {
                    true => counter.iter().for_each(|&counter| self.set(counter, 1)),
                    false => self.next = *end,
                }
            }
            ProgramOp::Turn { left, counter, from } => {
                let to_come = self.hold.number(*left).whole();
                self.turns = self.turns.saturating_add(1);
                // Nested loops without a statement could run for years.
                if to_come > 0 && i64::from(self.turns) < TURNS_MAX {
                    let turn = counter.map(|counter| self.hold.number(counter).whole() + 1);
                    self.set(*left, to_come - 1);
                    counter.iter().zip(turn).for_each(|(&counter, turn)| self.set(counter, turn));
                    self.next = *from;
                }
            }
            ProgramOp::Set(slot, expr) => {
                let number = self.value(expr);
                self.hold.held[usize::from(*slot)] = number.held();
            }
            ProgramOp::Tally => self.outcome.effect.tallied += 1,
            ProgramOp::Begin(_)
            | ProgramOp::Commit { .. }
            | ProgramOp::Rollback { .. }
            | ProgramOp::Draw(_) => {}
            ProgramOp::Execute(_) | ProgramOp::Fill | ProgramOp::Sleep(..) => {}
        }
    }

    /// Evaluates an expression with the session's values.
    #[inline]
    fn value(&mut self, expr: &Expr) -> Number {
        let Self { hold, keys, .. } = self;
        expr.evaluate(&mut ExprContext::new(hold, ExprSeed::Made(&mut || keys.next())))
    }

    /// The length of a sleep in ns.
    pub(super) fn rest_ns(&mut self, time: &Expr, unit_ns: u64) -> u64 {
        (self.value(time).real() * unit_ns as f64).clamp(0.0, REST_NS_MAX as f64) as u64
    }

    #[inline]
    fn set(&mut self, slot: u16, number: i64) {
        self.hold.held[usize::from(slot)] = Number::Int(number).held();
    }

    /// Records the result of a statement.
    #[inline]
    pub(super) fn apply_result(&mut self, execute: ExecuteOp, statement: &ProgramStatement, rows: u64) {
        let touched = if statement.answer == ResultKind::Number { 1 } else { rows };
        self.outcome.effect.rows[statement.touch as usize] += touched;
        // A statement that changes no row commits nothing. If it returns other rows, its number of changes is
        // unknown.
        let has_written = statement.writes && (touched > 0 || !statement.tells_changes);
        let has_told_change = statement.tells_changes && touched > 0;
        self.has_written |= has_written;
        self.has_told_change |= has_told_change;
        if statement.writes && statement.tells_changes {
            self.outcome.effect.write_statements += 1;
            self.outcome.effect.empty_writes += u32::from(touched == 0);
        }
        if !self.is_open {
            self.outcome.effect.transactions += 1;
            self.outcome.effect.commits += u64::from(has_written);
            self.outcome.effect.unproven_commits += u32::from(has_written && !has_told_change);
            self.outcome.effect.empty_commits += u32::from(statement.writes && !has_written);
        }
        if let Some(slot) = execute.kept {
            self.set(slot, rows as i64);
        }
        if let Some(wanted) = execute.rows
            && !(wanted.0..=wanted.1).contains(&rows)
            && self.outcome.row_count_mismatch.is_none()
        {
            self.outcome.row_count_mismatch =
                Some(RowCountMismatch { statement: StatementId(execute.statement), wanted, got: rows });
        }
    }

    /// Records that this many rows were written.
    #[cold]
    pub(super) fn record_filled_rows(&mut self, rows: u64) {
        self.outcome.effect.rows[RowEffect::Inserted as usize] += rows;
        self.outcome.effect.transactions += 1;
        self.outcome.effect.commits += u64::from(rows > 0);
    }

    /// Records that the next request ends the database transaction with a commit or a rollback.
    #[inline]
    pub(super) fn finish_transaction(&mut self, commits: bool) {
        self.commits_writes = commits && self.has_written;
        match (self.pipe.is_empty(), commits) {
            // The results of queued requests are not known yet.
            (false, _) => self.pipe.set_ending(commits),
            (true, true) => self.record_commit(),
            (true, false) => self.record_rollback(),
        }
    }

    /// Whether queued requests must be answered before `op`: expected row counts are checked before a commit,
    /// and a session does not sleep with unsent requests.
    #[inline]
    pub(super) fn must_wait(&self, op: &ProgramOp) -> bool {
        match op {
            ProgramOp::Sleep(..) => !self.pipe.is_empty(),
            _ => self.pipe.is_unchecked(),
        }
    }

    /// Whether queued requests must be answered before `statement` is sent, to avoid a deadlock between
    /// client and server.
    #[inline]
    pub(super) fn must_flush_before(&mut self, statement: &ProgramStatement) -> bool {
        if self.pipe.is_empty() {
            return false;
        }
        let value = |&slot: &u16| match self.hold.held[usize::from(slot)] {
            HeldValue::Own { len, .. } | HeldValue::Shared { len, .. } => len as usize,
            HeldValue::Null | HeldValue::Int(_) | HeldValue::Real(_) => 0,
        };
        let values: usize = statement.slots.iter().map(|slot| VALUE_BYTES + value(slot)).sum();
        !self.pipe.reserve_bytes(STATEMENT_BYTES + statement.piece.at.len() + values)
    }

    /// Queues the request of `step` if its answer is not needed now; returns whether it did.
    pub(super) fn try_queue(&mut self, step: ActorStep) -> bool {
        match step {
            ActorStep::Begin(_) => self.pipe.try_push(None),
            ActorStep::Execute(_)
                if self.pending.is_some_and(|asked| asked.kept.is_none() && asked.columns.is_none()) =>
            {
                let is_kept = self.pipe.try_push(self.pending);
                self.pending = self.pending.filter(|_| !is_kept);
                is_kept
            }
            _ => false,
        }
    }

    /// Records the results of queued requests: the `rows` of each.
    pub(super) fn apply_queued_results(&mut self, statements: &[ProgramStatement], rows: &[u64]) {
        for (place, &rows) in rows.iter().enumerate() {
            if let Some(execute) = self.pipe.statement_at(place) {
                self.apply_result(execute, &statements[usize::from(execute.statement)], rows);
            }
        }
        match self.pipe.clear() {
            Some(true) => self.record_commit(),
            Some(false) => self.record_rollback(),
            None => {}
        }
    }
}
