//! Splits a pgbench script into commands with places: SQL up to `;`, and lines that begin with a backslash.

use std::ops::Range;

use dyno_plan::error::shown;
use dyno_workload::custom::syntax::{SourceText, WorkloadError};

/// One command of a script.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PgbenchCommand {
    /// Statements that are sent together; usually a single one.
    Sql { statements: Vec<Range<usize>>, get: Option<Get> },
    /// A command that pgbench executes itself.
    Meta(PgbenchMetaCommand),
}

/// `\gset` or `\aset` after a statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Get {
    pub(super) at: usize,
    pub(super) prefix: String,
    pub(super) all: bool,
}

/// A command that pgbench executes itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PgbenchMetaCommand {
    /// Byte offset of its backslash.
    pub(super) at: usize,
    pub(super) name: String,
    /// The text after its name, up to the end of its line.
    pub(super) rest: Range<usize>,
}

/// The commands of `text`, in order.
///
/// # Errors
/// A quote or comment has no end, or a command is not allowed at its place.
pub(super) fn commands(text: &SourceText) -> Result<Vec<PgbenchCommand>, WorkloadError> {
    let mut reader = Reader { text, letters: &text.letters, at: 0, commands: Vec::new() };
    while reader.at < reader.letters.len() {
        reader.next()?;
    }
    Ok(reader.commands)
}

struct Reader<'a> {
    text: &'a SourceText,
    letters: &'a str,
    at: usize,
    commands: Vec<PgbenchCommand>,
}

/// What ends a piece of SQL.
#[derive(PartialEq)]
enum StatementEnd {
    Semicolon,
    /// `\;`: the next statement is sent together with it.
    Together,
    Backslash,
    File,
}

