//! One session of a custom workload: chooses transactions, draws their values, and produces their requests.

use std::sync::Arc;

use dyno_engine::{ErrorClass, OpError, RequestCompletion, SessionRequest, StatementId, Type, Value};

use super::compile::PARAMS_MAX;
use super::draws::DrawSeeds;
use super::fault::WorkloadError;
use super::outcome::{RowCountMismatch, TransactionEnd, TransactionOutcome};
use super::program::{ExecuteOp, Program, ProgramOp, ProgramStatement, ReadColumns, TransactionCode};
use super::state::{ActorStep, TransactionState};
use super::value::HeldValue;
use super::workload::CustomWorkload;
use crate::class_id::ClassId;
use crate::effect::FailureRecovery;
use crate::next_action::SessionTurn;

/// Produces the transactions and requests of one session.
#[derive(Debug)]
pub struct CustomActor {
    workload: Arc<CustomWorkload>,
    program: Arc<Program>,
    /// The number of its first class among the classes of all workloads of the run.
    first_class: u8,
    /// The number of the transaction in this session, from 1.
    number: u64,
    /// Index of the current transaction in the workload.
    class: u8,
    retries_left: u32,
    /// Whether requests can be sent together here, and whether this transaction does so.
    pipelines: bool,
    is_piped: bool,
    state: TransactionState,
}

impl CustomActor {
    /// The state of session `session` (from 0 over all hosts) on `engine`. Equal seeds give equal values.
    ///
    /// # Errors
    /// The workload has no SQL for this engine.
    pub fn new(
        workload: &Arc<CustomWorkload>,
        engine: &str,
        seed: u64,
        session: u32,
    ) -> Result<Self, WorkloadError> {
        let program = Arc::clone(workload.program(engine)?);
        let mut keys = DrawSeeds::new(seed, session);
        let hold = workload.draws.initial_values(program.slots, seed, &mut keys);
        let custom_workload = Arc::clone(workload);
        let state = TransactionState::new(hold, keys);
        let (pipelines, is_piped) = (false, false);
        Ok(Self {
            workload: custom_workload,
            program,
            first_class: 0,
            number: 0,
            class: 0,
            retries_left: 0,
            pipelines,
            is_piped,
            state,
        })
    }

    /// Takes the next part of the table that the workload loads; false if no part is left, or it loads no
    /// table.
    pub fn take_part(&mut self) -> bool {
        let part = self.workload.bulk.as_ref().and_then(|bulk| bulk.take());
        if let Some(part) = part {
            self.state.pipe.part = part;
        }
        part.is_some()
    }

    /// Sets the number of its first class among the classes of all workloads of the run.
    #[must_use]
    pub fn from_class(self, first_class: u8) -> Self {
        Self { first_class, ..self }
    }

    /// Sets whether sessions can send requests together; transactions with `pipeline` then do so.
    #[must_use]
    pub fn pipelining(self, pipelines: bool) -> Self {
        Self { pipelines, ..self }
    }

    /// Chooses the next transaction and draws its values.
    #[inline]
    pub fn draw(&mut self) -> ClassId {
        self.number += 1;
        self.state.keys.begin_transaction(self.number);
        let place = self.place(&self.state.keys, self.number);
        self.start_transaction(place as u8)
    }

    /// Starts a transaction of the class at `place`, independent of the mix, and draws its values.
    pub fn draw_of(&mut self, place: usize) -> ClassId {
        self.number += 1;
        self.state.keys.begin_transaction(self.number);
        self.start_transaction(place as u8)
    }

    #[inline]
    fn start_transaction(&mut self, place: u8) -> ClassId {
        let Self { workload, program, first_class, class, retries_left, pipelines, is_piped, state, .. } =
            self;
        let CustomWorkload { draws, transactions, .. } = &**workload;
        *class = place;
        let transaction = &transactions[usize::from(*class)];
        *retries_left = transaction.retries;
        let was_piped = std::mem::replace(is_piped, *pipelines && transaction.pipeline);
        let code = &program.codes[usize::from(*class)];
        draws.draw(&code.drawn, &mut state.keys, &mut state.hold);
        state.begin(code, was_piped);
        ClassId::operation(*first_class + *class)
    }

