//! Reads what a user wrote and returns a validated [`Plan`].
//!
//! Sources in order: defaults, the file, `--set`, `--target`; later ones override earlier ones. The reader collects every
//! error before it fails, so that users can correct a plan in one pass.

mod axes;
mod check;
mod draft;
mod file;
mod options;
pub(crate) mod rules;
mod source;
mod unknown;

use crate::engine::Engines;
use crate::error::PlanErrors;
use crate::plan::{Plan, TargetSettings};
use draft::PlanDraft;
pub(crate) use options::axis_name;
pub use options::keys_set_by;
pub use rules::is_of_method;
pub use source::{FILE_BYTES_MAX, PlanFile, PlanSource};

/// Reads and validates a plan.
///
/// # Errors
/// All errors of all sources, each with its place, key, value and the allowed values. No error repeats a password.
pub fn read(source: &PlanSource) -> Result<Plan, PlanErrors> {
    let mut draft = PlanDraft::new(source.engines);
    let mut whole = true;
    if let Some(file) = &source.file {
        whole = file::read(&mut draft, file, source.others);
    }
    read_options(&mut draft, source);
    if whole {
        check::check(&mut draft, source.file.as_ref());
    }
    draft.finish()
}

/// A plan that sets nothing but `target`.
pub fn usual(target: TargetSettings, engines: Engines) -> Plan {
    Plan { target, ..PlanDraft::new(engines).plan }
}

/// Checks options without a plan: each `--set` and `--target` must name a key and have an allowed value.
///
/// # Errors
/// Like [`read`], but errors of the options only.
pub fn check_options(source: &PlanSource) -> Result<(), PlanErrors> {
    let mut draft = PlanDraft::new(source.engines);
    read_options(&mut draft, source);
    draft.finish().map(|_| ())
}

fn read_options(draft: &mut PlanDraft, source: &PlanSource) {
    for text in &source.sets {
        options::set(draft, text);
    }
    if let Some(url) = &source.target {
        options::target(draft, url, &source.further_targets);
    }
}

#[cfg(test)]
mod tests;
