//! The program that sessions execute on one engine: statements, and the linear code of each transaction.

use std::num::NonZeroU16;

use dyno_engine::{Isolation, ResultKind, Type};
use dyno_record::RowEffect;

use super::expr::Expr;
use super::fault::{SourceText, WorkloadError};
use super::sql::SplitStatement;
use super::value::HeldValue;

/// The program of a workload for one engine.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) statements: Vec<ProgramStatement>,
    /// The code of each transaction, by its index.
    pub(super) codes: Vec<TransactionCode>,
    /// Number of slots for generators, numbers that are read, and loops.
    pub(super) slots: usize,
    /// Columns that statements read: the first entry is number 1 in [`ExecuteOp::columns`].
    pub(super) columns: Vec<ReadColumns>,
}

/// The columns that one statement reads.
#[derive(Debug, Clone)]
pub(super) struct ReadColumns {
    pub(super) slots: Box<[u16]>,
    /// Whether an expression reads each column, so that it must be a number.
    pub(super) numbers: Box<[bool]>,
}

/// A statement of a transaction.
#[derive(Debug, Clone)]
pub(super) struct ProgramStatement {
    /// Its name: the transaction and its number within it, as in `pay_2`.
    pub(super) name: String,
    pub(super) text: SourceText,
    pub(super) piece: SplitStatement,
    /// The slot bound to each parameter.
    pub(super) slots: Box<[u16]>,
    pub(super) types: Box<[Type]>,
    /// Whether a parameter may be NULL instead of the drawn value.
    pub(super) may_be_null: bool,
    pub(super) answer: ResultKind,
    pub(super) writes: bool,
    /// Whether it reports the number of changed rows.
    pub(super) tells_changes: bool,
    /// Its effect on the rows that it reports.
    pub(super) touch: RowEffect,
    /// Whether it commits separately from other statements.
    pub(super) commits: bool,
    /// Whether it calls a procedure.
    pub(super) calls: bool,
}

impl ProgramStatement {
    /// An error in the statement.
    pub(super) fn fault(&self, problem: impl Into<String>, hint: impl Into<String>) -> WorkloadError {
        self.text.fault(self.piece.at.start, problem, hint)
    }

    /// Its text with `stands` in place of each parameter, by number from 1.
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

/// The compiled code of one transaction.
#[derive(Debug, Clone, Default)]
pub(super) struct TransactionCode {
    pub(super) ops: Vec<ProgramOp>,
    /// Whether parts that commit separately are retried separately.
    pub(super) by_part: bool,
    /// Slots that are drawn at its start.
    pub(super) drawn: Box<[u16]>,
    /// Slots that it reads or sets, with their initial values: 0, or NULL for a column.
    pub(super) read: Box<[(u16, HeldValue)]>,
    /// Numbers of its statements: the first, and the one after the last.
    pub(super) statements: (u16, u16),
    /// Minimum and maximum number of requests; no maximum if it depends on data.
    pub(super) round_trips: (u64, Option<u64>),
    /// The same if requests are sent together; absent without `pipeline`.
    pub(super) piped: Option<(u64, Option<u64>)>,
    /// Rows and commits of one transaction, if every statement runs once and declares its rows.
    pub(super) rows: Option<(u64, u64)>,
    pub(super) commits: Option<u64>,
    pub(super) writes: bool,
}

/// One instruction of a transaction's code.
#[derive(Debug, Clone)]
pub(super) enum ProgramOp {
    Begin(Isolation),
    /// Commits; with `ends` the transaction is over, otherwise only a `transaction` step.
    Commit {
        ends: bool,
    },
    Rollback {
        is_poll: bool,
    },
    /// Adds one to the tally of the transaction.
    Tally,
    /// Draws new values for these slots.
    Draw(Box<[u16]>),
    Execute(ExecuteOp),
    /// Writes the part of a table that was taken last.
    Fill,
    /// Stores a number in a slot.
    Set(u16, Expr),
    /// Sleeps for the value of the expression, in units of this many ns.
    Sleep(Expr, u64),
    /// Jumps if the condition is false.
    Unless(Expr, u32),
    /// Jumps to this index unconditionally.
    Jump(u32),
    /// Starts a loop; `left` counts the remaining iterations. Jumps to `end` if there are none.
    Enter {
        times: Expr,
        left: u16,
        counter: Option<u16>,
        end: u32,
    },
    /// Ends an iteration; jumps to `from` for the next one.
    Turn {
        left: u16,
        counter: Option<u16>,
        from: u32,
    },
}

impl ProgramOp {
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

/// The execution of a statement.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExecuteOp {
    /// Index of the statement in the program.
    pub(super) statement: u16,
    /// Minimum and maximum number of rows that it must touch.
    pub(super) rows: Option<(u64, u64)>,
    /// The slot for the number that it returns, or for its number of rows.
    pub(super) kept: Option<u16>,
    /// The entry of [`Program::columns`] that it reads, from 1.
    pub(super) columns: Option<NonZeroU16>,
}