    /// Restarts the transaction with the same values after an error rolled it back. If its parts commit
    /// separately, only the failed part restarts. Returns false if no retries are left. Counters, such as
    /// sequences, continue.
    pub fn retry(&mut self) -> bool {
        if self.retries_left == 0 {
            return false;
        }
        self.retries_left -= 1;
        let code = &self.program.codes[usize::from(self.class)];
        if code.by_part {
            self.state.restore_savepoint();
        } else {
            self.state.keys.begin_transaction(self.number);
            self.state.keys.skip();
            self.state.begin(code, self.is_piped);
        }
        true
    }

    /// The next step; `None` at the end of the transaction. `last` is the result of the step before.
    #[inline]
    pub fn step(&mut self, last: Option<RequestCompletion>) -> Option<ActorStep> {
        let Self { workload, program, class, state, .. } = self;
        if let (Some(done), Some(asked)) = (last, state.pending.take()) {
            state.apply_result(asked, &program.statements[usize::from(asked.statement)], done.rows);
        } else if let (Some(done), true) = (last, state.pipe.is_filling) {
            state.pipe.is_filling = false;
            state.record_filled_rows(done.rows);
        }
        if state.outcome.ended != TransactionEnd::Open {
            return None;
        }
        let TransactionCode { ops, by_part, .. } = &program.codes[usize::from(*class)];
        while let Some(op) = ops.get(state.next as usize) {
            if *by_part && !state.is_open && matches!(op, ProgramOp::Begin(_) | ProgramOp::Execute(_)) {
                state.set_savepoint();
            }
            state.next += 1;
            match op {
                ProgramOp::Begin(isolation) => {
                    state.is_open = true;
                    return Some(ActorStep::Begin(*isolation));
                }
                ProgramOp::Execute(execute)
                    if state.must_flush_before(&program.statements[usize::from(execute.statement)]) =>
                {
                    state.next -= 1;
                    return Some(ActorStep::Flush);
                }
                ProgramOp::Execute(execute) => {
                    state.pending = Some(*execute);
                    return Some(ActorStep::Execute(StatementId(execute.statement)));
                }
                ProgramOp::Fill => {
                    state.pipe.is_filling = true;
                    let (first, rows) = state.pipe.part;
                    return Some(ActorStep::Fill(first, rows));
                }
                ProgramOp::Commit { .. } | ProgramOp::Sleep(..) if state.must_wait(op) => {
                    state.next -= 1;
                    return Some(ActorStep::Flush);
                }
                ProgramOp::Commit { ends } => {
                    state.finish_transaction(true);
                    if *ends {
                        state.outcome.ended = TransactionEnd::Committed;
                    }
                    return Some(ActorStep::Commit);
                }
                ProgramOp::Sleep(time, unit_ns) => match state.rest_ns(time, *unit_ns) {
                    0 => {}
                    ns => return Some(ActorStep::Rest(ns)),
                },
                ProgramOp::Rollback { is_poll } => {
                    state.finish_transaction(false);
                    state.outcome.ended = TransactionEnd::RolledBack;
                    let effect = &mut state.outcome.effect;
                    (effect.rolled_back, effect.empty_polls) = (u16::from(!is_poll), u16::from(*is_poll));
                    return Some(ActorStep::Rollback);
                }
                ProgramOp::Draw(slots) => workload.draws.draw(slots, &mut state.keys, &mut state.hold),
                inner => state.follow_control_flow(inner),
            }
        }
        state.outcome.ended = TransactionEnd::Committed;
        None
    }

