//! Splits a pgbench script into commands with places: SQL up to `;`, and lines that begin with a backslash.

use std::ops::Range;

use dyno_engine::sql_tokens::{SqlLexer, SqlToken, SqlTokenKind};
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
    let mut reader = Reader { text, lexer: SqlLexer::of_script(&text.letters), commands: Vec::new() };
    while reader.lexer.at < text.letters.len() {
        reader.next()?;
    }
    Ok(reader.commands)
}

struct Reader<'a> {
    text: &'a SourceText,
    lexer: SqlLexer<'a>,
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
        let (mut range, mut depth) = (None::<Range<usize>>, 0u32);
        while let Some(token) = self.lexer.next() {
            let SqlToken { kind, at } = token.map_err(|error| self.text.syntax_fault(&error))?;
            match kind {
                SqlTokenKind::Comment => continue,
                SqlTokenKind::End if depth == 0 => return Ok((range, StatementEnd::Semicolon)),
                SqlTokenKind::Backslash => match self.text.letters.as_bytes().get(at.end) {
                    Some(b';') => {
                        self.lexer.at += 1;
                        return Ok((range, StatementEnd::Together));
                    }
                    Some(b':') => {
                        let hint = "write a statement without it: a parameter is :name, and a cast is ::type or CAST(… AS …)";
                        return Err(self.text.fault(at.start, "\\: has no counterpart", hint));
                    }
                    _ => {
                        self.lexer.at = at.start;
                        return Ok((range, StatementEnd::Backslash));
                    }
                },
                SqlTokenKind::Open => depth += 1,
                SqlTokenKind::Close => depth = depth.saturating_sub(1),
                _ => {}
            }
            range = Some(range.map_or(at.start, |range| range.start)..at.end);
        }
        Ok((range, StatementEnd::File))
    }

    /// Reads a backslash command up to the end of its line; a backslash at the end of a line continues it.
    fn meta(&mut self) -> Result<(), WorkloadError> {
        let at = self.lexer.at;
        let letters = &self.text.letters;
        let bytes = letters.as_bytes();
        let name_end = at + 1 + bytes[at + 1..].iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        let name = letters[at + 1..name_end].to_ascii_lowercase();
        let mut end = name_end;
        while end < bytes.len() {
            let line = letters[end..].find('\n').map_or(bytes.len(), |length| end + length);
            let goes_on = letters[end..line].trim_end_matches('\r').ends_with('\\');
            end = line;
            if !goes_on {
                break;
            }
            end = (line + 1).min(bytes.len());
        }
        self.lexer.at = end;
        let rest = name_end..end;
        match name.as_str() {
            "gset" | "aset" => self.get(at, name == "aset", &letters[rest]),
            "" => {
                Err(self.text.fault(at, "a backslash without a command", "write one: \\set, \\sleep, \\if …"))
            }
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
