//! From the steps of transactions to what sessions execute on one engine.

mod piped;
mod values;

use std::num::NonZeroU16;

use super::draws::{Law, When};
use super::expr::Expr;
use super::fault::{Fault, Text};
use super::prepare::{Around, Wanted, prepare};
use super::program::{Code, Columns, Execute, Op, Program};
use super::sql::Piece;
use super::steps::{Condition, Read, Sql, Step, TURNS_MAX, Which};
use super::transaction::Transaction;
use super::value::Number;

/// Parameters of a statement at most.
pub(in crate::own) const PARAMS_MAX: usize = 256;

/// What sessions execute on `engine`.
///
/// # Errors
/// A transaction has no SQL for it, or a step does not fit the SQL.
pub(super) fn compile(
    transactions: &[Transaction],
    engine: &str,
    around: Around<'_>,
) -> Result<Program, Fault> {
    let names = around.names.all.len();
    let mut program =
        Program { statements: Vec::new(), codes: Vec::new(), slots: names, columns: Vec::new() };
    for transaction in transactions {
        let sql = match &transaction.sql {
            None => None,
            Some(variants) => Some(variants.of(engine).ok_or_else(|| transaction.no_sql(engine))?),
        };
        let first = program.statements.len() as u16;
        let mut maker = Maker {
            transaction,
            around,
            sql,
            first,
            program: &mut program,
            used: vec![false; sql.map_or(0, |sql| sql.pieces.len())],
            known: Vec::new(),
            drawn: Vec::new(),
            loops: 0,
            in_part: false,
            code: Code::default(),
        };
        let code = maker.code()?;
        program.slots =
            program.slots.max(names + code.ops.iter().filter(|op| matches!(op, Op::Enter { .. })).count());
        program.codes.push(code);
    }
    mark_numbers(&mut program, around);
    Ok(program)
}

/// Notes which columns have to be numbers, because an expression reads them.
fn mark_numbers(program: &mut Program, around: Around<'_>) {
    let mut read: Vec<u16> = program.codes.iter().flat_map(|code| &code.ops).flat_map(Op::slots).collect();
    for draw in &around.draws.all {
        if let Law::Expr(expr) = &draw.law {
            read.extend(expr.slots());
        }
    }
    for Columns { slots, numbers } in &mut program.columns {
        *numbers = slots.iter().map(|slot| read.contains(slot)).collect();
    }
}

/// Makes the code of one transaction.
struct Maker<'a> {
    transaction: &'a Transaction,
    around: Around<'a>,
    sql: Option<&'a Sql>,
    /// Its first statement.
    first: u16,
    program: &'a mut Program,
    /// Which statements of the file are run.
    used: Vec<bool>,
    /// Slots of what is read so far.
    known: Vec<u16>,
    /// Slots that are used outside of turns, or drawn once for all of them.
    drawn: Vec<u16>,
    loops: u16,
    /// Whether steps are within one transaction of the database, where others commit each by itself.
    in_part: bool,
    code: Code,
}

/// Requests at least and at most.
type Trips = (u64, Option<u64>);

fn plus(x: Trips, y: Trips) -> Trips {
    (x.0.saturating_add(y.0), x.1.zip(y.1).map(|(x, y)| x.saturating_add(y)))
}