    /// Performs the next step and passes its request to `ask`.
    ///
    /// # Errors
    /// Errors of `ask`, or a statement touched an unexpected number of rows.
    #[inline]
    pub fn advance<T>(
        &mut self,
        mut last: Option<RequestCompletion>,
        mut ask: impl FnMut(SessionRequest<'_>) -> Result<T, Box<OpError>>,
    ) -> Result<SessionTurn<T>, Box<OpError>> {
        loop {
            let step = self.step(last.take());
            if let Some(row_count_mismatch) = self.state.outcome.row_count_mismatch {
                return Err(self.row_count_error(row_count_mismatch));
            }
            match step {
                None => return Ok(SessionTurn::Over),
                Some(ActorStep::Rest(ns)) => return Ok(SessionTurn::Rests(ns)),
                Some(step) if self.is_piped && self.state.try_queue(step) => {
                    self.request(step, |request| ask(SessionRequest::Queue(&request)))?;
                }
                Some(step) => return self.request(step, ask).map(SessionTurn::Asked),
            }
        }
    }

    /// Receives the results of queued requests: the `rows` of each.
    #[inline]
    pub fn queued(&mut self, rows: &[u64]) {
        if self.is_piped {
            self.state.apply_queued_results(&self.program.statements, rows);
        }
    }

    /// Receives the columns of the last row from `column`, if the last statement has columns to read. Call it
    /// after each request.
    ///
    /// # Errors
    /// The row has too few columns, or a column has the wrong type.
    #[inline]
    pub fn read<'a>(&mut self, column: impl Fn(usize) -> Option<Value<'a>>) -> Result<(), Box<OpError>> {
        match self.state.pending {
            Some(ExecuteOp { statement, columns: Some(columns), .. }) => {
                self.read_columns(usize::from(statement), usize::from(columns.get()) - 1, &column)
            }
            _ => Ok(()),
        }
    }

