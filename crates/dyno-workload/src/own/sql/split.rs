//! A file of SQL into its statements, with the parameters of each.

use std::ops::Range;

use super::lex::{Broken, Kind, Lexer, Token};
use crate::own::fault::{Fault, Text};
use crate::own::names::{NAME, is_name, shown};

/// A statement of a text.
#[derive(Debug, Clone)]
pub(in crate::own) struct Piece {
    /// Where it stands, without what ends it.
    pub(in crate::own) at: Range<usize>,
    /// The name that a comment before it gives.
    pub(in crate::own) name: Option<String>,
    /// Its parameters in their order: `:` and the name.
    pub(in crate::own) params: Vec<Range<usize>>,
    /// The first question mark, which some engines take for a parameter.
    pub(in crate::own) mark: Option<usize>,
    /// Whether it holds others, and was ended by a semicolon.
    block: bool,
    /// Its tokens, without comments.
    pub(super) tokens: Vec<Token>,
}

impl Piece {
    /// Its letters in `text`.
    pub(in crate::own) fn letters<'a>(&self, text: &'a Text) -> &'a str {
        &text.letters[self.at.clone()]
    }

    /// Where its strings and quoted names are.
    pub(in crate::own) fn quoted(&self) -> impl Iterator<Item = &Range<usize>> {
        self.tokens.iter().filter(|token| token.kind == Kind::Quoted).map(|token| &token.at)
    }

    /// Its tokens in upper case; empty for those that are no words.
    pub(in crate::own) fn upper_words(&self, text: &Text) -> Vec<String> {
        let word = |token: &Token| match token.kind {
            Kind::Word => text.letters[token.at.clone()].to_ascii_uppercase(),
            _ => String::new(),
        };
        self.tokens.iter().map(word).collect()
    }

    /// Its parameters' names in `text`.
    pub(in crate::own) fn names<'a>(&self, text: &'a Text) -> impl Iterator<Item = &'a str> + use<'a, '_> {
        self.params.iter().map(|at| &text.letters[at.start + 1..at.end])
    }
}

/// What begins the comment that names the statement behind it.
const NAMES: &str = "name:";

/// The statements of `text`.
///
/// # Errors
/// A quote or comment has no end, or a name belongs to no statement.
pub(in crate::own) fn split(text: &Text) -> Result<Vec<Piece>, Fault> {
    let mut lexer = Lexer::new(&text.letters);
    let (mut pieces, mut now) = (Vec::<Piece>::new(), Now::default());
    let told = |Broken { at, problem, hint }| text.fault(at, problem, hint);
    while let Some(token) = lexer.next().map_err(told)? {
        match token.kind {
            Kind::Comment => now.comment(text, &token)?,
            Kind::Slash => match (now.end(), pieces.last_mut()) {
                (Some(piece), _) => pieces.push(piece),
                // A block has its own semicolon, and a slash behind it.
                (None, Some(last)) if last.block => last.at.end += 1,
                (None, _) => {}
            },
            Kind::End if now.may_end() || now.is_bare_begin(&text.letters) => pieces.extend(now.end()),
            _ => now.token(&text.letters, token),
        }
    }
    if !now.may_end()
        && let Some(first) = now.tokens.first()
    {
        let hint = "write END; where it ends, or a line with / behind it";
        return Err(text.fault(first.at.start, "a block that begins here does not end", hint));
    }
    pieces.extend(now.end());
    if let Some((name, at)) = now.name {
        let problem = format!("there is no statement behind the name {}", shown(&name));
        return Err(text.fault(at, problem, "take the name out, or write the statement"));
    }
    twice(text, &pieces)?;
    Ok(pieces)
}

/// The statement that `text` is.
///
/// # Errors
/// As [`split`]; there are none or several.
pub(in crate::own) fn one(text: &Text) -> Result<Piece, Fault> {
    let mut pieces = split(text)?;
    match pieces.len() {
        1 => Ok(pieces.remove(0)),
        0 => Err(text.fault(0, "there is no statement", "write one")),
        _ => Err(text.fault(pieces[1].at.start, "a second statement, where one is wanted", "take it out")),
    }
}

fn twice(text: &Text, pieces: &[Piece]) -> Result<(), Fault> {
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
struct Now {
    name: Option<(String, usize)>,
    tokens: Vec<Token>,
    /// Blocks that are open, in statements that hold others.
    depth: u32,
    /// Whether it is one that may hold others.
    blocks: bool,
    /// Whether the word before was END.
    after_end: bool,
    begins_with_create: bool,
    /// Whether it makes a procedure or a function.
    routine: bool,
    declares: Declares,
}

/// What a block of PL/SQL declares before its BEGIN, each ended by a semicolon: behind DECLARE, or the IS or AS of a routine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Declares {
    #[default]
    No,
    /// The word before was a routine's IS or AS, behind which a text may be its body as well.
    Perhaps,
    Yes,
}

