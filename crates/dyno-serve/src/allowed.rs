//! What a page or the API may set in a plan: an allow list by the kind of a key's value.
//!
//! Whoever holds a token must not read the server's files or environment, reach other machines, or run commands through a plan.
//! [`refusal`] looks at what was sent before anything is read, because some values name files that reading a plan opens.
//! [`of_plan`] then compares the plan as it was read with the one that the server itself would make.

use dyno_plan::keys::{self, Key, Kind};
use dyno_plan::{Plan, keys_set_by};

/// What a page may do with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageAccess {
    /// Set it.
    Value,
    /// Set it, as long as the value names no file.
    ValueWithoutFile,
    /// Choose from the server's list of targets.
    ListedTarget,
    /// Choose names from the server's list of hosts.
    ListedHost,
    /// Choose a ready workload by its name.
    ReadyWorkload,
    /// Set it where the server was started with `--allow-commands`.
    Command,
}

/// The access to a key. A new kind of value does not compile until it has its place here.
fn access(key: &Key) -> PageAccess {
    if key.section() == "target" {
        return PageAccess::ListedTarget;
    }
    match key.kind {
        Kind::Count(..)
        | Kind::Number(..)
        | Kind::Decimal(..)
        | Kind::Flag(_)
        | Kind::Size(..)
        | Kind::BlockSize(_)
        | Kind::Span(..)
        | Kind::Rate(..)
        | Kind::Rates(..)
        | Kind::Counts(..)
        | Kind::Seed(_)
        | Kind::Word(..)
        | Kind::Name(_)
        | Kind::Names(_)
        | Kind::Options(_) => PageAccess::Value,
        Kind::Phases(_) => PageAccess::ValueWithoutFile,
        Kind::Url(_) | Kind::Urls(_) | Kind::Variable(_) => PageAccess::ListedTarget,
        Kind::Hosts(_) => PageAccess::ListedHost,
        Kind::Folders(_) | Kind::File(_) => PageAccess::ReadyWorkload,
        Kind::Command(_) => PageAccess::Command,
    }
}

impl PageAccess {
    /// Why a page may not set a key of this access to `value`; absent where it may.
    fn refusal(self, value: &str, allow_commands: bool) -> Option<&'static str> {
        match self {
            Self::Value => None,
            Self::ValueWithoutFile => names_file(value)
                .then_some("a page cannot name a file of the server: write the phases themselves"),
            Self::ListedTarget => Some("targets come from the server's own list, by name"),
            Self::ListedHost => Some("hosts come from the server's own list, by name"),
            Self::ReadyWorkload => Some("a page names a ready workload, not a folder of the server"),
            Self::Command => (!allow_commands)
                .then_some("commands run only if the server was started with --allow-commands"),
        }
    }
}

/// Whether phases are read from a CSV file, however that is spelled.
fn names_file(phases: &str) -> bool {
    phases.to_ascii_lowercase().contains("csv")
}

/// Whether `key` takes names of hosts in the server's list.
pub(crate) fn is_listed_host(key: &str) -> bool {
    keys::find(key.trim()).is_some_and(|key| access(key) == PageAccess::ListedHost)
}

/// Why a page may not set `key`, which can also be an axis of a sweep, to `value`. A key that no plan has is left to the
/// reader, which refuses it with its own hint.
pub(crate) fn refusal(key: &str, value: &str, allow_commands: bool) -> Option<&'static str> {
    if key.chars().chain(value.chars()).any(char::is_control) {
        return Some("the value has control characters");
    }
    keys_set_by(key).into_iter().find_map(|key| access(key).refusal(value, allow_commands))
}

/// Why a plan made from what a page sent may not run: it differs from `base`, the plan without what the page sent, in a key
/// that no page may set.
pub(crate) fn of_plan(plan: &Plan, base: &Plan, allow_commands: bool) -> Option<&'static str> {
    let changed = keys::all().filter(|key| key.get(plan) != key.get(base));
    let of_keys =
        changed.filter_map(|key| access(key).refusal(&key.get(plan).unwrap_or_default(), allow_commands));
    let values = plan.sweep.axes.iter().flat_map(|axis| axis.values.iter().map(|value| (&axis.key, value)));
    let of_axes =
        values.filter_map(|(key, value)| refusal(&format!("sweep.\"{key}\""), value, allow_commands));
    of_keys.chain(of_axes).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ways to write a key, alone and as an axis.
    fn spellings(key: &Key) -> Vec<String> {
        let (path, name) = (key.path, key.name());
        vec![
            path.to_owned(),
            format!(" {path} "),
            format!("sweep.{name}"),
            format!("sweep.{path}"),
            format!("sweep.\"{path}\""),
            format!("sweep.'{path}'"),
            format!("sweep.'{name}'"),
            format!(" sweep.\"{name}\" "),
        ]
    }

    #[test]
    fn only_keys_of_plain_values_are_open_to_pages() {
        for key in keys::all() {
            for spelled in spellings(key) {
                let refused = refusal(&spelled, "x", false).is_some();
                // A name alone may also be that of another section's key, which is then looked at, too.
                let open =
                    keys_set_by(&spelled).into_iter().all(|key| access(key).refusal("x", false).is_none());
                assert_eq!(refused, !open, "{spelled}");
            }
            let is_place = key.section() == "target"
                || matches!(
                    key.kind,
                    Kind::Url(_)
                        | Kind::Urls(_)
                        | Kind::Variable(_)
                        | Kind::File(_)
                        | Kind::Folders(_)
                        | Kind::Hosts(_)
                        | Kind::Command(_)
                );
            assert_eq!(refusal(key.path, "x", false).is_some(), is_place, "{}", key.path);
        }
    }

    #[test]
    fn phases_from_a_file_are_refused_in_any_spelling() {
        for key in ["workload.phases", "sweep.phases", "sweep.\"workload.phases\"", "sweep.'phases'"] {
            for value in ["csv /etc/passwd", "CSV /etc/passwd", "[\"csv /etc/passwd\"]"] {
                assert!(refusal(key, value, true).is_some(), "{key} {value}");
            }
        }
        assert!(refusal("run.time", "5s\n[hooks]\npre = 'x'", true).is_some());
        assert!(refusal("workload.phases", "hold 5/s 9s", false).is_none());
        assert!(refusal("sweep.sessions", "1,2", false).is_none());
    }

    #[test]
    fn plan_that_differs_in_a_closed_key_is_refused() {
        let plan = |sets: &[&str]| {
            let target = Some("sqlite:x.db".to_owned());
            let sets = sets.iter().map(|set| (*set).to_owned()).collect();
            let source = dyno_plan::PlanSource::of(crate::state::fixture::ENGINES);
            dyno_plan::read(&dyno_plan::PlanSource { sets, target, ..source }).unwrap()
        };
        let base = plan(&[]);
        assert_eq!(of_plan(&plan(&["run.time=7s", "sweep.sessions=1,2"]), &base, false), None);
        for set in ["hooks.pre=id", "workload.folder=/etc", "target.password_env=HOME"] {
            assert!(of_plan(&plan(&[set]), &base, false).is_some(), "{set}");
            assert!(
                of_plan(&plan(&[set]), &plan(&[set]), false).is_none(),
                "the server's own list says {set}"
            );
        }
    }
}