impl Reader<'_> {
    fn fault(&self, at: usize, problem: impl Into<String>, hint: &str) -> WorkloadError {
        self.text.fault(at, problem, hint)
    }

    /// Reads SQL, and the backslash command that ends it, if any.
    fn next(&mut self) -> Result<(), WorkloadError> {
        let mut statements = Vec::new();
        loop {
            let (range, end) = self.sql()?;
            statements.extend(range);
            match end {
                StatementEnd::Together => continue,
                StatementEnd::Semicolon | StatementEnd::File => {
                    self.push(statements);
                    return Ok(());
                }
                StatementEnd::Backslash => {
                    self.push(statements);
                    return self.meta();
                }
            }
        }
    }

    fn push(&mut self, statements: Vec<Range<usize>>) {
        if !statements.is_empty() {
            self.commands.push(PgbenchCommand::Sql { statements, get: None });
        }
    }

    /// Reads a statement up to its end; `None` if there are only comments.
    fn sql(&mut self) -> Result<(Option<Range<usize>>, StatementEnd), WorkloadError> {
        let bytes = self.letters.as_bytes();
        let (mut first, mut last, mut depth) = (None, 0, 0u32);
        while let Some(&byte) = bytes.get(self.at) {
            let begin = self.at;
            let next_byte = bytes.get(begin + 1).copied().unwrap_or(0);
            match (byte, next_byte) {
                (b';', _) if depth == 0 => {
                    self.at += 1;
                    return Ok((first.map(|first| first..last), StatementEnd::Semicolon));
                }
                (b'\\', b';') => {
                    self.at += 2;
                    return Ok((first.map(|first| first..last), StatementEnd::Together));
                }
                (b'\\', b':') => {
                    let hint = "write a statement without it: a parameter is :name, and a cast is ::type or CAST(… AS …)";
                    return Err(self.fault(begin, "\\: has no counterpart", hint));
                }
                (b'\\', _) => return Ok((first.map(|first| first..last), StatementEnd::Backslash)),
                (b'-', b'-') => {
                    self.at = self.letters[begin..].find('\n').map_or(bytes.len(), |length| begin + length);
                    continue;
                }
                (b'/', b'*') => {
                    self.at = self.comment(begin)?;
                    continue;
                }
                (b'\'' | b'"', _) => self.at = self.quoted(begin, byte)?,
                (b'$', _) => self.at = self.dollar(begin)?,
                _ if byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80 => {
                    let word =
                        |byte: &u8| byte.is_ascii_alphanumeric() || b"_$".contains(byte) || *byte >= 0x80;
                    self.at += bytes[begin..].iter().take_while(|byte| word(byte)).count();
                }
                _ => {
                    match byte {
                        b'(' => depth += 1,
                        b')' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    self.at += 1;
                }
            }
            if !byte.is_ascii_whitespace() {
                first = first.or(Some(begin));
                last = self.at;
            }
        }
        Ok((first.map(|first| first..last), StatementEnd::File))
    }

    fn comment(&self, begin: usize) -> Result<usize, WorkloadError> {
        let bytes = self.letters.as_bytes();
        let (mut at, mut depth) = (begin + 2, 1);
        while depth > 0 {
            match bytes.get(at..at + 2) {
                Some(b"/*") => (at, depth) = (at + 2, depth + 1),
                Some(b"*/") => (at, depth) = (at + 2, depth - 1),
                Some(_) => at += 1,
                None => return Err(self.fault(begin, "the comment is not closed", "write */ where it ends")),
            }
        }
        Ok(at)
    }

    fn quoted(&self, begin: usize, quote: u8) -> Result<usize, WorkloadError> {
        let bytes = self.letters.as_bytes();
        // Escapes are valid only in a string after a single E.
        let before = |back: usize| begin.checked_sub(back).map_or(b' ', |at| bytes[at]);
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        let escapes = quote == b'\'' && b"eE".contains(&before(1)) && !word(before(2));
        let mut at = begin + 1;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'\\' if escapes => at += 2,
                _ if byte == quote => return Ok(at + 1),
                _ => at += 1,
            }
        }
        Err(self.fault(begin, "the quote is not closed", "write the quote where the text or the name ends"))
    }

    fn dollar(&self, begin: usize) -> Result<usize, WorkloadError> {
        let rest = &self.letters[begin..];
        let tag = rest[1..].bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        if rest.as_bytes().get(tag + 1) != Some(&b'$') || rest.as_bytes()[1].is_ascii_digit() {
            return Ok(begin + 1);
        }
        let (open, inner) = rest.split_at(tag + 2);
        match inner.find(open) {
            Some(length) => Ok(begin + open.len() + length + open.len()),
            None => {
                Err(self.fault(begin, "the dollar quote is not closed", "write the same tag where it ends"))
            }
        }
    }

    /// Reads a backslash command up to the end of its line; a backslash at the end of a line continues it.
    fn meta(&mut self) -> Result<(), WorkloadError> {
        let at = self.at;
        let bytes = self.letters.as_bytes();
        let name_end = at + 1 + bytes[at + 1..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        let name = self.letters[at + 1..name_end].to_ascii_lowercase();
        let mut end = name_end;
        while end < bytes.len() {
            let line = self.letters[end..].find('\n').map_or(bytes.len(), |length| end + length);
            let goes_on = self.letters[end..line].trim_end_matches('\r').ends_with('\\');
            end = line;
            if !goes_on {
                break;
            }
            end = (line + 1).min(bytes.len());
        }
        self.at = end;
        let rest = name_end..end;
        match name.as_str() {
            "gset" | "aset" => self.get(at, name == "aset", &self.letters[rest]),
            "" => Err(self.fault(at, "a backslash without a command", "write one: \\set, \\sleep, \\if …")),
            _ => {
                self.commands.push(PgbenchCommand::Meta(PgbenchMetaCommand { at, name, rest }));
                Ok(())
            }
        }
    }

    /// Adds `\gset` to the statement before it.
    fn get(&mut self, at: usize, all: bool, rest: &str) -> Result<(), WorkloadError> {
        let name = if all { "\\aset" } else { "\\gset" };
        let words: Vec<&str> = rest.split_whitespace().collect();
        if words.len() > 1 {
            let problem = format!("{name} has one prefix at most, and there is {} too", shown(words[1]));
            return Err(self.text.fault(at, problem, "take it out"));
        }
        let fault = self.text.fault(
            at,
            format!("{name} without a statement before it"),
            "write it after the statement whose columns it reads",
        );
        match self.commands.last_mut() {
            Some(PgbenchCommand::Sql { get: get @ None, .. }) => {
                let prefix = words.first().copied().unwrap_or_default().to_owned();
                *get = Some(Get { at, prefix, all });
                Ok(())
            }
            _ => Err(fault),
        }
    }
}
