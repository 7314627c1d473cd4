//! Determines the effect of a statement from its words.

use dyno_engine::sql_tokens::{SqlToken, SqlTokenKind};
use dyno_record::RowEffect;

use super::split::SplitStatement;
use crate::custom::fault::{SourceText, WorkloadError};
use crate::custom::names::shown;

/// The effect of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementEffect {
    /// It returns rows and changes nothing.
    Reads,
    /// It returns rows and changes data.
    ReadsAndWrites,
    /// It changes rows in this way and reports their number.
    Changes(RowEffect),
    /// It returns and changes no rows: a lock, a savepoint, a setting of the transaction.
    Controls,
    /// It calls a procedure, whose effect is unknown.
    Calls,
    /// It creates, changes or drops tables or other objects, or starts maintenance on them.
    Defines,
}

impl StatementEffect {
    /// Whether it may change data.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Reads | Self::Controls)
    }
}

/// Words that change rows. MERGE may have any effect, and REPLACE also deletes rows.
const CHANGING: [(&str, RowEffect); 5] = [
    ("INSERT", RowEffect::Inserted),
    ("UPDATE", RowEffect::Updated),
    ("DELETE", RowEffect::Deleted),
    ("MERGE", RowEffect::Updated),
    ("REPLACE", RowEffect::Inserted),
];

fn changing(word: &str) -> Option<RowEffect> {
    CHANGING.iter().find(|(known, _)| *known == word).map(|(_, touch)| *touch)
}

/// Kinds of objects for which a server may require a separate privilege.
const CREATED_KINDS: [&str; 8] =
    ["TABLE", "INDEX", "VIEW", "SEQUENCE", "PROCEDURE", "FUNCTION", "TRIGGER", "TYPE"];

/// The kind of object that a statement creates; `None` if it is not one of [`CREATED_KINDS`].
pub(in crate::custom) fn created_kind(text: &SourceText, piece: &SplitStatement) -> Option<&'static str> {
    let mut words = piece.tokens.iter().filter(|token| token.kind == SqlTokenKind::Word);
    let first = words.next().map(|token| &text.letters[token.at.clone()])?;
    if !first.eq_ignore_ascii_case("CREATE") {
        return None;
    }
    // Words such as OR REPLACE, UNIQUE and GLOBAL TEMPORARY may come in between.
    words.take(5).find_map(|token| {
        let word = &text.letters[token.at.clone()];
        CREATED_KINDS.into_iter().find(|kind| word.eq_ignore_ascii_case(kind))
    })
}

/// The effect of a statement in a transaction.
///
/// # Errors
/// The statement is not allowed in a transaction.
pub fn classify_statement(
    text: &SourceText,
    piece: &SplitStatement,
) -> Result<StatementEffect, WorkloadError> {
    let word = |token: &SqlToken| text.letters[token.at.clone()].to_ascii_uppercase();
    let first = piece.tokens.iter().find(|token| token.kind != SqlTokenKind::Open);
    let begin = piece.at.start;
    let Some(first) = first.filter(|token| token.kind == SqlTokenKind::Word) else {
        return Err(text.fault(begin, "not the beginning of a statement", ALLOWED));
    };
    let first = word(first);
    if let Some(touch) = changing(&first) {
        return Ok(StatementEffect::Changes(touch));
    }
    match first.as_str() {
        "SELECT" | "VALUES" | "TABLE" => Ok(StatementEffect::Reads),
        "WITH" => classify_with(text, piece),
        "CALL" => Ok(StatementEffect::Calls),
        "BEGIN" | "START" | "COMMIT" | "END" | "ROLLBACK" | "ABORT" | "SAVEPOINT" | "RELEASE" => {
            let hint = "remove it: Dyno begins and ends transactions; `commit`, `isolation` and a step with \
                        `rollback` control them";
            Err(text.fault(begin, "transaction control statement (BEGIN, COMMIT, …)", hint))
        }
        "CREATE" | "DROP" | "ALTER" | "TRUNCATE" | "ANALYZE" | "CHECKPOINT" => Ok(StatementEffect::Defines),
        "GRANT" | "REVOKE" | "VACUUM" => {
            Err(text.fault(begin, "a statement about tables", "move it to the file of [setup] or [drop]"))
        }
        other => {
            let problem = format!("the statement {} is not allowed in a transaction", shown(other));
            Err(text.fault(begin, problem, ALLOWED))
        }
    }
}

const ALLOWED: &str = "SELECT, VALUES, TABLE, WITH, INSERT, UPDATE, DELETE, MERGE, REPLACE or CALL";

/// The effect of the statement after the tables of WITH, which may change data themselves.
fn classify_with(text: &SourceText, piece: &SplitStatement) -> Result<StatementEffect, WorkloadError> {
    let mut depth = 0;
    let (mut behind_open, mut writes) = (false, false);
    for token in &piece.tokens {
        match token.kind {
            SqlTokenKind::Open => depth += 1,
            SqlTokenKind::Close => depth -= 1,
            SqlTokenKind::Word => {
                let word = text.letters[token.at.clone()].to_ascii_uppercase();
                let changes = changing(&word);
                writes |= changes.is_some() && behind_open;
                match (depth, word.as_str()) {
                    (0, "SELECT" | "VALUES" | "TABLE") if writes => {
                        return Ok(StatementEffect::ReadsAndWrites);
                    }
                    (0, "SELECT" | "VALUES" | "TABLE") => return Ok(StatementEffect::Reads),
                    (0, _) if let Some(touch) = changes => return Ok(StatementEffect::Changes(touch)),
                    _ => {}
                }
            }
            _ => {}
        }
        behind_open = token.kind == SqlTokenKind::Open;
    }
    let hint = "SELECT, VALUES, INSERT, UPDATE, DELETE or MERGE follows the tables of WITH";
    Err(text.fault(piece.at.start, "a statement without its verb", hint))
}
