//! Shows the commands of a plan before they run, and asks for consent to commands that come from a file.
//!
//! A plan may lie in any folder, and `dyno run` reads the plan of the current one. A user who has allowed its
//! commands in that folder is not asked again. Commands given with `--set hooks.…` need no consent.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use dyno_plan::Plan;

use crate::campaign_context::CampaignContext;
use crate::error::Error;
use crate::event::{CampaignEvent, HookEvent, Warning};
use dyno_record::private_file;

/// Returns each command of a plan with its name, in the order in which they run.
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

/// Reports every command that runs of `plan` would execute.
pub fn tell(ctx: &CampaignContext<'_>, plan: &Plan) {
    for (name, command) in commands(plan) {
        ctx.emit(CampaignEvent::Hook(HookEvent::Planned(name, command.to_owned())));
    }
}

/// Reports the commands of `plan`, and asks for consent to those that come from a file.
///
/// # Errors
/// Consent was not given before, and the user refuses or cannot be asked.
pub(crate) fn require_command_consent(ctx: &CampaignContext<'_>, plan: &Plan) -> Result<(), Error> {
    let is_own = |name: &str| ctx.consent.own.iter().any(|own| own == name);
    let foreign: Vec<_> = commands(plan).into_iter().filter(|(name, _)| !is_own(name)).collect();
    let (mark, file) = (mark(&foreign), consent_file("allowed-hooks"));
    let is_remembered = foreign.is_empty() || file.as_deref().is_some_and(|file| contains_mark(file, &mark));
    if is_remembered || ctx.consent.all {
        tell(ctx, plan);
    } else if !ask_listener(ctx, &foreign)? {
        let all: Vec<String> =
            foreign.iter().map(|(name, command)| format!("hooks.{name} runs: {command}")).collect();
        return Err(Error::usage(
            format!(
                "the plan contains commands that would run as your user and that you have not run from this \
                 folder before: {}",
                all.join("; ")
            ),
            "--allow-hooks allows them, now and in later runs",
        ));
    }
    if is_remembered {
        return Ok(());
    }
    if let Some(file) = file
        && let Err(error) = store_mark(&file, &mark)
    {
        ctx.emit(CampaignEvent::Warning(Warning::ConsentNotKept(error.to_string(), file)));
    }
    Ok(())
}

/// Asks the listener for consent to these hooks.
fn ask_listener(ctx: &CampaignContext<'_>, hooks: &[(&str, &str)]) -> Result<bool, Error> {
    let named: Vec<(String, &str)> =
        hooks.iter().map(|(name, command)| (format!("hooks.{name}"), *command)).collect();
    let all: Vec<(&str, &str)> = named.iter().map(|(name, command)| (name.as_str(), *command)).collect();
    ctx.listener.allows(&all)
}

/// Text that identifies allowed commands. It contains the folder, because a command such as `./prepare.sh`
/// depends on it.
fn mark(commands: &[(&str, &str)]) -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    serde_json::json!({ "folder": folder.to_string_lossy(), "commands": commands }).to_string()
}

/// The file of this name that stores what was allowed, one JSON document per line.
pub(crate) fn consent_file(name: &str) -> Option<PathBuf> {
    let env_path = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state =
        env_path("XDG_STATE_HOME").or_else(|| env_path("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("dyno").join(name))
}

/// Maximum size of a consent file, bytes.
const MARKS_BYTES_MAX: u64 = 64 << 20;

/// Whether this was allowed, according to a file that only this user can write.
pub(crate) fn contains_mark(file: &Path, mark: &str) -> bool {
    let text = private_file::read_text(file, MARKS_BYTES_MAX).ok().flatten();
    text.is_some_and(|text| text.lines().any(|line| line == mark))
}

/// Stores that this was allowed.
pub(crate) fn store_mark(file: &Path, mark: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        crate::files::private_folder(folder)?;
    }
    let mut open = std::fs::OpenOptions::new();
    open.create(true).append(true).mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    let mut file = open.open(file)?;
    writeln!(file, "{mark}")?;
    // Written to disk at once, so that a power failure does not lose the consent.
    file.sync_all()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;

    #[test]
    fn consent_covers_exactly_the_allowed_commands() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state/dyno/allowed-hooks");
        let (one, other) = (mark(&[("pre", "date\necho \"x\"")]), mark(&[("post", "date\necho \"x\"")]));
        assert!(!contains_mark(&file, &one));
        store_mark(&file, &one).unwrap();
        assert!(contains_mark(&file, &one));
        assert!(!contains_mark(&file, &other));
        store_mark(&file, &other).unwrap();
        assert!(contains_mark(&file, &one));
        assert!(contains_mark(&file, &other));
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&file).unwrap());
        assert_eq!(mode & 0o777, 0o600);
    }
}
