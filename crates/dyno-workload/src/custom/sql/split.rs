//! Splits an SQL file into statements with their parameters.

use std::ops::Range;

use dyno_engine::sql_tokens::{SqlLexer, SqlToken, SqlTokenKind};

use crate::custom::fault::{SourceText, WorkloadError};
use crate::custom::names::{NAME, is_name, shown};

/// One statement of a text.
#[derive(Debug, Clone)]
pub struct SplitStatement {
    /// Its byte range, without the terminator.
    pub at: Range<usize>,
    /// The name from the comment before it.
    pub name: Option<String>,
    /// Byte ranges of its parameters in order, with the `:`.
    pub params: Vec<Range<usize>>,
    /// Place of the first question mark, which some engines take for a parameter.
    pub mark: Option<usize>,
    /// Whether it contains other statements and ended with a semicolon.
    block: bool,
    pub(super) tokens: Vec<SqlToken>,
}

impl SplitStatement {
    /// Its characters, as a part of `text`.
    pub(in crate::custom) fn letters<'a>(&self, text: &'a SourceText) -> &'a str {
        &text.letters[self.at.clone()]
    }

    /// Places of its strings and quoted names.
    pub fn quoted(&self) -> impl Iterator<Item = &Range<usize>> {
        self.tokens.iter().filter(|token| token.kind == SqlTokenKind::Quoted).map(|token| &token.at)
    }

    /// Its tokens in upper case; empty for those that are not words.
    pub(in crate::custom) fn upper_words(&self, text: &SourceText) -> Vec<String> {
        let word = |token: &SqlToken| match token.kind {
            SqlTokenKind::Word => text.letters[token.at.clone()].to_ascii_uppercase(),
            _ => String::new(),
        };
        self.tokens.iter().map(word).collect()
    }

    /// Names of its parameters within `text`.
    pub fn names<'a>(&self, text: &'a SourceText) -> impl Iterator<Item = &'a str> + use<'a, '_> {
        self.params.iter().map(|at| &text.letters[at.start + 1..at.end])
    }
}

/// The start of a comment that names the next statement.
const NAMES: &str = "name:";

/// Splits `text` into statements.
///
/// # Errors
/// A quote or comment has no end, or a name has no statement.
pub(in crate::custom) fn split(text: &SourceText) -> Result<Vec<SplitStatement>, WorkloadError> {
    let (mut pieces, mut now) = (Vec::<SplitStatement>::new(), StatementBuilder::default());
    for token in SqlLexer::new(&text.letters) {
        let token = token.map_err(|error| text.syntax_fault(&error))?;
        match token.kind {
            SqlTokenKind::Comment => now.comment(text, &token)?,
            SqlTokenKind::Slash => match (now.end(), pieces.last_mut()) {
                (Some(piece), _) => pieces.push(piece),
                // A block keeps its own semicolon and has a slash after it.
                (None, Some(last)) if last.block => last.at.end += 1,
                (None, _) => {}
            },
            SqlTokenKind::End if now.may_end() || now.is_bare_begin(&text.letters) => {
                pieces.extend(now.end());
            }
            _ => now.token(&text.letters, token),
        }
    }
    if !now.may_end()
        && let Some(first) = now.tokens.first()
    {
        let hint = "write END; where it ends, or a line with / behind it";
        return Err(text.fault(first.at.start, "the block that begins here is not closed", hint));
    }
    pieces.extend(now.end());
    if let Some((name, at)) = now.name {
        let problem = format!("no statement follows the name {}", shown(&name));
        return Err(text.fault(at, problem, "remove the name, or write the statement"));
    }
    reject_duplicate_names(text, &pieces)?;
    Ok(pieces)
}

/// The single statement in `text`.
///
/// # Errors
/// The same as for `split`; or there are none or several statements.
pub fn single_statement(text: &SourceText) -> Result<SplitStatement, WorkloadError> {
    let mut pieces = split(text)?;
    match pieces.len() {
        1 => Ok(pieces.remove(0)),
        0 => Err(text.fault(0, "there is no statement", "write one")),
        _ => {
            Err(text.fault(pieces[1].at.start, "a second statement, but only one is allowed", "take it out"))
        }
    }
}

fn reject_duplicate_names(text: &SourceText, pieces: &[SplitStatement]) -> Result<(), WorkloadError> {
    for (place, piece) in pieces.iter().enumerate() {
        if piece.name.is_some() && pieces[..place].iter().any(|other| other.name == piece.name) {
            let name = shown(piece.name.as_deref().unwrap_or_default());
            let problem = format!("a second statement with the name {name}");
            return Err(text.fault(piece.at.start, problem, "give it another name"));
        }
    }
    Ok(())
}

/// The statement that is being read.
#[derive(Default)]
struct StatementBuilder {
    name: Option<(String, usize)>,
    tokens: Vec<SqlToken>,
    /// Number of open blocks, in a statement that contains others.
    depth: u32,
    /// Whether it is a statement that may contain others.
    blocks: bool,
    /// Whether the previous word was END.
    after_end: bool,
    begins_with_create: bool,
    /// Whether it creates a procedure or function.
    routine: bool,
    declares: DeclarationState,
}

/// Declarations of a PL/SQL block before its BEGIN, each ended by a semicolon: after DECLARE, or after IS or
/// AS of a routine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum DeclarationState {
    #[default]
    No,
    /// The previous word was IS or AS of a routine; a declaration or a body may follow.
    Perhaps,
    Yes,
}

