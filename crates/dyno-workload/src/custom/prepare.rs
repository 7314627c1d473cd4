//! Collects the statements of a program without duplicates.

use dyno_engine::{ResultKind, Type};
use dyno_record::RowEffect;

use super::draws::{Draws, Names};
use super::fault::{SourceText, WorkloadError};
use super::program::ProgramStatement;
use super::sql::{SplitStatement, StatementEffect, classify_step};
use super::steps::ResultBinding;
use super::transaction::Transaction;

/// The largest number of statements in a workload.
const STATEMENTS_MAX: usize = 10_000;

/// The context in which all transactions are compiled.
#[derive(Clone, Copy)]
pub(super) struct CompileContext<'a> {
    pub(super) draws: &'a Draws,
    pub(super) names: &'a Names,
    /// Whether the workload declares that it writes.
    pub(super) writes: bool,
}

impl CompileContext<'_> {
    /// The type of the value in `slot`.
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

/// A statement that a step executes.
pub(super) struct StepStatement {
    pub(super) text: SourceText,
    pub(super) piece: SplitStatement,
    /// The slots bound to its parameters.
    pub(super) slots: Vec<u16>,
    /// The part of its result that is read.
    pub(super) read: Option<ResultBinding>,
    /// Whether it commits separately, if it changes data.
    pub(super) alone: bool,
}

/// Adds a statement of `transaction`, whose own begin at `first`, unless it exists; returns its number.
///
/// # Errors
/// It is not allowed in a transaction, or it changes data although the workload does not declare that.
pub(super) fn prepare(
    statements: &mut Vec<ProgramStatement>,
    first: u16,
    transaction: &Transaction,
    around: CompileContext<'_>,
    StepStatement { text, piece, slots, read, alone }: StepStatement,
) -> Result<u16, WorkloadError> {
    let does = classify_step(&text, &piece, alone)?;
    let answer = match does {
        _ if matches!(read, Some(ResultBinding::Number(_))) => ResultKind::Number,
        _ if read.is_some() => ResultKind::Columns,
        StatementEffect::Changes(_) => ResultKind::Changed { per_row: 1 },
        StatementEffect::Reads
        | StatementEffect::ReadsAndWrites
        | StatementEffect::Controls
        | StatementEffect::Calls
        | StatementEffect::Defines => ResultKind::Rows,
    };
    if does == StatementEffect::Defines && !transaction.definitions {
        let hint = "move it to the file of [setup] or [drop], or write `definitions = true` if it is what \
                    you measure";
        return Err(text.fault(piece.at.start, "a statement about tables", hint));
    }
    if does.writes() && !around.writes {
        let hint = "write `writes = true` at the top of workload.toml, or remove the statement";
        return Err(text.fault(piece.at.start, "the workload says that it does not write", hint));
    }
    let own_statements = &statements[usize::from(first)..];
    let commits = alone && does.writes();
    let same = |known: &ProgramStatement| {
        known.text == text && known.piece.at == piece.at && known.answer == answer && known.commits == commits
    };
    if let Some(place) = own_statements.iter().position(same) {
        return Ok(first + place as u16);
    }
    let number = statements.len();
    if number >= STATEMENTS_MAX {
        let problem = format!("more than {STATEMENTS_MAX} statements");
        return Err(text.fault(piece.at.start, problem, "split the workload in two"));
    }
    let slot_type = |slot: &u16| around.type_of(*slot);
    statements.push(ProgramStatement {
        name: format!("{}_{}", transaction.name, own_statements.len() + 1),
        text,
        piece,
        types: slots.iter().map(slot_type).collect(),
        may_be_null: slots.iter().any(|&slot| may_be_null(around.draws, slot)),
        slots: slots.into(),
        answer,
        writes: does.writes(),
        tells_changes: matches!(does, StatementEffect::Changes(_)) && answer != ResultKind::Number,
        touch: if let StatementEffect::Changes(touch) = does { touch } else { RowEffect::Read },
        commits,
        calls: does == StatementEffect::Calls,
    });
    Ok(number as u16)
}
