//! Statements of a program, each once.

use dyno_engine::{Answer, Type};
use dyno_record::Touch;

use super::draws::{Draws, Names};
use super::fault::{Fault, Text};
use super::program::Prepared;
use super::sql::{Does, Piece, does_as_step};
use super::steps::Read;
use super::transaction::Transaction;

/// Statements of a workload at most.
const STATEMENTS_MAX: usize = 10_000;

/// What all transactions are made with.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) draws: &'a Draws,
    pub(super) names: &'a Names,
    /// Whether the workload says that it writes.
    pub(super) writes: bool,
}

impl Around<'_> {
    /// The type of what is in `slot`.
    pub(super) fn type_of(&self, slot: u16) -> Type {
        match self.draws.all.get(usize::from(slot)) {
            Some(draw) => draw.of,
            None if self.names.column_at(slot).is_some() => Type::Literal,
            None if self.names.real.contains(&slot) => Type::Real,
            None => Type::Int,
        }
    }
}

fn may_be_null(draws: &Draws, slot: u16) -> bool {
    draws.all.get(usize::from(slot)).is_some_and(|draw| draw.null.is_some())
}

/// A statement that a step runs.
pub(super) struct Wanted {
    pub(super) text: Text,
    pub(super) piece: Piece,
    /// What is bound to its parameters.
    pub(super) slots: Vec<u16>,
    /// What is read of it.
    pub(super) read: Option<Read>,
    /// Whether it commits by itself, if it changes something.
    pub(super) alone: bool,
}

/// Adds a statement of `transaction`, whose own begin at `first`, unless it is there; returns its number.
///
/// # Errors
/// It is none for a transaction, or changes something and the workload does not say so.
pub(super) fn prepare(
    statements: &mut Vec<Prepared>,
    first: u16,
    transaction: &Transaction,
    around: Around<'_>,
    Wanted { text, piece, slots, read, alone }: Wanted,
) -> Result<u16, Fault> {
    let does = does_as_step(&text, &piece, alone)?;
    let answer = match does {
        _ if matches!(read, Some(Read::Number(_))) => Answer::Number,
        _ if read.is_some() => Answer::Columns,
        Does::Changes(_) => Answer::Changed { per_row: 1 },
        Does::Reads | Does::ReadsAndWrites | Does::Controls | Does::Calls | Does::Defines => Answer::Rows,
    };
    if does == Does::Defines && !transaction.definitions {
        let hint = "move it to the file of [setup] or [drop], or write `definitions = true` where it is what is measured";
        return Err(text.fault(piece.at.start, "a statement about tables", hint));
    }
    if does.writes() && !around.writes {
        let hint = "write `writes = true` at the top of workload.toml, or take the statement out";
        return Err(text.fault(piece.at.start, "the workload says that it does not write", hint));
    }
    let own = &statements[usize::from(first)..];
    let commits = alone && does.writes();
    let same = |known: &Prepared| {
        known.text == text && known.piece.at == piece.at && known.answer == answer && known.commits == commits
    };
    if let Some(place) = own.iter().position(same) {
        return Ok(first + place as u16);
    }
    let number = statements.len();
    if number >= STATEMENTS_MAX {
        let problem = format!("more than {STATEMENTS_MAX} statements");
        return Err(text.fault(piece.at.start, problem, "make two workloads of it"));
    }
    let of = |slot: &u16| around.type_of(*slot);
    statements.push(Prepared {
        name: format!("{}_{}", transaction.name, own.len() + 1),
        text,
        piece,
        types: slots.iter().map(of).collect(),
        may_be_null: slots.iter().any(|&slot| may_be_null(around.draws, slot)),
        slots: slots.into(),
        answer,
        writes: does.writes(),
        tells_changes: matches!(does, Does::Changes(_)) && answer != Answer::Number,
        touch: if let Does::Changes(touch) = does { touch } else { Touch::Read },
        commits,
        calls: does == Does::Calls,
    });
    Ok(number as u16)
}
