//! A text of a server with its parameters, as Dyno's own reader reads it.

use dyno_engine::seen::Marks;

use super::places::{column, plain};
use super::repair::{self, Repair};
use crate::own::sql::{Kind, Token, tokens_of_server};

/// A part of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    /// The parameter at this place of [`Read::params`].
    Param(usize),
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Param {
    /// What the server calls it: `$1`; empty where each mark is one of its own.
    pub(super) mark: String,
    /// The column that it is held against, or a word for what it is, as far as the text tells.
    pub(super) column: Option<String>,
    /// It stands for several values, and nobody knows how many.
    pub(super) several: bool,
}

/// A statement that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Read {
    /// What Dyno's own reader is given, but for the names of parameters.
    pub(super) parts: Vec<Part>,
    pub(super) params: Vec<Param>,
    /// Words and quoted names, without quotes and in small letters, each with whether a bracket or a point follows.
    pub(super) words: Vec<Word>,
    /// There is a comment before it, which engines may take for a hint.
    pub(super) hinted: bool,
    /// What was written in another way, for users to know.
    pub(super) notes: Vec<&'static str>,
}

/// A word of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) letters: String,
    /// The sign behind it, where it is `(`, `.` or something else; 0 at the end.
    pub(super) behind: u8,
    /// Brackets that are open around it.
    pub(super) depth: usize,
    pub(super) quoted: bool,
}

impl Read {
    /// The statement with names for its parameters.
    pub(super) fn named(&self, name: impl Fn(usize) -> String) -> String {
        self.with(|place| format!(":{}", name(place)))
    }

    /// The statement with these marks for its parameters. What a reader would take for something else is kept apart by spaces.
    pub(super) fn with(&self, mark: impl Fn(usize) -> String) -> String {
        let goes_on = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || !c.is_ascii();
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Param(place) => {
                    // A slice of an array, `[1:$2]`; or what would be one word with the engine's own mark.
                    if out.ends_with(':') || out.ends_with(goes_on) {
                        out.push(' ');
                    }
                    out.push_str(&mark(*place));
                }
                Part::Text(text) => {
                    if out.ends_with(goes_on) && text.starts_with(goes_on) {
                        out.push(' ');
                    }
                    out.push_str(text);
                }
            }
        }
        out
    }
}

/// Reads `text`, in which parameters are marked so.
///
/// # Errors
/// Why it cannot be read.
pub(super) fn read(text: &str, marks: Marks) -> Result<Read, &'static str> {
    let tokens = tokens_of_server(text, marks).map_err(|broken| broken.problem)?;
    let letters = |token: &Token| &text[token.at.clone()];
    let works = |token: &Token| !matches!(token.kind, Kind::Comment);
    let first = tokens.iter().position(works).ok_or("there is no statement")?;
    let hinted = tokens[..first].iter().any(|token| letters(token).starts_with("/*+"));
    let ends = |token: &Token| !works(token) || token.kind == Kind::End;
    let last = tokens.iter().rposition(|token| !ends(token)).ok_or("there is no statement")?;
    if last < first || tokens[first..=last].iter().any(|token| token.kind == Kind::End) {
        return Err("several statements in one text");
    }
    let tokens = &tokens[first..=last];
    let mut maker = Maker { text, tokens, marks, parts: Vec::new(), params: Vec::new(), notes: Vec::new() };
    maker.make();
    let Maker { parts, params, notes, .. } = maker;
    Ok(Read { parts, params, words: words(text, tokens), hinted, notes })
}

/// A part after the other.
struct Maker<'a> {
    text: &'a str,
    tokens: &'a [Token],
    marks: Marks,
    parts: Vec<Part>,
    params: Vec<Param>,
    notes: Vec<&'static str>,
}

