//! What a statement does, by its words.

use dyno_record::Touch;

use super::lex::{Kind, Token};
use super::split::Piece;
use crate::own::fault::{Fault, Text};
use crate::own::names::shown;

/// What a statement does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::own) enum Does {
    /// It gives rows.
    Reads,
    /// It gives rows, and has changed others.
    ReadsAndWrites,
    /// It changes rows in this way, and says how many.
    Changes(Touch),
    /// It gives no rows and changes none: a lock, a savepoint, a setting of the transaction.
    Controls,
    /// It calls a procedure, of which nothing is known.
    Calls,
    /// It makes, changes or drops tables and the like, or has the server do something with them.
    Defines,
}

impl Does {
    /// Whether it may change something.
    pub(in crate::own) fn writes(self) -> bool {
        !matches!(self, Self::Reads | Self::Controls)
    }
}

/// Words that change rows. MERGE may do so in any way, and REPLACE deletes some besides.
const CHANGING: [(&str, Touch); 5] = [
    ("INSERT", Touch::Inserted),
    ("UPDATE", Touch::Updated),
    ("DELETE", Touch::Deleted),
    ("MERGE", Touch::Updated),
    ("REPLACE", Touch::Inserted),
];

fn changing(word: &str) -> Option<Touch> {
    CHANGING.iter().find(|(known, _)| *known == word).map(|(_, touch)| *touch)
}

/// Kinds of objects for which a server may want a privilege of its own.
const CREATED_KINDS: [&str; 8] =
    ["TABLE", "INDEX", "VIEW", "SEQUENCE", "PROCEDURE", "FUNCTION", "TRIGGER", "TYPE"];

/// The kind of object that a statement creates; absent where it creates none of [`CREATED_KINDS`].
pub(in crate::own) fn created_kind(text: &Text, piece: &Piece) -> Option<&'static str> {
    let mut words = piece.tokens.iter().filter(|token| token.kind == Kind::Word);
    let first = words.next().map(|token| &text.letters[token.at.clone()])?;
    if !first.eq_ignore_ascii_case("CREATE") {
        return None;
    }
    // Between the two stand words such as OR REPLACE, UNIQUE and GLOBAL TEMPORARY.
    words.take(5).find_map(|token| {
        let word = &text.letters[token.at.clone()];
        CREATED_KINDS.into_iter().find(|kind| word.eq_ignore_ascii_case(kind))
    })
}

/// What a statement of a transaction does.
///
/// # Errors
/// It is none for a transaction.
pub(in crate::own) fn does(text: &Text, piece: &Piece) -> Result<Does, Fault> {
    let word = |token: &Token| text.letters[token.at.clone()].to_ascii_uppercase();
    let first = piece.tokens.iter().find(|token| token.kind != Kind::Open);
    let begin = piece.at.start;
    let Some(first) = first.filter(|token| token.kind == Kind::Word) else {
        return Err(text.fault(begin, "not the beginning of a statement", ALLOWED));
    };
    let first = word(first);
    if let Some(touch) = changing(&first) {
        return Ok(Does::Changes(touch));
    }
    match first.as_str() {
        "SELECT" | "VALUES" | "TABLE" => Ok(Does::Reads),
        "WITH" => with(text, piece),
        "CALL" => Ok(Does::Calls),
        "BEGIN" | "START" | "COMMIT" | "END" | "ROLLBACK" | "ABORT" | "SAVEPOINT" | "RELEASE" => {
            let hint = "take it out: a transaction begins and ends by itself; `commit`, `isolation` and a step \
                        with `rollback` say how";
            Err(text.fault(begin, "a statement about transactions", hint))
        }
        "CREATE" | "DROP" | "ALTER" | "TRUNCATE" | "ANALYZE" | "CHECKPOINT" => Ok(Does::Defines),
        "GRANT" | "REVOKE" | "VACUUM" => {
            Err(text.fault(begin, "a statement about tables", "move it to the file of [setup] or [drop]"))
        }
        other => {
            let problem = format!("no transaction has the statement {}", shown(other));
            Err(text.fault(begin, problem, ALLOWED))
        }
    }
}

const ALLOWED: &str = "SELECT, VALUES, TABLE, WITH, INSERT, UPDATE, DELETE, MERGE, REPLACE or CALL";

/// What follows the tables of WITH, which may change something themselves.
fn with(text: &Text, piece: &Piece) -> Result<Does, Fault> {
    let mut depth = 0;
    let (mut behind_open, mut writes) = (false, false);
    for token in &piece.tokens {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth -= 1,
            Kind::Word => {
                let word = text.letters[token.at.clone()].to_ascii_uppercase();
                let changes = changing(&word);
                writes |= changes.is_some() && behind_open;
                match (depth, word.as_str()) {
                    (0, "SELECT" | "VALUES" | "TABLE") if writes => return Ok(Does::ReadsAndWrites),
                    (0, "SELECT" | "VALUES" | "TABLE") => return Ok(Does::Reads),
                    (0, _) if let Some(touch) = changes => return Ok(Does::Changes(touch)),
                    _ => {}
                }
            }
            _ => {}
        }
        behind_open = token.kind == Kind::Open;
    }
    let hint = "SELECT, VALUES, INSERT, UPDATE, DELETE or MERGE follows the tables of WITH";
    Err(text.fault(piece.at.start, "a statement without its verb", hint))
}
