//! The tokens of SQL, as far as statements and parameters have to be told from strings, names and comments.
//!
//! One reading for all engines. What they read in different ways (a backslash before a quote) is refused instead of guessed.

use std::ops::Range;

use dyno_engine::seen::Marks;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::own) enum Kind {
    /// A name or a key word.
    Word,
    /// A string or a quoted name.
    Quoted,
    /// `:name`, of which the token is all.
    Param,
    /// A parameter as servers number or quote it, where their own texts are read: `$1`, `:1`, `:"SYS_B_0"`.
    Numbered,
    /// A question mark.
    Mark,
    /// `;`
    End,
    /// A line with nothing but `/`, which ends a block for Oracle's tools.
    Slash,
    Open,
    Close,
    /// `-- …` or `/* … */`
    Comment,
    /// Anything else.
    Other,
}

/// A token and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::own) struct Token {
    pub(in crate::own) kind: Kind,
    pub(in crate::own) at: Range<usize>,
}

/// What cannot be read, and where.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::own) struct Broken {
    pub(in crate::own) at: usize,
    pub(in crate::own) problem: &'static str,
    pub(in crate::own) hint: &'static str,
}

fn broken(at: usize, problem: &'static str, hint: &'static str) -> Broken {
    Broken { at, problem, hint }
}

/// Reads a text token by token.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    /// How a server marks parameters, where its own texts are read.
    marks: Option<Marks>,
}

/// The tokens of a text that a server has kept, in which it marks parameters so.
///
/// # Errors
/// A quote or comment has no end, or engines read it in different ways.
pub(in crate::own) fn tokens_of_server(text: &str, marks: Marks) -> Result<Vec<Token>, Broken> {
    let mut lexer = Lexer { marks: Some(marks), ..Lexer::new(text) };
    let mut all = Vec::new();
    while let Some(token) = lexer.next()? {
        all.push(token);
    }
    Ok(all)
}

