//! Detects settings that an earlier leg of a study left in force: database settings and host facts that still
//! have the value of another variant.
//!
//! A `revert` command may succeed without any effect. So before each measurement of a variant, settings and
//! facts are compared with those of its first leg. A value that has changed since then, and equals that of
//! another variant's leg, was left over.

use std::collections::BTreeMap;

use dyno_record::{Host, Identity, RunRecord};

/// Prefixes of the host facts that study commands may change. Other facts, such as free memory, change
/// without a command.
const FACTS: [&str; 7] =
    ["cgroup.", "clocksource", "cpu.", "huge_pages.total", "kernel.", "sysctl.", "transparent_huge_pages."];

/// Settings and host facts by name.
pub(super) type PlatformSettings = BTreeMap<String, String>;

/// Returns the settings of the database and the facts of the driver host.
pub(super) fn platform_settings(identity: &Identity, host: &Host) -> PlatformSettings {
    let facts = host.facts.iter().filter(|(name, _)| FACTS.iter().any(|begin| name.starts_with(begin)));
    let facts = facts.map(|(name, value)| (name.clone(), value.clone()));
    identity.settings.iter().map(|(name, value)| (name.clone(), value.clone())).chain(facts).collect()
}

/// Returns settings and facts of a record; absent if it has no target.
pub(super) fn record_settings(record: &RunRecord) -> Option<PlatformSettings> {
    Some(platform_settings(&record.targets.first()?.identity, record.driver()))
}

/// Describes the settings of other `variants` that are still in force: they differ between `first` and `now`.
pub(super) fn leftover_settings(
    first: &PlatformSettings,
    now: &PlatformSettings,
    variants: &[(&str, PlatformSettings)],
) -> Vec<String> {
    let differs = now.iter().filter(|(name, value)| first.get(*name).is_some_and(|first| first != *value));
    differs
        .filter_map(|(name, value)| {
            let (variant, _) = variants.iter().find(|(_, platform)| platform.get(name) == Some(value))?;
            let before = &first[name];
            Some(format!("{name} is {value:?}, as under {variant}, and was {before:?} in the first leg"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn platform_of(values: &[(&str, &str)]) -> PlatformSettings {
        values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn setting_left_in_force_by_a_variant_is_reported() {
        let first = platform_of(&[("fsync", "on"), ("data_directory", "/a"), ("sysctl.vm.swappiness", "60")]);
        let two = platform_of(&[("fsync", "off"), ("data_directory", "/b"), ("sysctl.vm.swappiness", "60")]);
        let now = platform_of(&[("fsync", "off"), ("data_directory", "/c"), ("sysctl.vm.swappiness", "60")]);
        let found_left = leftover_settings(&first, &now, &[("two", two.clone())]);
        assert_eq!(found_left, ["fsync is \"off\", as under two, and was \"on\" in the first leg"]);
        // A setting that no variant has set may differ from leg to leg, because each leg starts a server of
        // its own.
        let back = platform_of(&[("fsync", "on"), ("data_directory", "/c"), ("sysctl.vm.swappiness", "60")]);
        assert!(leftover_settings(&first, &back, &[("two", two)]).is_empty());
    }

    #[test]
    fn volatile_host_facts_are_not_compared() {
        let facts = [("sysctl.vm.swappiness", "10"), ("huge_pages.free", "3"), ("boot_id", "x")];
        let host = Host {
            facts: facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..Host::default()
        };
        let platform = platform_settings(&Identity::default(), &host);
        assert_eq!(platform.keys().collect::<Vec<_>>(), ["sysctl.vm.swappiness"]);
    }
}
