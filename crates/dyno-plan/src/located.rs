//! Reads any TOML file of the user: each error has its line and column, the key and a hint.
//!
//! No error quotes a value or an unusual name, because either may be a misplaced password.

use std::ops::Range;

use serde::de::DeserializeOwned;
pub use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use crate::error::{Origin, PlanError, PlanErrorKind, PlanErrors, shown_key};
use crate::lines::SourceLines;
use crate::similar::closest;

/// A TOML file of the user after its parsing, with the bytes of each key and value.
#[derive(Debug)]
pub struct LocatedToml<'a> {
    lines: SourceLines<'a>,
    table: Spanned<DeTable<'a>>,
    /// How such a file is written.
    hint: &'a str,
}

impl<'a> LocatedToml<'a> {
    /// Parses `text` of the file `name`; `hint` says how such a file is written.
    ///
    /// # Errors
    /// The text is not TOML.
    pub fn parse(name: &'a str, text: &'a str, hint: &'a str) -> Result<Self, PlanErrors> {
        let lines = SourceLines::new(name, text);
        match DeTable::parse(text) {
            Ok(table) => Ok(Self { lines, table, hint }),
            Err(error) => Err(syntax_error(&lines, &error, hint).into()),
        }
    }

    /// The entries of the file.
    pub fn table(&self) -> &DeTable<'a> {
        self.table.get_ref()
    }

    /// Reads the file as a `T`.
    ///
    /// # Errors
    /// A key is unknown or missing, or a value has the wrong type.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, PlanErrors> {
        T::deserialize(Deserializer::from(self.table.clone())).map_err(|error| self.misread(&error).into())
    }

    /// The byte where the entry at `path` begins: keys, and positions in lists from 0. If an entry does not exist, the
    /// byte of its table.
    pub fn place(&self, path: &[&str]) -> usize {
        self.find(path).0
    }

    /// An error of the entry at `path`; see [`Self::place`].
    pub fn error(&self, path: &[&str], problem: impl Into<String>, hint: impl Into<String>) -> PlanError {
        let (at, key) = self.find(path);
        let key = shown_key(&key).map(str::to_owned);
        PlanError { key, ..self.error_at(at, PlanErrorKind::Range, problem, hint) }
    }

    /// The place of the entry at `path`, and its name.
    fn find(&self, path: &[&str]) -> (usize, String) {
        let (mut at, mut names) = (0, Vec::new());
        let mut table = Some(self.table());
        let mut list: Option<&[Spanned<DeValue<'_>>]> = None;
        for &step in path {
            let value = match list {
                Some(values) => step.parse().ok().and_then(|index: usize| values.get(index)),
                None => {
                    names.push(step);
                    table.and_then(|table| table.get(step))
                }
            };
            at = value.map_or(at, |value| value.span().start);
            table = value.and_then(|value| value.get_ref().as_table());
            list = value.and_then(|value| value.get_ref().as_array()).map(|values| &values[..]);
        }
        (at, names.join("."))
    }

    /// An error at byte `at`.
    pub fn error_at(
        &self,
        at: usize,
        kind: PlanErrorKind,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> PlanError {
        let (problem, hint) = (problem.into(), hint.into());
        PlanError { kind, origin: self.lines.origin(at), key: None, value: None, problem, hint }
    }

    /// Converts an error of serde, whose words have been the same since its first version.
    fn misread(&self, error: &toml::de::Error) -> PlanError {
        let span = error.span().unwrap_or_else(|| self.table.span());
        let at = span.start;
        let mut path = path_of(self.table(), &span).map_or_else(Vec::new, |(_, path)| path);
        let message = error.message();
        let begins = |words: &str| message.strip_prefix(words);
        let (kind, problem, hint) = if let Some(rest) = begins("unknown field ") {
            (PlanErrorKind::Unknown, "unknown key".to_owned(), self.allowed(rest))
        } else if let Some(rest) = begins("missing field ") {
            path.push(rest.trim_matches('`'));
            (PlanErrorKind::Missing, "missing".to_owned(), self.hint.to_owned())
        } else if let Some(rest) = begins("unknown variant ") {
            (PlanErrorKind::Range, "unknown value".to_owned(), self.allowed(rest))
        } else if let Some((_, expected)) =
            begins("invalid ").and_then(|rest| rest.rsplit_once(", expected "))
        {
            (PlanErrorKind::Type, format!("not {}", type_words(expected)), self.hint.to_owned())
        } else {
            (PlanErrorKind::Range, one_line(message), self.hint.to_owned())
        };
        PlanError {
            key: shown_key(&path.join(".")).map(str::to_owned),
            ..self.error_at(at, kind, problem, hint)
        }
    }

    /// The hint for the unknown name that comes first in `message`; known names follow, all in backticks.
    fn allowed(&self, message: &str) -> String {
        let (unknown, names) = message.split_once("`, expected ").unwrap_or_default();
        let allowed: Vec<&str> = names.split('`').skip(1).step_by(2).collect();
        match closest(unknown.trim_start_matches('`'), allowed.iter().copied()) {
            Some(near) => format!("did you mean {near}?"),
            None if allowed.is_empty() => self.hint.to_owned(),
            None => format!("allowed: {}", allowed.join(", ")),
        }
    }
}

/// The keys of the innermost entry that contains these bytes, with its length. No bytes are those of the file as a
/// whole.
fn path_of<'t>(table: &'t DeTable<'_>, bytes: &Range<usize>) -> Option<(usize, Vec<&'t str>)> {
    let entries = table.iter().filter_map(|(name, value)| {
        let (length, inner) = match contains(&name.span(), bytes) {
            true => (name.span().len(), Vec::new()),
            false => path_in(value, bytes)?,
        };
        Some((length, [vec![name.get_ref().as_ref()], inner].concat()))
    });
    entries.min_by_key(|(length, _)| *length)
}

