//! Compiles the steps of transactions into programs that sessions execute on one engine.

mod piped;
mod values;

use std::num::NonZeroU16;

use super::draws::{DrawFrequency, ValueGenerator};
use super::expr::Expr;
use super::fault::{SourceText, WorkloadError};
use super::prepare::{CompileContext, StepStatement, prepare};
use super::program::{ExecuteOp, Program, ProgramOp, ReadColumns, TransactionCode};
use super::sql::SplitStatement;
use super::steps::{Condition, ResultBinding, Sql, StatementRef, TURNS_MAX, TransactionStep};
use super::transaction::Transaction;
use super::value::Number;

/// The largest number of parameters in a statement.
pub const PARAMS_MAX: usize = 256;

/// Compiles the program for `engine`.
///
/// # Errors
/// A transaction has no SQL for the engine, or a step does not match its SQL.
pub(super) fn compile(
    transactions: &[Transaction],
    engine: &str,
    around: CompileContext<'_>,
) -> Result<Program, WorkloadError> {
    let names = around.names.all.len();
    let mut program =
        Program { statements: Vec::new(), codes: Vec::new(), slots: names, columns: Vec::new() };
    for transaction in transactions {
        let sql = match &transaction.sql {
            None => None,
            Some(variants) => Some(variants.for_engine(engine).ok_or_else(|| transaction.no_sql(engine))?),
        };
        let first = program.statements.len() as u16;
        let mut maker = TransactionCompiler {
            transaction,
            around,
            sql,
            first,
            program: &mut program,
            used: vec![false; sql.map_or(0, |sql| sql.pieces.len())],
            read_slots: Vec::new(),
            drawn: Vec::new(),
            loops: 0,
            in_part: false,
            code: TransactionCode::default(),
        };
        let code = maker.code()?;
        program.slots = program
            .slots
            .max(names + code.ops.iter().filter(|op| matches!(op, ProgramOp::Enter { .. })).count());
        program.codes.push(code);
    }
    mark_numbers(&mut program, around);
    Ok(program)
}

/// Marks the columns that must be numbers because an expression reads them.
fn mark_numbers(program: &mut Program, around: CompileContext<'_>) {
    let mut read: Vec<u16> =
        program.codes.iter().flat_map(|code| &code.ops).flat_map(ProgramOp::slots).collect();
    for draw in &around.draws.all {
        if let ValueGenerator::Expr(expr) = &draw.law {
            read.extend(expr.slots());
        }
    }
    for ReadColumns { slots, numbers } in &mut program.columns {
        *numbers = slots.iter().map(|slot| read.contains(slot)).collect();
    }
}

/// Compiles one transaction into instructions.
struct TransactionCompiler<'a> {
    transaction: &'a Transaction,
    around: CompileContext<'a>,
    sql: Option<&'a Sql>,
    /// Number of its first statement in the program.
    first: u16,
    program: &'a mut Program,
    /// Which statements of the file are executed.
    used: Vec<bool>,
    /// Slots that earlier steps have read.
    read_slots: Vec<u16>,
    /// Slots that are used outside iterations, or drawn once for all iterations.
    drawn: Vec<u16>,
    loops: u16,
    /// Whether the steps are inside a `transaction` step, while others commit separately.
    in_part: bool,
    code: TransactionCode,
}

/// Minimum and maximum number of requests.
type RoundTrips = (u64, Option<u64>);

fn add_trips(x: RoundTrips, y: RoundTrips) -> RoundTrips {
    (x.0.saturating_add(y.0), x.1.zip(y.1).map(|(x, y)| x.saturating_add(y)))
}

