//! Commands that a plan brings along are told before they run, and a stranger's are not run unasked.
//!
//! A plan may lie in any folder, and `dyno run` reads the one that is there. Who has agreed to its commands once, in that folder,
//! is not asked again; what was typed as `--set hooks.…` needs no word besides.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use dyno_plan::Plan;

use crate::error::Error;
use crate::event::{Event, HookEvent, Warning};
use crate::lead::Lead;
use dyno_record::private_file;

/// Every command of a plan with its name, in the order in which they run.
fn commands(plan: &Plan) -> Vec<(&'static str, &str)> {
    let hooks = &plan.hooks;
    let all = [
        ("before_run", &hooks.before_run),
        ("pre", &hooks.pre),
        ("post", &hooks.post),
        ("after_run", &hooks.after_run),
        ("end", &hooks.end),
    ];
    all.into_iter().filter_map(|(name, command)| Some((name, command.as_deref()?))).collect()
}

/// Tells every command that runs of `plan` bring along.
pub fn tell(lead: &Lead<'_>, plan: &Plan) {
    for (name, command) in commands(plan) {
        lead.tell(Event::Hook(HookEvent::Planned(name, command.to_owned())));
    }
}

/// Tells the commands of `plan`, and makes sure that its user wants those that stand in a file.
///
/// # Errors
/// They are not allowed beforehand, and nobody can be asked or the answer is no.
pub(crate) fn require(lead: &Lead<'_>, plan: &Plan) -> Result<(), Error> {
    let is_own = |name: &str| lead.consent.own.iter().any(|own| own == name);
    let foreign: Vec<_> = commands(plan).into_iter().filter(|(name, _)| !is_own(name)).collect();
    let (mark, file) = (mark(&foreign), remembered("allowed-hooks"));
    let known = foreign.is_empty() || file.as_deref().is_some_and(|file| knows(file, &mark));
    if known || lead.consent.all {
        tell(lead, plan);
    } else if !allowed(lead, &foreign)? {
        let all: Vec<String> =
            foreign.iter().map(|(name, command)| format!("hooks.{name} runs: {command}")).collect();
        return Err(Error::usage(
            format!(
                "the plan brings commands that would run as you, and you have not run them from this folder before: {}",
                all.join("; ")
            ),
            "--allow-hooks runs them, now and from then on",
        ));
    }
    if known {
        return Ok(());
    }
    if let Some(file) = file
        && let Err(error) = remember(&file, &mark)
    {
        lead.tell(Event::Warning(Warning::ConsentNotKept(error.to_string(), file)));
    }
    Ok(())
}

/// Whether whoever leads agrees to these hooks.
fn allowed(lead: &Lead<'_>, hooks: &[(&str, &str)]) -> Result<bool, Error> {
    let named: Vec<(String, &str)> =
        hooks.iter().map(|(name, command)| (format!("hooks.{name}"), *command)).collect();
    let all: Vec<(&str, &str)> = named.iter().map(|(name, command)| (name.as_str(), *command)).collect();
    lead.listener.allows(&all)
}

/// What is remembered of these commands, which are allowed in this folder only: one may well be `./prepare.sh`.
fn mark(commands: &[(&str, &str)]) -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    serde_json::json!({ "folder": folder.to_string_lossy(), "commands": commands }).to_string()
}

/// The file of this name that keeps what was allowed, one JSON document a line.
pub(crate) fn remembered(name: &str) -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = of("XDG_STATE_HOME").or_else(|| of("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("dyno").join(name))
}

/// The largest file of what was allowed, bytes.
const MARKS_BYTES_MAX: u64 = 64 << 20;

/// Whether this was allowed, in a file that only this user can have written.
pub(crate) fn knows(file: &Path, mark: &str) -> bool {
    let text = private_file::read_text(file, MARKS_BYTES_MAX).ok().flatten();
    text.is_some_and(|text| text.lines().any(|line| line == mark))
}

/// Keeps that this was allowed.
pub(crate) fn remember(file: &Path, mark: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        crate::files::private_folder(folder)?;
    }
    let mut open = std::fs::OpenOptions::new();
    open.create(true).append(true).mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    let mut file = open.open(file)?;
    writeln!(file, "{mark}")?;
    // Who goes on after power was cut is not asked again.
    file.sync_all()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;

    #[test]
    fn what_is_allowed_is_known_again_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state/dyno/allowed-hooks");
        let (one, other) = (mark(&[("pre", "date\necho \"x\"")]), mark(&[("post", "date\necho \"x\"")]));
        assert!(!knows(&file, &one));
        remember(&file, &one).unwrap();
        assert!(knows(&file, &one) && !knows(&file, &other));
        remember(&file, &other).unwrap();
        assert!(knows(&file, &one) && knows(&file, &other));
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&file).unwrap());
        assert_eq!(mode & 0o777, 0o600);
    }
}
