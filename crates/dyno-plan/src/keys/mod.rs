//! The list of all keys of a plan.
//!
//! Errors, the commented plan of [`mod@crate::template`], the reference of [`crate::reference`], `--set` and the defaults all
//! use this list, so they always agree with what the reader accepts.

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

pub use key::{Fallback, PlanKey, PlanSection, TemplateVisibility};
use kind::at;
pub(crate) use kind::seconds;
pub use kind::{At, PlanKeyKind, thousands};
pub use limits::{BLOCK_SIZE, BLOCKS_MAX, TABLE_BYTES_MAX};
pub(crate) use value::{RawValue, Refused};

use crate::plan::{PLAN_VERSION, Plan};

/// Every section with its keys.
pub static SECTIONS: [PlanSection; 8] = [
    TOP,
    target::SECTION,
    data::SECTION,
    workload::SECTION,
    run::SECTION,
    observe::SECTION,
    hooks::SECTION,
    sweep::SECTION,
];

const TOP: PlanSection = PlanSection {
    name: "",
    title: "the plan",
    doc: "",
    keys: &[PlanKey::new("version", PlanKeyKind::Count(PLAN_VERSION, PLAN_VERSION, at!(version)))
        .default("1")
        .doc("Version of the plan format.")
        .example("1")
        .active()],
};

/// Two keys that set the same thing in two ways: a plan may have at most one of them.
pub(crate) struct ExclusiveKeys {
    /// The full names of both keys.
    pub(crate) paths: [&'static str; 2],
    /// Functions that remove either key from a plan.
    pub(crate) clear: [fn(&mut Plan); 2],
}

/// Keys that exclude each other. An option removes the other key that the file sets.
pub(crate) static EITHERS: [ExclusiveKeys; 3] = [
    ExclusiveKeys {
        paths: ["target.url", "target.urls"],
        // With several targets, `url` is the first of them.
        clear: [|_| (), |plan| plan.target.urls = Vec::new()],
    },
    ExclusiveKeys {
        paths: ["run.time", "run.ops_per_session"],
        clear: [|plan| plan.run.time = None, |plan| plan.run.ops_per_session = None],
    },
    ExclusiveKeys {
        paths: ["target.password_env", "target.password_file"],
        clear: [|plan| plan.target.password_env = None, |plan| plan.target.password_file = None],
    },
];

/// Every key, section by section.
pub fn all() -> impl Iterator<Item = &'static PlanKey> {
    SECTIONS.iter().flat_map(|section| section.keys)
}

/// The key with this full name.
pub fn find(path: &str) -> Option<&'static PlanKey> {
    all().find(|key| key.path == path)
}

#[cfg(test)]
mod tests;