impl Maker<'_> {
    fn code(&mut self) -> Result<Code, Fault> {
        let Transaction { each, isolation, steps, retries, .. } = self.transaction;
        self.code.by_part = *each && *retries > 0;
        if !each {
            self.code.ops.push(Op::Begin(*isolation));
        }
        let in_order: Vec<Step>;
        let steps = match steps {
            Some(steps) => steps,
            None => {
                let count = self.sql.map_or(0, |sql| sql.pieces.len());
                let run = |place| Step::Run { which: Which::Nth(place), rows: None, read: None, count: None };
                in_order = (0..count).map(run).collect();
                &in_order
            }
        };
        let trips = match &self.transaction.fills {
            None => self.steps(steps, &[])?,
            // The rows go in as many packets as they fill; nobody waits for an answer between them.
            Some(_) => {
                self.code.ops.push(Op::Fill);
                (1, Some(1))
            }
        };
        if !each {
            self.code.ops.push(Op::Commit { ends: true });
        }
        self.sql.map_or(Ok(()), |sql| self.transaction.all_used(sql, &self.used))?;
        let draws = self.around.draws;
        let at_first = |when| matches!(when, When::Transaction | When::Repeat);
        let mut code = std::mem::take(&mut self.code);
        code.drawn = draws.closure(&self.drawn, |draw| at_first(draw.when)).into();
        code.read = self.known.iter().map(|&slot| (slot, self.first_of(slot))).collect();
        code.statements = (self.first, self.program.statements.len() as u16);
        let edges = if *each { (0, Some(0)) } else { (2, Some(2)) };
        code.round_trips = plus(trips, edges);
        code.piped = self.transaction.pipeline.then(|| self.piped(steps));
        let own = &self.program.statements[usize::from(self.first)..];
        let fills = self.transaction.fills.is_some();
        code.writes = fills || own.iter().any(|statement| statement.writes);
        let plain = |step: &Step| matches!(step, Step::Run { .. } | Step::Set { .. } | Step::Sleep { .. });
        let straight = steps.iter().all(plain);
        let writing = own.iter().filter(|statement| statement.writes).count() as u64 + u64::from(fills);
        code.commits = match (straight, each) {
            (true, true) => Some(writing),
            (true, false) => Some(writing.min(1)),
            (false, _) => None,
        };
        code.rows = if straight { rows(&code.ops) } else { None };
        Ok(code)
    }

    /// Adds `steps`, within turns that draw the slots `turning` anew.
    fn steps(&mut self, steps: &[Step], turning: &[u16]) -> Result<Trips, Fault> {
        let mut trips = (0, Some(0));
        for step in steps {
            let own = match step {
                Step::Run { which, rows, read, count } => {
                    self.run(which, *rows, (read.as_ref(), *count), turning)?
                }
                Step::Repeat { times, counter, steps } => self.repeat(times, *counter, steps, turning)?,
                Step::If { condition, then, otherwise } => {
                    self.branch(condition, then, otherwise, turning)?
                }
                Step::Rollback { condition, is_poll } => self.rollback(condition, *is_poll, turning)?,
                Step::Tally(_) => {
                    self.code.ops.push(Op::Tally);
                    (0, Some(0))
                }
                Step::Set { slot, to } => self.set(*slot, to, turning)?,
                Step::Sleep { time, unit_ns } => self.sleep(time, *unit_ns, turning)?,
                Step::Transaction { isolation, steps, text } => {
                    self.part(*isolation, steps, text, turning)?
                }
            };
            trips = plus(trips, own);
        }
        Ok(trips)
    }

    /// Notes that `slots` are used here, and adds the drawing of those that are drawn at each use.
    fn uses(&mut self, slots: &[u16], turning: &[u16]) {
        let draws = self.around.draws;
        let outside = draws.closure(slots, |_| true).into_iter().filter(|slot| !turning.contains(slot));
        self.drawn.extend(outside);
        let anew = draws.closure(slots, |draw| draw.when == When::Statement);
        if !anew.is_empty() {
            self.code.ops.push(Op::Draw(anew.into()));
        }
    }

    /// Refuses what is in `slot`, or made of what is in it, where it is read only later.
    fn read_before(&self, slot: u16, text: &Text, at: usize) -> Result<(), Fault> {
        let read = self.around.draws.read_by(&[slot]);
        let Some(later) = read.iter().find(|slot| !self.known.contains(slot)) else { return Ok(()) };
        let name = &self.around.names.all[usize::from(*later)];
        Err(text.fault(at, format!("{name} is not read before"), "read it in a step before this one"))
    }

    fn condition(&mut self, condition: &Condition, turning: &[u16]) -> Result<Expr, Fault> {
        let Condition { expr, text } = condition;
        let slots = expr.slots();
        slots.iter().try_for_each(|&slot| self.read_before(slot, text, 0))?;
        self.uses(&slots, turning);
        Ok(expr.clone())
    }

    fn here(&self) -> u32 {
        self.code.ops.len() as u32
    }

    fn rollback(&mut self, condition: &Condition, is_poll: bool, turning: &[u16]) -> Result<Trips, Fault> {
        if self.transaction.each {
            let hint = "commit = \"end\" makes one transaction of them";
            return Err(condition.text.fault(0, "nothing to take back where each statement commits", hint));
        }
        let expr = self.condition(condition, turning)?;
        self.code.ops.extend([Op::Unless(expr, self.here() + 2), Op::Rollback { is_poll }]);
        // It ends the transaction sooner, in the place of the commit.
        Ok((0, Some(0)))
    }

    fn branch(
        &mut self,
        condition: &Condition,
        then: &[Step],
        otherwise: &[Step],
        turning: &[u16],
    ) -> Result<Trips, Fault> {
        let expr = self.condition(condition, turning)?;
        let unless = self.here();
        self.code.ops.push(Op::Unless(expr.clone(), 0));
        let of_then = self.steps(then, turning)?;
        let jump = self.here();
        if !otherwise.is_empty() {
            self.code.ops.push(Op::Jump(0));
        }
        let not_so = self.here();
        self.code.ops[unless as usize] = Op::Unless(expr, not_so);
        let of_otherwise = self.steps(otherwise, turning)?;
        if !otherwise.is_empty() {
            self.code.ops[jump as usize] = Op::Jump(self.here());
        }
        Ok((of_then.0.min(of_otherwise.0), of_then.1.zip(of_otherwise.1).map(|(x, y)| x.max(y))))
    }

    fn repeat(
        &mut self,
        times: &Condition,
        counter: Option<u16>,
        steps: &[Step],
        turning: &[u16],
    ) -> Result<Trips, Fault> {
        let expr = self.condition(times, turning)?;
        let range = self.turns(&expr);
        let left = (self.around.names.all.len() + usize::from(self.loops)) as u16;
        self.loops += 1;
        self.known.extend(counter);
        let enter = self.here();
        self.code.ops.push(Op::Jump(0));
        let from = self.here();
        let anew = self.turned(steps, turning);
        if !anew.is_empty() {
            self.code.ops.push(Op::Draw(anew.clone().into()));
        }
        let inner = self.steps(steps, &[turning, &anew].concat())?;
        self.code.ops.push(Op::Turn { left, counter, from });
        let end = self.here();
        self.code.ops[enter as usize] = Op::Enter { times: expr, left, counter, end };
        let most = match inner.1 {
            Some(0) => Some(0),
            inner => range.and_then(|(_, most)| inner.map(|inner| inner.saturating_mul(most))),
        };
        Ok((range.map_or(0, |(least, _)| least).saturating_mul(inner.0), most))
    }

    /// How often something is repeated, at least and at most, where that is known beforehand.
    fn turns(&self, times: &Expr) -> Option<(u64, u64)> {
        let (least, most) = match times {
            Expr::Is(Number::Int(number)) => (*number, *number),
            Expr::Slot(slot) => self.around.draws.all.get(usize::from(*slot))?.law.ends()?,
            _ => return None,
        };
        let bound = |number: i64| number.clamp(0, TURNS_MAX).unsigned_abs();
        Some((bound(least), bound(most)))
    }

    /// Slots that each turn of `steps` draws anew: those that are used in them and not in turns within, unless turns around
    /// draw them.
    fn turned(&self, steps: &[Step], turning: &[u16]) -> Vec<u16> {
        let mut used = Vec::new();
        self.used_in(steps, &mut used);
        let draws = self.around.draws;
        let anew = draws.closure(&used, |draw| draw.when == When::Repeat);
        anew.into_iter().filter(|slot| !turning.contains(slot)).collect()
    }

    fn used_in(&self, steps: &[Step], used: &mut Vec<u16>) {
        for step in steps {
            match step {
                Step::Run { which, .. } => {
                    if let Some((text, piece)) = self.transaction.statement(self.sql, which).ok().flatten() {
                        used.extend(piece.names(text).filter_map(|name| self.around.names.slot(name)));
                    }
                }
                Step::Repeat { times, .. } => used.extend(times.expr.slots()),
                Step::If { condition, then, otherwise } => {
                    used.extend(condition.expr.slots());
                    self.used_in(then, used);
                    self.used_in(otherwise, used);
                }
                Step::Rollback { condition, .. } => used.extend(condition.expr.slots()),
                Step::Tally(_) => {}
                Step::Set { to: value, .. } | Step::Sleep { time: value, .. } => {
                    used.extend(value.expr.slots());
                }
                Step::Transaction { steps, .. } => self.used_in(steps, used),
            }
        }
    }

    fn run(
        &mut self,
        which: &Which,
        rows: Option<(u64, u64)>,
        (read, count): (Option<&Read>, Option<u16>),
        turning: &[u16],
    ) -> Result<Trips, Fault> {
        let transaction = self.transaction;
        let Some((text, piece)) = transaction.statement(self.sql, which)? else { return Ok((0, Some(0))) };
        if let Some(sql) = self.sql.filter(|sql| sql.text == *text)
            && let Some(place) = sql.pieces.iter().position(|other| other.at == piece.at)
        {
            self.used[place] = true;
        }
        let slots = self.bound(text, piece, turning)?;
        let alone = transaction.each && !self.in_part;
        let wanted = Wanted { text: text.clone(), piece: piece.clone(), slots, read: read.cloned(), alone };
        let statements = &mut self.program.statements;
        let statement = prepare(statements, self.first, transaction, self.around, wanted)?;
        let (kept, columns) = match read {
            None => (count, None),
            Some(Read::Number(slot)) => (Some(*slot), None),
            Some(Read::Columns(slots)) => (count, Some(self.columns(slots)?)),
        };
        self.known.extend(kept);
        self.code.ops.push(Op::Execute(Execute { statement, rows, kept, columns }));
        Ok((1, Some(1)))
    }

    /// Columns that are read here; their number.
    fn columns(&mut self, slots: &[u16]) -> Result<NonZeroU16, Fault> {
        self.known.extend(slots);
        let columns = &mut self.program.columns;
        columns.push(Columns { slots: slots.into(), numbers: Box::default() });
        u16::try_from(columns.len()).and_then(NonZeroU16::try_from).map_err(|_| {
            let hint = "make two workloads of it";
            self.transaction.here.fault(0, "more than 65,535 steps read columns", hint)
        })
    }

    /// What is bound to the parameters of a statement.
    fn bound(&mut self, text: &Text, piece: &Piece, turning: &[u16]) -> Result<Vec<u16>, Fault> {
        if let Some(param) = piece.params.get(PARAMS_MAX) {
            let problem = format!("more than {PARAMS_MAX} parameters");
            return Err(text.fault(param.start, problem, "make two statements of it"));
        }
        let mut slots = Vec::new();
        for (name, at) in piece.names(text).zip(&piece.params) {
            let slot = self.around.names.find(name, text, at.start)?;
            self.read_before(slot, text, at.start)?;
            slots.push(slot);
        }
        self.uses(&slots, turning);
        Ok(slots)
    }
}

/// Rows that all statements together have to touch, where each of them says so.
fn rows(ops: &[Op]) -> Option<(u64, u64)> {
    let of = |op: &Op| match op {
        Op::Execute(execute) => Some(execute.rows),
        _ => None,
    };
    ops.iter().filter_map(of).try_fold((0, 0), |sum: (u64, u64), rows| {
        let (least, most) = rows?;
        Some((sum.0 + least, sum.1 + most))
    })
}
