//! What one session does: which transaction comes next, with which values, request by request.

use std::sync::Arc;

use dyno_engine::{Done, ErrorClass, OpError, Request, StatementId, Type, Value};

use super::compile::PARAMS_MAX;
use super::draws::Keys;
use super::fault::Fault;
use super::outcome::{Amiss, Ended, Outcome};
use super::program::{Code, Columns, Execute, Op, Prepared, Program};
use super::state::{State, Step};
use super::value::Held;
use super::workload::Own;
use crate::class_id::ClassId;
use crate::effect::Failed;
use crate::turn::Turn;

/// What one session does.
#[derive(Debug)]
pub struct Actor {
    own: Arc<Own>,
    program: Arc<Program>,
    /// The number of its first class among those of all workloads that run beside each other.
    first_class: u8,
    /// The number of the transaction in this session, from 1.
    number: u64,
    /// The transaction's place.
    class: u8,
    retries_left: u32,
    /// Whether requests can be sent together here, and whether those of this transaction are.
    pipelines: bool,
    is_piped: bool,
    state: State,
}

impl Actor {
    /// What session `session` (from 0 over all hosts) does on `engine`. The same seed gives the same values.
    ///
    /// # Errors
    /// There is no SQL for this engine.
    pub fn new(own: &Arc<Own>, engine: &str, seed: u64, session: u32) -> Result<Self, Fault> {
        let program = Arc::clone(own.program(engine)?);
        let mut keys = Keys::new(seed, session);
        let hold = own.draws.hold(program.slots, seed, &mut keys);
        let own = Arc::clone(own);
        let state = State::new(hold, keys);
        let (pipelines, is_piped) = (false, false);
        Ok(Self {
            own,
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

    /// Takes the next part of the table that the workload loads; false where all of it is taken, or it loads none.
    pub fn take_part(&mut self) -> bool {
        let part = self.own.bulk.as_ref().and_then(|bulk| bulk.take());
        if let Some(part) = part {
            self.state.pipe.part = part;
        }
        part.is_some()
    }

    /// The same with its first class being the one at this place among those of all workloads that run beside each other.
    #[must_use]
    pub fn from_class(self, first_class: u8) -> Self {
        Self { first_class, ..self }
    }

    /// The same, for sessions that can send requests together, or cannot: transactions that say `pipeline` do so then.
    #[must_use]
    pub fn pipelining(self, pipelines: bool) -> Self {
        Self { pipelines, ..self }
    }

    /// Chooses the next transaction, and draws its values.
    #[inline]
    pub fn draw(&mut self) -> ClassId {
        self.number += 1;
        self.state.keys.turn_to(self.number);
        let place = self.place(&self.state.keys, self.number);
        self.open(place as u8)
    }

    /// Draws the values of a transaction of the class at `place`, whatever comes next by the mix.
    pub fn draw_of(&mut self, place: usize) -> ClassId {
        self.number += 1;
        self.state.keys.turn_to(self.number);
        self.open(place as u8)
    }

    #[inline]
    fn open(&mut self, place: u8) -> ClassId {
        let Self { own, program, first_class, class, retries_left, pipelines, is_piped, state, .. } = self;
        let Own { draws, transactions, .. } = &**own;
        *class = place;
        let transaction = &transactions[usize::from(*class)];
        *retries_left = transaction.retries;
        let was_piped = std::mem::replace(is_piped, *pipelines && transaction.pipeline);
        let code = &program.codes[usize::from(*class)];
        draws.draw(&code.drawn, &mut state.keys, &mut state.hold);
        state.begin(code, was_piped);
        ClassId::operation(*first_class + *class)
    }

    /// Begins the transaction anew with the same values, after it was taken back because of an error; of several that commit each by
    /// itself, the one that was taken back. False where no more tries are allowed. What counts, such as a sequence, goes on.
    pub fn again(&mut self) -> bool {
        if self.retries_left == 0 {
            return false;
        }
        self.retries_left -= 1;
        let code = &self.program.codes[usize::from(self.class)];
        if code.by_part {
            self.state.return_to_safe();
        } else {
            self.state.keys.turn_to(self.number);
            self.state.keys.skip();
            self.state.begin(code, self.is_piped);
        }
        true
    }

    /// What is to be done next; nothing where the transaction is over. `last` is what the step before has returned.
    #[inline]
    pub fn step(&mut self, last: Option<Done>) -> Option<Step> {
        let Self { own, program, class, state, .. } = self;
        if let (Some(done), Some(asked)) = (last, state.asked.take()) {
            state.done(asked, &program.statements[usize::from(asked.statement)], done.rows);
        } else if let (Some(done), true) = (last, state.pipe.is_filling) {
            state.pipe.is_filling = false;
            state.filled(done.rows);
        }
        if state.outcome.ended != Ended::Open {
            return None;
        }
        let Code { ops, by_part, .. } = &program.codes[usize::from(*class)];
        while let Some(op) = ops.get(state.next as usize) {
            if *by_part && !state.is_open && matches!(op, Op::Begin(_) | Op::Execute(_)) {
                state.secure();
            }
            state.next += 1;
            match op {
                Op::Begin(isolation) => {
                    state.is_open = true;
                    return Some(Step::Begin(*isolation));
                }
                Op::Execute(execute) if state.crowds(&program.statements[usize::from(execute.statement)]) => {
                    state.next -= 1;
                    return Some(Step::Flush);
                }
                Op::Execute(execute) => {
                    state.asked = Some(*execute);
                    return Some(Step::Execute(StatementId(execute.statement)));
                }
                Op::Fill => {
                    state.pipe.is_filling = true;
                    let (first, rows) = state.pipe.part;
                    return Some(Step::Fill(first, rows));
                }
                Op::Commit { .. } | Op::Sleep(..) if state.must_wait(op) => {
                    state.next -= 1;
                    return Some(Step::Flush);
                }
                Op::Commit { ends } => {
                    state.ends(true);
                    if *ends {
                        state.outcome.ended = Ended::Committed;
                    }
                    return Some(Step::Commit);
                }
                Op::Sleep(time, unit_ns) => match state.rest_ns(time, *unit_ns) {
                    0 => {}
                    ns => return Some(Step::Rest(ns)),
                },
                Op::Rollback { is_poll } => {
                    state.ends(false);
                    state.outcome.ended = Ended::RolledBack;
                    let effect = &mut state.outcome.effect;
                    (effect.rolled_back, effect.empty_polls) = (u16::from(!is_poll), u16::from(*is_poll));
                    return Some(Step::Rollback);
                }
                Op::Draw(slots) => own.draws.draw(slots, &mut state.keys, &mut state.hold),
                inner => state.turn(inner),
            }
        }
        state.outcome.ended = Ended::Committed;
        None
    }

    /// The same, with the request of what is to be done given to `ask`.
    ///
    /// # Errors
    /// Those of `ask`; or a statement has touched another number of rows than it has to.
    #[inline]
    pub fn advance<T>(
        &mut self,
        mut last: Option<Done>,
        mut ask: impl FnMut(Request<'_>) -> Result<T, Box<OpError>>,
    ) -> Result<Turn<T>, Box<OpError>> {
        loop {
            let step = self.step(last.take());
            if let Some(amiss) = self.state.outcome.amiss {
                return Err(self.misses(amiss));
            }
            match step {
                None => return Ok(Turn::Over),
                Some(Step::Rest(ns)) => return Ok(Turn::Rests(ns)),
                Some(step) if self.is_piped && self.state.keeps(step) => {
                    self.request(step, |request| ask(Request::Queue(&request)))?;
                }
                Some(step) => return self.request(step, ask).map(Turn::Asked),
            }
        }
    }

    /// Takes in what came of the requests that were kept until the one that has ended: the `rows` of each.
    #[inline]
    pub fn queued(&mut self, rows: &[u64]) {
        if self.is_piped {
            self.state.answered(&self.program.statements, rows);
        }
    }

    /// Takes in the columns of the last row, which `column` tells, where the statement that has ended has some that are read; to be
    /// called behind each request.
    ///
    /// # Errors
    /// It has fewer columns, or one is not what the workload takes it for.
    #[inline]
    pub fn read<'a>(&mut self, column: impl Fn(usize) -> Option<Value<'a>>) -> Result<(), Box<OpError>> {
        match self.state.asked {
            Some(Execute { statement, columns: Some(columns), .. }) => {
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
        let Self { own, program, state, .. } = self;
        let Columns { slots, numbers } = &program.columns[columns];
        if column(0).is_none() {
            // There is no row, which is NULL in each of its columns.
            slots.iter().for_each(|&slot| state.hold.held[usize::from(slot)] = Held::Null);
            return Ok(());
        }
        for (place, (&slot, &is_number)) in slots.iter().zip(numbers).enumerate() {
            let at = own.names.column_at(slot).unwrap_or_default();
            let kept = match column(place) {
                None => Err(format!("there are {place} columns, and {} are read", slots.len())),
                Some(value) => state.hold.keep(slot, at, value, is_number),
            };
            if let Err(problem) = kept {
                let prepared = &program.statements[statement];
                let name = &own.names.all[usize::from(slot)];
                let problem = format!("{}: {name} cannot be read: {problem}", prepared.name);
                let message = prepared.fault(problem, "").to_string();
                return Err(OpError::fatal("columns", message));
            }
        }
        Ok(())
    }

    #[cold]
    fn misses(&self, Amiss { statement, wanted: (least, most), got }: Amiss) -> Box<OpError> {
        let statement = &self.program.statements[statement.index()];
        let wanted = if least == most { least.to_string() } else { format!("{least} to {most}") };
        let problem = format!("{} touched {got} rows, and has to touch {wanted}", statement.name);
        let message = statement.fault(problem, "").to_string();
        Box::new(OpError { class: ErrorClass::Fatal, code: "rows".to_owned(), message })
    }

    /// The request of a step, given to `ask`; a rest asks for nothing.
    #[inline]
    pub fn request<T>(&self, step: Step, ask: impl FnOnce(Request<'_>) -> T) -> T {
        let statement = match step {
            Step::Begin(isolation) => return ask(Request::Begin(isolation)),
            Step::Fill(first, rows) => return ask(Request::Fill { first, rows }),
            Step::Commit => return ask(Request::Commit),
            Step::Rollback => return ask(Request::Rollback),
            Step::Rest(_) => return ask(Request::Edge),
            Step::Flush => return ask(Request::Flush),
            Step::Execute(statement) => statement,
        };
        let prepared = &self.program.statements[statement.index()];
        let count = prepared.slots.len();
        let ask = |values: &[Value<'_>]| ask(Request::Execute(statement, values));
        match count {
            0..=4 => ask(&self.values::<4>(prepared)[..count]),
            5..=32 => ask(&self.values::<32>(prepared)[..count]),
            _ => ask(&self.values::<PARAMS_MAX>(prepared)[..count]),
        }
    }

    /// The values of a statement's parameters.
    #[inline]
    fn values<const N: usize>(&self, prepared: &Prepared) -> [Value<'_>; N] {
        let Prepared { slots, types, may_be_null, .. } = prepared;
        let hold = &self.state.hold;
        let mut values = [Value::Null; N];
        for ((value, &slot), &of) in values.iter_mut().zip(slots).zip(types) {
            *value = match hold.held[usize::from(slot)] {
                Held::Null => Value::Null,
                Held::Int(number) => Value::Int(number),
                Held::Real(number) => Value::Real(number),
                held => {
                    let bytes = hold.bytes_of(held, &self.own.draws.shared);
                    if of == Type::Bytes { Value::Bytes(bytes) } else { Value::Text(bytes) }
                }
            };
        }
        if *may_be_null {
            for (value, &slot) in values.iter_mut().zip(slots) {
                let null = self.own.draws.all.get(usize::from(slot)).and_then(|draw| draw.null.as_ref());
                if null.is_some_and(|null| hold.counted[null.counter] == 1) {
                    *value = Value::Null;
                }
            }
        }
        values
    }

    /// It has failed with an error of `class`.
    pub fn failed(&mut self, class: ErrorClass) -> Failed {
        let retryable = class == ErrorClass::Retryable;
        let in_doubt = self.is_in_doubt(class);
        let is_open = std::mem::take(&mut self.state.is_open);
        Failed { is_open: is_open && retryable, may_again: retryable && self.retries_left > 0, in_doubt }
    }

    /// Whether a commit of writes was under way when an error of `class` came that leaves its outcome unknown.
    pub(super) fn is_in_doubt(&self, class: ErrorClass) -> bool {
        class == ErrorClass::Connection && self.is_committing()
    }

    /// Whether the request under way commits writes.
    fn is_committing(&self) -> bool {
        let Self { program, class, state, .. } = self;
        if let Some(asked) = state.asked {
            let statement = &program.statements[usize::from(asked.statement)];
            return statement.commits || (statement.writes && !state.is_open);
        }
        let Code { ops, writes, .. } = &program.codes[usize::from(*class)];
        let last = (state.next as usize).checked_sub(1).and_then(|at| ops.get(at));
        match last {
            Some(Op::Fill) => state.pipe.is_filling,
            Some(Op::Commit { .. }) => state.commits_writes || (self.is_piped && *writes),
            _ => false,
        }
    }

    /// Whether any transaction is followed by a rest, or has one within.
    pub fn thinks(&self) -> bool {
        let mut ops = self.program.codes.iter().flat_map(|code| &code.ops);
        ops.any(|op| matches!(op, Op::Sleep(..)))
            || self.own.types
            || self.own.transactions.iter().any(|transaction| transaction.think.is_any())
    }

    /// The number that is held under a name.
    #[cfg(test)]
    pub(super) fn number(&self, name: &str) -> i64 {
        let slot = self.own.names.slot(name).expect("something has the name");
        self.state.hold.number(slot).whole()
    }

    /// What has come of the transaction.
    #[inline]
    pub fn outcome(&self) -> Outcome {
        self.state.outcome
    }

    /// How long the session rests behind the transaction that was drawn, ns: its own rest, and while the next one is typed in.
    #[inline]
    pub fn think_ns(&self) -> u64 {
        let Own { transactions, types, .. } = &*self.own;
        let think = transactions[usize::from(self.class)].think;
        let own = if think.is_any() { think.ns(self.state.keys.rest()) } else { 0 };
        own + if *types { self.keying_ns() } else { 0 }
    }

    /// How long the next transaction is typed in, ns.
    fn keying_ns(&self) -> u64 {
        let mut keys = self.state.keys;
        keys.turn_to(self.number + 1);
        self.own.transactions[self.place(&keys, self.number + 1)].keying_ns
    }

    /// The place of the transaction of this number, to which `keys` are turned.
    #[inline]
    fn place(&self, keys: &Keys, number: u64) -> usize {
        let Own { sums, deck, .. } = &*self.own;
        let whole = sums[sums.len() - 1];
        let drawn = if *deck { keys.card(number, whole) } else { keys.class(whole) };
        sums.partition_point(|&sum| sum <= drawn)
    }
}
