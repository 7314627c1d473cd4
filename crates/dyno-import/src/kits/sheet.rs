//! The plan under construction during an import: keys with values, and a note for each parameter.

use std::collections::BTreeMap;

use serde::Serialize;

use super::settings::KitParameter;
use dyno_plan::error::shown;
use dyno_plan::keys::{self, SECTIONS};
use dyno_plan::terminal::spelled;

/// The longest comment line, in characters.
const WIDTH: usize = 100;

/// How a parameter was converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterMapping {
    /// The plan has the same setting.
    Maps,
    /// The plan has the closest setting; the words name the difference.
    Differs,
    /// A plan has no counterpart; the words say why.
    None,
}

/// How one parameter was converted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ParameterNote {
    /// The parameter, such as `UPDATE_PCT`; for an option of the import its name, such as `--schemas`.
    pub parameter: &'static str,
    /// The line in the file; absent for a default.
    pub line: Option<usize>,
    /// The plan key; absent if there is none.
    pub key: Option<&'static str>,
    /// How the parameter was converted.
    pub fate: ParameterMapping,
    /// The explanation; empty if the plan has the same setting.
    pub words: String,
    /// The value as written, for the comment in the plan; never a password.
    #[serde(skip)]
    written: String,
}

impl ParameterNote {
    /// A note on how `setting` was converted.
    pub(super) fn of<T>(setting: &KitParameter<T>, fate: ParameterMapping, words: impl Into<String>) -> Self {
        Self {
            parameter: setting.name,
            line: setting.line,
            key: None,
            fate,
            words: words.into(),
            written: setting.written.clone(),
        }
    }

    /// A note on an option of the import whose `value` is in effect.
    pub(super) fn option(parameter: &'static str, value: u32, words: &str) -> Self {
        let (line, key, written) = (None, None, value.to_string());
        Self { parameter, line, key, fate: ParameterMapping::Maps, words: words.into(), written }
    }

    /// A remark on the method that belongs to no parameter.
    pub(super) fn method(words: &str) -> Self {
        let (line, key, written) = (None, None, String::new());
        Self { parameter: "", line, key, fate: ParameterMapping::Differs, words: words.into(), written }
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
            ParameterMapping::Maps => "",
            ParameterMapping::Differs => "Differs: ",
            ParameterMapping::None => "No counterpart: ",
        };
        match self.words.as_str() {
            "" => subject,
            words => format!("{subject}. {mark}{words}"),
        }
    }
}

/// One line of the plan with the notes above it.
#[derive(Debug, Default)]
struct Line {
    value: Option<String>,
    notes: Vec<ParameterNote>,
}

/// The plan that the settings read so far describe.
#[derive(Debug, Default)]
pub(super) struct KitPlanWriter {
    lines: BTreeMap<&'static str, Line>,
    rest: Vec<ParameterNote>,
}

impl KitPlanWriter {
    /// The line of `key`, added if missing.
    fn line(&mut self, key: &'static str) -> &mut Line {
        debug_assert!(keys::find(key).is_some(), "{key} is in the list of keys");
        self.lines.entry(key).or_default()
    }

    /// Sets `key` to `value` and adds `note` above it.
    #[expect(clippy::needless_pass_by_value, reason = "a number or a word is written as it is")]
    pub(super) fn put(&mut self, key: &'static str, value: impl ToString, note: ParameterNote) {
        let line = self.line(key);
        line.value = Some(value.to_string());
        line.notes.push(ParameterNote { key: Some(key), ..note });
    }

    /// Sets `key` to `value` without a note, because no parameter sets it.
    #[expect(clippy::needless_pass_by_value, reason = "a number or a word is written as it is")]
    pub(super) fn put_bare(&mut self, key: &'static str, value: impl ToString) {
        self.line(key).value = Some(value.to_string());
    }

    /// Adds a note above `key`, whether or not `key` has a value.
    pub(super) fn note(&mut self, key: &'static str, note: ParameterNote) {
        self.line(key).notes.push(ParameterNote { key: Some(key), ..note });
    }

    /// Records a parameter without a counterpart in plans.
    pub(super) fn leave(&mut self, note: ParameterNote) {
        self.rest.push(note);
    }

    /// All notes, in the order of the plan.
    pub(super) fn notes(&self) -> Vec<ParameterNote> {
        let keys = keys::all().filter_map(|key| self.lines.get(key.path));
        keys.flat_map(|line| &line.notes)
            .chain(&self.rest)
            .filter(|note| !note.parameter.is_empty())
            .cloned()
            .collect()
    }

    /// The parameter and line that set `key`.
    pub(super) fn parameter_of(&self, key: &str) -> Option<(&'static str, Option<usize>)> {
        let notes = &self.lines.get(key)?.notes;
        let note = notes.iter().find(|note| note.line.is_some()).or(notes.first())?;
        Some((note.parameter, note.line))
    }

    /// The plan as the text of a file. `file` is the name of the imported file, `head` the introduction.
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

/// Adds `text` as comment lines, the first after `mark`, the others with the same indent. The text cannot leave the comment:
/// blanks of any kind separate words, and characters that a terminal or TOML would act on are escaped.
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