fn begins_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn goes_on(byte: u8) -> bool {
    begins_word(byte) || byte.is_ascii_digit() || byte == b'$'
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, marks: None }
    }

    /// The next token; none at the end.
    pub(super) fn next(&mut self) -> Result<Option<Token>, Broken> {
        let bytes = self.text.as_bytes();
        let white = |byte: &u8| byte.is_ascii_whitespace();
        self.at += bytes[self.at..].iter().take_while(|byte| white(byte)).count();
        // Some editors begin a file with a mark of its encoding.
        if self.at == 0 && self.text.starts_with('\u{feff}') {
            self.at = '\u{feff}'.len_utf8();
            return self.next();
        }
        let begin = self.at;
        let Some(&first) = bytes.get(begin) else { return Ok(None) };
        let (kind, end) = self.token(first)?;
        self.at = end;
        Ok(Some(Token { kind, at: begin..end }))
    }

    /// What the token that begins here with `first` is, and where it ends.
    fn token(&self, first: u8) -> Result<(Kind, usize), Broken> {
        let at = self.at;
        let second = self.byte(at + 1).unwrap_or(0);
        Ok(match first {
            b'-' if second == b'-' => (Kind::Comment, self.line_end()),
            b'/' if second == b'*' => (Kind::Comment, self.comment()?),
            b'/' if self.is_alone_on_its_line() => (Kind::Slash, at + 1),
            b'\'' => (Kind::Quoted, self.quoted(at, b'\'', false)?),
            b'"' => (Kind::Quoted, self.quoted(at, b'"', false)?),
            b'`' => (Kind::Quoted, self.quoted(at, b'`', false)?),
            b'$' if self.marks == Some(Marks::Dollar) && second.is_ascii_digit() => {
                (Kind::Numbered, self.digits_end(at + 1))
            }
            b':' if self.marks == Some(Marks::Colon) && second.is_ascii_digit() => {
                (Kind::Numbered, self.digits_end(at + 1))
            }
            b':' if self.marks == Some(Marks::Colon) && second == b'"' => {
                (Kind::Numbered, self.quoted(at + 1, b'"', false)?)
            }
            b'$' => self.dollar()?,
            b':' if matches!(second, b':' | b'=') => (Kind::Other, at + 2),
            b':' if begins_word(second) => (Kind::Param, self.word_end(at + 1)),
            b'?' => (Kind::Mark, at + 1),
            b';' => (Kind::End, at + 1),
            b'(' => (Kind::Open, at + 1),
            b')' => (Kind::Close, at + 1),
            b'\\' => {
                let hint = "leave out what psql or mysql would do by itself: only SQL is sent";
                return Err(broken(at, "a backslash outside of quotes is no SQL", hint));
            }
            b'0'..=b'9' => (Kind::Other, self.number_end()),
            _ if begins_word(first) => self.word()?,
            _ => (Kind::Other, at + 1),
        })
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn word_end(&self, from: usize) -> usize {
        let rest = &self.text.as_bytes()[from..];
        from + rest.iter().take_while(|&&byte| goes_on(byte)).count()
    }

    fn digits_end(&self, from: usize) -> usize {
        from + self.text.as_bytes()[from..].iter().take_while(|byte| byte.is_ascii_digit()).count()
    }

    /// A dollar right behind a number begins a parameter or a quote.
    fn number_end(&self) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        let is_number = |byte| (goes_on(byte) && byte != b'$') || byte == b'.';
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

    /// The end of a comment, in which there may be others.
    fn comment(&self) -> Result<usize, Broken> {
        let bytes = self.text.as_bytes();
        let (mut at, mut depth) = (self.at + 2, 1);
        while depth > 0 {
            match bytes.get(at..at + 2) {
                Some(b"/*") => (at, depth) = (at + 2, depth + 1),
                Some(b"*/") => (at, depth) = (at + 2, depth - 1),
                Some(_) => at += 1,
                None => return Err(broken(self.at, "a comment does not end", "write */ where it ends")),
            }
        }
        Ok(at)
    }

    /// The end of what is quoted from byte `from` on, which is the quote. A backslash takes the quote behind it where it
    /// `escapes`.
    fn quoted(&self, from: usize, quote: u8, escapes: bool) -> Result<usize, Broken> {
        let bytes = self.text.as_bytes();
        let mut at = from + 1;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' if escapes => at += 2,
                b'\\' if bytes.get(at + 1) == Some(&quote) => {
                    let hint = "write a quote twice, or give the text as a drawn value";
                    return Err(broken(
                        at,
                        "engines read a backslash before a quote in different ways",
                        hint,
                    ));
                }
                // Two of them are one within.
                _ if byte == quote && bytes.get(at + 1) == Some(&quote) => at += 2,
                _ if byte == quote => return Ok(at + 1),
                _ => at += 1,
            }
        }
        Err(broken(from, "a quote does not end", "write the quote where the text or the name ends"))
    }

    /// `$$ … $$`, `$tag$ … $tag$`, or a dollar.
    fn dollar(&self) -> Result<(Kind, usize), Broken> {
        let tag = &self.text[self.at..];
        let inner = tag[1..].bytes().take_while(|&byte| goes_on(byte) && byte != b'$').count();
        let opens = tag.as_bytes().get(inner + 1) == Some(&b'$');
        if tag.as_bytes().get(1).is_some_and(u8::is_ascii_digit) {
            let hint = "give it a name: `:name`, drawn in [draw]";
            return Err(broken(self.at, "a parameter has a number instead of a name", hint));
        }
        if !opens {
            return Ok((Kind::Other, self.at + 1));
        }
        let (open, rest) = tag.split_at(inner + 2);
        match rest.find(open) {
            Some(length) => Ok((Kind::Quoted, self.at + open.len() + length + open.len())),
            None => Err(broken(self.at, "a dollar quote does not end", "write the same tag where it ends")),
        }
    }

    /// A word, or a string with letters before it: `E'…'` knows escapes, `q'[…]'` has brackets of its own.
    fn word(&self) -> Result<(Kind, usize), Broken> {
        let end = self.word_end(self.at);
        if self.byte(end) != Some(b'\'') {
            return Ok((Kind::Word, end));
        }
        match &self.text[self.at..end] {
            "e" | "E" => Ok((Kind::Quoted, self.quoted(end, b'\'', true)?)),
            "q" | "Q" | "nq" | "NQ" => Ok((Kind::Quoted, self.bracketed(end)?)),
            _ => Ok((Kind::Word, end)),
        }
    }

    fn bracketed(&self, from: usize) -> Result<usize, Broken> {
        let unended =
            || broken(from, "a quote does not end", "write the bracket and the quote where the text ends");
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
        let found = rest[open.len_utf8()..].find(&end).ok_or_else(unended)?;
        Ok(from + 1 + open.len_utf8() + found + end.len())
    }
}
