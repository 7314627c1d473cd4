//! A plan as it is being written: keys with their values, and what became of each parameter.

use std::collections::BTreeMap;

use serde::Serialize;

use super::settings::Setting;
use crate::error::shown;
use crate::keys::{self, SECTIONS};
use crate::terminal::spelled;

/// The widest line of a comment.
const WIDTH: usize = 100;

/// What became of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// The plan says the same.
    Maps,
    /// The plan says what comes nearest, and the words say what is different.
    Differs,
    /// A plan has nothing for it, and the words say why.
    None,
}

/// One parameter, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// The parameter: `UPDATE_PCT`; for an option of the import its name: `--schemas`.
    pub parameter: &'static str,
    /// The line of the file; none where the parameter's default holds.
    pub line: Option<usize>,
    /// The key of the plan, if it has one.
    pub key: Option<&'static str>,
    /// What became of it.
    pub fate: Fate,
    /// In words; empty where the plan simply says the same.
    pub words: String,
    /// The value as written, for the comment; never a password.
    #[serde(skip)]
    written: String,
}

impl Note {
    /// What became of `setting`.
    pub(super) fn of<T>(setting: &Setting<T>, fate: Fate, words: impl Into<String>) -> Self {
        Self {
            parameter: setting.name,
            line: setting.line,
            key: None,
            fate,
            words: words.into(),
            written: setting.written.clone(),
        }
    }

    /// What became of an option of the import, `value` of it being in force.
    pub(super) fn option(parameter: &'static str, value: u32, words: &str) -> Self {
        let (line, key, written) = (None, None, value.to_string());
        Self { parameter, line, key, fate: Fate::Maps, words: words.into(), written }
    }

    /// A remark on the method, which no parameter says.
    pub(super) fn method(words: &str) -> Self {
        let (line, key, written) = (None, None, String::new());
        Self { parameter: "", line, key, fate: Fate::Differs, words: words.into(), written }
    }

    /// The note as a sentence of a comment.
    fn sentence(&self, file: &str) -> String {
        let Self { parameter, written, .. } = self;
        if parameter.is_empty() {
            return self.words.clone();
        }
        let subject = match self.line {
            _ if parameter.starts_with("--") => format!("{parameter} {written}"),
            Some(line) => format!("{file}:{line}: {parameter}={written}"),
            None if written.is_empty() => format!("{parameter} is not set"),
            None => format!("{parameter} is not set, its default is {written}"),
        };
        let mark = match self.fate {
            Fate::Maps => "",
            Fate::Differs => "Differs: ",
            Fate::None => "No counterpart: ",
        };
        match self.words.as_str() {
            "" => subject,
            words => format!("{subject}. {mark}{words}"),
        }
    }
}

/// One line of a plan with the notes above it.
#[derive(Debug, Default)]
struct Line {
    value: Option<String>,
    notes: Vec<Note>,
}

/// The plan that is being written.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    lines: BTreeMap<&'static str, Line>,
    rest: Vec<Note>,
}

impl Sheet {
    /// The line of `key`.
    fn line(&mut self, key: &'static str) -> &mut Line {
        debug_assert!(keys::find(key).is_some(), "{key} is in the list of keys");
        self.lines.entry(key).or_default()
    }

    /// Writes `value` for `key`.
    #[expect(clippy::needless_pass_by_value, reason = "a number or a word is written as it is")]
    pub(super) fn put(&mut self, key: &'static str, value: impl ToString, note: Note) {
        let line = self.line(key);
        line.value = Some(value.to_string());
        line.notes.push(Note { key: Some(key), ..note });
    }

    /// Writes `value` for `key` without a parameter that would say so.
    #[expect(clippy::needless_pass_by_value, reason = "a number or a word is written as it is")]
    pub(super) fn put_bare(&mut self, key: &'static str, value: impl ToString) {
        self.line(key).value = Some(value.to_string());
    }

    /// Adds a note above `key`, which has a value, or is left as it is.
    pub(super) fn note(&mut self, key: &'static str, note: Note) {
        self.line(key).notes.push(Note { key: Some(key), ..note });
    }

    /// Notes a parameter for which a plan has nothing.
    pub(super) fn leave(&mut self, note: Note) {
        self.rest.push(note);
    }

    /// Every note, in the order of the plan.
    pub(super) fn notes(&self) -> Vec<Note> {
        let keys = keys::all().filter_map(|key| self.lines.get(key.path));
        keys.flat_map(|line| &line.notes)
            .chain(&self.rest)
            .filter(|note| !note.parameter.is_empty())
            .cloned()
            .collect()
    }

    /// The parameter that wrote `key`.
    pub(super) fn parameter_of(&self, key: &str) -> Option<(&'static str, Option<usize>)> {
        let notes = &self.lines.get(key)?.notes;
        let note = notes.iter().find(|note| note.line.is_some()).or(notes.first())?;
        Some((note.parameter, note.line))
    }

    /// The plan as a file. `file` is the name of what it was made from, `head` says so.
    pub(super) fn text(&self, file: &str, head: &[String]) -> String {
        let file = shown(file);
        let mut out = String::new();
        for paragraph in head {
            comment(&mut out, paragraph);
        }
        for section in &SECTIONS {
            let lines: Vec<_> = section
                .keys
                .iter()
                .filter_map(|key| self.lines.get(key.path).map(|line| (key, line)))
                .collect();
            if lines.is_empty() {
                continue;
            }
            if !section.name.is_empty() {
                out.push_str(&format!("\n[{}]\n", section.name));
            }
            for (i, (key, line)) in lines.into_iter().enumerate() {
                if i > 0 || section.name.is_empty() {
                    out.push('\n');
                }
                for note in &line.notes {
                    comment(&mut out, &note.sentence(&file));
                }
                if let Some(value) = &line.value {
                    out.push_str(&format!("{} = {}\n", key.name(), key.kind.toml(value)));
                }
            }
        }
        if !self.rest.is_empty() {
            out.push_str("\n# What a plan has nothing for:\n");
            for note in &self.rest {
                comment_behind(&mut out, "# -", &note.sentence(&file));
            }
        }
        out
    }
}

/// Adds `text` as comment lines.
fn comment(out: &mut String, text: &str) {
    comment_behind(out, "#", text);
}

/// Adds `text` as comment lines, the first behind `mark`, the others set in as far. Whatever stands in it stays in the
/// comment: blanks of any kind part words, and what a terminal or TOML would act on is escaped.
fn comment_behind(out: &mut String, mark: &str, text: &str) {
    let mut line = mark.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let word: String = spelled(word, usize::MAX);
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            out.push_str(&line);
            out.push('\n');
            line = format!("#{:1$}", "", mark.len() - 1);
        }
        line.push(' ');
        line.push_str(&word);
        is_empty = false;
    }
    out.push_str(&line);
    out.push('\n');
}
