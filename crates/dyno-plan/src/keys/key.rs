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
    /// The value in a plan as users write it; `None` if the plan has none.
    pub get: fn(&Plan) -> Option<String>,
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
