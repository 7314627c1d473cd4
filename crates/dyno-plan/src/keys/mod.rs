//! The one list of every key of a plan.
//!
//! Errors, the commented plan of [`mod@crate::template`], the reference of [`crate::reference`], `--set` and the defaults all
//! come from here, so none of them can differ from what is read.

mod data;
mod hooks;
mod kind;
mod observe;
mod run;
mod sweep;
mod target;
mod value;
mod workload;

pub(crate) use kind::thousands;
pub use kind::{BLOCK_SIZE, BLOCKS_MAX, Kind, TABLE_BYTES_MAX, Word};
pub(crate) use value::{Raw, Refused};

use crate::plan::{PLAN_VERSION, Plan};

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

/// Every section with its keys.
pub static SECTIONS: [Section; 8] = [
    TOP,
    target::SECTION,
    data::SECTION,
    workload::SECTION,
    run::SECTION,
    observe::SECTION,
    hooks::SECTION,
    sweep::SECTION,
];

const TOP: Section = Section {
    name: "",
    title: "the plan",
    doc: "",
    keys: &[Key {
        path: "version",
        kind: Kind::Count { range: (PLAN_VERSION, PLAN_VERSION), set: |plan, value| plan.version = value },
        unit: "",
        default: Fallback::Value("1"),
        doc: "Version of the plan format.",
        more: "",
        example: "1",
        shown: Shown::Active,
        get: |plan| Some(plan.version.to_string()),
    }],
};

/// Two keys that say the same thing in two ways: at most one of them can be in a plan.
pub(crate) struct Either {
    /// Both keys.
    pub(crate) paths: [&'static str; 2],
    /// Takes either out of a plan.
    pub(crate) clear: [fn(&mut Plan); 2],
}

/// Keys that exclude each other. An option takes out what the file says in the other way.
pub(crate) static EITHERS: [Either; 3] = [
    Either {
        paths: ["target.url", "target.urls"],
        // With several targets, `url` is the first of them.
        clear: [|_| (), |plan| plan.target.urls = Vec::new()],
    },
    Either {
        paths: ["run.time", "run.ops_per_session"],
        clear: [|plan| plan.run.time = None, |plan| plan.run.ops_per_session = None],
    },
    Either {
        paths: ["target.password_env", "target.password_file"],
        clear: [|plan| plan.target.password_env = None, |plan| plan.target.password_file = None],
    },
];

/// Every key, section by section.
pub fn all() -> impl Iterator<Item = &'static Key> {
    SECTIONS.iter().flat_map(|section| section.keys)
}

/// The key with this full name.
pub fn find(path: &str) -> Option<&'static Key> {
    all().find(|key| key.path == path)
}

#[cfg(test)]
mod tests;
