//! Converts a recorded text with its parameters for Dyno's own reader.

use dyno_engine::executed_statements::PlaceholderStyle;
use dyno_engine::sql_tokens::{SqlToken, SqlTokenKind, tokens_of_server};

use super::parameter_context::{ParameterContext, context, plain};
use super::repair::{self, Repair};

/// A part of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StatementPart {
    Text(String),
    /// The parameter with this index in [`ParsedStatement::params`].
    Param(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Param {
    /// The server's name for it, such as `$1`; empty if every mark is a separate parameter.
    pub(super) mark: String,
    pub(super) context: ParameterContext,
    /// Whether it stands for a list of values of unknown length.
    pub(super) several: bool,
}

/// A recorded statement, converted for Dyno's reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParsedStatement {
    /// The text for Dyno's own reader, except for the names of parameters.
    pub(super) parts: Vec<StatementPart>,
    pub(super) params: Vec<Param>,
    /// Words and quoted names, in lower case and without quotes.
    pub(super) words: Vec<StatementWord>,
    /// Whether a comment precedes it, which engines may take for a hint.
    pub(super) hinted: bool,
    /// Notes for the user on changes to the text.
    pub(super) notes: Vec<&'static str>,
}

/// A word of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StatementWord {
    pub(super) letters: String,
    /// The sign after it if it is one of `(`, `.` and so on; 0 at the end.
    pub(super) behind: u8,
    /// Number of open parentheses around it.
    pub(super) depth: usize,
    pub(super) quoted: bool,
}

impl ParsedStatement {
    /// The statement with names for its parameters.
    pub(super) fn named(&self, name: impl Fn(usize) -> String) -> String {
        self.with(|place| format!(":{}", name(place)))
    }

    /// The statement with marks for its parameters. Spaces separate what a reader would otherwise join.
    pub(super) fn with(&self, mark: impl Fn(usize) -> String) -> String {
        let goes_on = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || !c.is_ascii();
        let mut out = String::new();
        for part in &self.parts {
            match part {
                StatementPart::Param(place) => {
                    // A slice of an array, `[1:$2]`; or text that would join with the engine's mark into one
                    // word.
                    if out.ends_with(':') || out.ends_with(goes_on) {
                        out.push(' ');
                    }
                    out.push_str(&mark(*place));
                }
                StatementPart::Text(text) => {
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

/// Reads `text` with this kind of parameter marks.
///
/// # Errors
/// Why the text cannot be read.
pub(super) fn read(text: &str, marks: PlaceholderStyle) -> Result<ParsedStatement, &'static str> {
    let tokens = tokens_of_server(text, marks).map_err(|broken| broken.problem)?;
    let letters = |token: &SqlToken| &text[token.at.clone()];
    let works = |token: &SqlToken| !matches!(token.kind, SqlTokenKind::Comment);
    let first = tokens.iter().position(works).ok_or("there is no statement")?;
    let hinted = tokens[..first].iter().any(|token| letters(token).starts_with("/*+"));
    let ends = |token: &SqlToken| !works(token) || token.kind == SqlTokenKind::End;
    let last = tokens.iter().rposition(|token| !ends(token)).ok_or("there is no statement")?;
    if last < first || tokens[first..=last].iter().any(|token| token.kind == SqlTokenKind::End) {
        return Err("several statements in one text");
    }
    let tokens = &tokens[first..=last];
    let mut maker =
        StatementRewriter { text, tokens, marks, parts: Vec::new(), params: Vec::new(), notes: Vec::new() };
    maker.make();
    let StatementRewriter { parts, params, notes, .. } = maker;
    Ok(ParsedStatement { parts, params, words: words(text, tokens), hinted, notes })
}

/// Builds the parts in order.
struct StatementRewriter<'a> {
    text: &'a str,
    tokens: &'a [SqlToken],
    marks: PlaceholderStyle,
    parts: Vec<StatementPart>,
    params: Vec<Param>,
    notes: Vec<&'static str>,
}

impl StatementRewriter<'_> {
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
            Some(StatementPart::Text(before)) => before.push_str(text),
            _ if text.is_empty() => {}
            _ => self.parts.push(StatementPart::Text(text.to_owned())),
        }
    }

