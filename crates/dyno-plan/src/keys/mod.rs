//! The one list of every key of a plan.
//!
//! Errors, the commented plan of [`mod@crate::template`], the reference of [`crate::reference`], `--set` and the defaults all
//! come from here, so none of them can differ from what is read.

mod data;
mod hooks;
mod key;
mod kind;
mod limits;
mod observe;
mod run;
mod sweep;
mod target;
mod value;
mod workload;

pub use key::{Fallback, Key, Section, Shown};
use kind::at;
pub(crate) use kind::seconds;
pub use kind::{At, Kind, thousands};
pub use limits::{BLOCK_SIZE, BLOCKS_MAX, TABLE_BYTES_MAX};
pub(crate) use value::{Raw, Refused};

use crate::plan::{PLAN_VERSION, Plan};

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
    keys: &[Key::new("version", Kind::Count(PLAN_VERSION, PLAN_VERSION, at!(version)))
        .default("1")
        .doc("Version of the plan format.")
        .example("1")
        .active()],
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
