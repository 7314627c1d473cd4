//! Where a session is in its transaction.

use dyno_engine::{Answer, Isolation, StatementId};
use dyno_record::Touch;

use super::draws::Keys;
use super::expr::{Expr, Given, Key};
use super::outcome::{Amiss, NOTHING, Outcome};
use super::pipe::Pipe;
use super::program::{Code, Execute, Op, Prepared};
use super::safe::Safe;
use super::steps::TURNS_MAX;
use super::value::{Held, Hold, Number};

/// What a session is to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Begin a transaction.
    Begin(Isolation),
    /// Execute a statement.
    Execute(StatementId),
    /// Write so many rows of a table, from the first on.
    Fill(u64, u64),
    /// Commit the transaction.
    Commit,
    /// Take it back.
    Rollback,
    /// Do nothing for so many ns.
    Rest(u64),
    /// Wait for the answers of what was kept.
    Flush,
}

/// The longest rest within a transaction, ns: an hour.
pub(super) const REST_NS_MAX: u64 = 3_600_000_000_000;

/// Bytes that a statement needs beside its text and its values at most, and a value beside its letters.
const STATEMENT_BYTES: usize = 256;
const VALUE_BYTES: usize = 16;

/// Where a session is in its transaction.
#[derive(Debug)]
pub(super) struct State {
    pub(super) hold: Hold,
    pub(super) keys: Keys,
    pub(super) outcome: Outcome,
    /// What is waited for, if it is a statement.
    pub(super) asked: Option<Execute>,
    /// What was kept before it.
    pub(super) pipe: Box<Pipe>,
    /// What comes next in the transaction's code.
    pub(super) next: u32,
    /// Whether a transaction of the database has begun, and whether anything was changed in it.
    pub(super) is_open: bool,
    pub(super) has_written: bool,
    /// Whether the commit that was asked for last has something to commit.
    pub(super) commits_writes: bool,
    /// Turns so far, of all that the transaction repeats.
    turns: u32,
}

impl State {
    /// Before the first transaction.
    pub(super) fn new(hold: Hold, keys: Keys) -> Self {
        Self {
            hold,
            keys,
            outcome: NOTHING,
            asked: None,
            pipe: Box::default(),
            next: 0,
            turns: 0,
            is_open: false,
            has_written: false,
            commits_writes: false,
        }
    }

    #[inline]
    pub(super) fn begin(&mut self, code: &Code, was_piped: bool) {
        for &(slot, held) in &code.read {
            self.hold.held[usize::from(slot)] = held;
        }
        (self.next, self.turns, self.asked, self.outcome) = (0, 0, None, NOTHING);
        (self.is_open, self.has_written) = (false, false);
        if was_piped {
            self.pipe.clear();
        }
    }

    /// Notes where it is: behind this, all is taken back together, and all before it stays.
    pub(super) fn secure(&mut self) {
        let Self { hold, keys, outcome, next, turns, pipe, .. } = self;
        let at = (*keys, *outcome, *next, *turns);
        match &mut pipe.safe {
            Some(safe) => safe.note(hold, at),
            none => *none = Some(Safe::new(hold, at)),
        }
    }

    /// Goes back there. What counts, such as a sequence, goes on.
    pub(super) fn return_to_safe(&mut self) {
        let Some(safe) = &self.pipe.safe else { return };
        (self.keys, self.outcome, self.next, self.turns) = safe.restore(&mut self.hold);
        (self.asked, self.is_open, self.has_written) = (None, false, false);
    }

    /// The transaction of the database is committed.
    #[inline]
    fn committed(&mut self) {
        self.outcome.effect.transactions += 1;
        self.outcome.effect.commits += u64::from(self.has_written);
        (self.is_open, self.has_written) = (false, false);
    }

    /// It is taken back: nothing that it wrote is there.
    fn taken_back(&mut self) {
        let [read, ..] = self.outcome.effect.rows;
        self.outcome.effect.rows = [read, 0, 0, 0];
        self.is_open = false;
    }

    /// Goes where conditions and turns lead.
    #[inline]
    pub(super) fn turn(&mut self, op: &Op) {
        match op {
            Op::Unless(condition, to) => {
                if !self.value(condition).holds() {
                    self.next = *to;
                }
            }
            Op::Jump(to) => self.next = *to,
            Op::Enter { times, left, counter, end } => {
                let times = self.value(times).whole().min(TURNS_MAX);
                self.set(*left, times - 1);
                match times > 0 {
                    true => counter.iter().for_each(|&counter| self.set(counter, 1)),
                    false => self.next = *end,
                }
            }
            Op::Turn { left, counter, from } => {
                let to_come = self.hold.number(*left).whole();
                self.turns = self.turns.saturating_add(1);
                // Turns within turns could go on for years without a statement.
                if to_come > 0 && i64::from(self.turns) < TURNS_MAX {
                    let turn = counter.map(|counter| self.hold.number(counter).whole() + 1);
                    self.set(*left, to_come - 1);
                    counter.iter().zip(turn).for_each(|(&counter, turn)| self.set(counter, turn));
                    self.next = *from;
                }
            }
            Op::Set(slot, expr) => {
                let number = self.value(expr);
                self.hold.held[usize::from(*slot)] = number.held();
            }
            Op::Tally => self.outcome.effect.tallied += 1,
            Op::Begin(_) | Op::Commit { .. } | Op::Rollback { .. } | Op::Draw(_) => {}
            Op::Execute(_) | Op::Fill | Op::Sleep(..) => {}
        }
    }