fn path_in<'t>(value: &'t Spanned<DeValue<'_>>, bytes: &Range<usize>) -> Option<(usize, Vec<&'t str>)> {
    let inner = match value.get_ref() {
        DeValue::Table(table) => path_of(table, bytes),
        DeValue::Array(values) => values.iter().find_map(|value| path_in(value, bytes)),
        _ => None,
    };
    inner.or_else(|| contains(&value.span(), bytes).then(|| (value.span().len(), Vec::new())))
}

fn contains(span: &Range<usize>, bytes: &Range<usize>) -> bool {
    span.start <= bytes.start && bytes.end <= span.end && !bytes.is_empty()
}

/// What serde expected, in the words of the documentation.
fn type_words(expected: &str) -> &str {
    match expected {
        "a string" | "a borrowed string" | "path string" => "a text in \"quotes\"",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "a table",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        other if other.starts_with("struct ") => "a table",
        other => other,
    }
}

/// Kinds of syntax errors with different hints.
#[derive(PartialEq)]
pub(crate) enum SyntaxSlip {
    /// A text without quotation marks, such as `80M`.
    Unquoted,
    /// A key or section that occurs twice.
    Twice,
    /// Any other error of syntax.
    Other,
}

impl SyntaxSlip {
    pub(crate) fn of(message: &str) -> Self {
        match message {
            message if message.contains("must be quoted") => Self::Unquoted,
            message if message.contains("duplicate key") => Self::Twice,
            _ => Self::Other,
        }
    }
}

/// A syntax error in the parser's words, without the source line, which may contain a password. `hint` says how such
/// a file is written.
pub(crate) fn syntax_error(lines: &SourceLines<'_>, error: &toml::de::Error, hint: &str) -> PlanError {
    let origin: Origin = lines.origin(error.span().map_or(0, |span| span.start));
    let hint = match SyntaxSlip::of(error.message()) {
        SyntaxSlip::Unquoted => "write texts, sizes, durations and rates in \"quotes\"",
        SyntaxSlip::Twice => "keep one of them",
        SyntaxSlip::Other => hint,
    };
    let problem = format!("not valid TOML: {}", one_line(error.message()));
    PlanError { kind: PlanErrorKind::File, origin, key: None, value: None, problem, hint: hint.to_owned() }
}

fn one_line(message: &str) -> String {
    message.lines().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only errors of the reading matter")]
    struct Shop {
        name: String,
        #[serde(default)]
        is_open: bool,
        #[serde(default)]
        shelf: Vec<Shelf>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only errors of the reading matter")]
    struct Shelf {
        boards: u32,
        color: Option<Color>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Color {
        Green,
        White,
    }

    fn error(text: &str) -> String {
        let read = LocatedToml::parse("shop.toml", text, "see the example");
        read.and_then(|file| file.read::<Shop>()).unwrap_err().to_string()
    }

    #[test]
    fn misread_file_names_place_key_and_hint() {
        for (text, expected) in [
            ("name = \n", "shop.toml:1:8: not valid TOML: "),
            (
                "name = \"a\"\nname = \"b\"\n",
                "shop.toml:2:1: not valid TOML: duplicate key; keep one of them",
            ),
            ("name = \"a\"\nis_opne = true\n", "shop.toml:2:1: is_opne: unknown key; did you mean is_open?"),
            (
                "name = \"a\"\nremarks = 1\n",
                "shop.toml:2:1: remarks: unknown key; allowed: name, is_open, shelf",
            ),
            ("is_open = true\n", "shop.toml:1:1: name: missing; see the example"),
            ("name = 3\n", "shop.toml:1:8: name: not a text in \"quotes\"; see the example"),
            (
                "name = \"a\"\nis_open = \"yes\"\n",
                "shop.toml:2:11: is_open: not true or false; see the example",
            ),
            ("name = \"a\"\nshelf = 1\n", "shop.toml:2:9: shelf: not a list; see the example"),
            (
                "name = \"a\"\n[[shelf]]\nboards = 1\n[[shelf]]\nboards = -1\n",
                "shop.toml:5:10: shelf.boards: not a whole number from 0; see the example",
            ),
            (
                "name = \"a\"\n[[shelf]]\nboards = 1\n[[shelf]]\ncolor = \"green\"\n",
                "shop.toml:4:1: shelf.boards: missing; see the example",
            ),
            (
                "name = \"a\"\nshelf = [{ boards = 1, color = \"gren\" }]\n",
                "shop.toml:2:32: shelf.color: unknown value; did you mean green?",
            ),
        ] {
            let error = error(text);
            assert!(error.starts_with(expected), "{error}\n{expected}");
        }
    }

    #[test]
    fn error_names_the_place_of_its_path() {
        let text = "name = \"a\"\n[[shelf]]\nboards = 1\n[[shelf]]\nboards = 2\n";
        let file = LocatedToml::parse("shop.toml", text, "").unwrap();
        let shown = |path: &[&str]| file.error(path, "wrong", "").to_string();
        assert_eq!(shown(&["shelf", "1", "boards"]), "shop.toml:5:10: shelf.boards: wrong");
        assert_eq!(shown(&["shelf", "0", "color"]), "shop.toml:2:1: shelf.color: wrong");
        assert_eq!(shown(&["none"]), "shop.toml:1:1: none: wrong");
        assert_eq!(shown(&["pass word"]), "shop.toml:1:1: wrong");
    }
}
