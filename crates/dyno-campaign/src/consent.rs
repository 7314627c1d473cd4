//! Commands that a plan brings along are told before they run, and a stranger's are not run unasked.
//!
//! A plan may lie in any folder, and `dyno run` reads the one that is there. Who has agreed to its commands once, in that folder,
//! is not asked again; what was typed as `--set hooks.…` needs no word besides.

use std::io::{IsTerminal as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use dyno_plan::Plan;

use crate::cli::Common;
use crate::exit::usage;
use crate::talk::Talk;

/// Every command of a plan with its name, in the order in which they run.
pub(crate) fn commands(plan: &Plan) -> Vec<(&'static str, &str)> {
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

/// Tells every command of `plan`.
pub(crate) fn tell(plan: &Plan, talk: &Talk) {
    words(&commands(plan)).iter().for_each(|line| talk.say(line));
}

/// Tells the commands of `plan`, and makes sure that its user wants those that stand in a file.
///
/// # Errors
/// There is nobody to ask and `--allow-hooks` was not given, or the answer is no.
pub(crate) fn require(common: &Common, plan: &Plan, talk: &Talk) -> anyhow::Result<()> {
    let typed: Vec<&String> = common.set.iter().filter(|set| set.starts_with("hooks.")).collect();
    let is_typed = |name: &str| typed.iter().any(|set| set.starts_with(&format!("hooks.{name}=")));
    let foreign: Vec<_> = commands(plan).into_iter().filter(|(name, _)| !is_typed(name)).collect();
    let (mark, file) = (mark(&foreign), remembered());
    let known = foreign.is_empty() || file.as_deref().is_some_and(|file| knows(file, &mark));
    if known || common.allow_hooks {
        tell(plan, talk);
    } else if !agreed(&foreign)? {
        return Err(usage(
            format!(
                "the plan brings commands that would run as you, and you have not run them from this folder before: {}",
                words(&foreign).join("; ")
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
        talk.say(&format!("that these commands are allowed cannot be kept in {}: {error}", file.display()));
    }
    Ok(())
}

/// Each command behind its name.
fn words(commands: &[(&str, &str)]) -> Vec<String> {
    commands.iter().map(|(name, command)| format!("hooks.{name} runs: {command}")).collect()
}

/// Shows what would run and asks at the terminal, also of who wants no talk; without a terminal nobody agrees.
fn agreed(commands: &[(&str, &str)]) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(false);
    }
    let mut err = std::io::stderr().lock();
    for line in words(commands) {
        writeln!(err, "{}", dyno_report::text::talk(&line))?;
    }
    write!(err, "run these commands? [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// What is remembered of these commands, which are allowed in this folder only: one may well be `./prepare.sh`.
fn mark(commands: &[(&str, &str)]) -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    serde_json::json!({ "folder": folder.to_string_lossy(), "commands": commands }).to_string()
}

/// The file that keeps what was allowed, one JSON document a line.
fn remembered() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = of("XDG_STATE_HOME").or_else(|| of("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("dyno/allowed-hooks"))
}

fn knows(file: &Path, mark: &str) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| text.lines().any(|line| line == mark))
}

fn remember(file: &Path, mark: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        crate::files::private_folder(folder)?;
    }
    let mut open = std::fs::OpenOptions::new();
    open.create(true).append(true).mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    writeln!(open.open(file)?, "{mark}")
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
