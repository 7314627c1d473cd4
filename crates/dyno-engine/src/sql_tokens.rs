//! Splits SQL into tokens, to separate statements and parameters from strings, names and comments.
//!
//! The rules are the same for all engines, except comments where MySQL's are known to be meant. Text that
//! engines read differently (a backslash before a quote) is refused, not guessed.

use std::ops::Range;

use crate::executed_statements::PlaceholderStyle;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlTokenKind {
    /// A name or keyword without quotation marks.
    Word,
    /// A string or quoted name.
    Quoted,
    /// A parameter `:name`, as one token.
    Param,
    /// A parameter in a server's recorded text, numbered or quoted: `$1`, `:1`, `:"SYS_B_0"`.
    Numbered,
    /// A question mark outside quotes.
    Mark,
    /// A semicolon that ends a statement.
    End,
    /// A line that contains only `/`, which ends a block for Oracle's tools.
    Slash,
    /// An opening parenthesis.
    Open,
    /// A closing parenthesis.
    Close,
    /// A backslash that begins a command of pgbench.
    Backslash,
    /// A comment: `-- …` or `/* … */`.
    Comment,
    /// Any other sign, such as an operator.
    Other,
}

/// A token with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlToken {
    /// What it is.
    pub kind: SqlTokenKind,
    /// Its bytes in the text.
    pub at: Range<usize>,
}

/// An unreadable text with its place.
#[derive(Debug, PartialEq, Eq)]
pub struct SqlSyntaxError {
    /// The byte where it begins.
    pub at: usize,
    /// What is wrong there.
    pub problem: &'static str,
    /// What to write instead.
    pub hint: &'static str,
}

fn syntax_error(at: usize, problem: &'static str, hint: &'static str) -> SqlSyntaxError {
    SqlSyntaxError { at, problem, hint }
}

/// Reads a text token by token.
pub struct SqlLexer<'a> {
    text: &'a str,
    /// The byte from which the next token is read.
    pub at: usize,
    /// How the server marks parameters, if the text is one for a certain server.
    marks: Option<PlaceholderStyle>,
    has_commands: bool,
}

/// The tokens of a text with the parameter marks of a server, as one that it recorded.
///
/// # Errors
/// A quote or comment has no end, or engines would read it differently.
pub fn tokens_of_server(text: &str, marks: PlaceholderStyle) -> Result<Vec<SqlToken>, SqlSyntaxError> {
    SqlLexer { marks: Some(marks), ..SqlLexer::new(text) }.collect()
}

/// The text before each parameter mark of the style and after the last one; all text if it cannot be read.
pub fn between_placeholders(text: &str, marks: PlaceholderStyle) -> Vec<String> {
    let is_mark = |token: &SqlToken| matches!(token.kind, SqlTokenKind::Mark | SqlTokenKind::Numbered);
    let (mut pieces, mut from) = (Vec::new(), 0);
    for SqlToken { at, .. } in tokens_of_server(text, marks).unwrap_or_default().into_iter().filter(is_mark) {
        pieces.push(text[from..at.start].to_owned());
        from = at.end;
    }
    pieces.push(text[from..].to_owned());
    pieces
}

fn begins_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn continues_word(byte: u8) -> bool {
    begins_word(byte) || byte.is_ascii_digit() || byte == b'$'
}

impl Iterator for SqlLexer<'_> {
    type Item = Result<SqlToken, SqlSyntaxError>;

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = self.text.as_bytes();
        self.at += bytes[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        // Some editors write a byte order mark at the start of a file.
        if self.at == 0 && self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
            return self.next();
        }
        let begin = self.at;
        Some(self.token(*bytes.get(begin)?).map(|(kind, end)| {
            self.at = end;
            SqlToken { kind, at: begin..end }
        }))
    }
}