impl TransactionCompiler<'_> {
    fn code(&mut self) -> Result<TransactionCode, WorkloadError> {
        let Transaction { commits_each, isolation, steps, retries, .. } = self.transaction;
        self.code.by_part = *commits_each && *retries > 0;
        if !commits_each {
            self.code.ops.push(ProgramOp::Begin(*isolation));
        }
        let in_order: Vec<TransactionStep>;
        let steps = match steps {
            Some(steps) => steps,
            None => {
                let count = self.sql.map_or(0, |sql| sql.pieces.len());
                let run = |place| TransactionStep::Run {
                    which: StatementRef::Nth(place),
                    rows: None,
                    read: None,
                    count: None,
                };
                in_order = (0..count).map(run).collect();
                &in_order
            }
        };
        let trips = match &self.transaction.fills {
            None => self.steps(steps, &[])?,
            // The rows need as many packets as they fill; no packet waits for an answer.
            Some(_) => {
                self.code.ops.push(ProgramOp::Fill);
                (1, Some(1))
            }
        };
        if !commits_each {
            self.code.ops.push(ProgramOp::Commit { ends: true });
        }
        self.sql.map_or(Ok(()), |sql| self.transaction.require_all_used(sql, &self.used))?;
        let draws = self.around.draws;
        let at_first = |when| matches!(when, DrawFrequency::Transaction | DrawFrequency::Repeat);
        let mut code = std::mem::take(&mut self.code);
        code.drawn = draws.closure(&self.drawn, |draw| at_first(draw.when)).into();
        code.read = self.read_slots.iter().map(|&slot| (slot, self.first_of(slot))).collect();
        code.statements = (self.first, self.program.statements.len() as u16);
        let edges = if *commits_each { (0, Some(0)) } else { (2, Some(2)) };
        code.round_trips = add_trips(trips, edges);
        code.piped = self.transaction.pipeline.then(|| self.pipelined_trips(steps));
        let own_statements = &self.program.statements[usize::from(self.first)..];
        let fills = self.transaction.fills.is_some();
        code.writes = fills || own_statements.iter().any(|statement| statement.writes);
        let plain = |step: &TransactionStep| {
            matches!(
                step,
                TransactionStep::Run { .. } | TransactionStep::Set { .. } | TransactionStep::Sleep { .. }
            )
        };
        let straight = steps.iter().all(plain);
        let writing =
            own_statements.iter().filter(|statement| statement.writes).count() as u64 + u64::from(fills);
        code.commits = match (straight, commits_each) {
            (true, true) => Some(writing),
            (true, false) => Some(writing.min(1)),
            (false, _) => None,
        };
        code.rows = if straight { rows(&code.ops) } else { None };
        Ok(code)
    }

    /// Compiles `steps` inside iterations that redraw the slots `turning`.
    fn steps(&mut self, steps: &[TransactionStep], turning: &[u16]) -> Result<RoundTrips, WorkloadError> {
        let mut trips = (0, Some(0));
        for step in steps {
            let step_trips = match step {
                TransactionStep::Run { which, rows, read, count } => {
                    self.run(which, *rows, (read.as_ref(), *count), turning)?
                }
                TransactionStep::Repeat { times, counter, steps } => {
                    self.repeat(times, *counter, steps, turning)?
                }
                TransactionStep::If { condition, then, otherwise } => {
                    self.branch(condition, then, otherwise, turning)?
                }
                TransactionStep::Rollback { condition, is_poll } => {
                    self.rollback(condition, *is_poll, turning)?
                }
                TransactionStep::Tally(_) => {
                    self.code.ops.push(ProgramOp::Tally);
                    (0, Some(0))
                }
                TransactionStep::Set { slot, to } => self.set(*slot, to, turning)?,
                TransactionStep::Sleep { time, unit_ns } => self.sleep(time, *unit_ns, turning)?,
                TransactionStep::Transaction { isolation, steps, text } => {
                    self.part(*isolation, steps, text, turning)?
                }
            };
            trips = add_trips(trips, step_trips);
        }
        Ok(trips)
    }

    /// Records the use of `slots`, and adds the draws of those that are drawn at each use.
    fn uses(&mut self, slots: &[u16], turning: &[u16]) {
        let draws = self.around.draws;
        let outside = draws.closure(slots, |_| true).into_iter().filter(|slot| !turning.contains(slot));
        self.drawn.extend(outside);
        let anew = draws.closure(slots, |draw| draw.when == DrawFrequency::Statement);
        if !anew.is_empty() {
            self.code.ops.push(ProgramOp::Draw(anew.into()));
        }
    }

    /// Refuses a slot whose value is read, directly or indirectly, only in a later step.
    fn read_before(&self, slot: u16, text: &SourceText, at: usize) -> Result<(), WorkloadError> {
        let read = self.around.draws.read_by(&[slot]);
        let Some(later) = read.iter().find(|slot| !self.read_slots.contains(slot)) else { return Ok(()) };
        let name = &self.around.names.all[usize::from(*later)];
        Err(text.fault(at, format!("{name} is not read before"), "read it in a step before this one"))
    }

    fn condition(&mut self, condition: &Condition, turning: &[u16]) -> Result<Expr, WorkloadError> {
        let Condition { expr, text } = condition;
        let slots = expr.slots();
        slots.iter().try_for_each(|&slot| self.read_before(slot, text, 0))?;
        self.uses(&slots, turning);
        Ok(expr.clone())
    }

    fn next_position(&self) -> u32 {
        self.code.ops.len() as u32
    }

    fn rollback(
        &mut self,
        condition: &Condition,
        is_poll: bool,
        turning: &[u16],
    ) -> Result<RoundTrips, WorkloadError> {
        if self.transaction.commits_each {
            let hint = "commit = \"end\" combines the statements into one transaction";
            return Err(condition.text.fault(
                0,
                "nothing to roll back, because each statement commits \
                                                separately",
                hint,
            ));
        }
        let expr = self.condition(condition, turning)?;
        self.code
            .ops
            .extend([ProgramOp::Unless(expr, self.next_position() + 2), ProgramOp::Rollback { is_poll }]);
        // It ends the transaction early, instead of the commit.
        Ok((0, Some(0)))
    }

    fn branch(
        &mut self,
        condition: &Condition,
        then: &[TransactionStep],
        otherwise: &[TransactionStep],
        turning: &[u16],
    ) -> Result<RoundTrips, WorkloadError> {
        let expr = self.condition(condition, turning)?;
        let unless = self.next_position();
        self.code.ops.push(ProgramOp::Unless(expr.clone(), 0));
        let of_then = self.steps(then, turning)?;
        let jump = self.next_position();
        if !otherwise.is_empty() {
            self.code.ops.push(ProgramOp::Jump(0));
        }
        let not_so = self.next_position();
        self.code.ops[unless as usize] = ProgramOp::Unless(expr, not_so);
        let of_otherwise = self.steps(otherwise, turning)?;
        if !otherwise.is_empty() {
            self.code.ops[jump as usize] = ProgramOp::Jump(self.next_position());
        }
        Ok((of_then.0.min(of_otherwise.0), of_then.1.zip(of_otherwise.1).map(|(x, y)| x.max(y))))
    }

    fn repeat(
        &mut self,
        times: &Condition,
        counter: Option<u16>,
        steps: &[TransactionStep],
        turning: &[u16],
    ) -> Result<RoundTrips, WorkloadError> {
        let expr = self.condition(times, turning)?;
        let range = self.repeat_bounds(&expr);
        let left = (self.around.names.all.len() + usize::from(self.loops)) as u16;
        self.loops += 1;
        self.read_slots.extend(counter);
        let enter = self.next_position();
        self.code.ops.push(ProgramOp::Jump(0));
        let from = self.next_position();
        let anew = self.redrawn_slots(steps, turning);
        if !anew.is_empty() {
            self.code.ops.push(ProgramOp::Draw(anew.clone().into()));
        }
        let inner = self.steps(steps, &[turning, &anew].concat())?;
        self.code.ops.push(ProgramOp::Turn { left, counter, from });
        let end = self.next_position();
        self.code.ops[enter as usize] = ProgramOp::Enter { times: expr, left, counter, end };
        let most = match inner.1 {
            Some(0) => Some(0),
            inner => range.and_then(|(_, most)| inner.map(|inner| inner.saturating_mul(most))),
        };
        Ok((range.map_or(0, |(least, _)| least).saturating_mul(inner.0), most))
    }

    /// The minimum and maximum number of iterations; `None` if not known in advance.
    fn repeat_bounds(&self, times: &Expr) -> Option<(u64, u64)> {
        let (least, most) = match times {
            Expr::Is(Number::Int(number)) => (*number, *number),
            Expr::Slot(slot) => self.around.draws.all.get(usize::from(*slot))?.law.ends()?,
            _ => return None,
        };
        let bound = |number: i64| number.clamp(0, TURNS_MAX).unsigned_abs();
        Some((bound(least), bound(most)))
    }

    /// Slots that each iteration of `steps` redraws: those used in it, except in inner iterations, and not
    /// already redrawn by outer iterations.
    fn redrawn_slots(&self, steps: &[TransactionStep], turning: &[u16]) -> Vec<u16> {
        let mut used = Vec::new();
        self.used_in(steps, &mut used);
        let draws = self.around.draws;
        let anew = draws.closure(&used, |draw| draw.when == DrawFrequency::Repeat);
        anew.into_iter().filter(|slot| !turning.contains(slot)).collect()
    }

    fn used_in(&self, steps: &[TransactionStep], used: &mut Vec<u16>) {
        for step in steps {
            match step {
                TransactionStep::Run { which, .. } => {
                    if let Some((text, piece)) = self.transaction.statement(self.sql, which).ok().flatten() {
                        used.extend(piece.names(text).filter_map(|name| self.around.names.slot(name)));
                    }
                }
                TransactionStep::Repeat { times, .. } => used.extend(times.expr.slots()),
                TransactionStep::If { condition, then, otherwise } => {
                    used.extend(condition.expr.slots());
                    self.used_in(then, used);
                    self.used_in(otherwise, used);
                }
                TransactionStep::Rollback { condition, .. } => used.extend(condition.expr.slots()),
                TransactionStep::Tally(_) => {}
                TransactionStep::Set { to: value, .. } | TransactionStep::Sleep { time: value, .. } => {
                    used.extend(value.expr.slots());
                }
                TransactionStep::Transaction { steps, .. } => self.used_in(steps, used),
            }
        }
    }

    fn run(
        &mut self,
        which: &StatementRef,
        rows: Option<(u64, u64)>,
        (read, count): (Option<&ResultBinding>, Option<u16>),
        turning: &[u16],
    ) -> Result<RoundTrips, WorkloadError> {
        let transaction = self.transaction;
        let Some((text, piece)) = transaction.statement(self.sql, which)? else { return Ok((0, Some(0))) };
        if let Some(sql) = self.sql.filter(|sql| sql.text == *text)
            && let Some(place) = sql.pieces.iter().position(|other| other.at == piece.at)
        {
            self.used[place] = true;
        }
        let slots = self.parameter_slots(text, piece, turning)?;
        let alone = transaction.commits_each && !self.in_part;
        let wanted =
            StepStatement { text: text.clone(), piece: piece.clone(), slots, read: read.cloned(), alone };
        let statements = &mut self.program.statements;
        let statement = prepare(statements, self.first, transaction, self.around, wanted)?;
        let (kept, columns) = match read {
            None => (count, None),
            Some(ResultBinding::Number(slot)) => (Some(*slot), None),
            Some(ResultBinding::Columns(slots)) => (count, Some(self.columns(slots)?)),
        };
        self.read_slots.extend(kept);
        self.code.ops.push(ProgramOp::Execute(ExecuteOp { statement, rows, kept, columns }));
        Ok((1, Some(1)))
    }

    /// Adds the columns that are read here; returns their number.
    fn columns(&mut self, slots: &[u16]) -> Result<NonZeroU16, WorkloadError> {
        self.read_slots.extend(slots);
        let columns = &mut self.program.columns;
        columns.push(ReadColumns { slots: slots.into(), numbers: Box::default() });
        u16::try_from(columns.len()).and_then(NonZeroU16::try_from).map_err(|_| {
            let hint = "split the workload in two";
            self.transaction.source.fault(0, "more than 65,535 steps read columns", hint)
        })
    }

    /// The slots bound to the parameters of a statement.
    fn parameter_slots(
        &mut self,
        text: &SourceText,
        piece: &SplitStatement,
        turning: &[u16],
    ) -> Result<Vec<u16>, WorkloadError> {
        if let Some(param) = piece.params.get(PARAMS_MAX) {
            let problem = format!("more than {PARAMS_MAX} parameters");
            return Err(text.fault(param.start, problem, "split the statement in two"));
        }
        let mut slots = Vec::new();
        for (name, at) in piece.names(text).zip(&piece.params) {
            let slot = self.around.names.find_parameter(name, text, at.start)?;
            self.read_before(slot, text, at.start)?;
            slots.push(slot);
        }
        self.uses(&slots, turning);
        Ok(slots)
    }
}

/// Total rows that all statements must touch; `None` if one does not say.
fn rows(ops: &[ProgramOp]) -> Option<(u64, u64)> {
    let expected_rows = |op: &ProgramOp| match op {
        ProgramOp::Execute(execute) => Some(execute.rows),
        _ => None,
    };
    ops.iter().filter_map(expected_rows).try_fold((0, 0), |sum: (u64, u64), rows| {
        let (least, most) = rows?;
        Some((sum.0 + least, sum.1 + most))
    })
}
