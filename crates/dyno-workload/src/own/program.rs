//! What sessions execute for one engine: statements, and for each transaction what is done one after the other.

use std::num::NonZeroU16;

use dyno_engine::{Answer, Isolation, Type};
use dyno_record::Touch;

use super::expr::Expr;
use super::fault::{Fault, Text};
use super::sql::Piece;
use super::value::Held;

/// What sessions do on one engine.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) statements: Vec<Prepared>,
    /// By the place of the transaction.
    pub(super) codes: Vec<Code>,
    /// Slots of draws, of numbers that are read, and of loops.
    pub(super) slots: usize,
    /// Columns that statements read: the first is number 1 of [`Execute::columns`].
    pub(super) columns: Vec<Columns>,
}

/// Columns that a statement reads.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    /// The slot of each.
    pub(super) slots: Box<[u16]>,
    /// Whether an expression reads it, so that it has to be a number.
    pub(super) numbers: Box<[bool]>,
}

/// A statement of a transaction.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    /// The transaction's name and its place within that: `pay_2`.
    pub(super) name: String,
    pub(super) text: Text,
    pub(super) piece: Piece,
    /// What is bound to each of its parameters.
    pub(super) slots: Box<[u16]>,
    pub(super) types: Box<[Type]>,
    /// Whether one of them may be NULL instead of what was drawn.
    pub(super) may_be_null: bool,
    pub(super) answer: Answer,
    pub(super) writes: bool,
    /// Whether the rows of its answer are those that it has changed.
    pub(super) tells_changes: bool,
    /// What it does to the rows that its answer tells of.
    pub(super) touch: Touch,
    /// Whether it commits by itself.
    pub(super) commits: bool,
    /// Whether it calls a procedure.
    pub(super) calls: bool,
}

impl Prepared {
    /// What is wrong with it.
    pub(super) fn fault(&self, problem: impl Into<String>, hint: impl Into<String>) -> Fault {
        self.text.fault(self.piece.at.start, problem, hint)
    }

    /// Its text with what `stands` for each of its parameters, by their numbers from 1.
    pub(super) fn with(&self, mut stands: impl FnMut(usize) -> String) -> String {
        let Self { text, piece, .. } = self;
        let mut sql = String::new();
        let mut from = piece.at.start;
        for (number, at) in (1..).zip(&piece.params) {
            sql.push_str(&text.letters[from..at.start]);
            sql.push_str(&stands(number));
            from = at.end;
        }
        sql.push_str(&text.letters[from..piece.at.end]);
        sql
    }
}

/// What a transaction does.
#[derive(Debug, Clone, Default)]
pub(super) struct Code {
    pub(super) ops: Vec<Op>,
    /// Whether what commits by itself is tried again by itself.
    pub(super) by_part: bool,
    /// Slots that are drawn when it begins.
    pub(super) drawn: Box<[u16]>,
    /// Slots of what it reads or sets, with what is in them until then: 0, or NULL for a column.
    pub(super) read: Box<[(u16, Held)]>,
    /// Its statements: the first, and one behind the last.
    pub(super) statements: (u16, u16),
    /// Requests to the server, at least and at most; absent where that depends on what is read.
    pub(super) round_trips: (u64, Option<u64>),
    /// The same where requests are sent together, if they are to be.
    pub(super) piped: Option<(u64, Option<u64>)>,
    /// Rows and commits of one, where all of its statements say how many and run once.
    pub(super) rows: Option<(u64, u64)>,
    pub(super) commits: Option<u64>,
    /// Whether it changes something.
    pub(super) writes: bool,
}

/// One thing that is done.
#[derive(Debug, Clone)]
pub(super) enum Op {
    Begin(Isolation),
    /// Commits, and ends it; or goes on, where only some steps were one transaction of the database.
    Commit {
        ends: bool,
    },
    Rollback {
        is_poll: bool,
    },
    /// Counts one of what the transaction tallies.
    Tally,
    /// Draws these slots anew.
    Draw(Box<[u16]>),
    Execute(Execute),
    /// Writes the part of a table that was taken last.
    Fill,
    /// Gives a slot another number.
    Set(u16, Expr),
    /// Rests for so many units of so many ns.
    Sleep(Expr, u64),
    /// Goes on elsewhere unless this holds.
    Unless(Expr, u32),
    /// Goes on elsewhere.
    Jump(u32),
    /// Begins turns, of which `left` counts those to come; goes on at `end` where there are none.
    Enter {
        times: Expr,
        left: u16,
        counter: Option<u16>,
        end: u32,
    },
    /// Ends a turn; goes on at `from` with the next.
    Turn {
        left: u16,
        counter: Option<u16>,
        from: u32,
    },
}

impl Op {
    /// The slots that its expression reads.
    pub(super) fn slots(&self) -> Vec<u16> {
        match self {
            Self::Unless(expr, _)
            | Self::Enter { times: expr, .. }
            | Self::Set(_, expr)
            | Self::Sleep(expr, _) => expr.slots(),
            _ => Vec::new(),
        }
    }
}

/// A statement that is executed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Execute {
    /// Its place in the program.
    pub(super) statement: u16,
    /// Rows that it has to touch.
    pub(super) rows: Option<(u64, u64)>,
    /// Where its number, or how many rows there were, is kept.
    pub(super) kept: Option<u16>,
    /// Which of [`Program::columns`] it reads, from 1.
    pub(super) columns: Option<NonZeroU16>,
}