    /// Whether the token is a parameter mark.
    fn is_mark(&self, token: &SqlToken) -> bool {
        match self.marks {
            PlaceholderStyle::Dollar => token.kind == SqlTokenKind::Numbered,
            PlaceholderStyle::Colon => matches!(token.kind, SqlTokenKind::Numbered | SqlTokenKind::Param),
            PlaceholderStyle::Question => token.kind == SqlTokenKind::Mark,
        }
    }

    /// Whether Dyno's reader would misread the token.
    fn changes(&self, token: &SqlToken) -> bool {
        let names = || {
            let comment = self.text[token.at.clone()].strip_prefix("--");
            comment.is_some_and(|rest| rest.trim().starts_with("name:"))
        };
        matches!(token.kind, SqlTokenKind::Param | SqlTokenKind::Slash)
            || (token.kind == SqlTokenKind::Comment && names())
    }

    fn changed(&mut self, token: &SqlToken) {
        let letters = &self.text[token.at.clone()];
        match token.kind {
            // A slice of an array up to a column, `[1:n]`.
            SqlTokenKind::Param => self.push(&format!(": {}", &letters[1..])),
            // Alone on its line it would end a statement for Oracle's tools.
            SqlTokenKind::Slash => self.push("/* */ /"),
            // A comment that would name the statement.
            _ => {}
        }
    }

    /// Adds the parameter at token `at` in place of the text that begins at token `begin`.
    fn param(&mut self, at: usize, begin: usize) {
        let token = &self.tokens[at];
        let mark = match self.marks {
            PlaceholderStyle::Question => String::new(),
            PlaceholderStyle::Dollar | PlaceholderStyle::Colon => {
                self.text[token.at.clone()].to_ascii_lowercase()
            }
        };
        let existing = self.params.iter().position(|param| !mark.is_empty() && param.mark == mark);
        let place = existing.unwrap_or_else(|| {
            let several = repair::is_list(self.text, self.tokens, at);
            self.params.push(Param { mark, context: context(self.text, self.tokens, begin), several });
            self.params.len() - 1
        });
        self.parts.push(StatementPart::Param(place));
    }

    fn repaired(&mut self, repair: &Repair, at: usize) {
        match repair {
            Repair::Nothing => {}
            Repair::Text(text) => self.push(text),
            Repair::Values(columns) => {
                for (place, column) in columns.iter().enumerate() {
                    self.push(if place == 0 { "" } else { ", " });
                    let several = columns.len() == 1;
                    self.params.push(Param { mark: String::new(), context: column.clone(), several });
                    self.parts.push(StatementPart::Param(self.params.len() - 1));
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

fn words(text: &str, tokens: &[SqlToken]) -> Vec<StatementWord> {
    let tokens: Vec<&SqlToken> = tokens.iter().filter(|token| token.kind != SqlTokenKind::Comment).collect();
    let mut depth = 0usize;
    let mut words = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        match token.kind {
            SqlTokenKind::Open => depth += 1,
            SqlTokenKind::Close => depth = depth.saturating_sub(1),
            SqlTokenKind::Word | SqlTokenKind::Quoted => {
                let letters = &text[token.at.clone()];
                if letters.starts_with('\'') || letters.starts_with('$') {
                    continue;
                }
                let behind = tokens.get(place + 1).map_or(0, |next| text.as_bytes()[next.at.start]);
                let quoted = token.kind == SqlTokenKind::Quoted;
                words.push(StatementWord { letters: plain(letters), behind, depth, quoted });
            }
            _ => {}
        }
    }
    words
}