impl Maker<'_> {
    fn make(&mut self) {
        let text = self.text;
        let mut from = self.tokens[0].at.start;
        let mut at = 0;
        while let Some(token) = self.tokens.get(at) {
            let repair = repair::at(self.text, self.tokens, at, self.marks);
            let next = at + repair.as_ref().map_or(1, |(_, tokens)| *tokens);
            let is_mark = self.is_mark(token);
            if repair.is_some() || is_mark || self.changes(token) {
                self.push(&text[from..token.at.start]);
                match repair {
                    Some((repair, _)) => self.repaired(&repair, at),
                    None if is_mark => self.param(at, at),
                    None => self.changed(token),
                }
                from = self.tokens[next - 1].at.end;
            }
            at = next;
        }
        self.push(&text[from..self.tokens[self.tokens.len() - 1].at.end]);
    }

    fn push(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(Part::Text(before)) => before.push_str(text),
            _ if text.is_empty() => {}
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
    }

    /// Whether this is the place of a value.
    fn is_mark(&self, token: &Token) -> bool {
        match self.marks {
            Marks::Dollar => token.kind == Kind::Numbered,
            Marks::Colon => matches!(token.kind, Kind::Numbered | Kind::Param),
            Marks::Question => token.kind == Kind::Mark,
        }
    }

    /// Whether the reader would take it for something that it is not.
    fn changes(&self, token: &Token) -> bool {
        let names = || {
            let comment = self.text[token.at.clone()].strip_prefix("--");
            comment.is_some_and(|rest| rest.trim().starts_with("name:"))
        };
        matches!(token.kind, Kind::Param | Kind::Slash) || (token.kind == Kind::Comment && names())
    }

    fn changed(&mut self, token: &Token) {
        let letters = &self.text[token.at.clone()];
        match token.kind {
            // A slice of an array up to a column, `[1:n]`.
            Kind::Param => self.push(&format!(": {}", &letters[1..])),
            // Alone on its line it ends a statement for Oracle's tools.
            Kind::Slash => self.push("/* */ /"),
            // A comment that would give the statement a name.
            _ => {}
        }
    }

    /// The mark at token `at`, in the place of what begins at `begin`.
    fn param(&mut self, at: usize, begin: usize) {
        let token = &self.tokens[at];
        let mark = match self.marks {
            Marks::Question => String::new(),
            Marks::Dollar | Marks::Colon => self.text[token.at.clone()].to_ascii_lowercase(),
        };
        let known = self.params.iter().position(|param| !mark.is_empty() && param.mark == mark);
        let place = known.unwrap_or_else(|| {
            let several = repair::is_list(self.text, self.tokens, at);
            self.params.push(Param { mark, column: column(self.text, self.tokens, begin), several });
            self.params.len() - 1
        });
        self.parts.push(Part::Param(place));
    }

    fn repaired(&mut self, repair: &Repair, at: usize) {
        match repair {
            Repair::Nothing => {}
            Repair::Text(text) => self.push(text),
            Repair::Values(columns) => {
                for (place, column) in columns.iter().enumerate() {
                    self.push(if place == 0 { "" } else { ", " });
                    self.params.push(Param {
                        mark: String::new(),
                        column: column.clone(),
                        several: columns.len() == 1,
                    });
                    self.parts.push(Part::Param(self.params.len() - 1));
                }
            }
            Repair::Cast(mark, of) => {
                self.push("CAST(");
                self.param(at + mark, at);
                self.push(&format!(" AS {of})"));
            }
        }
        self.notes.extend(repair.note().filter(|note| !self.notes.contains(note)));
    }
}

fn words(text: &str, tokens: &[Token]) -> Vec<Word> {
    let tokens: Vec<&Token> = tokens.iter().filter(|token| token.kind != Kind::Comment).collect();
    let mut depth = 0usize;
    let mut words = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            Kind::Word | Kind::Quoted => {
                let letters = &text[token.at.clone()];
                if letters.starts_with('\'') || letters.starts_with('$') {
                    continue;
                }
                let behind = tokens.get(place + 1).map_or(0, |next| text.as_bytes()[next.at.start]);
                let quoted = token.kind == Kind::Quoted;
                words.push(Word { letters: plain(letters), behind, depth, quoted });
            }
            _ => {}
        }
    }
    words
}
