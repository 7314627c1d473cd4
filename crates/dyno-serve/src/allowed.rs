//! Decides which plan keys a page or the API may set: an allow list by the kind of a key's value.
//!
//! A token must not let its holder read the server's files or environment, reach other machines, or run
//! commands through a plan. [`refusal`] checks the request before anything is read, because some values name
//! files that reading a plan opens. [`plan_refusal`] then compares the resulting plan with the one that the
//! server itself would create.

use dyno_plan::keys::{self, PlanKey, PlanKeyKind};
use dyno_plan::{Plan, keys_set_by};

/// What a page may do with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PageAccess {
    Value,
    /// Set it, unless the value names a file.
    ValueWithoutFile,
    /// Choose from the server's list of targets.
    ListedTarget,
    /// Choose names from the server's list of hosts.
    ListedHost,
    /// Choose a ready workload by its name.
    ReadyWorkload,
    /// Set it, if the server was started with `--allow-commands`.
    Command,
}

/// Returns the access to a key. A new kind of value does not compile until it is listed here.
fn access(key: &PlanKey) -> PageAccess {
    if key.section() == "target" {
        return PageAccess::ListedTarget;
    }
    match key.kind {
        PlanKeyKind::Count(..)
        | PlanKeyKind::Number(..)
        | PlanKeyKind::Decimal(..)
        | PlanKeyKind::Flag(_)
        | PlanKeyKind::Size(..)
        | PlanKeyKind::BlockSize(_)
        | PlanKeyKind::Span(..)
        | PlanKeyKind::Rate(..)
        | PlanKeyKind::Rates(..)
        | PlanKeyKind::Counts(..)
        | PlanKeyKind::Seed(_)
        | PlanKeyKind::Word(..)
        | PlanKeyKind::Name(_)
        | PlanKeyKind::Names(_)
        | PlanKeyKind::Options(_) => PageAccess::Value,
        PlanKeyKind::Phases(_) => PageAccess::ValueWithoutFile,
        PlanKeyKind::Url(_) | PlanKeyKind::Urls(_) | PlanKeyKind::Variable(_) => PageAccess::ListedTarget,
        PlanKeyKind::Hosts(_) => PageAccess::ListedHost,
        PlanKeyKind::Folders(_) | PlanKeyKind::File(_) => PageAccess::ReadyWorkload,
        PlanKeyKind::Command(_) => PageAccess::Command,
    }
}

impl PageAccess {
    /// Says why a page may not set a key of this access to `value`; absent if it may.
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

/// Whether the phases come from a CSV file, in any spelling.
fn names_file(phases: &str) -> bool {
    phases.to_ascii_lowercase().contains("csv")
}

/// Whether the value of `key` consists of names from the server's host list.
pub(crate) fn is_listed_host(key: &str) -> bool {
    keys::find(key.trim()).is_some_and(|key| access(key) == PageAccess::ListedHost)
}

/// Says why a page may not set `key` to `value`; the key can also be a sweep axis. An unknown key is accepted
/// here, because the plan reader refuses it with a better hint.
pub(crate) fn refusal(key: &str, value: &str, allow_commands: bool) -> Option<&'static str> {
    if key.chars().chain(value.chars()).any(char::is_control) {
        return Some("the value has control characters");
    }
    keys_set_by(key).into_iter().find_map(|key| access(key).refusal(value, allow_commands))
}

/// Says why a plan made from a request may not run. It must not differ from `base`, the plan without the
/// request, in a key that no page may set.
pub(crate) fn plan_refusal(plan: &Plan, base: &Plan, allow_commands: bool) -> Option<&'static str> {
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

    /// Spellings of a key, alone and as a sweep axis.
    fn spellings(key: &PlanKey) -> Vec<String> {
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
    fn pages_may_set_only_keys_with_plain_values() {
        for key in keys::all() {
            for spelled in spellings(key) {
                let refused = refusal(&spelled, "x", false).is_some();
                // A name without a section may also match another section's key, which is then checked, too.
                let open =
                    keys_set_by(&spelled).into_iter().all(|key| access(key).refusal("x", false).is_none());
                assert_eq!(refused, !open, "{spelled}");
            }
            let is_place = key.section() == "target"
                || matches!(
                    key.kind,
                    PlanKeyKind::Url(_)
                        | PlanKeyKind::Urls(_)
                        | PlanKeyKind::Variable(_)
                        | PlanKeyKind::File(_)
                        | PlanKeyKind::Folders(_)
                        | PlanKeyKind::Hosts(_)
                        | PlanKeyKind::Command(_)
                );
            assert_eq!(refusal(key.path, "x", false).is_some(), is_place, "{}", key.path);
        }
    }

    #[test]
    fn file_phases_are_refused_in_any_spelling() {
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
    fn plan_differing_in_closed_key_is_refused() {
        let plan = |sets: &[&str]| {
            let target = Some("sqlite:x.db".to_owned());
            let sets = sets.iter().map(|set| (*set).to_owned()).collect();
            let source = dyno_plan::PlanSource::of(crate::state::fixture::ENGINES);
            dyno_plan::read(&dyno_plan::PlanSource { sets, target, ..source }).unwrap()
        };
        let base = plan(&[]);
        assert_eq!(plan_refusal(&plan(&["run.time=7s", "sweep.sessions=1,2"]), &base, false), None);
        for set in ["hooks.pre=id", "workload.folder=/etc", "target.password_env=HOME"] {
            assert!(plan_refusal(&plan(&[set]), &base, false).is_some(), "{set}");
            assert!(
                plan_refusal(&plan(&[set]), &plan(&[set]), false).is_none(),
                "the server's own list says {set}"
            );
        }
    }
}
