//! The one way from what a user wrote to a validated [`Plan`].
//!
//! Defaults, then the file, then `--set`, then `--target`: later ones win. Every error of all of them is collected
//! before anything is given up, so that a plan is mended in one go.

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
use crate::plan::{Plan, Target};
use draft::Draft;
pub(crate) use options::axis_name;
pub use options::keys_set_by;
pub use rules::is_of_method;
pub use source::{FILE_BYTES_MAX, PlanFile, PlanSource};

/// Reads, checks and completes a plan.
///
/// # Errors
/// All errors of all sources, each with its place, key, value and what is allowed. None repeats a password.
pub fn read(source: &PlanSource) -> Result<Plan, PlanErrors> {
    let mut draft = Draft::new(source.engines);
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

/// The plan of somebody who says nothing but `target`.
pub fn usual(target: Target, engines: Engines) -> Plan {
    Plan { target, ..Draft::new(engines).plan }
}

/// Checks options by themselves, for whoever needs no plan: that each `--set` and `--target` names a key and has a value
/// that is allowed.
///
/// # Errors
/// As [`read`], but of the options only.
pub fn check_options(source: &PlanSource) -> Result<(), PlanErrors> {
    let mut draft = Draft::new(source.engines);
    read_options(&mut draft, source);
    draft.finish().map(|_| ())
}

fn read_options(draft: &mut Draft, source: &PlanSource) {
    for text in &source.sets {
        options::set(draft, text);
    }
    if let Some(url) = &source.target {
        options::target(draft, url, &source.further_targets);
    }
}

#[cfg(test)]
mod tests;