impl Now {
    fn comment(&mut self, text: &Text, token: &Token) -> Result<(), Fault> {
        let letters = &text.letters[token.at.clone()];
        let Some(name) = letters.strip_prefix("--").and_then(|rest| rest.trim().strip_prefix(NAMES)) else {
            return Ok(());
        };
        let (name, at) = (name.trim().to_owned(), token.at.start);
        if !is_name(&name) {
            let problem = format!("{:?} is no name", shown(&name));
            return Err(text.fault(at, problem, NAME));
        }
        if !self.tokens.is_empty() {
            let problem = "a name in the middle of a statement";
            return Err(text.fault(at, problem, "end the statement before it with ;"));
        }
        if let Some((other, _)) = self.name.replace((name, at)) {
            let problem = format!("a second name for a statement, after {}", shown(&other));
            return Err(text.fault(at, problem, "take one of them out"));
        }
        Ok(())
    }

    fn token(&mut self, letters: &str, token: Token) {
        if token.kind == Kind::Word {
            let word = letters[token.at.clone()].to_ascii_uppercase();
            self.word(&word);
            if word == "CURSOR" && self.declares_cursor(letters) {
                // One statement, and no block of PL/SQL.
                (self.blocks, self.declares) = (false, Declares::No);
            }
        } else {
            self.after_end = false;
            self.declares = if self.declares == Declares::Yes { Declares::Yes } else { Declares::No };
        }
        self.tokens.push(token);
    }

    /// Whether CURSOR follows as in `DECLARE name NO SCROLL CURSOR`. In a block of PL/SQL its name stands behind it.
    fn declares_cursor(&self, letters: &str) -> bool {
        const BETWEEN: [&str; 5] = ["BINARY", "INSENSITIVE", "ASENSITIVE", "NO", "SCROLL"];
        let is = |token: &Token, words: &[&str]| {
            words.iter().any(|word| letters[token.at.clone()].eq_ignore_ascii_case(word))
        };
        match self.tokens.as_slice() {
            [first, name, rest @ ..] => {
                is(first, &["DECLARE"])
                    && name.kind != Kind::End
                    && rest.iter().all(|token| is(token, &BETWEEN))
            }
            _ => false,
        }
    }

    /// Whether a semicolon ends it.
    fn may_end(&self) -> bool {
        self.depth == 0 && self.declares != Declares::Yes
    }

    /// What is declared, where `word` follows outside of its blocks.
    fn declared(&self, word: &str) -> Declares {
        const CONDITION: [&str; 6] = ["NOT", "NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT"];
        match (self.declares, word) {
            (_, "DECLARE") => Declares::Yes,
            (_, "BEGIN") => Declares::No,
            (Declares::Yes, _) => Declares::Yes,
            (Declares::Perhaps, _) if !CONDITION.contains(&word) => Declares::Yes,
            (Declares::No, "IS" | "AS") if self.routine => Declares::Perhaps,
            _ => Declares::No,
        }
    }

    /// Counts blocks. `END IF`, `END LOOP` and the like end what is not counted, `END CASE` what is.
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
            self.declares = self.declared(word);
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

    /// Whether it begins a transaction, and no block.
    fn is_bare_begin(&self, letters: &str) -> bool {
        const BEHIND: [&str; 7] =
            ["TRANSACTION", "WORK", "IMMEDIATE", "DEFERRED", "EXCLUSIVE", "ISOLATION", "READ"];
        let word = |place: usize| self.tokens.get(place).map(|token| &letters[token.at.clone()]);
        let is_begin = word(0).is_some_and(|word| word.eq_ignore_ascii_case("BEGIN"));
        is_begin && word(1).is_none_or(|next| BEHIND.iter().any(|known| next.eq_ignore_ascii_case(known)))
    }

    /// The statement that ends here, if there is one.
    fn end(&mut self) -> Option<Piece> {
        if self.tokens.is_empty() {
            return None;
        }
        let Self { name, tokens, blocks, .. } = std::mem::take(self);
        let of = |kind| tokens.iter().filter(move |token: &&Token| token.kind == kind);
        Some(Piece {
            at: tokens[0].at.start..tokens[tokens.len() - 1].at.end,
            name: name.map(|(name, _)| name),
            params: of(Kind::Param).map(|token| token.at.clone()).collect(),
            block: blocks,
            mark: of(Kind::Mark).map(|token| token.at.start).next(),
            tokens,
        })
    }
}
