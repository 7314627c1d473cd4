//! One key of a plan, and a section of them.

use super::kind::Kind;
use crate::plan::Plan;

/// One section of a plan.
pub struct Section {
    /// The name; empty is the top of the plan.
    pub name: &'static str,
    /// What the section is for, in a few words.
    pub title: &'static str,
    /// What its author should know, in full sentences.
    pub doc: &'static str,
    /// Its keys, in the order of templates and reference.
    pub keys: &'static [Key],
}

/// One key of a plan.
pub struct Key {
    /// The full name: `data.scale`.
    pub path: &'static str,
    /// What the value may be, and where it goes.
    pub kind: Kind,
    /// The unit of a bare number: `%`, `blocks`; empty where it has none.
    pub unit: &'static str,
    /// What holds when nobody writes the key.
    pub default: Fallback,
    /// What it means, in one line.
    pub doc: &'static str,
    /// What else to know, in full sentences; may be empty.
    pub more: &'static str,
    /// A value as an example.
    pub example: &'static str,
    /// How the template of an engine shows it.
    pub shown: Shown,
}

/// What holds when nobody writes a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// This value, as `--set` takes it.
    Value(&'static str),
    /// No value; the words say what that means.
    None(&'static str),
    /// The key must be written.
    Required,
}

/// How a template shows a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// As a line that counts: most users change it.
    Active,
    /// As a comment.
    Commented,
    /// As a comment, for engines that are servers.
    CommentedForServers,
}

impl Key {
    /// A key that must be written and that templates show as a comment, unless the methods that follow say otherwise.
    pub(super) const fn new(path: &'static str, kind: Kind) -> Self {
        Self {
            path,
            kind,
            unit: "",
            default: Fallback::Required,
            doc: "",
            more: "",
            example: "",
            shown: Shown::Commented,
        }
    }

    /// The words that it may be, each with what it means.
    pub(super) const fn words(self, words: &'static [(&'static str, &'static str)]) -> Self {
        match self.kind {
            Kind::Word(_, at) => Self { kind: Kind::Word(words, at), ..self },
            _ => panic!("words are for a key of words"),
        }
    }

    pub(super) const fn default(self, value: &'static str) -> Self {
        Self { default: Fallback::Value(value), ..self }
    }

    /// It has no value by default; `words` say what that means.
    pub(super) const fn without(self, words: &'static str) -> Self {
        Self { default: Fallback::None(words), ..self }
    }

    pub(super) const fn doc(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    pub(super) const fn more(self, more: &'static str) -> Self {
        Self { more, ..self }
    }

    pub(super) const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    pub(super) const fn example(self, example: &'static str) -> Self {
        Self { example, ..self }
    }

    pub(super) const fn active(self) -> Self {
        Self { shown: Shown::Active, ..self }
    }

    pub(super) const fn for_servers(self) -> Self {
        Self { shown: Shown::CommentedForServers, ..self }
    }

    /// The value in `plan` as users write it; `None` if the plan has none.
    pub fn get(&self, plan: &Plan) -> Option<String> {
        self.kind.text(plan)
    }

    /// The section's name; empty at the top of the plan.
    pub fn section(&self) -> &'static str {
        self.path.split_once('.').map_or("", |(section, _)| section)
    }

    /// The name within its section.
    pub fn name(&self) -> &'static str {
        self.path.split_once('.').map_or(self.path, |(_, name)| name)
    }

    /// The limits with their unit: `0 to 100 %`.
    pub fn limits(&self) -> String {
        let space = if self.unit.is_empty() { "" } else { " " };
        format!("{}{space}{}", self.kind.limits(), self.unit)
    }

    /// All that is allowed, in words that end an error: `a whole number, 0 to 100 %`.
    pub fn allowed(&self) -> String {
        let limits = self.limits();
        self.kind.spelling().map_or(limits.clone(), |spelling| format!("{spelling}, {limits}"))
    }
}