impl<'a> SqlLexer<'a> {
    /// Reads statements as in a workload.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0, marks: None, has_commands: false }
    }

    /// Reads a script in which a backslash outside of quotes begins a command.
    pub fn of_script(text: &'a str) -> Self {
        Self { has_commands: true, ..Self::new(text) }
    }

    /// The kind and the end of the token that begins here with `first`.
    fn token(&self, first: u8) -> Result<(SqlTokenKind, usize), SqlSyntaxError> {
        let at = self.at;
        let next_byte = self.byte(at + 1).unwrap_or(0);
        Ok(match first {
            b'#' if self.is_mysql() => (SqlTokenKind::Comment, self.line_end()),
            b'-' if next_byte == b'-' && self.dashes_comment() => (SqlTokenKind::Comment, self.line_end()),
            b'/' if next_byte == b'*' => (SqlTokenKind::Comment, self.comment()?),
            b'/' if self.is_alone_on_its_line() => (SqlTokenKind::Slash, at + 1),
            b'\'' => (SqlTokenKind::Quoted, self.quoted(at, b'\'', false)?),
            b'"' => (SqlTokenKind::Quoted, self.quoted(at, b'"', false)?),
            b'`' => (SqlTokenKind::Quoted, self.quoted(at, b'`', false)?),
            b'$' if self.marks == Some(PlaceholderStyle::Dollar) && next_byte.is_ascii_digit() => {
                (SqlTokenKind::Numbered, self.digits_end(at + 1))
            }
            b':' if self.marks == Some(PlaceholderStyle::Colon) && next_byte.is_ascii_digit() => {
                (SqlTokenKind::Numbered, self.digits_end(at + 1))
            }
            b':' if self.marks == Some(PlaceholderStyle::Colon) && next_byte == b'"' => {
                (SqlTokenKind::Numbered, self.quoted(at + 1, b'"', false)?)
            }
            b'$' => self.dollar()?,
            b':' if matches!(next_byte, b':' | b'=') => (SqlTokenKind::Other, at + 2),
            b':' if begins_word(next_byte) => (SqlTokenKind::Param, self.word_end(at + 1)),
            b'?' => (SqlTokenKind::Mark, at + 1),
            b';' => (SqlTokenKind::End, at + 1),
            b'(' => (SqlTokenKind::Open, at + 1),
            b')' => (SqlTokenKind::Close, at + 1),
            b'\\' if self.has_commands => (SqlTokenKind::Backslash, at + 1),
            b'\\' => {
                let hint = "remove commands of psql or mysql: only SQL is sent";
                return Err(syntax_error(at, "a backslash outside of quotes is not SQL", hint));
            }
            b'0'..=b'9' => (SqlTokenKind::Other, self.number_end()),
            _ if begins_word(first) => self.word()?,
            _ => (SqlTokenKind::Other, at + 1),
        })
    }

    fn is_mysql(&self) -> bool {
        self.marks == Some(PlaceholderStyle::Question)
    }

    /// Whether two dashes here begin a comment: in MySQL only before white space.
    fn dashes_comment(&self) -> bool {
        let is_blank = |byte: u8| byte.is_ascii_whitespace() || byte.is_ascii_control();
        !self.is_mysql() || self.byte(self.at + 2).is_none_or(is_blank)
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn word_end(&self, from: usize) -> usize {
        let rest = &self.text.as_bytes()[from..];
        from + rest.iter().take_while(|&&byte| continues_word(byte)).count()
    }

    fn digits_end(&self, from: usize) -> usize {
        from + self.text.as_bytes()[from..].iter().take_while(|byte| byte.is_ascii_digit()).count()
    }

    /// The end of a number; a dollar directly after it begins a parameter or quote.
    fn number_end(&self) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        let is_number = |byte| (continues_word(byte) && byte != b'$') || byte == b'.';
        self.at + rest.iter().take_while(|&&byte| is_number(byte)).count()
    }

    fn line_end(&self) -> usize {
        self.text[self.at..].find('\n').map_or(self.text.len(), |length| self.at + length)
    }

    fn is_alone_on_its_line(&self) -> bool {
        let before = self.text[..self.at].rsplit('\n').next().unwrap_or_default();
        let after = self.text[self.at + 1..].split('\n').next().unwrap_or_default();
        before.trim().is_empty() && after.trim().is_empty()
    }

    /// The end of a comment, which may contain nested comments except in MySQL.
    fn comment(&self) -> Result<usize, SqlSyntaxError> {
        let bytes = self.text.as_bytes();
        let (mut at, mut depth) = (self.at + 2, 1);
        while depth > 0 {
            match bytes.get(at..at + 2) {
                Some(b"/*") if !self.is_mysql() => (at, depth) = (at + 2, depth + 1),
                Some(b"*/") => (at, depth) = (at + 2, depth - 1),
                Some(_) => at += 1,
                None => {
                    return Err(syntax_error(self.at, "the comment is not closed", "write */ where it ends"));
                }
            }
        }
        Ok(at)
    }

    /// The end of a quoted text that starts at byte `from`. If `escapes` is true, a backslash escapes the
    /// next character.
    fn quoted(&self, from: usize, quote: u8, escapes: bool) -> Result<usize, SqlSyntaxError> {
        let bytes = self.text.as_bytes();
        let mut at = from + 1;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' if escapes => at += 2,
                b'\\' if bytes.get(at + 1) == Some(&quote) => {
                    let hint = "write a quote twice, or give the text as a drawn value";
                    return Err(syntax_error(
                        at,
                        "engines read a backslash before a quote in different ways",
                        hint,
                    ));
                }
                // A doubled quote stands for one quote inside the text.
                _ if byte == quote && bytes.get(at + 1) == Some(&quote) => at += 2,
                _ if byte == quote => return Ok(at + 1),
                _ => at += 1,
            }
        }
        Err(syntax_error(from, "the quote is not closed", "write the quote where the text or the name ends"))
    }

    /// Reads `$$ … $$`, `$tag$ … $tag$`, or a plain dollar.
    fn dollar(&self) -> Result<(SqlTokenKind, usize), SqlSyntaxError> {
        let tag = &self.text[self.at..];
        let inner = tag[1..].bytes().take_while(|&byte| continues_word(byte) && byte != b'$').count();
        let opens = tag.as_bytes().get(inner + 1) == Some(&b'$');
        if tag.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
            let hint = "give it a name: `:name`, drawn in [draw]";
            return Err(syntax_error(self.at, "a parameter has a number instead of a name", hint));
        }
        if !opens {
            return Ok((SqlTokenKind::Other, self.at + 1));
        }
        let (open, rest) = tag.split_at(inner + 2);
        match rest.find(open) {
            Some(length) => Ok((SqlTokenKind::Quoted, self.at + open.len() + length + open.len())),
            None => Err(syntax_error(
                self.at,
                "the dollar quote is not closed",
                "write the same tag where it ends",
            )),
        }
    }

    /// Reads a word, or a string with a prefix: `E'…'` has escapes, `q'[…]'` its own delimiters.
    fn word(&self) -> Result<(SqlTokenKind, usize), SqlSyntaxError> {
        let end = self.word_end(self.at);
        if self.byte(end) != Some(b'\'') {
            return Ok((SqlTokenKind::Word, end));
        }
        match &self.text[self.at..end] {
            "e" | "E" => Ok((SqlTokenKind::Quoted, self.quoted(end, b'\'', true)?)),
            "q" | "Q" | "nq" | "NQ" => Ok((SqlTokenKind::Quoted, self.bracketed(end)?)),
            _ => Ok((SqlTokenKind::Word, end)),
        }
    }

    fn bracketed(&self, from: usize) -> Result<usize, SqlSyntaxError> {
        let unended = || {
            syntax_error(
                from,
                "the quote is not closed",
                "write the bracket and the quote where the text ends",
            )
        };
        let rest = &self.text[from + 1..];
        let open = rest.chars().next().ok_or_else(unended)?;
        let close = match open {
            '[' => ']',
            '(' => ')',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        let end = format!("{close}'");
        let end_offset = rest[open.len_utf8()..].find(&end).ok_or_else(unended)?;
        Ok(from + 1 + open.len_utf8() + end_offset + end.len())
    }
}