    #[inline(never)]
    fn read_columns<'a>(
        &mut self,
        statement: usize,
        columns: usize,
        column: &dyn Fn(usize) -> Option<Value<'a>>,
    ) -> Result<(), Box<OpError>> {
        let Self { workload, program, state, .. } = self;
        let ReadColumns { slots, numbers } = &program.columns[columns];
        if column(0).is_none() {
            // Without a row, each of its columns is NULL.
            slots.iter().for_each(|&slot| state.hold.held[usize::from(slot)] = HeldValue::Null);
            return Ok(());
        }
        for (place, (&slot, &is_number)) in slots.iter().zip(numbers).enumerate() {
            let at = workload.names.column_at(slot).unwrap_or_default();
            let stored = match column(place) {
                None => Err(format!("the result has {place} columns, but {} are read", slots.len())),
                Some(value) => state.hold.keep(slot, at, value, is_number),
            };
            if let Err(problem) = stored {
                let prepared = &program.statements[statement];
                let name = &workload.names.all[usize::from(slot)];
                let problem = format!("{}: {name} cannot be read: {problem}", prepared.name);
                let message = prepared.fault(problem, "").to_string();
                return Err(OpError::fatal("columns", message));
            }
        }
        Ok(())
    }

    #[cold]
    fn row_count_error(
        &self,
        RowCountMismatch { statement, wanted: (least, most), got }: RowCountMismatch,
    ) -> Box<OpError> {
        let statement = &self.program.statements[statement.index()];
        let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let problem = format!("{} touched {got} rows, but must touch {wanted}", statement.name);
        let message = statement.fault(problem, "").to_string();
        Box::new(OpError { class: ErrorClass::Fatal, code: "rows".to_owned(), message })
    }

    /// Passes the request of a step to `ask`; a sleep has none.
    #[inline]
    pub fn request<T>(&self, step: ActorStep, ask: impl FnOnce(SessionRequest<'_>) -> T) -> T {
        let statement = match step {
            ActorStep::Begin(isolation) => return ask(SessionRequest::Begin(isolation)),
            ActorStep::Fill(first, rows) => return ask(SessionRequest::Fill { first, rows }),
            ActorStep::Commit => return ask(SessionRequest::Commit),
            ActorStep::Rollback => return ask(SessionRequest::Rollback),
            ActorStep::Rest(_) => return ask(SessionRequest::Edge),
            ActorStep::Flush => return ask(SessionRequest::Flush),
            ActorStep::Execute(statement) => statement,
        };
        let prepared = &self.program.statements[statement.index()];
        let count = prepared.slots.len();
        let ask = |values: &[Value<'_>]| ask(SessionRequest::Execute(statement, values));
        match count {
            0..=4 => ask(&self.values::<4>(prepared)[..count]),
            5..=32 => ask(&self.values::<32>(prepared)[..count]),
            _ => ask(&self.values::<PARAMS_MAX>(prepared)[..count]),
        }
    }

    /// The values for a statement's parameters.
    #[inline]
    fn values<const N: usize>(&self, prepared: &ProgramStatement) -> [Value<'_>; N] {
        let ProgramStatement { slots, types, may_be_null, .. } = prepared;
        let hold = &self.state.hold;
        let mut values = [Value::Null; N];
        for ((value, &slot), &of) in values.iter_mut().zip(slots).zip(types) {
            *value = match hold.held[usize::from(slot)] {
                HeldValue::Null => Value::Null,
                HeldValue::Int(number) => Value::Int(number),
                HeldValue::Real(number) => Value::Real(number),
                held => {
                    let bytes = hold.bytes_of(held, &self.workload.draws.shared);
                    if of == Type::Bytes { Value::Bytes(bytes) } else { Value::Text(bytes) }
                }
            };
        }
        if *may_be_null {
            for (value, &slot) in values.iter_mut().zip(slots) {
                let null = self.workload.draws.all.get(usize::from(slot)).and_then(|draw| draw.null.as_ref());
                if null.is_some_and(|null| hold.counted[null.counter] == 1) {
                    *value = Value::Null;
                }
            }
        }
        values
    }

    /// Handles a failure with an error of `class`.
    pub fn failed(&mut self, class: ErrorClass) -> FailureRecovery {
        let retryable = class == ErrorClass::Retryable;
        let in_doubt = self.is_in_doubt(class);
        let is_open = std::mem::take(&mut self.state.is_open);
        FailureRecovery {
            is_open: is_open && retryable,
            may_again: retryable && self.retries_left > 0,
            in_doubt,
        }
    }

    /// Whether an error of `class` during a commit of writes leaves its outcome unknown.
    pub(super) fn is_in_doubt(&self, class: ErrorClass) -> bool {
        class == ErrorClass::Connection && self.is_committing()
    }

    /// Whether the current request commits writes.
    fn is_committing(&self) -> bool {
        let Self { program, class, state, .. } = self;
        if let Some(asked) = state.pending {
            let statement = &program.statements[usize::from(asked.statement)];
            return statement.commits || (statement.writes && !state.is_open);
        }
        let TransactionCode { ops, writes, .. } = &program.codes[usize::from(*class)];
        let last = (state.next as usize).checked_sub(1).and_then(|at| ops.get(at));
        match last {
            Some(ProgramOp::Fill) => state.pipe.is_filling,
            Some(ProgramOp::Commit { .. }) => state.commits_writes || (self.is_piped && *writes),
            _ => false,
        }
    }

    /// Whether a transaction has think time or a sleep step.
    pub fn thinks(&self) -> bool {
        let mut ops = self.program.codes.iter().flat_map(|code| &code.ops);
        ops.any(|op| matches!(op, ProgramOp::Sleep(..)))
            || self.workload.types
            || self.workload.transactions.iter().any(|transaction| transaction.think.is_any())
    }

    /// The current number under a name.
    #[cfg(test)]
    pub(super) fn number(&self, name: &str) -> i64 {
        let slot = self.workload.names.slot(name).expect("something has the name");
        self.state.hold.number(slot).whole()
    }

    /// The outcome of the transaction so far.
    #[inline]
    pub fn outcome(&self) -> TransactionOutcome {
        self.state.outcome
    }

    /// The time until the next transaction in ns: the think time of this one, plus the keying time of the
    /// next.
    #[inline]
    pub fn think_ns(&self) -> u64 {
        let CustomWorkload { transactions, types, .. } = &*self.workload;
        let think = transactions[usize::from(self.class)].think;
        let own_think_ns = if think.is_any() { think.ns(self.state.keys.rest()) } else { 0 };
        own_think_ns + if *types { self.keying_ns() } else { 0 }
    }

    /// The keying time of the next transaction, in ns.
    fn keying_ns(&self) -> u64 {
        let mut keys = self.state.keys;
        keys.begin_transaction(self.number + 1);
        self.workload.transactions[self.place(&keys, self.number + 1)].keying_ns
    }

    /// The index of the transaction with this number; `keys` must be set to it.
    #[inline]
    fn place(&self, keys: &DrawSeeds, number: u64) -> usize {
        let CustomWorkload { sums, deck, .. } = &*self.workload;
        let whole = sums[sums.len() - 1];
        let drawn = if *deck { keys.card(number, whole) } else { keys.class(whole) };
        sums.partition_point(|&sum| sum <= drawn)
    }
}