    /// What an expression comes to.
    #[inline]
    fn value(&mut self, expr: &Expr) -> Number {
        let Self { hold, keys, .. } = self;
        expr.of(&mut Given::new(hold, Key::Made(&mut || keys.next())))
    }

    /// How long a rest is, ns.
    pub(super) fn rest_ns(&mut self, time: &Expr, unit_ns: u64) -> u64 {
        (self.value(time).real() * unit_ns as f64).clamp(0.0, REST_NS_MAX as f64) as u64
    }

    #[inline]
    fn set(&mut self, slot: u16, number: i64) {
        self.hold.held[usize::from(slot)] = Number::Int(number).held();
    }

    /// Takes in what a statement has returned.
    #[inline]
    pub(super) fn done(&mut self, execute: Execute, statement: &Prepared, rows: u64) {
        let touched = if statement.answer == Answer::Number { 1 } else { rows };
        self.outcome.effect.rows[statement.touch as usize] += touched;
        // What changes no row commits nothing; of one that gives rows of its own nobody knows.
        let has_written = statement.writes && (touched > 0 || !statement.tells_changes);
        self.has_written |= has_written;
        if statement.writes && statement.tells_changes {
            self.outcome.effect.write_statements += 1;
            self.outcome.effect.empty_writes += u32::from(touched == 0);
        }
        if !self.is_open {
            self.outcome.effect.transactions += 1;
            self.outcome.effect.commits += u64::from(has_written);
        }
        if let Some(slot) = execute.kept {
            self.set(slot, rows as i64);
        }
        if let Some(wanted) = execute.rows
            && !(wanted.0..=wanted.1).contains(&rows)
            && self.outcome.amiss.is_none()
        {
            self.outcome.amiss = Some(Amiss { statement: StatementId(execute.statement), wanted, got: rows });
        }
    }

    /// So many rows are there.
    #[cold]
    pub(super) fn filled(&mut self, rows: u64) {
        self.outcome.effect.rows[Touch::Inserted as usize] += rows;
        self.outcome.effect.transactions += 1;
        self.outcome.effect.commits += u64::from(rows > 0);
    }

    /// The transaction of the database ends with the request that comes next, which commits it or takes it back.
    #[inline]
    pub(super) fn ends(&mut self, commits: bool) {
        self.commits_writes = commits && self.has_written;
        match (self.pipe.is_empty(), commits) {
            // What it has done is not known yet.
            (false, _) => self.pipe.ends(commits),
            (true, true) => self.committed(),
            (true, false) => self.taken_back(),
        }
    }

    /// Whether what was kept has to be answered before `op`: nothing is committed before expected rows were looked at, and nobody
    /// rests on what was not sent.
    #[inline]
    pub(super) fn must_wait(&self, op: &Op) -> bool {
        match op {
            Op::Sleep(..) => !self.pipe.is_empty(),
            _ => self.pipe.is_unchecked(),
        }
    }

    /// Whether what is kept has to be answered before `statement` is sent, as both sides could wait for each other.
    #[inline]
    pub(super) fn crowds(&mut self, statement: &Prepared) -> bool {
        if self.pipe.is_empty() {
            return false;
        }
        let value = |&slot: &u16| match self.hold.held[usize::from(slot)] {
            Held::Own { len, .. } | Held::Shared { len, .. } => len as usize,
            Held::Null | Held::Int(_) | Held::Real(_) => 0,
        };
        let values: usize = statement.slots.iter().map(|slot| VALUE_BYTES + value(slot)).sum();
        !self.pipe.takes(STATEMENT_BYTES + statement.piece.at.len() + values)
    }

    /// Keeps the request of `step`, where nothing waits for its answer.
    pub(super) fn keeps(&mut self, step: Step) -> bool {
        match step {
            Step::Begin(_) => self.pipe.keep(None),
            Step::Execute(_)
                if self.asked.is_some_and(|asked| asked.kept.is_none() && asked.columns.is_none()) =>
            {
                let is_kept = self.pipe.keep(self.asked);
                self.asked = self.asked.filter(|_| !is_kept);
                is_kept
            }
            _ => false,
        }
    }

    /// Takes in what came of what was kept: the `rows` of each.
    pub(super) fn answered(&mut self, statements: &[Prepared], rows: &[u64]) {
        for (place, &rows) in rows.iter().enumerate() {
            if let Some(execute) = self.pipe.at(place) {
                self.done(execute, &statements[usize::from(execute.statement)], rows);
            }
        }
        match self.pipe.clear() {
            Some(true) => self.committed(),
            Some(false) => self.taken_back(),
            None => {}
        }
    }
}
