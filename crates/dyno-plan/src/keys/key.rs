//! The description of one key of a plan, and of a section of keys.

use super::kind::PlanKeyKind;
use crate::plan::Plan;

/// One section of a plan.
pub struct PlanSection {
    /// The name; empty for the top of the plan.
    pub name: &'static str,
    /// The purpose of the section, in a few words.
    pub title: &'static str,
    /// What users should know, in full sentences.
    pub doc: &'static str,
    /// Its keys, in the order of templates and the reference.
    pub keys: &'static [PlanKey],
}

/// One key of a plan.
pub struct PlanKey {
    /// The full name with its section: `data.scale`.
    pub path: &'static str,
    /// The type and limits of the value, and the field that it sets.
    pub kind: PlanKeyKind,
    /// The unit of a bare number, such as `%` or `blocks`; empty if it has none.
    pub unit: &'static str,
    /// The value when the plan does not set the key.
    pub default: Fallback,
    /// Its meaning in one line.
    pub doc: &'static str,
    /// Further notes in full sentences; may be empty.
    pub more: &'static str,
    /// An example of a value.
    pub example: &'static str,
    /// How the template of an engine shows the key.
    pub shown: TemplateVisibility,
}

/// What applies when the plan does not set a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// This value, as for `--set`.
    Value(&'static str),
    /// No value; the words say what this means.
    None(&'static str),
    /// The plan must set the key.
    Required,
}

/// How a template shows a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemplateVisibility {
    /// As an active line: most users change it.
    Active,
    /// As a comment, in the templates of all engines.
    Commented,
    /// As a comment, in templates of server engines only.
    CommentedForServers,
}

impl PlanKey {
    /// A required key that templates show as a comment, unless the methods below change that.
    pub(super) const fn new(path: &'static str, kind: PlanKeyKind) -> Self {
        Self {
            path,
            kind,
            unit: "",
            default: Fallback::Required,
            doc: "",
            more: "",
            example: "",
            shown: TemplateVisibility::Commented,
        }
    }

    /// The allowed words, each with its meaning.
    pub(super) const fn words(self, words: &'static [(&'static str, &'static str)]) -> Self {
        match self.kind {
            PlanKeyKind::Word(_, at) => Self { kind: PlanKeyKind::Word(words, at), ..self },
            _ => panic!("words are for a key of words"),
        }
    }

    pub(super) const fn default(self, value: &'static str) -> Self {
        Self { default: Fallback::Value(value), ..self }
    }

    /// The key has no default; `words` say what this means.
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
        Self { shown: TemplateVisibility::Active, ..self }
    }

    pub(super) const fn for_servers(self) -> Self {
        Self { shown: TemplateVisibility::CommentedForServers, ..self }
    }

    /// The value in `plan` as users write it; `None` if `plan` has none.
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

    /// The limits with the unit: `0 to 100 %`.
    pub fn limits(&self) -> String {
        let space = if self.unit.is_empty() { "" } else { " " };
        format!("{}{space}{}", self.kind.limits(), self.unit)
    }

    /// The allowed values, as the end of an error: `an integer, 0 to 100 %`.
    pub fn allowed(&self) -> String {
        let limits = self.limits();
        self.kind.spelling().map_or(limits.clone(), |spelling| format!("{spelling}, {limits}"))
    }
}