impl StatementBuilder {
    fn comment(&mut self, text: &SourceText, token: &SqlToken) -> Result<(), WorkloadError> {
        let letters = &text.letters[token.at.clone()];
        let Some(name) = letters.strip_prefix("--").and_then(|rest| rest.trim().strip_prefix(NAMES)) else {
            return Ok(());
        };
        let (name, at) = (name.trim().to_owned(), token.at.start);
        if !is_name(&name) {
            let problem = format!("{:?} is not a valid name", shown(&name));
            return Err(text.fault(at, problem, NAME));
        }
        if !self.tokens.is_empty() {
            let problem = "a name in the middle of a statement";
            return Err(text.fault(at, problem, "end the statement before it with ;"));
        }
        if let Some((other, _)) = self.name.replace((name, at)) {
            let problem = format!("a second name for a statement, after {}", shown(&other));
            return Err(text.fault(at, problem, "remove one of them"));
        }
        Ok(())
    }

    fn token(&mut self, letters: &str, token: SqlToken) {
        if token.kind == SqlTokenKind::Word {
            let word = letters[token.at.clone()].to_ascii_uppercase();
            self.word(&word);
            if word == "CURSOR" && self.declares_cursor(letters) {
                // It is a single statement and not a PL/SQL block.
                (self.blocks, self.declares) = (false, DeclarationState::No);
            }
        } else {
            self.after_end = false;
            self.declares = if self.declares == DeclarationState::Yes {
                DeclarationState::Yes
            } else {
                DeclarationState::No
            };
        }
        self.tokens.push(token);
    }

    /// Whether CURSOR follows as in `DECLARE name NO SCROLL CURSOR`. In a PL/SQL block the name comes after
    /// CURSOR.
    fn declares_cursor(&self, letters: &str) -> bool {
        const BETWEEN: [&str; 5] = ["BINARY", "INSENSITIVE", "ASENSITIVE", "NO", "SCROLL"];
        let is = |token: &SqlToken, words: &[&str]| {
            words.iter().any(|word| letters[token.at.clone()].eq_ignore_ascii_case(word))
        };
        match self.tokens.as_slice() {
            [first, name, rest @ ..] => {
                is(first, &["DECLARE"])
                    && name.kind != SqlTokenKind::End
                    && rest.iter().all(|token| is(token, &BETWEEN))
            }
            _ => false,
        }
    }

    /// Whether a semicolon ends the statement here.
    fn may_end(&self) -> bool {
        self.depth == 0 && self.declares != DeclarationState::Yes
    }

    /// The state of declarations after `word`, outside blocks.
    fn next_declaration_state(&self, word: &str) -> DeclarationState {
        const CONDITION: [&str; 6] = ["NOT", "NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT"];
        match (self.declares, word) {
            (_, "DECLARE") => DeclarationState::Yes,
            (_, "BEGIN") => DeclarationState::No,
            (DeclarationState::Yes, _) => DeclarationState::Yes,
            (DeclarationState::Perhaps, _) if !CONDITION.contains(&word) => DeclarationState::Yes,
            (DeclarationState::No, "IS" | "AS") if self.routine => DeclarationState::Perhaps,
            _ => DeclarationState::No,
        }
    }

    /// Counts open blocks. `END IF`, `END LOOP` and similar close uncounted blocks; `END CASE` closes a
    /// counted one.
    fn word(&mut self, word: &str) {
        const HOLDING: [&str; 7] =
            ["TRIGGER", "PROCEDURE", "FUNCTION", "EVENT", "PACKAGE", "DECLARE", "BEGIN"];
        // CREATE OR REPLACE DEFINER = user TRIGGER: the kind is among the first words.
        let head = self.tokens.len() < 12 && (self.tokens.is_empty() || self.begins_with_create);
        self.begins_with_create |= self.tokens.is_empty() && word == "CREATE";
        self.blocks |= head && HOLDING.contains(&word);
        self.routine |= head && matches!(word, "PROCEDURE" | "FUNCTION");
        if !self.blocks {
            return;
        }
        if self.depth == 0 {
            self.declares = self.next_declaration_state(word);
        }
        match word {
            "IF" | "LOOP" | "WHILE" | "REPEAT" | "FOR" if self.after_end => self.depth += 1,
            "CASE" if self.after_end => {}
            "BEGIN" | "CASE" => self.depth += 1,
            "END" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.after_end = word == "END";
    }

    /// Whether BEGIN starts a transaction instead of a block.
    fn is_bare_begin(&self, letters: &str) -> bool {
        const BEHIND: [&str; 7] =
            ["TRANSACTION", "WORK", "IMMEDIATE", "DEFERRED", "EXCLUSIVE", "ISOLATION", "READ"];
        let word = |place: usize| self.tokens.get(place).map(|token| &letters[token.at.clone()]);
        let is_begin = word(0).is_some_and(|word| word.eq_ignore_ascii_case("BEGIN"));
        is_begin && word(1).is_none_or(|next| BEHIND.iter().any(|known| next.eq_ignore_ascii_case(known)))
    }

    /// Ends the current statement and returns it; `None` if it has no tokens.
    fn end(&mut self) -> Option<SplitStatement> {
        if self.tokens.is_empty() {
            return None;
        }
        let Self { name, tokens, blocks, .. } = std::mem::take(self);
        let tokens_of = |kind| tokens.iter().filter(move |token: &&SqlToken| token.kind == kind);
        Some(SplitStatement {
            at: tokens[0].at.start..tokens[tokens.len() - 1].at.end,
            name: name.map(|(name, _)| name),
            params: tokens_of(SqlTokenKind::Param).map(|token| token.at.clone()).collect(),
            block: blocks,
            mark: tokens_of(SqlTokenKind::Mark).map(|token| token.at.start).next(),
            tokens,
        })
    }
}
