//! Determines whether the transactions of the chosen mix write.

use super::program::{Program, ProgramStatement};

/// Words after FOR that lock the rows of a query.
const LOCKING: [&str; 4] = ["UPDATE", "SHARE", "NO", "KEY"];

/// Whether any statement of a program needs a session that may write.
pub(super) fn writes(program: &Program) -> bool {
    program.statements.iter().any(|statement| statement.writes || needs_writable_session(statement))
}

/// Whether a read-only session refuses a statement although it changes no row: row locks, and values of a
/// sequence.
fn needs_writable_session(statement: &ProgramStatement) -> bool {
    let words = statement.piece.upper_words(&statement.text);
    let locks = words.windows(2).any(|pair| pair[0] == "FOR" && LOCKING.contains(&pair[1].as_str()));
    locks || words.iter().any(|word| word == "NEXTVAL")
}
