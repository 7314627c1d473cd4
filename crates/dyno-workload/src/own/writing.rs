//! Whether the transactions of the chosen mix write.

use super::program::{Prepared, Program};

/// Words after FOR that lock the rows of a query.
const LOCKING: [&str; 4] = ["UPDATE", "SHARE", "NO", "KEY"];

/// Whether any statement of a program needs a session that may write.
pub(super) fn writes(program: &Program) -> bool {
    program.statements.iter().any(|statement| statement.writes || needs_writable_session(statement))
}

/// Whether a statement that changes no row is refused by a read-only session: row locks and draws from a sequence.
fn needs_writable_session(statement: &Prepared) -> bool {
    let words = statement.piece.upper_words(&statement.text);
    let locks = words.windows(2).any(|pair| pair[0] == "FOR" && LOCKING.contains(&pair[1].as_str()));
    locks || words.iter().any(|word| word == "NEXTVAL")
}
